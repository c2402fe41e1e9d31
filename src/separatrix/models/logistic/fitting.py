"""Which solver takes which problem, and running it."""

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.certificate import ALLOWANCE, MARGIN
from separatrix.core.factor import Factor, factorise
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.models.logistic.choice import Choice, choice, sample_rows
from separatrix.models.logistic.curvature import Renewal
from separatrix.models.logistic.independence import looks_independent, rows_that_prove
from separatrix.models.logistic.prices import PASS, Prices
from separatrix.models.logistic.problem import MOST_ENTRIES, about_a_typical_row, yardsticks
from separatrix.models.logistic.quick_start import begin_quickly
from separatrix.solvers.newton import newton
from separatrix.solvers.newton_cg import IterativeJudge, newton_cg
from separatrix.solvers.outcome import Judge, Outcome, Patience
from separatrix.solvers.proximal import proximal_newton
from separatrix.solvers.quasi_newton import out_of_reach, quasi_newton
from separatrix.solvers.subsampled import subsampled_newton
from separatrix.solvers.working_set import Work, working_set
from separatrix.terms.penalised import PenalisedLoss

NEARLY_FREE = 2.0
"""A fit whose passes cost at most so many times their overhead takes one more step when the bound is met."""

IN_ROW_SPACE = 1e-3
"""Of the tolerance asked for, what a fit in the space of the rows is given: the bound is that of the whole."""

HAND_OVER = 0.25
"""Of the bound that the Hessian of some rows can prove, half the decrement where it takes over."""

LARGEST_HESSIAN = 4000
"""Up to so many coefficients a Hessian is formed when nothing else proves the result."""

MOST_PACKED = 2**29
"""Stored numbers of a table whose columns are packed: to read them all takes half a second, without an interrupt."""

DIRECT_DENSE_COLUMNS = 64
DIRECT_SPARSE_COLUMNS = 1000
"""Up to so many coefficients an L1 fit works on all at once; beyond, on working sets."""

SHARE_AT_ONCE = 8
"""This share of sparse columns joins a set at once: to pack them reads all, and a sweep reads the set alone."""

DENSE_RATE, SPARSE_RATE = 4.0, 0.5
"""Multiply-adds of a Hessian in the time of one of a pass."""

CALLS = 5e5
"""Multiply-adds in the time that a step takes beside its passes."""

ROUNDING_SHARE = 0.25
"""Of the bound asked for, what rounding may take where the Hessian of some rows is to prove it."""

MOST_SLOW = 10
"""Slow steps in a row after which an L1 fit of a small table turns to exact sums."""

SMALL_WORK = 2e8
"""Multiply-adds of a Hessian pass below which a fit runs on to the floor of rounding."""

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
    involved: Positions | None = None
    direction: Vector | None = None
    shift: Vector | None = None
    dual: bool = False
    anchor: Vector | None = None
    way: int | None = None
    typical: bool = False


def factor_judge(objective: PenalisedLoss) -> Judge:
    """The bound from a factor; the columns' ranges are known after the first evaluation."""
    measure = cache(lambda: yardsticks(objective)[0])

    def judge(evaluation: Evaluation, factor: Factor) -> float:
        return measure().bound(evaluation, factor, ALLOWANCE) * MARGIN

    return judge


def iterative_judge(objective: PenalisedLoss, tol: float = math.inf) -> IterativeJudge:
    """The bound from a direction and its image; infinite where it is surely above tol·min(F, 1)."""
    measure = cache(lambda: yardsticks(objective)[1])

    def judge(evaluation: Evaluation, step: Vector, image: Vector, asked: float = math.inf) -> float:
        return measure().bound(evaluation, step, image, ALLOWANCE, min(asked, tol * min(evaluation.value, 1.0)))

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
    small = work < (SMALL_WORK if alpha == 0.0 else 1e-2 * SMALL_WORK)
    if alpha == 0.0 and objective.outputs == 1 and objective.strength > 0.0:
        small = small and Prices(engine.rows, p, engine.entries_per_row, engine.sparse).reading <= NEARLY_FREE * PASS
    extra = 6 if small else 1
    unpenalised = objective.strength == 0.0 and alpha == 0.0
    no_loss = 0.6931 * engine.smallest_weight if unpenalised else 0.0
    patience = Patience(tol, max_iter, extra, trace, objective, no_loss)
    if alpha > 0.0:
        patience.extra = extra if extra > 1 else 0
        patience.fine = 1e-28  # the model's step is cheap, and weights that mirror each other should do so to the end
        return _solve_with_l1(objective, alpha, class_shares(objective) if start is None else start, patience)
    solved = _solve_smooth(objective, solver, begin, start is not None, patience, seed)
    met = solved.outcome.bound <= tol * min(solved.outcome.evaluation.value, 1.0)
    stalled = solved.outcome.stop in (Stop.STALLED, Stop.DEPENDENT)
    if not met and stalled and engine.sparse and engine.rows * p <= MOST_ENTRIES and p <= LARGEST_HESSIAN:
        # sparse rows cannot be shifted, and columns far from zero look dependent: few are written out
        dense = about_a_typical_row(objective)
        patience = Patience(tol, max_iter, extra, trace, dense, no_loss)
        again = _solve_by_cholesky(dense, np.zeros(p), patience)
        return replace(again, shift=dense.shift) if again.outcome.bound < solved.outcome.bound else solved
    return solved


def _solve_smooth(
    objective: PenalisedLoss, named: str, begin: Vector, started: bool, patience: Patience, seed: int
) -> Solved:
    """Minimise a smooth objective by the solver named, or by the one that fits its shape."""
    p, extra = objective.size, patience.extra
    if named == "quasi-newton":  # of many classes led by their means; the bound needs a penalty
        named = "newton-cholesky" if objective.strength == 0.0 else "led-steps" if objective.outputs > 1 else named
    begun = begin_quickly(objective, begin, patience, seed) if named == "auto" else None
    chosen = choice(objective) if named == "auto" else Choice(named)
    near = begun is not None and begun.near
    if begun is not None:
        begin = begun.point
        if begun.asked:
            from separatrix.models.logistic.given_weights import certified

            return certified(objective, 0.0, objective.raw_point(begin), patience.tol, Stop.ASKED)
        if near or begun.to_row_space:
            chosen = Choice("newton-cholesky" if begun.newton else "quasi-newton")
        if begun.to_conjugate:
            chosen = Choice("newton-cg")
    independent = named == "auto" and chosen.solver == "newton-subsample" and looks_independent(objective, seed)
    if independent:
        chosen = Choice("quasi-newton")
    solver = patience.trace.solver = chosen.solver
    patience.trace.reason = "asked for" if named != "auto" else chosen.reason
    if independent:
        patience.trace.reason = "columns look independent"
    if begun is not None:
        patience.trace.reason = "; led by ".join([f"{len(patience.trace)} quick passes", *begun.led_by])
    outcome: Outcome | None = None
    if solver == "led-steps":
        from separatrix.models.logistic.many_classes import lead_by_guides

        outcome = lead_by_guides(objective, begin, started, iterative_judge(objective, patience.tol), patience, seed)
    if solver == "quasi-newton":
        judge, presumed = iterative_judge(objective), math.sqrt(p / objective.engine.rows) if independent else None
        renewal = Renewal(objective, seed, patience=patience, presumed=presumed)
        patience.extra = int(not near and renewal.prices.one_pass <= NEARLY_FREE * PASS)
        to_row_space = begun is not None and begun.to_row_space
        if not to_row_space:
            known = begun.secants if near and begun is not None else None
            some = objective.engine.sample(rows_that_prove(objective), seed) if independent else objective.engine
            share = HAND_OVER * some.weight / objective.weight if independent else 0.0
            outcome = quasi_newton(objective, begin, judge, patience, 250, renewal, known, share)
            if independent and outcome.stop is Stop.STALLED:
                part, here = replace(objective, engine=some, ranges=None), outcome.evaluation
                outcome = subsampled_newton(
                    objective, part, part.weight / objective.weight, here.point, factor_judge(objective), patience, here
                )
                return _centred(objective, outcome)
            to_row_space = outcome.stop is Stop.STALLED and renewal.to_row_space
        if to_row_space:
            begin = _in_row_space(objective, patience.tol, seed)
            patience.trace.reason += "; then in the space of the rows"
            outcome = quasi_newton(objective, begin, judge, patience, 250, Renewal(objective, seed, True, patience))
        patience.trace.reason += "".join(f"; led by {each}" for each in renewal.taken)
    if outcome is not None:
        goal = patience.tol * min(outcome.evaluation.value, 1.0)
        if outcome.stop is Stop.STALLED and p <= LARGEST_HESSIAN and out_of_reach(outcome, goal):
            return _solve_by_cholesky(objective, outcome.evaluation.point, patience)
        if outcome.stop is not Stop.STALLED and math.isfinite(outcome.bound):
            return proved_by_direction(objective, outcome)
        if outcome.stop is not Stop.STALLED:  # ended from outside, far from the minimum
            from separatrix.models.logistic.given_weights import certified

            raw = objective.raw_point(outcome.evaluation.point)
            return certified(objective, 0.0, raw, patience.tol, outcome.stop)
        begin = outcome.evaluation.point
    if solver == "quasi-newton":
        solver = "newton-cg"
    if solver == "newton-cg":
        patience.extra = extra if extra > 1 else 0  # its steps are not quadratic: no free one
        outcome = newton_cg(objective, begin, iterative_judge(objective), patience, limit=250)
    if outcome is not None:
        if outcome.stop is Stop.STALLED and p <= LARGEST_HESSIAN:
            begin = objective.shifted_point(objective.centred(objective.raw_point(outcome.evaluation.point)))
            by_part = _solve_by_part(objective, replace(outcome.evaluation, point=begin), patience, seed)
            return by_part or _solve_by_cholesky(objective, begin, patience)
        return proved_by_direction(objective, outcome)
    if solver == "newton-subsample" and (objective.strength > 0.0 or _clearly_independent(objective)):
        return solve_subsampled(objective, begin, started, patience, seed)
    return _solve_by_cholesky(objective, begin, patience)


def _in_row_space(objective: PenalisedLoss, tol: float, seed: int) -> Vector:
    """The minimiser of the same problem in the space that the rows span; see ``row_space``."""
    from separatrix.models.logistic.row_space import RowSpace

    space = RowSpace(objective)
    quiet = Patience(IN_ROW_SPACE * tol, 1000, 0, Trace(), space.objective)
    begun = begin_quickly(space.objective, np.zeros(space.objective.size), quiet, seed)
    if begun is not None and begun.near:  # the proof is that of the whole
        return space.point(begun.point)
    inner = _solve_smooth(space.objective, "auto", np.zeros(space.objective.size), False, quiet, seed)
    return space.point(inner.outcome.evaluation.point)


def _clearly_independent(objective: PenalisedLoss) -> bool:
    """Whether a glance at some rows already shows that no column depends on others."""
    from separatrix.models.aliasing import clearly_independent

    some = objective.engine.sample(min(4 * objective.size + 1000, objective.engine.rows), 0)
    single = replace(objective, engine=some, outputs=1, ranges=None)
    gram = single.evaluate(np.zeros(single.size), curvature=True).hessian
    assert gram is not None
    return clearly_independent(gram)


def proved_by_direction(objective: PenalisedLoss, outcome: Outcome) -> Solved:
    """The outcome of conjugate gradients, its bound computed anew as ``verify`` will."""
    assert outcome.direction is not None
    here = outcome.evaluation
    raw = objective.centred(objective.raw_point(here.point))
    if not outcome.direction.any() and math.isfinite(outcome.bound):  # the gradient alone proves it
        solved = _centred(objective, replace(outcome, bound=outcome.bound * MARGIN))
        return replace(solved, direction=np.zeros_like(raw), shift=objective.shift)
    if objective.outputs > 1:
        # the point that the claim is about
        here = objective.prepare_products(objective.shifted_point(raw), diagonal=False)
    elif objective.prepared is not here.point:
        here = objective.prepare_products(here.point)
    direction = objective.shifted_point(objective.centred(objective.raw_point(outcome.direction)))
    bound = iterative_judge(objective)(here, direction, objective.product(direction)) * MARGIN
    return Solved(
        replace(outcome, evaluation=here, bound=bound),
        raw,
        direction=objective.raw_point(direction),
        shift=objective.shift,
    )


def class_shares(objective: PenalisedLoss) -> Vector:
    """No weights, and the intercepts that give each class its share: the answer if the penalty is strong."""
    point = np.zeros(objective.size)
    if objective.constant:
        logs = np.log(objective.engine.class_weights)
        point.reshape(objective.outputs, -1)[:, -1] = (
            logs[1] - logs[0] if objective.outputs == 1 else logs - logs.mean()
        )
    return point


def _solve_with_l1(objective: PenalisedLoss, alpha: float, raw: Vector, patience: Patience) -> Solved:
    """From (w, b); a table of sparse rows that is small is written out if columns far from zero hinder the fit."""
    from separatrix.models.logistic.l1_bounds import SparseJudge, polished
    from separatrix.models.logistic.sharp import is_small

    engine = objective.engine
    penalties = np.full((objective.outputs, objective.size // objective.outputs), alpha)
    if objective.constant:
        penalties[:, -1] = 0.0
    begin = objective.shifted_point(raw)
    few = DIRECT_SPARSE_COLUMNS if engine.sparse or objective.outputs > 1 else DIRECT_DENSE_COLUMNS
    judge = SparseJudge(objective, alpha, patience.tol)

    def judge_of(part: PenalisedLoss, tol: float) -> SparseJudge:
        return judge if part is objective else SparseJudge(part, alpha, tol)

    direct = objective.size <= few
    kept = not direct or (engine.sparse and objective.outputs == 1 and not is_small(objective))
    if kept:
        stored = engine.rows * engine.entries_per_row
        packed = engine.sparse and objective.outputs == 1 and not direct and stored <= MOST_PACKED
        packed = packed and engine.one_block
        problem = objective.on_columns() if packed else None
        at_once = engine.columns_count // SHARE_AT_ONCE if packed else columns_at_once(objective)
        work = Work(engine.rows, at_once, hessian_price, direct, problem)
        outcome = working_set(objective, penalties.ravel(), begin, judge_of, patience, work)
        goal = patience.tol * min(judge.value(outcome.evaluation), 1.0)
        if packed and outcome.stop is Stop.STALLED and not outcome.bound <= goal:  # collinear columns hold steps up
            begin = outcome.evaluation.point
            work = Work(engine.rows, columns_at_once(objective), hessian_price, direct)
            outcome = working_set(objective, penalties.ravel(), begin, judge_of, patience, work)
        outcome = polished(judge, outcome, patience)
    if not kept or (outcome.stop is Stop.STALLED and objective.size <= DIRECT_SPARSE_COLUMNS):
        begin = outcome.evaluation.point if kept else begin
        most_slow = MOST_SLOW if is_small(objective) else math.inf
        outcome = proximal_newton(objective, penalties.ravel(), begin, judge, patience, most_slow)
        outcome = polished(judge, outcome, patience)
        if outcome.stop is Stop.STALLED and math.isfinite(most_slow) and not engine.sparse:
            outcome = proximal_newton(objective, penalties.ravel(), outcome.evaluation.point, judge, patience)
            outcome = polished(judge, outcome, patience)
    met = outcome.bound <= patience.tol * min(judge.value(outcome.evaluation), 1.0)
    if not met and engine.sparse and is_small(objective) and outcome.stop is Stop.STALLED:
        dense = about_a_typical_row(objective)
        again = Patience(patience.tol, patience.max_passes, patience.extra, patience.trace, dense)
        return _solve_with_l1(dense, alpha, raw, again)
    point = outcome.evaluation.point
    proof = judge.proof_at(point)
    way, typical = None if proof is None else proof.way, bool(objective.shift.any())
    return Solved(outcome, objective.centred(objective.raw_point(point)), dual=True, way=way, typical=typical)


def hessian_price(objective: PenalisedLoss) -> float:
    """What a Hessian costs, in passes: a multiply-add is quicker in a product of matrices than in a pass."""
    engine = objective.engine
    quicker = SPARSE_RATE if engine.sparse else DENSE_RATE
    return objective.outputs * engine.entries_per_row / (4.0 * quicker)


def columns_at_once(objective: PenalisedLoss) -> int:
    """Columns whose Hessian costs a quarter of a pass over all columns and of the calls that go with it."""
    engine = objective.engine
    quicker = SPARSE_RATE if engine.sparse else DENSE_RATE
    filled = engine.entries_per_row / engine.columns_count
    return int(math.sqrt(quicker * (engine.entries_per_row + CALLS / engine.rows)) / filled)


def _solve_by_cholesky(objective: PenalisedLoss, begin: Vector, patience: Patience) -> Solved:
    if objective.strength == 0.0:
        from separatrix.models.logistic.maximum_likelihood import maximise_likelihood

        return maximise_likelihood(objective, begin, patience)
    outcome = newton(objective, begin, factor_judge(objective), patience)
    solved = _centred(objective, outcome)
    if outcome.bound <= patience.tol * min(outcome.evaluation.value, 1.0):
        return solved
    from separatrix.models.logistic.maximum_likelihood import sharpened

    return sharpened(objective, solved, patience)


def solve_subsampled(objective: PenalisedLoss, begin: Vector, started: bool, patience: Patience, seed: int) -> Solved:
    """Sub-sampled Newton; unless ``started``, smaller samples first find where to begin."""
    engine = objective.engine
    sample = engine.sample(min(sample_rows(objective), engine.rows), seed)
    small = replace(objective, engine=sample, ranges=None)
    if not started:
        quiet = Patience(1e-3 * objective.size / sample.rows, 50, 0, Trace(), small)
        tiny = engine.sample(min(sample.rows // 8, engine.rows), seed + 1)
        first = replace(objective, engine=tiny, ranges=None)
        rough = Patience(1e-2, 20, 0, Trace(), first)
        begin = newton(first, begin, factor_judge(first), rough).evaluation.point
        begin = newton(small, begin, factor_judge(small), quiet).evaluation.point
    outcome = subsampled_newton(
        objective, small, small.weight / objective.weight, begin, factor_judge(objective), patience
    )
    return _centred(objective, outcome)


def _solve_by_part(objective: PenalisedLoss, here: Evaluation, patience: Patience, seed: int) -> Solved | None:
    """From near the minimum of many classes by the Hessian of as many rows as prove it in spite of rounding."""
    if objective.outputs == 1 or objective.strength == 0.0:
        return None
    from separatrix.models.logistic.some_rows import parts

    judge, begin = factor_judge(objective), here.point
    still = replace(here, gradient=np.zeros_like(begin))
    for part in parts(objective, seed):
        hessian, share = part.evaluate(begin, curvature=True).hessian, part.weight / objective.weight
        assert hessian is not None
        factor = factorise(hessian, begin, share=share)
        if factor is not None and judge(still, factor) <= ROUNDING_SHARE * patience.tol * min(here.value, 1.0):
            patience.trace.reason += f"; then by the Hessian of {part.engine.rows} rows"
            return _centred(objective, subsampled_newton(objective, part, share, begin, judge, patience))
    return None


def _centred(objective: PenalisedLoss, outcome: Outcome) -> Solved:
    """The outcome with the classes' weights summing to zero, and F as it is there: steps drift by rounding."""
    here = outcome.evaluation
    raw = objective.raw_point(here.point)
    here = replace(here, value=here.value - objective.uncentred(raw))
    return Solved(replace(outcome, evaluation=here), objective.centred(raw))
