"""Newton's steps with an L1 penalty on the columns of the data, without a Hessian.

The quadratic model at a point needs the rows' curvatures and the columns themselves: coordinate descent and conjugate
gradients read them, at the price of their stored numbers a sweep. Where rows store few numbers, or where there are
hardly more of them than columns, that is far less than the pairs of a Hessian and its factors cost. The curvature is
that of every point, so the last steps are quadratic.
"""

import math
from typing import Protocol

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.protocols import Evaluation
from separatrix.solvers.metric import FINE, MOST_STEPS, ROUGH, SHORTEST, violation, violations
from separatrix.solvers.proximal import penalised_value

MOST_READS = 3000.0
"""Times that a step may read its columns."""


class OnColumns(Protocol):
    """A loss on some columns, and its quadratic model."""

    def choose(self, which: Positions, shift: Vector) -> None:
        """Take other columns."""

    def evaluate(self, point: Vector) -> Evaluation:
        """Value and gradient, one read of the columns."""

    def renew(self) -> Vector:
        """The model at the point evaluated last, and its second derivatives."""

    def step(self, here: Evaluation, penalty: Vector, tol: float, most_reads: float) -> Vector:
        """The step to the model's minimum, L1 part included."""


def descend_on_columns(problem: OnColumns, alpha: Vector, start: Vector, goal: float, last: bool) -> Evaluation:
    """To a point whose violation is at most ``goal``, or where steps no longer help.

    Unless it is the ``last`` set, steps that are slow are left to the next.
    """
    here = problem.evaluate(start)
    for _ in range(MOST_STEPS):
        left = violation(here, alpha)
        if left <= goal:
            break
        diagonal = problem.renew()
        usable = diagonal > 0.0
        gain = float(np.sum(np.square(violations(here, alpha)[usable]) / diagonal[usable]))
        least = 0.01 * goal * goal / float(diagonal.max(initial=1e-300))
        tol = max((FINE if last else ROUGH) * gain, least)
        there = _lower(problem, here, problem.step(here, alpha, tol, MOST_READS), alpha)
        if there is None:
            break
        here = there
        if not last and violation(here, alpha) > 0.5 * left:
            break
    return here


def _lower(problem: OnColumns, here: Evaluation, step: Vector, alpha: Vector) -> Evaluation | None:
    """The first of the step, its half, its quarter … that helps."""
    value = penalised_value(here, alpha)
    fall = float(here.gradient @ step) + float(alpha @ (np.abs(here.point + step) - np.abs(here.point)))
    length, noise = 1.0, 1e-15 * abs(value)
    if not (np.abs(step) > 1e-16 * np.abs(here.point).max(initial=0.0)).any():
        return None
    if fall > noise:  # collinear columns without a ridge: the model's minimum was not found
        return None
    while length > SHORTEST:
        there = problem.evaluate(here.point + length * step)
        enough = value + 1e-4 * length * min(fall, 0.0) + noise
        if math.isfinite(there.value) and penalised_value(there, alpha) <= enough:
            return there
        length *= 0.5
    return None
