"""Which solver "auto" stands for: the one whose work costs least.

Each solver's work is estimated from the shape alone, in the multiply-adds of ``prices``:

* Newton's method: ``STEPS`` Hessians of all rows, each factorised;
* sub-sampled Newton: a fit to a sample of m rows, then passes that divide the distance by √(m/p) each;
* quasi-Newton: ``PASSES`` passes, and one Hessian of a sample or of all rows unless the diagonal does.

Many classes with a penalty have prices of their own, in ``many_classes``.
"""

import math
from dataclasses import dataclass, replace

from separatrix.models.logistic.prices import PASS, Prices
from separatrix.terms.penalised import PenalisedLoss

MANY_COLUMNS = 1500
"""Beyond so many coefficients the Hessian is not formed without need."""

MANY_SPARSE_COLUMNS = 4000
"""Beyond so many no factor is offered, and products with the Hessian of sparse rows are cheaper than gradients."""

STEPS = 6
"""Steps of Newton's method from zero."""

PASSES = 10
"""Passes of a quasi-Newton fit with a good preconditioner."""

DIGITS = math.log(1e8)
"""What a fit divides the distance from the minimum by."""

MANY_ROWS_PER_COLUMN = 20
"""A sample has at least so many rows for each coefficient, or is not worth a fit of its own."""

LEAST_SAMPLE = 2000

SMALL_STEPS = 10
"""Newton steps on the samples of a sub-sampled fit."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A solver's name, the rows of the sample it should take, and what it would cost."""

    solver: str
    price: float = math.nan
    sample: int = 0

    @property
    def reason(self) -> str:
        """For a trace."""
        return (
            "by the number of coefficients" if math.isnan(self.price) else f"{self.price:.1e} multiply-adds, the least"
        )


def sample_size(objective: PenalisedLoss) -> int:
    """Rows of the sample that makes sub-sampled Newton cheapest; more than a third of all where none does."""
    return subsampling(_prices(objective)).sample


def sample_rows(objective: PenalisedLoss) -> int:
    """The same where a row of many classes counts as one for each."""
    return sample_size(objective) // objective.outputs


def choices(objective: PenalisedLoss) -> list[Choice]:
    """Every solver that might serve, by its price."""
    prices = _prices(objective)
    p, n = prices.coefficients, prices.rows
    reading = prices.one_pass
    newton = STEPS * (reading + prices.hessian(n) + prices.factor)
    found = [Choice("newton-cholesky", newton)]
    if objective.strength > 0.0:
        some = min(n, max(3 * p, n // 8))
        factor = prices.hessian(some) + prices.factor
        found.append(Choice("quasi-newton", PASSES * reading + min(factor, PASSES * reading)))
    if math.isfinite(subsampling(prices).price):
        found.append(subsampling(prices))
    return sorted(found, key=lambda choice: choice.price)


def choose(objective: PenalisedLoss) -> str:
    """The solver's name."""
    return choice(objective).solver


def choice(objective: PenalisedLoss) -> Choice:
    """The solver that costs least; for many classes, and without a penalty, by the number of coefficients."""
    p = objective.size
    if objective.outputs > 1 and objective.strength > 0.0:
        from separatrix.models.logistic.many_classes import chosen, price

        name = chosen(objective)
        return Choice(name, price(objective, name))
    if objective.outputs > 1:
        return Choice("newton-cg" if p > MANY_COLUMNS else "newton-cholesky")
    if p > (MANY_COLUMNS if objective.strength == 0.0 else MANY_SPARSE_COLUMNS if objective.engine.sparse else p):
        return Choice("newton-cg")
    return choices(objective)[0]


def _prices(objective: PenalisedLoss) -> Prices:
    engine = objective.engine
    return Prices(engine.rows, objective.size, engine.entries_per_row, engine.sparse)


def subsampling(prices: Prices) -> Choice:
    """Sub-sampled Newton with the sample of least price, among powers of two times the least.

    Of sparse rows, and of rows that are too few, that price is infinite.
    """
    p = prices.coefficients
    best, rows = None, max(LEAST_SAMPLE, MANY_ROWS_PER_COLUMN * p)
    while best is None or 3 * rows <= prices.rows:
        passes = 1.0 + DIGITS / math.log(rows / p)
        reading = rows / prices.rows * prices.reading
        steps = 5.0 * prices.hessian(rows) + SMALL_STEPS * (prices.factor + PASS + reading)
        offer = Choice("newton-subsample", steps + passes * prices.one_pass, rows)
        if best is None or offer.price < best.price:
            best = offer
        rows *= 2
    return replace(best, price=math.inf) if prices.sparse or 3 * best.sample > prices.rows else best
