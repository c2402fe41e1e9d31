"""Newton's method in coordinates in which the Hessian is the identity: for columns that nearly depend on each other.

The step −R⁻¹R⁻ᵀg solves with the triangle of the rows and not with their Gram matrix, so a condition of 1e10 still
leaves six digits in each step, and steps repeat until the bound is met or no longer falls.
"""

import math
from typing import Protocol, TypeVar

from separatrix.core.arrays import Vector

SHORTEST = 2.0**-30
NOISE = 1e-13
"""Differences of the value below this share of it are rounding: there the slope decides."""


class Stand(Protocol):
    """A point with its value, its slope, the step from it, and how far it is from the minimum at most."""

    @property
    def point(self) -> Vector:
        """Where."""

    @property
    def value(self) -> float:
        """The function."""

    @property
    def bound(self) -> float:
        """The distance of the value from its minimum, at most."""

    @property
    def gradient(self) -> Vector:
        """The slope, in the coordinates of the step."""

    @property
    def step(self) -> Vector | None:
        """Newton's step; None where the Hessian is singular in floats."""


Standing = TypeVar("Standing", bound=Stand)
Stood = TypeVar("Stood", bound=Stand, covariant=True)


class Ground(Protocol[Stood]):
    """A function that can be stood on, and walked."""

    def stand(self, point: Vector) -> Stood:
        """Value, slope, step and bound at a point."""

    def moved(self, point: Vector, step: Vector) -> Vector:
        """The point after a step."""


def sharp_newton(ground: Ground[Standing], start: Vector, target: float, most_steps: int) -> Standing:
    """The best standing point on the way: the bound at most ``target``, or as low as it gets.

    After the target is met one more step is taken if it squares the distance.
    """
    here = best = ground.stand(start)
    for _ in range(most_steps):
        if here.step is None or not math.isfinite(here.value):
            return best
        found = _shorter(ground, here)
        if found is None:
            return best
        if best.bound <= target and not found.bound < 0.25 * best.bound:
            return best
        if found.bound < best.bound or (math.isinf(best.bound) and found.value <= best.value):
            best = found
        here = found
    return best


def _shorter(ground: Ground[Standing], here: Standing) -> Standing | None:
    """The first of the step, its half, … that lowers the value, or its slope where the value cannot tell."""
    assert here.step is not None
    promise = float(here.gradient @ here.step)
    noise, length = NOISE * abs(here.value), 1.0
    if not promise < 0.0:
        return None
    while length > SHORTEST:
        trial = ground.stand(ground.moved(here.point, length * here.step))
        if math.isfinite(trial.value):
            if trial.value <= here.value + 1e-4 * length * promise:
                return trial
            if trial.value <= here.value + noise and abs(float(trial.gradient @ here.step)) <= 0.5 * -promise:
                return trial
            if -promise * length <= noise:
                return None
        length *= 0.5
    return None
