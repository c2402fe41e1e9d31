"""Halve a step until it helps."""

import math
from collections.abc import Callable

from separatrix.core.arrays import Vector
from separatrix.core.protocols import Evaluation

SHORTEST = 2.0**-40


def backtrack(
    evaluate: Callable[[Vector], Evaluation], start: Evaluation, step: Vector, descent: float
) -> Evaluation | None:
    """The first of start + step, step/2, step/4, … that lowers the value enough.

    Enough is 1e-4 of what the slope ``descent`` = ⟨gradient, step⟩ < 0 promises
    (Armijo). Where that is lost in rounding, a smaller slope along the step decides.
    None when no length helps.
    """
    length = 1.0
    noise = 1e-13 * abs(start.value)
    while length > SHORTEST:
        trial = evaluate(start.point + length * step)
        if math.isfinite(trial.value):
            if trial.value <= start.value + 1e-4 * length * descent:
                return trial
            slope = abs(float(trial.gradient @ step))
            if trial.value <= start.value + noise and slope <= 0.9 * abs(descent):
                return trial
            if -descent * length <= noise:
                return None
        length *= 0.5
    return None
