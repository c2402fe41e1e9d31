"""Working sets: many columns, of which the answer uses few.

At w the columns that matter are the support and those whose slope exceeds the penalty. How far the rest of the problem
is from its minimum is measured by the **violation**, the largest of

    |∂ⱼf + αⱼ sign wⱼ| / α on the support,    (|∂ⱼf| − αⱼ) / α beside it,

because a duality gap is about that share of α‖w‖₁. So: take the slopes of all columns (one pass), choose a set,
take Newton's steps on the set until its violation is a fifth of that beside it (``metric``), and repeat with the
set enlarged. Bounds are asked for only when the violation says that they may be met.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.protocols import Evaluation, Objective
from separatrix.core.stop import Stop
from separatrix.solvers.column_newton import OnColumns, descend_on_columns
from separatrix.solvers.metric import Metric, descend, violation
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.solvers.proximal import SparseJudge, penalised_value

NEAR = 0.1
"""Columns whose slopes are below α by no more than this share of it may join a set."""

INSIDE = 0.2
"""The set is solved to this share of the violation beside it."""

ASKED = 1.0
"""A bound is asked for at a violation below this share of the one that is wanted; then at a tenth, and so on."""

LOOSEST = 1e-3
"""A violation that is wanted at most, however little the weights cost."""

FEW_ROWS = 4

PACKED_GROWTH = 3
"""Columns that join a packed set for each in its support: to pack reads all rows, to look at a column once does not."""

MOST_IN_VAIN = 2
"""Bounds that may fail to halve the best one before the solver gives up."""


class Narrowable(Objective, Protocol):
    """An objective that can be restricted to some of its columns."""

    outputs: int
    constant: bool
    shift: Vector

    def narrowed(self, which: Positions) -> Self:
        """The same objective on some columns."""


@dataclass(frozen=True, slots=True)
class Work:
    """What things cost: columns that may join a small set at once, and passes that a Hessian of a part costs.

    A set doubles while the rows are many times more; where they are not, the support ends before it reaches them.
    ``whole`` says that all columns are looked at from the beginning. ``problem`` is the objective on packed columns,
    where steps on those cost less than Hessians.
    """

    rows: int
    extra: int
    price: Callable[[Any], float]
    whole: bool = False
    problem: OnColumns | None = None


@dataclass(slots=True)
class Part:
    """A set of columns: the objective on it and the curvature last taken there, unless packed columns serve."""

    which: Positions
    alpha: Vector
    objective: Any = None
    metric: Metric | None = None

    def descend(self, begin: Vector, known: Evaluation, problem: OnColumns | None, goal: float, last: bool) -> Vector:
        """From a point of the part to where the violation is at most ``goal``."""
        if self.metric is None:
            assert problem is not None
            return descend_on_columns(problem, self.alpha, begin, goal, last).point
        return descend(self.objective, self.alpha, known, self.metric, goal, last).point


def _columns(objective: Narrowable, point: Vector) -> Matrix:
    """Coefficients or slopes by output and column, without the constant; a view."""
    rows = point.reshape(objective.outputs, -1)
    return rows[:, :-1] if objective.constant else rows


def _restricted(objective: Narrowable, point: Vector, which: Positions) -> Vector:
    """The point restricted to some columns and the constant."""
    rows = point.reshape(objective.outputs, -1)
    taken = np.append(which, rows.shape[1] - 1) if objective.constant else which
    return rows[:, taken].ravel()


def _extended(objective: Narrowable, part: Part, point: Vector) -> Vector:
    """A point of the part among all columns, zero beside it."""
    whole: Matrix = np.zeros((objective.outputs, objective.size // objective.outputs))
    rows = point.reshape(objective.outputs, -1)
    whole[:, part.which] = rows[:, : len(part.which)]
    if objective.constant:
        whole[:, -1] = rows[:, -1]
    return whole.ravel()


def working_set(
    objective: Narrowable,
    alpha: Vector,
    start: Vector,
    judge_of: Callable[[Any, float], SparseJudge],
    patience: Patience,
    work: Work,
) -> Outcome:
    """Minimise the objective plus Σ αⱼ|wⱼ| over growing sets of columns."""
    judge = judge_of(objective, patience.tol)
    penalty = float(alpha.max())
    here = objective.evaluate(start, curvature=work.whole)
    part: Part | None = None
    metric = Metric(work.price(objective))
    metric.renew(here)
    best: Outcome | None = None
    share, in_vain, still = ASKED, 0, False
    while True:
        value = penalised_value(here, alpha)
        left = violation(here, alpha) / penalty
        target = patience.tol * min(value, 1.0)
        wanted = min(target / max(value - here.value, 1e-300), LOOSEST)
        asked = left <= share * wanted or still
        bound = judge(here) if asked else np.inf
        stop = patience.judge_value(here, value, bound)
        if asked:
            in_vain = 0 if best is None or bound < 0.5 * best.bound else in_vain + 1
            share *= 0.1
        if best is None or bound <= best.bound:
            best = Outcome(here, None, bound, stop or Stop.STALLED)
        if stop is None and in_vain >= MOST_IN_VAIN:
            stop = Stop.FLOOR if best.bound <= target else Stop.STALLED
        if stop is not None:
            if np.isinf(best.bound):
                best = Outcome(here, None, judge(here), stop)
            return Outcome(best.evaluation, None, best.bound, stop)
        if work.whole:
            before, here = here, descend(objective, alpha, here, metric, 0.5 * share * wanted * penalty, True)
            still = here.point is before.point
            continue
        part, beside = _chosen(objective, alpha, here, part, work)
        goal = max(INSIDE * beside, 0.5 * share * wanted * penalty)
        begin = _restricted(objective, here.point, part.which)
        known = replace(here, point=begin, gradient=_restricted(objective, here.gradient, part.which))
        inside = part.descend(begin, known, work.problem, goal, beside == 0.0)
        moved = _extended(objective, part, inside)
        still = np.array_equal(moved, here.point)
        here = here if still else objective.evaluate(moved)


def _chosen(
    objective: Narrowable, alpha: Vector, here: Evaluation, before: Part | None, work: Work
) -> tuple[Part, float]:
    """The part of the support and of the columns whose slopes exceed α the most, and the largest excess beside it."""
    weights, slopes = _columns(objective, here.point), _columns(objective, here.gradient)
    support = np.asarray(weights.any(axis=0))
    excess = (np.abs(slopes) - _columns(objective, alpha)).max(axis=0)
    if before is not None:
        beside = excess.copy()
        beside[before.which] = -np.inf
        if not (beside > 0.0).any() and not support[np.isfinite(beside)].any():
            return before, 0.0
    excess[support] = -np.inf
    count = int(support.sum())
    growth = count if work.rows > FEW_ROWS * count else count // 2
    if work.problem is not None:
        growth = PACKED_GROWTH * count
    order = _largest(excess, max(work.extra, growth))
    joins = order[excess[order] > 0.0]
    # columns that nearly join are taken along, so that the set need not change again
    near = order[(excess[order] <= 0.0) & (excess[order] > -NEAR * float(alpha.max()))]
    near = near[: max(count // 4, work.extra // 4)]
    which = np.sort(np.concatenate([np.flatnonzero(support), joins, near])).astype(np.int64)
    part, left = Part(which, _restricted(objective, alpha, which)), float(excess.max(initial=0.0))
    if work.problem is not None:
        work.problem.choose(which, objective.shift[which])
    else:
        part.objective = objective.narrowed(which)
        part.metric = Metric(work.price(part.objective))
    return part, left


def _largest(values: Vector, count: int) -> Positions:
    """Positions of the largest values, largest first; of equal ones the first."""
    among = np.arange(len(values))
    if count < len(values):
        least = np.partition(values, -count)[-count]
        among = np.flatnonzero(values >= least)
    chosen: Positions = among[np.argsort(-values[among], kind="stable")][:count]
    return chosen
