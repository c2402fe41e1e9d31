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

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.protocols import Evaluation, Objective
from separatrix.core.stop import Stop
from separatrix.solvers.line_search import backtrack
from separatrix.solvers.outcome import Outcome, Patience

IterativeJudge = Callable[[Evaluation, Vector, Vector], float]
"""A bound on the distance from the minimum, given a direction v and H v."""


@dataclass(slots=True)
class Direction:
    """A rough Newton step, H times it, and how many products it took."""

    step: Vector
    image: Vector
    products: int


def conjugate_gradients(
    objective: Objective,
    here: Evaluation,
    accuracy: float,
    limit: int,
    enough: Callable[[Vector, Vector], bool],
) -> Direction:
    """Solve H v = −g until the residual is ``accuracy`` of g, or ``enough`` says so."""
    assert here.diagonal is not None
    inverse = 1.0 / np.where(here.diagonal > 0, here.diagonal, 1.0)
    step, image = np.zeros_like(here.point), np.zeros_like(here.point)
    residual = -here.gradient
    scaled = inverse * residual
    search = scaled.copy()
    size = first = float(residual @ scaled)
    products = 0
    while products < limit and size > accuracy * accuracy * first:
        product = objective.product(search)
        products += 1
        curvature = float(search @ product)
        if curvature <= 0.0:
            break
        length = size / curvature
        step += length * search
        image += length * product
        residual -= length * product
        if enough(step, image):
            break
        scaled = inverse * residual
        new = float(residual @ scaled)
        search = scaled + (new / size) * search
        size = new
    return Direction(step, image, products)


def newton_cg(
    objective: Objective, start: Vector, judge: IterativeJudge, patience: Patience, limit: int
) -> Outcome:
    """Steps from conjugate gradients until the bound is met; ``limit`` products per step."""
    here = objective.prepare_products(start)
    first = math.sqrt(float(np.square(here.gradient) @ (1.0 / np.where(here.diagonal > 0, here.diagonal, 1.0))))
    before: Outcome | None = None
    while True:
        target = patience.tol * min(here.value, 1.0)
        inverse = 1.0 / np.where(here.diagonal > 0, here.diagonal, 1.0)
        size = math.sqrt(float(np.square(here.gradient) @ inverse))
        accuracy = min(0.25, max(math.sqrt(size / first), 1e-4)) if first > 0 else 0.25
        at = here

        def enough(step: Vector, image: Vector, at: Evaluation = at, target: float = target) -> bool:
            return judge(at, step, image) <= target

        # Nearly there: solve on until the bound is proved rather than merely true.
        direction = conjugate_gradients(objective, here, accuracy, limit, enough)
        decrement = -float(here.gradient @ direction.step)
        if 0.5 * decrement <= target and judge(here, direction.step, direction.image) > target:
            direction = conjugate_gradients(objective, here, 1e-6, limit, enough)
        bound = judge(here, direction.step, direction.image)
        stop = patience.judge(here, bound)
        outcome = Outcome(here, None, bound, stop or Stop.STALLED, direction.step)
        if stop is not None:
            return outcome
        if before is None or bound < before.bound:
            before = outcome
        found = backtrack(objective.prepare_products, here, direction.step, -decrement)
        if found is None:
            met = before.bound <= target
            return Outcome(
                before.evaluation, None, before.bound, Stop.FLOOR if met else Stop.STALLED, before.direction
            )
        here = found
