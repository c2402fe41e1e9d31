"""On which side of a direction each signed row lies, exactly.

A float64 product of p terms is off by at most (p + 2)·2⁻⁵³·Σ|yⱼvⱼ| (any order of
summation) and some underflow; only where this bracket contains zero is the row
multiplied out exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Positions, Vector
from separatrix.core.exact import WIDEST, integer_products, nearest_float, parts_of, rounded
from separatrix.core.protocols import SignedRows

EXACT_AT_ONCE = 2**20
"""Rows multiplied out between two chances to interrupt."""


@dataclass(frozen=True, slots=True)
class Sides:
    """``signs`` −1, 0, 1 per row, exact; ``margins`` and ``sizes`` in floating point, to compare."""

    signs: AnyArray
    margins: Vector
    sizes: Vector

    @property
    def fragile(self) -> bool:
        """Whether changes of a few roundings in the data could move some row to another side.

        Entries that are zero stay zero under such changes.
        """
        return bool((np.abs(self.margins) <= 4.0 * UNIT_ROUNDOFF * self.sizes)[self.sizes > 0.0].any())


def sides(rows: SignedRows, direction: Sequence[int]) -> Sides:
    """Sides of all rows under an integer direction."""
    approximate = rounded(direction)
    margins, sizes = rows.bracket(approximate)
    if not np.isfinite(sizes).all():
        rows.refuse_not_finite()
    # the direction itself was rounded once; the last term is for what underflows
    error = (len(approximate) + 4) * UNIT_ROUNDOFF * sizes + 1e-300
    signs = np.sign(margins).astype(np.int8)
    doubtful = np.flatnonzero(np.abs(margins) <= error)
    if max(abs(entry).bit_length() for entry in direction) > WIDEST:
        # small entries may have underflowed in rounding, and columns of 1e300 would still have felt them
        doubtful = np.arange(len(margins))
    if len(doubtful):
        exact = exact_margins(rows, doubtful, direction)
        signs[doubtful] = np.sign(exact)
        margins[doubtful] = exact
    return Sides(signs, margins, sizes)


def exact_margins(rows: SignedRows, which: Positions, direction: Sequence[int]) -> Vector:
    """⟨yᵢ, v⟩ of some rows with exact signs, on the scale of the rounded direction."""
    length = max((abs(entry).bit_length() for entry in direction), default=0)
    parts = parts_of(direction)
    out = np.empty(len(which))
    for first in range(0, len(which), EXACT_AT_ONCE):
        part = which[first : first + EXACT_AT_ONCE]
        if parts is not None:
            out[first : first + len(part)] = rows.exact(part, np.ldexp(parts, -length))
        else:
            taken = integer_products(rows.take(part), list(direction))
            out[first : first + len(part)] = [nearest_float(value / 2**length) for value in taken]
    return out
