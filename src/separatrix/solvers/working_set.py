"""Working sets: many columns, of which the answer uses few.

Take the gradient of all columns once, keep the support and the columns whose gradient
exceeds the penalty the most, solve the problem on those, and repeat. Columns that the
gap proves to be zero in every minimiser are not looked at again.
"""

from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Positions, Vector
from separatrix.core.protocols import Evaluation, Objective
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.solvers.proximal import SparseJudge, penalised_value, proximal_newton

SMALLEST_SET = 30


class Narrowable(Objective, Protocol):
    """An objective that can be restricted to some of its columns."""

    outputs: int
    constant: bool

    def narrowed(self, which: Positions) -> Self:
        """The same objective on some columns."""


class ScreeningJudge(Protocol):
    """A judge that can also say which columns must be zero."""

    def __call__(self, evaluation: Evaluation) -> float:
        """The bound at an evaluated point."""

    def zero_columns(self) -> AnyArray:
        """Columns that are zero in every minimiser, by what was seen."""


def _columns(objective: Narrowable, point: Vector) -> Matrix:
    """Coefficients or slopes by output and column, without the constant; a view."""
    rows = point.reshape(objective.outputs, -1)
    return rows[:, :-1] if objective.constant else rows


def _part(objective: Narrowable, point: Vector, which: Positions) -> Vector:
    """The point restricted to some columns and the constant."""
    rows = point.reshape(objective.outputs, -1)
    taken = np.append(which, rows.shape[1] - 1) if objective.constant else which
    return rows[:, taken].ravel()


def working_set(
    objective: Narrowable,
    alpha: Vector,
    start: Vector,
    judge_of: Callable[[Any, float], ScreeningJudge],
    patience: Patience,
) -> Outcome:
    """Minimise the objective plus Σ αⱼ|wⱼ| over growing sets of columns."""
    judge = judge_of(objective, patience.tol)
    point = start.copy()
    best: Outcome | None = None
    extra, share = SMALLEST_SET, 0.1
    before = np.inf
    while True:
        here = objective.evaluate(point)
        value, bound = penalised_value(here, alpha), judge(here)
        stop = patience.judge_value(here, value, bound)
        if best is None or bound < best.bound:
            best = Outcome(here, None, bound, stop or Stop.STALLED)
        if stop is not None:
            return Outcome(best.evaluation, None, best.bound, stop)
        support = _columns(objective, here.point).any(axis=0)
        excess = (np.abs(_columns(objective, here.gradient)) - _columns(objective, alpha)).max(axis=0)
        excess[support] = np.inf
        excess[judge.zero_columns() & ~support] = -np.inf
        wanted = int(support.sum()) + extra
        order = np.argsort(-excess, kind="stable")[:wanted]
        which = np.sort(order[excess[order] > -np.inf]).astype(np.int64)
        if not bound < 0.3 * before:
            share *= 0.1  # the set was solved too roughly
        inner = _solve_part(objective, alpha, here, which, judge_of, max(share * bound / max(value, 1e-300), 1e-16))
        moved = point.copy().reshape(objective.outputs, -1)
        target = inner.evaluation.point.reshape(objective.outputs, -1)
        moved[:, : moved.shape[1] - objective.constant] = 0.0
        moved[:, which] = target[:, : len(which)]
        if objective.constant:
            moved[:, -1] = target[:, -1]
        if np.array_equal(moved.ravel(), point) and share < 1e-8:
            return Outcome(best.evaluation, None, best.bound, Stop.STALLED)
        point, before = moved.ravel(), bound
        extra = max(SMALLEST_SET, int(support.sum()))


def _solve_part(
    objective: Narrowable,
    alpha: Vector,
    here: Evaluation,
    which: Positions,
    judge_of: Callable[[Any, float], SparseJudge],
    tol: float,
) -> Outcome:
    part = objective.narrowed(which)
    quiet = Patience(min(tol, 0.1), 60, 0, Trace(), part)
    begin = _part(objective, here.point, which)
    return proximal_newton(part, _part(objective, alpha, which), begin, judge_of(part, quiet.tol), quiet)
