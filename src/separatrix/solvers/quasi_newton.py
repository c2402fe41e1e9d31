"""Steps from gradients alone, led by a rough inverse of the Hessian: limited-memory BFGS with a good first matrix.

A product with the Hessian costs as much as a gradient. Where the rough inverse P is good, conjugate gradients spend
most of their products on systems that the next point makes obsolete; here every pass moves on. With the last steps s and
changes of the gradient y the two-loop recursion of BFGS gives the next direction from P.

Where a bound is to be proved, the gradient's own length does it: no Hessian is needed (``certificates.iterative`` with
the direction zero), only some more steps.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.solvers.class_guides import Guide
from separatrix.solvers.line_search import backtrack
from separatrix.solvers.outcome import Outcome, Patience

MEMORY = 20
"""Pairs of steps and changes kept."""

Evaluate = Callable[[Vector], Evaluation]
GuideAt = Callable[[Evaluation, int], Guide | None]
"""A guide for the steps from a point, after so many of them; None to keep the one there is."""


@dataclass(slots=True)
class Memory:
    """The last steps and changes of the gradient."""

    pairs: list[tuple[Vector, Vector, float]] = field(default_factory=list)
    scale: float = 1.0

    def lead(self, guide: Guide, gradient: Vector) -> Vector:
        """BFGS's inverse, which starts from the guide, times a vector."""
        q = gradient.copy()
        weights = []
        for step, change, scale in reversed(self.pairs):
            weight = scale * float(step @ q)
            weights.append(weight)
            q -= weight * change
        r = self.scale * guide.solve(q)
        for (step, change, scale), weight in zip(self.pairs, reversed(weights), strict=True):
            r += (weight - scale * float(change @ r)) * step
        return r

    def measure(self, guide: Guide) -> None:
        """How much too large the guide is along the last step."""
        if self.pairs:
            _, change, scale = self.pairs[-1]
            length = scale * float(change @ guide.solve(change))
            self.scale = 1.0 / length if length > 0.0 else 1.0

    def learn(self, before: Evaluation, after: Evaluation) -> None:
        """Remember a step."""
        step, change = after.point - before.point, after.gradient - before.gradient
        product = float(step @ change)
        if product > 0.0:
            self.pairs.append((step, change, 1.0 / product))
            del self.pairs[:-MEMORY]


def quasi_newton(
    evaluate: Evaluate,
    start: Vector,
    guide_at: GuideAt,
    judge: Callable[[Evaluation], float],
    patience: Patience,
    most: int,
    in_vain: Callable[[Evaluation], bool] = lambda here: False,
) -> Outcome:
    """Steps until the bound is met; the outcome is STALLED after ``most`` of them, or where more would be in vain."""
    here = evaluate(start)
    guide = guide_at(here, 0)
    assert guide is not None
    memory = Memory()
    steps = 0
    while True:
        bound = judge(here)
        stop = patience.judge(here, bound)
        outcome = Outcome(here, None, bound, stop or Stop.STALLED, np.zeros_like(here.point))
        if stop is not None or steps >= most or in_vain(here):
            return outcome
        guide = (guide_at(here, steps) if steps else None) or guide
        memory.measure(guide)
        step = -memory.lead(guide, here.gradient)
        descent = float(here.gradient @ step)
        found = backtrack(evaluate, here, step, descent) if descent < 0.0 else None
        if found is None and memory.pairs:  # what was learnt far away may mislead
            memory = Memory()
            step = -guide.solve(here.gradient)
            found = backtrack(evaluate, here, step, float(here.gradient @ step))
        if found is None:
            return outcome
        memory.learn(here, found)
        here = found
        steps += 1
