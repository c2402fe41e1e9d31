"""The certificate of any weights, whoever found them."""

import math
from dataclasses import replace

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.factor import factorise, independent
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.estimators.problem import DEPENDENCE, null_directions
from separatrix.estimators.solving import (
    LARGEST_HESSIAN,
    DualJudge,
    Solved,
    choose,
    factor_judge,
    iterative_judge,
    proved_by_direction,
)
from separatrix.solvers.newton_cg import newton_cg
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.terms.penalised import PenalisedLoss

MOST_PRODUCTS = 100


def certified(objective: PenalisedLoss, alpha: float, raw: Vector, tol: float, stop: Stop) -> Solved:
    """F at (w, b), and how far it is from F* at most.

    With an L1 part the duality gap. Else from the gradient and the Hessian, which proves nothing far from the
    minimum; there, with an L2 penalty, the duality gap serves, which is finite everywhere. Without a penalty and
    far away the bound is infinite.
    """
    raw = objective.centred(raw)
    solved = _by_gap(objective, alpha, raw, stop) if alpha > 0.0 else _by_curvature(objective, raw, tol, stop)
    if math.isinf(solved.outcome.bound) and alpha == 0.0 and objective.strength > 0.0:
        return _by_gap(objective, alpha, raw, stop)
    return solved


def _by_gap(objective: PenalisedLoss, alpha: float, raw: Vector, stop: Stop) -> Solved:
    evaluation = objective.evaluate(objective.shifted_point(raw))
    bound = DualJudge(objective, alpha)(evaluation)
    return Solved(Outcome(evaluation, None, bound, stop), raw, dual=True)


def _by_curvature(objective: PenalisedLoss, raw: Vector, tol: float, stop: Stop) -> Solved:
    point = objective.shifted_point(raw)
    if choose(objective) == "newton-cg" and (objective.strength > 0.0 or objective.size > LARGEST_HESSIAN):
        quiet = Patience(tol, 1, 0, Trace(), objective)
        found = newton_cg(objective, point, iterative_judge(objective), quiet, limit=MOST_PRODUCTS)
        solved = proved_by_direction(objective, found)
        return replace(solved, outcome=replace(solved.outcome, stop=stop))
    evaluation = objective.evaluate(point, curvature=True)
    assert evaluation.hessian is not None
    factor = factorise(evaluation.hessian, evaluation.point)
    if factor is not None:
        return Solved(Outcome(evaluation, factor, factor_judge(objective)(evaluation, factor), stop), raw)
    if objective.strength == 0.0:
        return _of_dependent_columns(objective, evaluation, raw, stop)
    return Solved(Outcome(evaluation, None, math.inf, stop), raw)


def _of_dependent_columns(objective: PenalisedLoss, evaluation: Evaluation, raw: Vector, stop: Stop) -> Solved:
    """The claim is about columns that do not depend on others, if the rest do to nine digits."""
    nothing = Solved(Outcome(evaluation, None, math.inf, stop), raw)
    single = replace(objective, outputs=1, ranges=None)
    gram = single.evaluate(np.zeros(single.size), curvature=True).hessian
    assert gram is not None
    alone = independent(gram, last_first=objective.constant)
    if len(alone) in (0, single.size):
        return nothing
    keep = np.concatenate([alone + k * single.size for k in range(objective.outputs)])
    assert evaluation.hessian is not None
    factor = factorise(evaluation.hessian, evaluation.point, keep)
    directions = null_directions(single, gram, alone)
    if factor is None or single.dependence(directions) > DEPENDENCE:
        return nothing
    bound = factor_judge(objective)(evaluation, factor)
    columns = objective.engine.columns_count
    return Solved(Outcome(evaluation, factor, bound, stop), raw, keep, directions[:columns])
