"""Maximum likelihood: columns that depend on others set aside, Newton's steps on the rest, the answer of least norm.

Dependent columns leave a whole space of weights with the same scores. The claim is about the weights of the columns
kept; the answer given is the one of least ‖w‖, which does not depend on which columns were kept, and of equal columns
gives each the same weight. Moving there changes scores by the rounding to which the columns depend on each other: the
bound is computed there anew, and where rounding was that of float32 a few sharp steps on the kept columns mend it.
"""

import math
from dataclasses import replace

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.errors import refuse
from separatrix.core.factor import factorise
from separatrix.core.stop import Stop
from separatrix.estimators.aliasing import Aliasing, aliasing
from separatrix.estimators.proving import columns_kept, coordinates
from separatrix.estimators.sharp import SharpGround, is_small
from separatrix.estimators.solving import Solved, factor_judge
from separatrix.solvers.newton import newton
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.terms.penalised import PenalisedLoss

SHARP_STEPS = 12
"""Sharp steps after plain ones have stalled; where classes are separated no number of them would do."""


def maximise_likelihood(objective: PenalisedLoss, begin: Vector, patience: Patience) -> Solved:
    """Minimise a loss without penalty.

    At zero all rows have the same curvature, so the Hessian there is the columns' Gram matrix.
    """
    single = objective if objective.outputs == 1 else replace(objective, outputs=1)
    at_zero = single.evaluate(np.zeros(single.size), curvature=True)
    found = aliasing(objective.engine, objective.constant, at_zero.hessian)
    if not len(found.dropped):
        start = at_zero if single is objective and not begin.any() else begin
        outcome = newton(objective, start, factor_judge(objective), patience)
        raw = objective.centred(objective.raw_point(outcome.evaluation.point))
        return sharpened(objective, Solved(outcome, raw), patience)
    keep = coordinates(objective, found.keep)
    if not len(keep):
        refuse("Every column is zero and there is no intercept: no weight matters.", "set fit_intercept=True.")
    begin = np.where(np.isin(np.arange(objective.size), keep), begin, 0.0)
    outcome = newton(objective, begin, factor_judge(objective), patience, keep)
    raw = least_norm(objective, found, objective.centred(objective.raw_point(outcome.evaluation.point)))
    return sharpened(objective, _proved_at(objective, raw, keep, outcome.stop, found), patience)


def least_norm(objective: PenalisedLoss, found: Aliasing, raw: Vector) -> Vector:
    """The weights of least ‖w‖ with the same scores."""
    columns = objective.engine.columns_count
    rows = raw.reshape(objective.outputs, -1)
    amount = np.linalg.lstsq(found.directions[:columns], rows[:, :columns].T, rcond=None)[0]
    return np.asarray((rows - (found.directions @ amount).T).ravel())


def _proved_at(objective: PenalisedLoss, raw: Vector, keep: Positions, stop: Stop, found: Aliasing) -> Solved:
    final = objective.evaluate(objective.shifted_point(raw), curvature=True)
    assert final.hessian is not None
    factor = factorise(final.hessian, final.point, keep)
    bound = math.inf if factor is None else factor_judge(objective)(final, factor)
    return Solved(Outcome(final, factor, bound, stop), raw, keep, involved=found.involved)


def sharpened(objective: PenalisedLoss, solved: Solved, patience: Patience) -> Solved:
    """The same fit, or a better one with a better proof where the plain bound is not met and the table is small."""
    outcome, tol = solved.outcome, patience.tol
    met = outcome.bound <= tol * min(outcome.evaluation.value, 1.0)
    if met or outcome.stop in (Stop.ASKED, Stop.SEPARATED) or not is_small(objective):
        return solved
    ground = SharpGround.of(objective, keep=columns_kept(objective, solved.keep))
    standing = ground.descend(solved.raw, tol, 0 if outcome.stop is Stop.MAX_ITER else SHARP_STEPS)
    if not standing.bound < outcome.bound:
        return solved
    final = objective.evaluate(objective.shifted_point(standing.point))
    met = standing.bound <= tol * min(final.value, 1.0)
    stop = Stop.CERTIFIED if met else Stop.MAX_ITER if outcome.stop is Stop.MAX_ITER else Stop.STALLED
    norm = float(np.linalg.norm(objective.weights_of(final.point)))
    patience.trace.record(final.value, standing.bound, norm, final.mistakes, standing.point)
    return replace(solved, outcome=Outcome(final, None, standing.bound, stop), raw=standing.point)
