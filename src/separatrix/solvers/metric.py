"""Newton's steps with an L1 penalty and a Hessian that may be of an earlier point.

A Hessian costs many passes, and changes little from step to step near the minimum. With that of an earlier point every
step multiplies the violation (see ``working_set``) by some ρ < 1; with a new one it is squared. So after each step
the passes that either way would still take are compared.

Once the support and the signs stay, the model's minimiser solves a linear system, and the factor of that serves as long
as the Hessian does.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.factor import Factor, factorise
from separatrix.core.protocols import Evaluation, Objective
from separatrix.solvers.proximal import Model, model_step, penalised_value

MOST_STEPS = 60
MOST_STALLED = 3
SHORTEST = 2.0**-40
ROUGH, FINE = 1e-2, 1e-4


@dataclass(slots=True)
class Metric:
    """A Hessian, if one was taken, and whether it is that of the point where the solver stands.

    ``price`` is what one costs, in passes; ``face`` a factor of it on the coordinates that were free last.
    """

    price: float
    hessian: Matrix | None = None
    exact: bool = False
    face: tuple[AnyArray, Factor] | None = None

    def renew(self, here: Evaluation) -> None:
        """Take the Hessian along, if the evaluation has one."""
        self.exact = here.hessian is not None
        if here.hessian is not None:
            self.hessian, self.face = here.hessian, None


def violations(here: Evaluation, alpha: Vector) -> Vector:
    """How far each slope is from that of a minimum."""
    slope, point = here.gradient, here.point
    beside = np.maximum(np.abs(slope) - alpha, 0.0)
    return np.where(point != 0.0, np.abs(slope + alpha * np.sign(point)), beside)


def violation(here: Evaluation, alpha: Vector) -> float:
    """The largest of them."""
    return float(violations(here, alpha).max(initial=0.0))


def descend(
    objective: Objective, alpha: Vector, here: Evaluation, metric: Metric, goal: float, last: bool
) -> Evaluation:
    """From an evaluated point to one whose violation is at most ``goal``, or where steps no longer help.

    Unless it is the ``last`` set, a Hessian that no longer serves is left to the next.
    """
    if metric.hessian is None:
        here = objective.evaluate(here.point, curvature=True)
        metric.renew(here)
    left, stalled = violation(here, alpha), 0
    for _ in range(MOST_STEPS):
        if left <= goal:
            break
        there = _lower(
            objective,
            here,
            _step(here, metric, alpha, goal, ROUGH if not last else FINE),
            alpha,
            curvature=metric.price <= 1.0,
        )
        if there is None:
            if metric.exact:
                break
            here = objective.evaluate(here.point, curvature=True)
            metric.renew(here)
            continue
        before, left = left, violation(there, alpha)
        here = there
        metric.renew(here)
        stalled = stalled + 1 if left > 0.5 * before else 0
        if stalled > MOST_STALLED and metric.exact:
            break
        if not last and left > 0.5 * before:
            break
        if left > goal and not metric.exact and _slow(left / before, left / goal, metric.price):
            here = objective.evaluate(here.point, curvature=True)
            metric.renew(here)
    return here


def _slow(ratio: float, above: float, price: float) -> bool:
    """Whether a new Hessian saves more passes than it costs."""
    steps = math.log(above) / -math.log(ratio) if ratio < 1.0 else math.inf
    return steps > price + 2.0


def _step(here: Evaluation, metric: Metric, alpha: Vector, goal: float, share: float) -> Model:
    """The model's step, to a hundredth of the violation there, and the fall that it promises."""
    assert metric.hessian is not None
    known = _face_step(here, metric, alpha)
    if known is not None:
        return known
    diagonal = metric.hessian.diagonal()
    usable = diagonal > 0.0
    gain = float(np.sum(np.square(violations(here, alpha)[usable]) / diagonal[usable]))
    least = 0.01 * goal * goal / float(diagonal.max(initial=1e-300))
    return model_step(replace(here, hessian=metric.hessian), alpha, max(share * gain, least))


def _face_step(here: Evaluation, metric: Metric, alpha: Vector) -> Model | None:
    """The model's minimiser if it has the support and the signs of the point."""
    assert metric.hessian is not None
    point, slope = here.point, here.gradient
    free = (point != 0.0) | (alpha == 0.0)
    if not free.any() or (np.abs(slope[~free]) > alpha[~free]).any():
        return None
    if metric.face is None or not np.array_equal(metric.face[0], free):
        factor = factorise(metric.hessian, point, np.flatnonzero(free).astype(np.int64))
        if factor is None:
            return None
        metric.face = (free, factor)
    sign = np.sign(point)
    step = -metric.face[1].solve(np.where(free, slope + alpha * sign, 0.0))
    there = point + step
    if (np.sign(there) != sign)[free & (alpha > 0.0)].any():
        return None
    after = slope + metric.hessian @ step
    if (np.abs(after[~free]) > alpha[~free]).any():
        return None
    return Model(step, min(float(slope @ step) + float(alpha @ (np.abs(there) - np.abs(point))), 0.0))


def _lower(objective: Objective, here: Evaluation, model: Model, alpha: Vector, curvature: bool) -> Evaluation | None:
    """The first of the step, its half, its quarter … that helps."""
    value = penalised_value(here, alpha)
    length, noise = 1.0, 1e-15 * abs(value)
    if not (np.abs(model.step) > 1e-16 * np.abs(here.point).max(initial=0.0)).any():
        return None
    while length > SHORTEST:
        there = objective.evaluate(here.point + length * model.step, curvature=curvature and length == 1.0)
        enough = value + 1e-4 * length * model.promise + noise
        if math.isfinite(there.value) and penalised_value(there, alpha) <= enough:
            return there
        length *= 0.5
    return None
