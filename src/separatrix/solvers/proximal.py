"""Proximal Newton: smooth losses with an L1 penalty.

At a point w the smooth part is replaced by its quadratic model and

    ⟨g, d⟩ + dᵀHd/2 + Σⱼ αⱼ|wⱼ + dⱼ|

is minimised by coordinate descent on the matrix H, which reads no data. The step is
halved until the objective falls by a share of what the model promised. Near the
minimum the support no longer changes and steps converge quadratically.

With many columns only a **working set** is looked at: the support and the columns whose
gradient exceeds the penalty the most. The set is solved, the gradient of all columns
taken once, and the set enlarged, until the gap over all columns is small.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import Matrix, Vector
from separatrix.core.factor import factorise, nudged
from separatrix.core.protocols import Evaluation, Objective
from separatrix.core.stop import Stop
from separatrix.solvers.outcome import Outcome, Patience

SparseJudge = Callable[[Evaluation], float]
"""A bound on the distance from the minimum, L1 part included, at an evaluated point."""

MOST_IN_VAIN = 3
"""Bounds that may fail to halve the best one, though no step promises anything, before the solver gives up."""

SWEEPS = 30
"""Sweeps of coordinate descent between two attempts to solve on the support exactly."""

ROUNDS = 60

LOOSEST = 1e150
"""A tolerance whose square is a float."""


@dataclass(frozen=True, slots=True)
class Model:
    """The quadratic model's best step and the fall of the objective it promises."""

    step: Vector
    promise: float


def penalised_value(evaluation: Evaluation, alpha: Vector) -> float:
    """The objective with its L1 part."""
    return evaluation.value + float(alpha @ np.abs(evaluation.point))


def model_step(here: Evaluation, alpha: Vector, tol: float) -> Model:
    """The model's minimiser: coordinate descent finds the support, a linear system the values.

    Coordinate descent alone crawls along narrow valleys, which collinear columns make.
    Once it has a support and signs, the best point on that face solves a linear
    system; if a sign would change on the way there, the coordinate stops at zero and
    descent goes on. Done when no coordinate can gain more than ``tol``.
    """
    hessian = np.ascontiguousarray(here.hessian)
    point, slope = here.point.copy(), here.gradient.copy()
    for _ in range(ROUNDS):
        step = kernels.descend_quadratic(hessian, slope, point, alpha, tol, SWEEPS)
        point = point + step
        slope = here.gradient + hessian @ (point - here.point)
        if _coordinate_gain(hessian, slope, point, alpha) <= tol:
            break
        move = _face_step(hessian, slope, point, alpha)
        if move is None:
            continue
        point = move
        slope = here.gradient + hessian @ (point - here.point)
        if _coordinate_gain(hessian, slope, point, alpha) <= tol:
            break
    step = point - here.point
    fall = float(here.gradient @ step) + float(alpha @ (np.abs(point) - np.abs(here.point)))
    return Model(step, min(fall, 0.0))


def _coordinate_gain(hessian: Matrix, slope: Vector, point: Vector, alpha: Vector) -> float:
    """The most that moving one coordinate could still lower the model, all added up."""
    curvature = hessian.diagonal()
    at_zero = np.maximum(np.abs(slope) - alpha, 0.0)
    violation = np.where(point != 0.0, np.abs(slope + alpha * np.sign(point)), at_zero)
    return float(np.sum(np.square(violation)[curvature > 0] / curvature[curvature > 0]))


def _face_step(hessian: Matrix, slope: Vector, point: Vector, alpha: Vector) -> Vector | None:
    """The best point on the face of the present signs, or where the first sign changes."""
    support = np.flatnonzero((point != 0.0) | (alpha == 0.0))
    if not len(support):
        return None
    sign = np.sign(point[support])
    factor = factorise(hessian, point, support) or nudged(hessian, point, support)
    full = np.zeros_like(point)
    full[support] = slope[support] + alpha[support] * sign
    move = -factor.solve(full)[support]
    crossing = (alpha[support] > 0) & (sign * (point[support] + move) < 0)
    length, stopped = 1.0, None
    if crossing.any():
        lengths = -point[support][crossing] / move[crossing]
        stopped = support[crossing][int(lengths.argmin())]
        length = float(lengths.min())
    moved = point.copy()
    moved[support] += length * move
    if stopped is not None:
        moved[stopped] = 0.0
    return moved


def proximal_newton(
    objective: Objective,
    alpha: Vector,
    start: Vector,
    judge: SparseJudge,
    patience: Patience,
    most_slow: float = math.inf,
) -> Outcome:
    """Minimise the objective plus Σ αⱼ|wⱼ| (αⱼ = 0 leaves a coordinate free).

    Near the minimum it gives up after ``most_slow`` steps in a row of which none promises less than half of what the
    last one did: then a Hessian that is singular in floats had to be nudged, and whoever has better sums should go on.
    """
    here = objective.evaluate(start, curvature=True)
    before: Outcome | None = None
    fall, wary, in_vain, slow = 1.0, False, 0, 0
    while True:
        value = penalised_value(here, alpha)
        target = patience.tol * min(value, 1.0)
        # a gap is of first order in the error where the objective is of second
        model = model_step(here, alpha, 1e-4 * min(max(target, fall), LOOSEST) ** 2)
        slow = slow + 1 if 0.5 * fall < -model.promise < 1e-2 * value else 0
        fall = -model.promise
        # a gap costs two passes: the bound is looked at when the model says that it may be small
        near = -model.promise <= max(1e-4 * target, 1e-15 * value)
        bound = judge(here) if near else math.inf
        stop = patience.judge_value(here, value, bound)
        outcome = Outcome(here, None, bound, stop or Stop.STALLED)
        helped = before is None or bound < 0.5 * before.bound
        in_vain = in_vain + 1 if near and not helped else 0
        if before is None or bound < 2.0 * before.bound or math.isinf(before.bound):
            before = outcome  # at the floor gaps differ by rounding alone: the later point is the better one
        if stop is not None:
            if math.isinf(before.bound):
                before = Outcome(here, None, judge(here), stop)
            return Outcome(before.evaluation, None, before.bound, stop)
        found = None
        if in_vain < MOST_IN_VAIN and slow < most_slow:
            found, wary = _shorten(objective, here, model, alpha, value, wary)
        if found is None:
            if not near:
                bound = judge(here)
                before = Outcome(here, None, bound, Stop.STALLED) if bound <= before.bound else before
            met = before.bound <= patience.tol * min(value, 1.0)
            return Outcome(before.evaluation, None, before.bound, Stop.FLOOR if met else Stop.STALLED)
        here = found


def _shorten(
    objective: Objective, here: Evaluation, model: Model, alpha: Vector, value: float, wary: bool
) -> tuple[Evaluation | None, bool]:
    """The first of the step, its half, its quarter … that helps, and whether it was shortened.

    ``wary``: the last step had to be shortened, so lengths are tried without the Hessian,
    which is then taken once at the point that is accepted.
    """
    length, noise = 1.0, 1e-15 * abs(value)
    if not (np.abs(model.step) > 1e-15 * np.abs(here.point).max(initial=0.0)).any():
        return None, False
    while length > 2.0**-40:
        point = here.point + length * model.step
        trial = objective.evaluate(point, curvature=not wary)
        enough = value + 1e-4 * length * model.promise + noise
        if math.isfinite(trial.value) and penalised_value(trial, alpha) <= enough:
            return (objective.evaluate(point, curvature=True) if wary else trial), length < 1.0
        length *= 0.5
        wary = True
    return None, True
