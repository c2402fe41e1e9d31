"""Maximum likelihood: columns that depend on others set aside, Newton's steps on the rest, the answer of least norm.

Dependent columns leave a whole space of weights with the same scores. The claim is about the weights of the columns
kept; the answer given is the one of least ‖w‖, which does not depend on which columns were kept, and of equal columns
gives each the same weight. Moving there changes scores by the rounding to which the columns depend on each other: the
bound is computed there anew, and where rounding was that of float32 a few sharp steps on the kept columns mend it.
"""

import math
from dataclasses import replace

import numpy as np

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import refuse
from separatrix.core.factor import factorise
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.models.aliasing import Aliasing, aliasing, clearly_independent
from separatrix.models.logistic.fitting import Solved, factor_judge
from separatrix.models.logistic.proof import columns_kept, coordinates
from separatrix.models.logistic.sharp import SharpGround, is_small
from separatrix.solvers.newton import newton
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.terms.penalised import PenalisedLoss

PLAIN_PASSES = 30
"""Passes in plain floats before a small table is looked at more sharply."""

FIRST_STEPS = 5
SHARP_STEPS = 12
"""Sharp steps after plain ones have stalled: a few, and more if they prove that there is a minimum to reach."""


def maximise_likelihood(objective: PenalisedLoss, begin: Vector, patience: Patience) -> Solved:
    """Minimise a loss without penalty.

    At zero all rows have the same curvature, so the Hessian there is the columns' Gram matrix.
    """
    single = objective if objective.outputs == 1 else replace(objective, outputs=1)
    at_zero = single.evaluate(np.zeros(single.size), curvature=True)
    found = aliasing(objective.engine, objective.constant, at_zero.hessian)
    keep = coordinates(objective, found.keep) if len(found.dropped) else None
    if keep is not None and not len(keep):
        refuse("Every column is zero and there is no intercept: no weight matters.", "set fit_intercept=True.")
    start: Vector | Evaluation = at_zero if single is objective and not begin.any() else begin
    if keep is not None:
        start = np.where(np.isin(np.arange(objective.size), keep), begin, 0.0)
    most = patience.max_passes
    if is_small(objective):  # what plain steps do not reach soon they do not reach: the sharp ones come next
        patience.max_passes = min(PLAIN_PASSES, most)
    solved = _stepped(objective, start, keep, found, patience)
    unfinished = solved.outcome.stop is Stop.MAX_ITER and patience.max_passes < most
    patience.max_passes = most
    solved = sharpened(objective, solved, patience, unfinished)
    if unfinished and math.isinf(solved.outcome.bound):
        further = _stepped(objective, solved.outcome.evaluation.point, keep, found, patience)
        solved = sharpened(objective, further, patience)
    if math.isinf(solved.outcome.bound) and solved.outcome.stop in (Stop.STALLED, Stop.MAX_ITER):
        gram = at_zero.hessian
        assert gram is not None
        if not is_small(objective) and not clearly_independent(_part(gram, found, single)):
            return replace(solved, outcome=replace(solved.outcome, stop=Stop.DEPENDENT))
    return solved


def _part(gram: Matrix, found: Aliasing, single: PenalisedLoss) -> Matrix:
    kept = coordinates(single, found.keep)
    return gram[np.ix_(kept, kept)]


def _stepped(
    objective: PenalisedLoss, start: Vector | Evaluation, keep: Positions | None, found: Aliasing, patience: Patience
) -> Solved:
    """Newton's steps in plain floats, on the columns kept, and then the answer of least norm."""
    outcome = newton(objective, start, factor_judge(objective), patience, keep)
    raw = objective.centred(objective.raw_point(outcome.evaluation.point))
    if keep is None:
        return Solved(outcome, raw)
    return _proved_at(objective, least_norm(objective, found, raw), keep, outcome.stop, found)


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


def sharpened(objective: PenalisedLoss, solved: Solved, patience: Patience, unfinished: bool = False) -> Solved:
    """The same fit, or a better one with a better proof where the plain bound is not met and the table is small.

    A fit whose passes ran out takes no more steps, unless it is ``unfinished`` and has some left.
    """
    outcome, tol = solved.outcome, patience.tol
    met = outcome.bound <= tol * min(outcome.evaluation.value, 1.0)
    if met or outcome.stop in (Stop.ASKED, Stop.SEPARATED) or not is_small(objective):
        return solved
    ground = SharpGround.of(objective, keep=columns_kept(objective, solved.keep))
    ran_out = outcome.stop is Stop.MAX_ITER and not unfinished
    standing = ground.descend(solved.raw, tol, 0 if ran_out else FIRST_STEPS)
    if not ran_out and tol * min(standing.average, 1.0) < standing.bound < math.inf:
        standing = ground.descend(standing.point, tol, SHARP_STEPS)
    if not standing.bound < outcome.bound:
        return solved
    final = objective.evaluate(objective.shifted_point(standing.point))
    final = replace(final, value=standing.average)  # to the last digit, as the bound is
    met = standing.bound <= tol * min(final.value, 1.0)
    stop = Stop.CERTIFIED if met else Stop.MAX_ITER if ran_out else Stop.STALLED
    norm = float(np.linalg.norm(objective.weights_of(final.point)))
    patience.trace.record(final.value, standing.bound, norm, final.mistakes, standing.point)
    return replace(solved, outcome=Outcome(final, None, standing.bound, stop), raw=standing.point)
