"""Newton's method with conjugate gradients, for too many columns to square.

Each step solves H v = −g only roughly, preconditioned by the diagonal of H; each
product with H is one read of the data. Early steps need one or two digits, late
ones more: the accuracy asked for follows the square root of the decrement.

The rough solution also certifies. With the residual r = g + H v (v ≈ −H⁻¹g),

    gᵀH⁻¹g = vᵀHv − 2 vᵀr + rᵀH⁻¹r,

and the last term is small because r is, whatever crude bound H has from below.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.protocols import Evaluation, Objective
from separatrix.core.stop import Stop
from separatrix.solvers.class_guides import Guide
from separatrix.solvers.line_search import backtrack
from separatrix.solvers.outcome import Outcome, Patience


class IterativeJudge(Protocol):
    """A bound on the distance from the minimum, given a direction v and H v."""

    def __call__(self, evaluation: Evaluation, step: Vector, image: Vector, asked: float = math.inf) -> float:
        """The bound; infinite, and quickly so, where it is surely above ``asked``."""


MOST_IN_VAIN = 2
"""Steps that may lead from a point that seems good enough, but is not proved to be, to the next such point."""


@dataclass(slots=True)
class Direction:
    """A rough Newton step, H times it, and how many products it took."""

    step: Vector
    image: Vector
    products: int


@dataclass(frozen=True, slots=True)
class InverseDiagonal:
    """The plain preconditioner: one over the Hessian's diagonal, 1 where that is zero."""

    inverse: Vector

    @classmethod
    def at(cls, here: Evaluation) -> "InverseDiagonal":
        """From an evaluation with the diagonal."""
        assert here.diagonal is not None
        return cls(1.0 / np.where(here.diagonal > 0, here.diagonal, 1.0))

    def solve(self, gradient: Vector) -> Vector:
        """The preconditioner times a vector."""
        return self.inverse * gradient


def scaled_size(here: Evaluation, guide: Guide) -> float:
    """The gradient's length in the preconditioner."""
    return math.sqrt(max(float(here.gradient @ guide.solve(here.gradient)), 0.0))


def conjugate_gradients(
    objective: Objective, here: Evaluation, guide: Guide, limit: int, enough: Callable[[Vector, Vector, float], bool]
) -> Direction:
    """Solve H v = −g until ``enough(v, Hv, share of the residual left)``, or ``limit`` products."""
    step, image = np.zeros_like(here.point), np.zeros_like(here.point)
    residual = -here.gradient
    scaled = guide.solve(residual)
    search = scaled.copy()
    size = first = float(residual @ scaled)
    products = 0
    while products < limit and size > 0.0:
        product = objective.product(search)
        products += 1
        curvature = float(search @ product)
        if curvature <= 0.0:
            break
        length = size / curvature
        step += length * search
        image += length * product
        residual -= length * product
        scaled = guide.solve(residual)
        before, size = size, float(residual @ scaled)
        if enough(step, image, math.sqrt(size / first)):
            break
        search = scaled + (size / before) * search
    return Direction(step, image, products)


def newton_cg(
    objective: Objective,
    start: Vector,
    judge: IterativeJudge,
    patience: Patience,
    limit: int,
    guide_at: Callable[[Evaluation], Guide] = InverseDiagonal.at,
) -> Outcome:
    """Steps from conjugate gradients until the bound is met; ``limit`` products per step.

    ``guide_at`` makes the preconditioner at a point.
    """
    here = objective.prepare_products(start)
    guide = guide_at(here)
    first = scaled_size(here, guide)
    before: Outcome | None = None
    in_vain = 0
    while True:
        accuracy = min(0.25, max(math.sqrt(scaled_size(here, guide) / first), 1e-4)) if first > 0 else 0.25
        # Small problems run to the floor: products are cheap, steps may be nearly exact.
        target = 0.0 if patience.extra else patience.tol * min(here.value, 1.0)
        accuracy = min(accuracy, 1e-3) if patience.extra else accuracy

        def enough(
            step: Vector,
            image: Vector,
            left: float,
            here: Evaluation = here,
            target: float = target,
            accuracy: float = accuracy,
        ) -> bool:
            if target > 0.0 and judge(here, step, image, target) <= target:
                return True
            # nearly there: solve on until the bound is proved rather than merely true
            nearly = -0.5 * float(here.gradient @ step) <= target
            return left <= (1e-6 if nearly else accuracy)

        direction = conjugate_gradients(objective, here, guide, limit, enough)
        decrement = -float(here.gradient @ direction.step)
        bound = judge(here, direction.step, direction.image)
        stop = patience.judge(here, bound)
        outcome = Outcome(here, None, bound, stop or Stop.STALLED, direction.step)
        if stop is not None:
            return outcome
        if before is None or bound < before.bound or math.isinf(before.bound):
            before = outcome
        if math.isinf(bound) and 0.5 * decrement <= 1e-3 * patience.tol * min(here.value, 1.0):
            in_vain += 1
        if in_vain > MOST_IN_VAIN:
            return outcome  # good, as far as can be seen, but the penalty is too weak to prove it this way
        found = backtrack(objective.prepare_products, here, direction.step, -decrement)
        if found is None:
            met = before.bound <= patience.tol * min(before.evaluation.value, 1.0)
            return Outcome(before.evaluation, None, before.bound, Stop.FLOOR if met else Stop.STALLED, before.direction)
        here, guide = found, guide_at(found)
