"""What work costs, in multiply-adds of a product of matrices: by these few numbers "auto" chooses.

They are ratios of times, measured with ``python -m benchmarks prices`` and rounded; they depend on no machine that fits
run on, because a choice must not: the same data has the same bits everywhere. A choice that is wrong by a factor of
two in a price is wrong by less in the time of a fit.
"""

import math
from dataclasses import dataclass

PASS = 3e6
"""A pass over the data beside its work: calls, checks, the steps of a solver (about a tenth of a millisecond)."""

ROW = 150.0
"""The loss of a row, with its slope and curvature: an exponential, a logarithm, two divisions."""

ENTRY = 8.0
"""A stored number of a dense row, read for scores and gradient: bound by memory."""

SPARSE_ENTRY = 25.0
"""The same of a sparse row."""

SPARSE_PAIR = 16.0
"""A pair of stored numbers of a sparse row, added into a Hessian."""

TILE = 12.0
"""Columns that a dense row has at least where a Hessian is added up."""

FACTOR = 2.0
"""A multiply-add of a factorisation, which one thread does."""

CALL = 1e6
"""A call of LAPACK or BLAS beside its work."""

COPY = 40.0
"""A number copied into a sample."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Of the work on rows of one shape."""

    rows: int
    coefficients: int
    entries_per_row: float
    sparse: bool

    @property
    def one_pass(self) -> float:
        """Losses and gradient of all rows."""
        return PASS + self.reading

    @property
    def reading(self) -> float:
        """The same without what a pass costs beside its work."""
        each = SPARSE_ENTRY if self.sparse else ENTRY
        return self.rows * (ROW + each * self.entries_per_row)

    def hessian(self, rows: int) -> float:
        """The Hessian of some of the rows, added up in a pass over them."""
        dense = max(self.entries_per_row, TILE)
        pairs = 0.5 * (SPARSE_PAIR * self.entries_per_row**2 if self.sparse else dense**2)
        copied = COPY * rows * self.entries_per_row if rows < self.rows else 0.0
        return rows * pairs + copied

    @property
    def factor(self) -> float:
        """The Cholesky factor of a Hessian."""
        return CALL + FACTOR * self.coefficients**3 / 6.0

    @property
    def row_space(self) -> float:
        """A whole fit in the space of the rows: their products, a factor, passes there and back."""
        products = 0.5 * self.rows**2 * self.coefficients
        if self.sparse:  # every stored number meets those of its column
            products = SPARSE_PAIR * self.rows**2 * self.entries_per_row**2 / self.coefficients
        inside = 20.0 * (self.rows * (ROW + ENTRY * self.rows)) + 5.0 * PASS
        return CALL + products + FACTOR * self.rows**3 / 3.0 + inside + 3.0 * self.one_pass


def passes_until(needed: float, rate: float) -> float:
    """How many passes shorten a gradient by e^needed, at a factor of ``rate`` each.

    >>> round(passes_until(math.log(1e6), 0.1), 9)
    6.0
    """
    return math.inf if rate >= 1.0 else max(needed, 0.0) / -math.log(max(rate, 1e-3))
