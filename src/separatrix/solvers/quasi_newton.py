"""Quasi-Newton: every pass over the data gives a gradient, and every gradient teaches the curvature.

Where columns hardly depend on each other the Hessian's diagonal is all the curvature that is needed, and a handful of
passes reach the minimum. Where they do, the gradients fall slowly: after a few passes their rate tells how many more
it would take, and whether a factor of the Hessian costs less (``Stronger``). Where the curvature goes on changing, as
far from the minimum, it may be renewed. So no shape of data is far from its cheapest way, and none need be known.

Near the minimum conjugate gradients, preconditioned by what was learnt, solve H v = −g; see
``certificates.iterative`` for how v proves the distance from the minimum. Where the penalty is strong v = 0 is proof
enough.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.protocols import Evaluation, Objective
from separatrix.core.stop import Stop
from separatrix.solvers.line_search import backtrack
from separatrix.solvers.newton_cg import IterativeJudge
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.solvers.secants import MEMORY, Diagonal, Preconditioner, Secants

Stronger = Callable[[Evaluation, float, float], Preconditioner | Stop | None]
"""A better preconditioner, None where it does not pay, or a reason to end here and let another solver take over: given
where we are, the factor by which a pass shortens the gradient, and the bound asked for."""

NEAR = 0.1
"""A proof is tried when the decrement is this share of the bound asked for."""

FINER, LAST_PRODUCTS = 1e-6, 20
"""What a last step that is nearly free aims at, as a share of the bound asked for, and what it may cost."""

LEAST_MEMORY, MOST_NUMBERS = 5, 2**24
"""Pairs that are remembered at least, and numbers that all of them may hold beyond that: 128 MiB."""

SEEMS_GOOD, MOST_IN_VAIN = 1e-3, 2
"""A point that promises no more than this share of the bound asked for seems good; so many may fail to be proved."""

ASK_AFTER = 3
"""Passes after which the gradients tell how fast they fall."""

MOST_PASSES = 60
"""Passes without an end in sight after which somebody else should try."""


@dataclass(slots=True)
class Progress:
    """How fast the gradient falls: its lengths since the preconditioner was last renewed."""

    lengths: list[float] = field(default_factory=list)

    def rate(self, gradient: Vector) -> float | None:
        """The factor of one pass, over the last third (lengths swing); None as long as there are too few to tell."""
        self.lengths.append(float(np.linalg.norm(gradient)))
        over = max(ASK_AFTER, len(self.lengths) // 3)
        if len(self.lengths) <= over or self.lengths[-1 - over] == 0.0:
            return None
        return float((self.lengths[-1] / self.lengths[-1 - over]) ** (1.0 / over))


def quasi_newton(
    objective: Objective,
    start: Vector,
    judge: IterativeJudge,
    patience: Patience,
    limit: int,
    stronger: Stronger,
    known: Secants | None = None,
    hand_over: float = 0.0,
) -> Outcome:
    """Steps by −B⁻¹g until the minimum is near, and then a proof of at most ``limit`` products.

    ``known`` are secants seen on the way to the start. Stalls, to be taken over by another solver, where steps fail or
    there are too many of them; and where half the decrement is ``hand_over`` of what is asked for, if that is not 0.
    """

    def evaluate(point: Vector) -> Evaluation:
        return objective.prepare_products(point, diagonal=False)

    here = objective.prepare_products(start, diagonal=known is None)
    most = max(LEAST_MEMORY, min(MEMORY, MOST_NUMBERS // (3 * len(start))))
    if known is None:
        assert here.diagonal is not None
        first = stronger(here, 1.0, patience.tol * min(here.value, 1.0))
        if isinstance(first, Stop):
            return Outcome(here, None, math.inf, first)
        known = Secants(first or Diagonal.of(here.diagonal), len(start), most)
    secants, progress = known, Progress()
    solved = secants.base.solve(here.gradient)
    best: Outcome | None = None
    in_vain = 0
    for passes in range(1, MOST_PASSES + 1):
        goal = patience.tol * min(here.value, 1.0)
        step = -secants.solve(here.gradient, solved)
        decrement = -float(here.gradient @ step)
        if 0.5 * decrement <= hand_over * goal:
            return Outcome(here, None, math.inf, Stop.STALLED)
        direction, bound = np.zeros_like(step), judge(here, np.zeros_like(step), np.zeros_like(step))
        if bound > goal and 0.5 * decrement <= NEAR * goal and hand_over == 0.0:
            direction, bound = prove(objective, here, secants, judge, goal, limit)
            if float(here.gradient @ direction) < 0.0:
                step, decrement = direction, -float(here.gradient @ direction)
        stop = patience.judge(here, bound)
        outcome = Outcome(here, None, bound, stop or Stop.STALLED, direction)
        if stop is not None:
            return outcome
        if best is None or not bound >= best.bound:
            best = outcome
        in_vain += out_of_reach(outcome, goal)
        if in_vain > MOST_IN_VAIN:
            return outcome
        if bound <= goal:  # one more step, as good as a few products make it
            direction, _ = prove(objective, here, secants, judge, FINER * goal, LAST_PRODUCTS)
            if float(here.gradient @ direction) < 0.0:
                step, decrement = direction, -float(here.gradient @ direction)
        found = backtrack(evaluate, here, step, -decrement)
        if found is None or passes == MOST_PASSES:
            break
        rate = progress.rate(found.gradient)
        fresh = None if rate is None else stronger(found, rate, goal)
        if isinstance(fresh, Stop):
            return Outcome(found, None, math.inf, fresh)
        if fresh is not None:
            secants, progress = Secants(fresh, len(start), most), Progress()
            solved = fresh.solve(found.gradient)
        else:
            before, solved = solved, secants.base.solve(found.gradient)
            secants.learn(found.point - here.point, found.gradient - here.gradient, solved - before)
        here = found
    assert best is not None
    return Outcome(here, None, math.inf, Stop.STALLED, np.zeros_like(start)) if math.isinf(best.bound) else best


def out_of_reach(outcome: Outcome, goal: float) -> bool:
    """Whether a point is good, as far as can be seen, but the penalty is too weak to prove it by a direction."""
    direction = outcome.direction
    if direction is None or math.isfinite(outcome.bound) or not direction.any():
        return False
    return -0.5 * float(outcome.evaluation.gradient @ direction) <= SEEMS_GOOD * goal


def prove(
    objective: Objective, here: Evaluation, secants: Secants, judge: IterativeJudge, goal: float, limit: int
) -> tuple[Vector, float]:
    """V ≈ −H⁻¹g by conjugate gradients until its bound is met, and that bound.

    Ends where v itself shows that the point is farther away than that: then v is a good step.
    """
    step, image = np.zeros_like(here.point), np.zeros_like(here.point)
    residual = -here.gradient
    scaled = secants.solve(residual)
    search = scaled.copy()
    size = first = float(residual @ scaled)
    bound = math.inf
    for _ in range(limit):
        if bound <= goal or not size > 1e-14 * first:
            break
        if -0.5 * float(here.gradient @ step) > goal and size <= 1e-4 * first:
            break
        product = objective.product(search)
        curvature = float(search @ product)
        if not curvature > 0.0:
            break
        length = size / curvature
        step += length * search
        image += length * product
        residual = residual - length * product
        bound = judge(here, step, image, goal)
        scaled = secants.solve(residual)
        before, size = size, float(residual @ scaled)
        search = scaled + (size / before) * search
    return step, bound if bound <= goal else judge(here, step, image)
