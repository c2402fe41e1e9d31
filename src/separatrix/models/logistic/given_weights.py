"""The certificate of any weights, whoever found them."""

import math
from dataclasses import replace

import numpy as np

from separatrix.certificates.anchored import anchored_bound
from separatrix.core.arrays import Vector
from separatrix.core.certificate import ALLOWANCE, MARGIN
from separatrix.core.factor import Factor, factorise
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.models.aliasing import aliasing
from separatrix.models.logistic.choice import MANY_COLUMNS, choose
from separatrix.models.logistic.fitting import (
    LARGEST_HESSIAN,
    Solved,
    factor_judge,
    iterative_judge,
    proved_by_direction,
    solve_subsampled,
)
from separatrix.models.logistic.l1_bounds import SparseJudge
from separatrix.models.logistic.problem import gaps_at
from separatrix.models.logistic.proof import coordinates, measure
from separatrix.solvers.newton import newton
from separatrix.solvers.newton_cg import newton_cg
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.terms.penalised import PenalisedLoss

MOST_PRODUCTS = 100

MOST_STEPS = 8
NEAR = 1e-3
"""Newton steps to an anchor: at most so many, and no more once its own bound is this share of F."""


def certified(objective: PenalisedLoss, alpha: float, raw: Vector, tol: float, stop: Stop) -> Solved:
    """F at (w, b), and how far it is from F* at most.

    With an L1 part by its own bounds (see ``l1_bounds``). Else from the gradient and the Hessian; where that proves
    nothing, far from the minimum, by a few Newton steps to an anchor that is near it; failing that, or with too many
    columns for a Hessian, by the duality gap if there is a penalty. Otherwise the bound is infinite.
    """
    raw = objective.centred(raw)
    if alpha > 0.0:
        return _with_l1(objective, alpha, raw, tol, stop)
    solved = _by_curvature(objective, raw, tol, stop)
    if math.isinf(solved.outcome.bound) and objective.strength > 0.0:
        return _by_gap(objective, raw, stop)
    return solved


def _with_l1(objective: PenalisedLoss, alpha: float, raw: Vector, tol: float, stop: Stop) -> Solved:
    evaluation = objective.evaluate(objective.shifted_point(raw), curvature=objective.size <= MANY_COLUMNS)
    proof = SparseJudge(objective, alpha, tol).prove(evaluation, final=True)
    here = Outcome(evaluation, None, proof.bound, stop)
    return Solved(here, raw, dual=True, way=proof.way, typical=bool(objective.shift.any()))


def _by_gap(objective: PenalisedLoss, raw: Vector, stop: Stop) -> Solved:
    evaluation = objective.evaluate(objective.shifted_point(raw))
    bound = gaps_at(objective, 0.0, raw, ALLOWANCE)[0].value * MARGIN
    return Solved(Outcome(evaluation, None, bound, stop), raw, dual=True)


def _by_curvature(objective: PenalisedLoss, raw: Vector, tol: float, stop: Stop) -> Solved:
    point = objective.shifted_point(raw)
    solver = choose(objective)
    if solver == "led-steps":
        solver = "newton-cg"
    if solver == "quasi-newton":
        solver = "newton-cg" if objective.size > MANY_COLUMNS else "newton-cholesky"
    if solver == "newton-cg" and (objective.strength > 0.0 or objective.size > LARGEST_HESSIAN):
        quiet = Patience(tol, 1, 0, Trace(), objective)
        found = newton_cg(objective, point, iterative_judge(objective), quiet, limit=MOST_PRODUCTS)
        solved = proved_by_direction(objective, found)
        return replace(solved, outcome=replace(solved.outcome, stop=stop))
    if solver == "newton-subsample":
        there = solve_subsampled(objective, _nearer(objective, point), True, _to_anchor(objective), 0).outcome
        if math.isfinite(there.bound):
            return _anchored(objective, Outcome(objective.evaluate(point), None, math.inf, stop), there, raw)
    evaluation = objective.evaluate(point, curvature=True)
    assert evaluation.hessian is not None
    factor = factorise(evaluation.hessian, evaluation.point)
    if factor is not None:
        return _here_or_anchored(objective, evaluation, factor, raw, stop)
    if objective.strength == 0.0:
        return _of_dependent_columns(objective, evaluation, raw, stop)
    return Solved(Outcome(evaluation, None, math.inf, stop), raw)


def _of_dependent_columns(objective: PenalisedLoss, evaluation: Evaluation, raw: Vector, stop: Stop) -> Solved:
    """The claim is about columns that do not depend on others to rounding."""
    nothing = Solved(Outcome(evaluation, None, math.inf, stop), raw)
    found = aliasing(objective.engine, objective.constant)
    keep = coordinates(objective, found.keep)
    if not len(found.dropped) or not len(keep):
        return nothing
    assert evaluation.hessian is not None
    factor = factorise(evaluation.hessian, evaluation.point, keep)
    if factor is None:
        return nothing
    solved = _here_or_anchored(objective, evaluation, factor, raw, stop)
    return replace(solved, keep=keep, involved=found.involved)


def _here_or_anchored(
    objective: PenalisedLoss, evaluation: Evaluation, factor: Factor, raw: Vector, stop: Stop
) -> Solved:
    """The bound at the point itself or, where that is infinite, by an anchor."""
    judge = factor_judge(objective)
    here = Outcome(evaluation, factor, judge(evaluation, factor), stop)
    if math.isfinite(here.bound):
        return Solved(here, raw)
    begin = evaluation if evaluation.value <= _at_zero(objective) else np.zeros(objective.size)
    there = newton(objective, begin, judge, _to_anchor(objective), factor.keep)
    return Solved(here, raw) if math.isinf(there.bound) else _anchored(objective, here, there, raw)


def _anchored(objective: PenalisedLoss, here: Outcome, there: Outcome, raw: Vector) -> Solved:
    """What a bound at one point says of another."""
    anchor = objective.centred(objective.raw_point(there.evaluation.point))
    value, error = measure(objective, raw)
    anchor_value, anchor_error = measure(objective, anchor)
    bound = anchored_bound(value, anchor_value, there.bound, ALLOWANCE * (error + anchor_error)) * MARGIN
    return Solved(Outcome(replace(here.evaluation, value=value), None, bound, here.stop), raw, anchor=anchor)


def _to_anchor(objective: PenalisedLoss) -> Patience:
    return Patience(NEAR, MOST_STEPS, 0, Trace(), objective)


def _at_zero(objective: PenalisedLoss) -> float:
    return math.log(max(objective.outputs, 2))


def _nearer(objective: PenalisedLoss, point: Vector) -> Vector:
    """The point, or zero where that is better."""
    return point if objective.evaluate(point).value <= _at_zero(objective) else np.zeros(objective.size)
