"""Newton's steps with an L1 penalty on the columns of the data, without a Hessian.

The quadratic model at a point needs the rows' curvatures, which a pass over the rows gives in passing, and the columns
themselves: coordinate descent and conjugate gradients read them (``core.kernels.ColumnQuadratic``), at the price of
their stored numbers a sweep. Where rows store few numbers, or where there are hardly more of them than columns, that is
far less than the pairs of a Hessian and its factors cost. The curvature is that of every point, so that the last
steps are quadratic.
"""

import math
from typing import Protocol

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.protocols import Evaluation
from separatrix.solvers.metric import SHORTEST, violation, violations
from separatrix.solvers.proximal import penalised_value

MOST_STEPS = 60
MOST_READS = 3000.0
"""Times that a step may read its columns."""

ROUGH, FINE = 1e-2, 1e-4
"""The share of what coordinates can gain that a step may leave; the smaller one on the last set."""


class ColumnModel(Protocol):
    """The quadratic model of a loss, on columns."""

    def renew(self, curvature: Vector) -> Vector:
        """Take the rows' curvatures; returns those of the coordinates."""

    def minimise(self, gradient: Vector, point: Vector, penalty: Vector, tol: float, most_reads: float) -> Vector:
        """The step to the model's minimum."""


class WithRowCurvature(Protocol):
    """An objective of one output that keeps each row's curvature at the prepared point."""

    weight: float

    def prepare_products(self, point: Vector, diagonal: bool = True) -> Evaluation:
        """Evaluate, and keep it."""

    @property
    def row_curvature(self) -> Vector:
        """Each row's curvature times its weight."""


def descend_on_columns(
    objective: WithRowCurvature,
    alpha: Vector,
    here: Evaluation,
    curvature: Vector,
    model: ColumnModel,
    goal: float,
    last: bool,
) -> Evaluation:
    """From an evaluated point to one whose violation is at most ``goal``, or where steps no longer help."""
    for _ in range(MOST_STEPS):
        left = violation(here, alpha)
        if left <= goal:
            break
        diagonal = model.renew(curvature / objective.weight)
        usable = diagonal > 0.0
        gain = float(np.sum(np.square(violations(here, alpha)[usable]) / diagonal[usable]))
        least = 0.01 * goal * goal / float(diagonal.max(initial=1e-300))
        tol = max((FINE if last else ROUGH) * gain, least)
        step = model.minimise(here.gradient, here.point, alpha, tol, MOST_READS)
        there = _lower(objective, here, step, alpha)
        if there is None:
            break
        here, curvature = there, objective.row_curvature
        if not last and violation(here, alpha) > 0.5 * left:
            break
    return here


def _lower(objective: WithRowCurvature, here: Evaluation, step: Vector, alpha: Vector) -> Evaluation | None:
    """The first of the step, its half, its quarter … that helps."""
    value = penalised_value(here, alpha)
    fall = float(here.gradient @ step) + float(alpha @ (np.abs(here.point + step) - np.abs(here.point)))
    length, noise = 1.0, 1e-15 * abs(value)
    if not (np.abs(step) > 1e-16 * np.abs(here.point).max(initial=0.0)).any():
        return None
    while length > SHORTEST:
        there = objective.prepare_products(here.point + length * step, diagonal=False)
        enough = value + 1e-4 * length * min(fall, 0.0) + noise
        if math.isfinite(there.value) and penalised_value(there, alpha) <= enough:
            return there
        length *= 0.5
    return None
