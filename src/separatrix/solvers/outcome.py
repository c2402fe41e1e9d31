"""What a solver returns, and the rule by which it stops."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.factor import Factor
from separatrix.core.protocols import Evaluation, Objective
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace

Judge = Callable[[Evaluation, Factor], float]
"""A bound on the distance from the minimum, given a gradient and a factor of curvature."""

DEEP = 2.0**-40
"""A bound below this share of the objective that no longer falls consists of rounding."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a solver ended, why, and what it knew there."""

    evaluation: Evaluation
    factor: Factor | None
    bound: float
    stop: Stop
    direction: Vector | None = None


@dataclass(slots=True)
class Patience:
    """When to stop: the bound below tol·min(F, 1), then ``extra`` more steps that help.

    After the bound is met a second-order step squares the distance at the price of
    one pass; ``extra`` = 1 takes it, more run to the floor that rounding sets.
    A bound that does not fall to ``floor`` of the last one has reached that floor, and below ``fine`` of the objective
    no more is asked for.
    ``no_loss`` > 0 is the total loss below which every row must be on its right
    side: then the likelihood has no maximum.
    """

    tol: float
    max_passes: int
    extra: int
    trace: Trace
    objective: Objective
    no_loss: float = 0.0
    floor: float = 0.25
    fine: float = 1e-18
    _met: int = 0
    _best: float = float("inf")

    def judge(self, evaluation: Evaluation, bound: float) -> Stop | None:
        """Record a pass and say whether to stop after it."""
        return self.judge_value(evaluation, evaluation.value, bound)

    def judge_value(self, evaluation: Evaluation, value: float, bound: float) -> Stop | None:
        """The same, for an objective with a part that the evaluation does not know of."""
        norm = float(np.linalg.norm(self.objective.weights_of(evaluation.point)))
        raw = self.objective.raw_point(evaluation.point)
        asked = self.trace.record(value, bound, norm, evaluation.mistakes, raw)
        if bound <= self.tol * min(value, 1.0):
            self._met += 1
            if bound > self.floor * self._best:
                return Stop.FLOOR
            self._best = bound
            if self._met > self.extra or bound <= self.fine * value:
                return Stop.CERTIFIED
        if evaluation.loss_sum < self.no_loss:
            return Stop.SEPARATED
        if asked:
            return Stop.ASKED
        if len(self.trace) >= self.max_passes:
            return Stop.CERTIFIED if self._met else Stop.FLOOR if self._drowned(value) else Stop.MAX_ITER
        return None

    def _drowned(self, value: float) -> bool:
        """Whether more passes would be in vain: a bound near rounding that did not halve in the last half of them."""
        bounds = self.trace.bound
        early, late = bounds[: len(bounds) // 2], bounds[len(bounds) // 2 :]
        return len(early) > 0 and late.min() <= DEEP * abs(value) and not late.min() < 0.5 * early.min()
