"""The first steps of a fit to few rows, in calls of compiled code.

A pass over 300 × 30 numbers takes a few microseconds, and to ask for it from Python a hundred. So where the rows are
few the solver's steps are taken without coming back in between, until half the squared decrement is a small share of
what is asked for, and a little further where a short gradient then is proof enough; then come the passes that prove
it, from there. The steps are those of Newton's method where a Hessian costs little more than a pass, and otherwise of
BFGS with the last secants, on top of the diagonal or of a factor of the Hessian of some rows: whichever, at the rate
at which decrements fall, leaves the least to do (``curvature``). The passes stand in the trace as any others do, and
hooks see each of them.
"""

from dataclasses import dataclass, replace

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.factor import Factor
from separatrix.kernels import QuickWay
from separatrix.models.logistic.choice import subsampling
from separatrix.models.logistic.curvature import CONJUGATE, hessian_factor, offers, unknown_rate
from separatrix.models.logistic.prices import CALL, PASS, Prices
from separatrix.solvers.outcome import Patience
from separatrix.solvers.secants import Diagonal, Secants
from separatrix.terms.penalised import PenalisedLoss

MOST_NUMBERS = 4e6
"""Stored numbers up to which there is a quick start: nobody can interrupt its passes."""

MOST_COEFFICIENTS = 500
"""Coefficients up to which Newton's method may be one."""

STEPS = 6.0
"""Steps of Newton's method, as far as prices go."""

PASSES = 8.0
"""Passes of secants, beside what a factor costs."""

FEW = 25.0
"""Passes that secants take, with those of their proof: Newton's method goes first where it costs no more."""

FLOOR, NEAR = 1e-18, 1e-3
"""Half the squared decrement as a share of F where Newton's steps end, and of the tolerance where secants do."""

PROOF = 5.0
"""Products with the Hessian that a proof by a direction takes, each called for by itself; short gradients need none."""

MOST_PASSES = 150

MEMORY, LEAST_MEMORY = 16, 8
"""Secants that are remembered, and how many where columns are so many that those cost more than a quarter of a pass."""

SECANT = 2.0
"""A number of a secant, read for a step: four reads of each."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Where a quick start ended and how: ``newton`` where every step had its Hessian, else with what it learnt.

    ``near``: only the proof is left. ``asked``: a hook asked to stop. ``to_row_space``, ``to_conjugate``: that would be
    cheaper. ``led_by`` says which factors led it, ``taken`` which offer pays now.
    """

    point: Vector
    newton: bool
    near: bool = False
    asked: bool = False
    to_row_space: bool = False
    to_conjugate: bool = False
    secants: Secants | None = None
    led_by: tuple[str, ...] = ()
    taken: int = -1


def begin_quickly(objective: PenalisedLoss, begin: Vector, patience: Patience, seed: int) -> Begun | None:
    """A quick start from a point, None where there is none to be had."""
    engine, p = objective.engine, objective.size
    numbers = engine.rows * engine.entries_per_row
    if objective.outputs > 1 or objective.strength <= 0.0 or numbers > MOST_NUMBERS:
        return None
    prices = Prices(engine.rows, p, engine.entries_per_row, engine.sparse)
    memory = MEMORY if 16.0 * SECANT * MEMORY * p <= prices.reading else LEAST_MEMORY
    reading = prices.reading + 4.0 * SECANT * memory * p
    choices = list(offers(prices))
    newton = STEPS * (reading + prices.hessian(engine.rows) + prices.factor - CALL)
    by_newton = p <= MOST_COEFFICIENTS and newton <= FEW * reading
    price = newton if by_newton else PASSES * reading + min((offer.price for offer in choices), default=0.0)
    if subsampling(prices).price < price:
        return None
    if by_newton:
        return _steps(objective, begin, patience, QuickWay(True, FLOOR))
    way = QuickWay(
        False,
        NEAR * patience.tol,
        patience.tol,
        PROOF * (1.0 + PASS / reading),
        prices=np.array([offer.price for offer in choices]) / reading,
        rates=np.array([offer.rate if offer.rows == CONJUGATE else offer.rate**2 for offer in choices]),
        unknown=unknown_rate(prices) ** 2,
        memory=memory,
    )
    found = _steps(objective, begin, patience, way)
    led_by: tuple[str, ...] = ()
    while found is not None and found.taken >= 0 and not found.asked:
        taken = choices[found.taken]
        if taken.rows in (0, CONJUGATE):
            return replace(found, to_row_space=taken.rows == 0, to_conjugate=taken.rows == CONJUGATE)
        factor = hessian_factor(objective, taken.rows, found.point, seed)
        if factor is None:
            break
        led_by = (*led_by, f"the Hessian of {taken.rows} rows")
        spent = len(patience.trace) + float(way.prices[found.taken])
        again = _steps(objective, found.point, patience, replace(way, lower=factor.lower, spent=spent), factor)
        found = again and replace(again, led_by=led_by)
    return found


def _steps(
    objective: PenalisedLoss, point: Vector, patience: Patience, way: QuickWay, factor: Factor | None = None
) -> Begun | None:
    """The steps from a point to where they end, told to the trace; None where not even one pass was to be had."""
    trace, known = patience.trace, int(factor is not None)  # a point that led to a factor was told already
    left = patience.max_passes - len(trace)
    most = min(MOST_PASSES, left - 1, left // 2 + 1) + known  # another way must have time to end what this one cannot
    if most < 1:
        return None
    seen = bool(trace.hooks)
    started = objective.quick_start(point, replace(way, most=most, keep=seen))
    if not len(started.values):
        return None
    last, asked = len(started.values) - 1, False
    for k in range(known, len(started.values)):
        shown = objective.raw_point(started.points[k]) if seen else started.points[-1]
        numbers = float(started.values[k]), float("inf"), float(started.norms[k]), float(started.mistakes[k])
        if trace.record(*numbers, shown):
            last, asked = k, True
            break
    secants = None
    if not way.newton:
        secants = Secants(factor or Diagonal(started.inverse), objective.size, way.memory)
        secants.learn_all(started.steps, started.changes)
    return Begun(
        started.points[last if seen else -1], way.newton, started.near, asked, secants=secants, taken=started.taken
    )
