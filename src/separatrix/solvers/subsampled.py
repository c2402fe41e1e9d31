"""Sub-sampled Newton: curvature from some rows, gradients exact.

The minimiser over m of n rows is about √(p/m) away from the one over all, and the
sub-sample's Hessian B is that close to the full one, so each step −B⁻¹g on the
full gradient divides the distance by about √(m/p). A few corrections in the manner
of BFGS, from the gradients already seen, divide it further. If the sub-sample was
a poor guide, the full Hessian takes over.

B also certifies: scaled back to the m rows it came from, it is a lower bound of the
full Hessian, looser by n/m and paid for by one more step.
"""

from dataclasses import dataclass, field

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.factor import Factor, factorise
from separatrix.core.protocols import Evaluation, Objective
from separatrix.solvers.line_search import backtrack
from separatrix.solvers.newton import newton
from separatrix.solvers.outcome import Judge, Outcome, Patience

POOR = 0.3
"""A step that leaves more than this share of the decrement asks for the full Hessian."""


@dataclass(slots=True)
class Corrections:
    """The inverse of BFGS's matrix that starts from a factor: two-loop recursion."""

    factor: Factor
    pairs: list[tuple[Vector, Vector, float]] = field(default_factory=list)

    def solve(self, gradient: Vector) -> Vector:
        """The corrected B⁻¹ times a vector."""
        q = gradient.copy()
        weights = []
        for step, change, scale in reversed(self.pairs):
            alpha = scale * float(step @ q)
            weights.append(alpha)
            q -= alpha * change
        r = self.factor.solve(q)
        for (step, change, scale), alpha in zip(self.pairs, reversed(weights), strict=True):
            r += (alpha - scale * float(change @ r)) * step
        return r

    def learn(self, before: Evaluation, after: Evaluation) -> None:
        """Remember how the gradient changed along a step."""
        step, change = after.point - before.point, after.gradient - before.gradient
        product = float(step @ change)
        if product > 0:
            self.pairs.append((step, change, 1.0 / product))


def subsampled_newton(
    objective: Objective,
    sample: Objective,
    share: float,
    start: Vector,
    judge: Judge,
    patience: Patience,
    known: Evaluation | None = None,
) -> Outcome:
    """Step by −B⁻¹g with B the Hessian of ``sample``, whose rows carry ``share`` of all weight.

    ``known`` is the evaluation at the start, if there is one.
    """

    def factor_at(point: Vector) -> Factor | None:
        hessian = sample.evaluate(point, curvature=True).hessian
        assert hessian is not None
        return factorise(hessian, point, share=share)

    factor = factor_at(start)
    if factor is None:
        return newton(objective, start, judge, patience)
    guide = Corrections(factor)
    here = objective.evaluate(start) if known is None else known
    before = np.inf
    while True:
        step = -guide.solve(here.gradient)
        decrement = -float(here.gradient @ step)
        bound = judge(here, guide.factor)
        if 0.5 * decrement <= share * patience.tol * min(here.value, 1.0) < bound:
            fresh = factor_at(here.point)  # near enough, but seen from too far away
            if fresh is not None:
                guide = Corrections(fresh, guide.pairs)
                bound = judge(here, fresh)
        stop = patience.judge(here, bound)
        if stop is not None:
            return Outcome(here, guide.factor, bound, stop)
        if not decrement < POOR * before:
            return newton(objective, here.point, judge, patience)
        found = backtrack(objective.evaluate, here, step, -decrement)
        if found is None:
            return newton(objective, here.point, judge, patience)
        guide.learn(here, found)
        if before == np.inf:
            fresh = factor_at(found.point)  # nearer the minimum: its bound is tighter
            if fresh is not None:
                guide = Corrections(fresh)
                guide.learn(here, found)
        before, here = decrement, found
