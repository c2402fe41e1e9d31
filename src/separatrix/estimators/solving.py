"""Which solver takes which problem, and running it."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.factor import Factor, independent, null_vectors
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.estimators.problem import yardsticks
from separatrix.solvers.newton import newton
from separatrix.solvers.newton_cg import IterativeJudge, newton_cg
from separatrix.solvers.outcome import Judge, Outcome, Patience
from separatrix.solvers.subsampled import subsampled_newton
from separatrix.terms.penalised import PenalisedLogistic

ALLOWANCE = 3.0
"""Rounding allowed for in a claim, so that a recomputation in any order stays below it."""

MANY_COLUMNS = 1500
"""Beyond so many coefficients the Hessian is not formed."""

LARGEST_HESSIAN = 4000
"""Up to so many coefficients a Hessian is formed when nothing else proves the result."""

SMALL_WORK = 2e8
"""Multiply-adds of a Hessian pass below which a fit runs on to the floor of rounding."""

SAMPLE_ROWS = 40_000
SAMPLE_ROWS_PER_COLUMN = 200

SCIKIT_LEARN_SOLVERS = {
    "lbfgs": "auto",
    "liblinear": "auto",
    "sag": "auto",
    "saga": "auto",
    "newton-cg": "newton-cg",
    "newton-cholesky": "newton-cholesky",
}
"""scikit-learn's names and what they mean here: all reach the same minimum."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The outcome with the point in raw coordinates and what is not identified."""

    outcome: Outcome
    raw: Vector
    keep: Positions | None = None
    null: Matrix | None = None
    direction: Vector | None = None


def choose(objective: PenalisedLogistic) -> str:
    """The solver "auto" stands for, by shape and penalty.

    Many columns: conjugate gradients. Many more rows than a good sub-sample:
    sub-sampled Newton. Otherwise: Newton.
    """
    engine, p = objective.engine, objective.size
    if p > MANY_COLUMNS:
        return "newton-cg"
    if not engine.sparse and engine.rows >= 3 * sample_size(p):
        return "newton-subsample"
    return "newton-cholesky"


def sample_size(p: int) -> int:
    """Rows whose Hessian is a good guide for p coefficients."""
    return max(SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN * p)


def factor_judge(objective: PenalisedLogistic) -> Judge:
    """The bound from a factor; the columns' ranges are known after the first evaluation."""
    measure = cache(lambda: yardsticks(objective)[0])

    def judge(evaluation: Evaluation, factor: Factor) -> float:
        return measure().bound(evaluation, factor, ALLOWANCE)

    return judge


def iterative_judge(objective: PenalisedLogistic) -> IterativeJudge:
    """The bound from a direction and its image."""
    measure = cache(lambda: yardsticks(objective)[1])

    def judge(evaluation: Evaluation, step: Vector, image: Vector) -> float:
        return measure().bound(evaluation, step, image, ALLOWANCE)

    return judge


def solve(
    objective: PenalisedLogistic,
    solver: str,
    start: Vector | None,
    tol: float,
    max_iter: int,
    seed: int,
    trace: Trace,
) -> Solved:
    """Minimise the objective from a raw starting point (zero, if None)."""
    engine, p = objective.engine, objective.size
    solver = choose(objective) if solver == "auto" else solver
    begin = np.zeros(p) if start is None else objective.shifted_point(start)
    work = engine.rows * engine.entries_per_row * p
    extra = 6 if work < SMALL_WORK else 1
    no_loss = 0.6931 * engine.smallest_weight if objective.strength == 0.0 else 0.0
    patience = Patience(tol, max_iter, extra, trace, objective, no_loss)
    if solver == "newton-cg":
        patience.extra = extra if extra > 1 else 0  # its steps are not quadratic: no free one
        outcome = newton_cg(objective, begin, iterative_judge(objective), patience, limit=250)
        if outcome.stop is Stop.STALLED and p <= LARGEST_HESSIAN:
            return _solve_by_cholesky(objective, outcome.evaluation.point, patience)
        assert outcome.direction is not None
        direction = objective.raw_point(outcome.direction)
        return Solved(outcome, objective.raw_point(outcome.evaluation.point), direction=direction)
    if solver == "newton-subsample":
        return _solve_subsampled(objective, begin, start is not None, patience, seed)
    return _solve_by_cholesky(objective, begin, patience)


def _solve_by_cholesky(objective: PenalisedLogistic, begin: Vector, patience: Patience) -> Solved:
    if objective.strength == 0.0:
        return _solve_unpenalised(objective, begin, patience)
    outcome = newton(objective, begin, factor_judge(objective), patience)
    return Solved(outcome, objective.raw_point(outcome.evaluation.point))


def _solve_subsampled(
    objective: PenalisedLogistic, begin: Vector, started: bool, patience: Patience, seed: int
) -> Solved:
    engine = objective.engine
    sample = engine.sample(min(sample_size(objective.size), engine.rows), seed)
    small = PenalisedLogistic(sample, objective.constant, objective.strength, objective.shift)
    if not started:
        quiet = Patience(1e-3 * objective.size / sample.rows, 50, 0, Trace(), small)
        tiny = engine.sample(min(sample.rows // 8, engine.rows), seed + 1)
        first = PenalisedLogistic(tiny, objective.constant, objective.strength, objective.shift)
        rough = Patience(1e-2, 20, 0, Trace(), first)
        begin = newton(first, begin, factor_judge(first), rough).evaluation.point
        begin = newton(small, begin, factor_judge(small), quiet).evaluation.point
    outcome = subsampled_newton(
        objective, small, small.weight / objective.weight, begin, factor_judge(objective), patience
    )
    return Solved(outcome, objective.raw_point(outcome.evaluation.point))


def _solve_unpenalised(objective: PenalisedLogistic, begin: Vector, patience: Patience) -> Solved:
    """Maximum likelihood: columns that depend on others are found first and set aside.

    At zero all rows have the same curvature, so dependence there is dependence of
    the columns themselves. The answer is then moved, without changing any score, to
    the one of least ‖w‖.
    """
    judge = factor_judge(objective)
    at_zero = objective.evaluate(np.zeros(objective.size), curvature=True)
    assert at_zero.hessian is not None
    keep = independent(at_zero.hessian, last_first=objective.constant)
    if len(keep) == objective.size:
        start = at_zero if not begin.any() else begin
        outcome = newton(objective, start, judge, patience)
        return Solved(outcome, objective.raw_point(outcome.evaluation.point))
    begin = np.where(np.isin(np.arange(objective.size), keep), begin, 0.0)
    outcome = newton(objective, begin, judge, patience, keep)
    null = null_vectors(at_zero.hessian, keep)
    raw = objective.raw_point(outcome.evaluation.point)
    columns = objective.engine.columns_count
    directions = np.column_stack([objective.raw_point(vector) for vector in null.T])
    amount = np.linalg.lstsq(directions[:columns], raw[:columns], rcond=None)[0]
    raw = raw - directions @ amount
    final = objective.evaluate(objective.shifted_point(raw))
    factor = outcome.factor
    bound = float("inf") if factor is None else judge(final, factor)
    return Solved(Outcome(final, factor, bound, outcome.stop), raw, keep, directions)
