"""Which curvature guides a quasi-Newton fit, and when it is renewed: by what it costs and what it saves.

The gradient has to fall by a factor e^L until the bound is met; at the factor ρ that a pass achieves, L/(−ln ρ) passes
are left. A Hessian of m of n rows, factorised, promises ρ = √(p/m), because that is how far the curvature of a sample
is from that of all rows; all rows promise ``FRESH``. With fewer rows than columns the whole fit may move to the space
of the rows (``row_space``). Conjugate gradients forget no direction: where passes are slow because more curvatures
differ than secants can hold, they need ``QUICKER`` times fewer (measured), after ``STEPS`` to begin with. What is
cheapest in all, by ``prices``, is taken; but where the passes that are allowed will not do, going on is no choice.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.factor import Factor, factorise
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.models.logistic.prices import Prices, passes_until
from separatrix.solvers.outcome import Patience
from separatrix.solvers.quasi_newton import ASK_AFTER
from separatrix.solvers.secants import Preconditioner
from separatrix.terms.penalised import PenalisedLoss

FRESH = 0.1
"""What a Hessian of all rows, or of a sample that is nearly as good, leaves of a gradient: the rest is its change."""

UNKNOWN = (0.2, 0.75)
"""What a pass is taken to leave as long as nobody has looked: √(p/n), as of independent columns, within these."""

ROWS_PER_COLUMN = 3
"""A sample has at least so many rows for each coefficient."""

WORTH = 0.8
"""A change must promise at most this share of the cost of going on."""

AHEAD = 2.0
"""A change may cost at most so many times what was spent so far: early gradients often fall slowly and soon do not."""

QUICKER, STEPS = 10.0, 50
"""How many times fewer passes conjugate gradients need than slow secants, and how many they need in any case."""

LARGEST_SIDE = 4000
"""Coefficients, or rows, of the largest matrix that is factorised."""


CONJUGATE = -1
"""Where an offer's number of rows stands: not a matrix of some rows, but another solver."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A preconditioner that might be made of some rows, its price and its promise.

    ``rows`` is 0 where the fit moves to the space of the rows, ``CONJUGATE`` where conjugate gradients take over; their
    ``rate`` above 1 says how many times fewer passes they take than the present way.
    """

    rows: int
    price: float
    one_pass: float
    rate: float

    def cost(self, needed: float, present: float) -> float:
        """What the rest costs if this is taken; ``present`` is the rate so far."""
        if self.rate > 1.0:
            return self.price + passes_until(needed, present) / self.rate * self.one_pass
        return self.price + passes_until(needed, self.rate) * self.one_pass


@dataclass(slots=True)
class Renewal:
    """The rule by which a fit takes a stronger preconditioner; ``taken`` says what and when, for its trace."""

    objective: PenalisedLoss
    seed: int
    been_in_row_space: bool = False
    patience: Patience | None = None
    presumed: float | None = None
    to_row_space: bool = field(default=False, init=False)
    prices: Prices = field(init=False)
    spent: float = field(default=0.0, init=False)
    taken: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        engine = self.objective.engine
        self.prices = Prices(engine.rows, self.objective.size, engine.entries_per_row, engine.sparse)

    def __call__(self, here: Evaluation, rate: float, goal: float) -> Preconditioner | Stop | None:
        """A preconditioner at ``here`` if that pays; ``rate`` 1 means that nothing is known of the present one."""
        size = float(np.linalg.norm(here.gradient))
        needed = math.log(max(size, 1e-300)) - 0.5 * math.log(2.0 * self.objective.strength * goal)
        known = rate != 1.0
        self.spent += self.prices.one_pass * (ASK_AFTER if self.spent == 0.0 else 1)
        if not known:
            rate = unknown_rate(self.prices) if self.presumed is None else self.presumed
        going_on = passes_until(needed, rate) * self.prices.one_pass
        most = AHEAD * self.spent if known else math.inf
        if known and self._runs_out(passes_until(needed, rate)):
            going_on = most = math.inf
        cost = {offer: offer.cost(needed, rate) for offer in offers(self.prices, not self.been_in_row_space)}
        within = [offer for offer in cost if offer.price <= most and (known or offer.rows != CONJUGATE)]
        best = min(within, key=lambda offer: cost[offer], default=None)
        if best is None or cost[best] > WORTH * going_on:
            return None
        if best.rows == CONJUGATE and cost[best] > min(cost.values()):  # something better can soon be afforded
            return None
        if best.rows in (0, CONJUGATE):
            self.to_row_space = best.rows == 0
            return Stop.STALLED
        made = hessian_factor(self.objective, best.rows, here.point, self.seed)
        if made is not None:
            self.taken.append(f"the Hessian of {best.rows} rows")
        return made

    def _runs_out(self, passes: float) -> bool:
        """Whether so many more passes are not to be had, when two thirds of all are gone."""
        if self.patience is None:
            return False
        left = self.patience.max_passes - len(self.patience.trace)
        return 3 * left <= self.patience.max_passes and passes > left


def offers(prices: Prices, row_space: bool = True) -> Iterator[Offer]:
    """What might be made: a Hessian of all rows, of half of them, …; the space of the rows, where they are few."""
    p, n = prices.coefficients, prices.rows
    if p <= LARGEST_SIDE:
        rows, least = n, ROWS_PER_COLUMN * p
        while rows == n or rows >= least:
            rate = FRESH if rows == n else max(FRESH, math.sqrt(p / rows))
            yield Offer(rows, prices.hessian(rows) + prices.factor, prices.one_pass, rate)
            rows //= 2
    if row_space and 2 * n <= p and n <= LARGEST_SIDE:
        yield Offer(0, prices.row_space, 0.0, 0.0)
    if prices.sparse:
        yield Offer(CONJUGATE, STEPS * prices.one_pass, prices.one_pass, QUICKER)


def unknown_rate(prices: Prices) -> float:
    """What a pass leaves of the gradient as long as nobody has looked."""
    return float(np.clip(math.sqrt(prices.coefficients / prices.rows), *UNKNOWN))


def hessian_factor(objective: PenalisedLoss, rows: int, point: Vector, seed: int) -> Factor | None:
    """The factor of the Hessian at a point of all rows, or of some."""
    some = objective
    if rows < objective.engine.rows:
        some = replace(objective, engine=objective.engine.sample(rows, seed), ranges=None)
    hessian = some.evaluate(point, curvature=True).hessian
    assert hessian is not None
    return factorise(hessian, point)
