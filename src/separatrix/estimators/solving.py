"""Which solver takes which problem, and running it."""

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import refuse
from separatrix.core.factor import Factor, independent
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.estimators.problem import DEPENDENCE, about_a_typical_row, null_directions, yardsticks
from separatrix.estimators.sharp import is_small
from separatrix.estimators.tilting import SparseJudge, polished
from separatrix.solvers.newton import newton
from separatrix.solvers.newton_cg import IterativeJudge, newton_cg
from separatrix.solvers.outcome import Judge, Outcome, Patience
from separatrix.solvers.proximal import proximal_newton
from separatrix.solvers.subsampled import subsampled_newton
from separatrix.solvers.working_set import working_set
from separatrix.terms.penalised import PenalisedLoss

ALLOWANCE = 3.0
"""Rounding allowed for in a claim, so that a recomputation in any order stays below it."""

MARGIN = 1.0 + 1e-6
"""A claim is this much looser than what was computed, so that the last digits do not decide."""

MANY_COLUMNS = 1500
"""Beyond so many coefficients the Hessian is not formed."""

MANY_SOFTMAX_COLUMNS = 200
"""The same for softmax, whose Hessian costs the square of the number of classes."""

LARGEST_HESSIAN = 4000
"""Up to so many coefficients a Hessian is formed when nothing else proves the result."""

DIRECT_DENSE_COLUMNS = 200
DIRECT_SPARSE_COLUMNS = 1000
"""Up to so many coefficients an L1 fit works on all at once; beyond, on working sets."""

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
    """The outcome with the point in raw coordinates and what is not identified.

    ``dual``, ``way``, ``typical`` and ``anchor`` say how the bound is proved, if not by the curvature at the point.
    """

    outcome: Outcome
    raw: Vector
    keep: Positions | None = None
    null: Matrix | None = None
    direction: Vector | None = None
    shift: Vector | None = None
    dual: bool = False
    anchor: Vector | None = None
    way: int | None = None
    typical: bool = False


def choose(objective: PenalisedLoss) -> str:
    """The solver "auto" stands for, by shape and penalty.

    Many columns: conjugate gradients. Many more rows than a good sub-sample:
    sub-sampled Newton. Otherwise: Newton.
    """
    engine, p = objective.engine, objective.size
    if p > MANY_COLUMNS or (objective.outputs > 1 and p > MANY_SOFTMAX_COLUMNS and objective.strength > 0.0):
        return "newton-cg"
    if not engine.sparse and objective.outputs == 1 and engine.rows >= 3 * sample_size(p):
        return "newton-subsample"
    return "newton-cholesky"


def sample_size(p: int) -> int:
    """Rows whose Hessian is a good guide for p coefficients."""
    return max(SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN * p)


def factor_judge(objective: PenalisedLoss) -> Judge:
    """The bound from a factor; the columns' ranges are known after the first evaluation."""
    measure = cache(lambda: yardsticks(objective)[0])

    def judge(evaluation: Evaluation, factor: Factor) -> float:
        return measure().bound(evaluation, factor, ALLOWANCE) * MARGIN

    return judge


def iterative_judge(objective: PenalisedLoss) -> IterativeJudge:
    """The bound from a direction and its image."""
    measure = cache(lambda: yardsticks(objective)[1])

    def judge(evaluation: Evaluation, step: Vector, image: Vector) -> float:
        return measure().bound(evaluation, step, image, ALLOWANCE)

    return judge


def solve(
    objective: PenalisedLoss,
    alpha: float,
    solver: str,
    start: Vector | None,
    tol: float,
    max_iter: int,
    seed: int,
    trace: Trace,
) -> Solved:
    """Minimise the objective, with α‖w‖₁ added, from a raw starting point (zero, if None)."""
    engine, p = objective.engine, objective.size
    begin = np.zeros(p) if start is None else objective.shifted_point(start)
    work = engine.rows * engine.entries_per_row * p * objective.outputs
    extra = 6 if work < (SMALL_WORK if alpha == 0.0 else 1e-2 * SMALL_WORK) else 1
    unpenalised = objective.strength == 0.0 and alpha == 0.0
    no_loss = 0.6931 * engine.smallest_weight if unpenalised else 0.0
    patience = Patience(tol, max_iter, extra, trace, objective, no_loss)
    if alpha > 0.0:
        patience.extra = extra if extra > 1 else 0
        return _solve_with_l1(objective, alpha, class_shares(objective) if start is None else start, patience)
    solver = choose(objective) if solver == "auto" else solver
    if solver == "newton-cg":
        patience.extra = extra if extra > 1 else 0  # its steps are not quadratic: no free one
        outcome = newton_cg(objective, begin, iterative_judge(objective), patience, limit=250)
        if outcome.stop is Stop.STALLED and p <= LARGEST_HESSIAN:
            return _solve_by_cholesky(objective, outcome.evaluation.point, patience)
        return proved_by_direction(objective, outcome)
    if solver == "newton-subsample":
        return solve_subsampled(objective, begin, start is not None, patience, seed)
    return _solve_by_cholesky(objective, begin, patience)


def proved_by_direction(objective: PenalisedLoss, outcome: Outcome) -> Solved:
    """The outcome of conjugate gradients, its bound computed anew as ``verify`` will."""
    assert outcome.direction is not None
    here = outcome.evaluation
    if objective.prepared is not here.point:
        here = objective.prepare_products(here.point)
    direction = objective.shifted_point(objective.centred(objective.raw_point(outcome.direction)))
    bound = iterative_judge(objective)(here, direction, objective.product(direction)) * MARGIN
    return Solved(
        replace(outcome, bound=bound),
        objective.centred(objective.raw_point(here.point)),
        direction=objective.raw_point(direction),
        shift=objective.shift,
    )


def class_shares(objective: PenalisedLoss) -> Vector:
    """No weights, and the intercepts that give each class its share: the answer if the penalty is strong."""
    point = np.zeros(objective.size)
    if objective.constant:
        engine = objective.engine
        logs = np.log(np.bincount(engine.codes, engine.weights, minlength=max(objective.outputs, 2)))
        point.reshape(objective.outputs, -1)[:, -1] = (
            logs[1] - logs[0] if objective.outputs == 1 else logs - logs.mean()
        )
    return point


def _solve_with_l1(objective: PenalisedLoss, alpha: float, raw: Vector, patience: Patience) -> Solved:
    """From (w, b); a table of sparse rows that is small is written out if columns far from zero hinder the fit."""
    engine = objective.engine
    penalties = np.full((objective.outputs, objective.size // objective.outputs), alpha)
    if objective.constant:
        penalties[:, -1] = 0.0
    begin = objective.shifted_point(raw)
    few = DIRECT_SPARSE_COLUMNS if engine.sparse or objective.outputs > 1 else DIRECT_DENSE_COLUMNS
    judge = SparseJudge(objective, alpha, patience.tol)
    if objective.size <= few:
        outcome = proximal_newton(objective, penalties.ravel(), begin, judge, patience)
    else:

        def judge_of(part: PenalisedLoss, tol: float) -> SparseJudge:
            return judge if part is objective else SparseJudge(part, alpha, tol)

        outcome = working_set(objective, penalties.ravel(), begin, judge_of, patience)
    outcome = polished(judge, outcome)
    met = outcome.bound <= patience.tol * min(judge.value(outcome.evaluation), 1.0)
    if not met and engine.sparse and is_small(objective) and outcome.stop is not Stop.ASKED:
        dense = about_a_typical_row(objective)
        again = Patience(patience.tol, patience.max_passes, patience.extra, patience.trace, dense)
        return _solve_with_l1(dense, alpha, raw, again)
    point = outcome.evaluation.point
    proof = judge.proof_at(point)
    way, typical = None if proof is None else proof.way, bool(objective.shift.any())
    return Solved(outcome, objective.centred(objective.raw_point(point)), dual=True, way=way, typical=typical)


def _solve_by_cholesky(objective: PenalisedLoss, begin: Vector, patience: Patience) -> Solved:
    if objective.strength == 0.0:
        return _solve_unpenalised(objective, begin, patience)
    outcome = newton(objective, begin, factor_judge(objective), patience)
    return Solved(outcome, objective.centred(objective.raw_point(outcome.evaluation.point)))


def solve_subsampled(objective: PenalisedLoss, begin: Vector, started: bool, patience: Patience, seed: int) -> Solved:
    """Sub-sampled Newton; unless ``started``, smaller samples first find where to begin."""
    engine = objective.engine
    sample = engine.sample(min(sample_size(objective.size) // objective.outputs, engine.rows), seed)
    small = replace(objective, engine=sample, ranges=None, passes=0)
    if not started:
        quiet = Patience(1e-3 * objective.size / sample.rows, 50, 0, Trace(), small)
        tiny = engine.sample(min(sample.rows // 8, engine.rows), seed + 1)
        first = replace(objective, engine=tiny, ranges=None, passes=0)
        rough = Patience(1e-2, 20, 0, Trace(), first)
        begin = newton(first, begin, factor_judge(first), rough).evaluation.point
        begin = newton(small, begin, factor_judge(small), quiet).evaluation.point
    outcome = subsampled_newton(
        objective, small, small.weight / objective.weight, begin, factor_judge(objective), patience
    )
    return Solved(outcome, objective.centred(objective.raw_point(outcome.evaluation.point)))


def _solve_unpenalised(objective: PenalisedLoss, begin: Vector, patience: Patience) -> Solved:
    """Maximum likelihood: columns that depend on others are found first and set aside.

    At zero all rows have the same curvature, so dependence there is dependence of
    the columns themselves. The answer is then moved, without changing any score, to
    the one of least ‖w‖.
    """
    judge = factor_judge(objective)
    single = objective if objective.outputs == 1 else replace(objective, outputs=1)
    at_zero = single.evaluate(np.zeros(single.size), curvature=True)
    gram = at_zero.hessian
    assert gram is not None
    independent_ones = independent(gram, last_first=objective.constant)
    if len(independent_ones) == single.size:
        start = at_zero if single is objective and not begin.any() else begin
        outcome = newton(objective, start, judge, patience)
        return Solved(outcome, objective.centred(objective.raw_point(outcome.evaluation.point)))
    if not len(independent_ones):
        refuse("Every column is zero and there is no intercept: no weight matters.", "set fit_intercept=True.")
    keep = np.concatenate([independent_ones + k * single.size for k in range(objective.outputs)])
    begin = np.where(np.isin(np.arange(objective.size), keep), begin, 0.0)
    outcome = newton(objective, begin, judge, patience, keep)
    directions = null_directions(single, gram, independent_ones)
    if single.dependence(directions) > DEPENDENCE:
        raw = objective.centred(objective.raw_point(outcome.evaluation.point))
        return Solved(replace(outcome, bound=math.inf, stop=Stop.DEPENDENT), raw)
    columns = objective.engine.columns_count
    rows = objective.centred(objective.raw_point(outcome.evaluation.point)).reshape(objective.outputs, -1)
    amount = np.linalg.lstsq(directions[:columns], rows[:, :columns].T, rcond=None)[0]
    raw = (rows - (directions @ amount).T).ravel()
    final = objective.evaluate(objective.shifted_point(raw))
    factor = outcome.factor
    bound = float("inf") if factor is None else judge(final, factor)
    return Solved(Outcome(final, factor, bound, outcome.stop), raw, keep, directions[:columns])
