"""On which side of a direction each signed row lies, exactly.

A float64 product of p terms is off by at most (p + 2)·2⁻⁵³·Σ|yⱼvⱼ| (any order of
summation) and some underflow; only where this bracket contains zero is the row
multiplied out exactly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Positions, Vector
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import WIDEST, integer_products, nearest_float, parts_of, rounded

EXACT_AT_ONCE = 2**20
"""Rows multiplied out between two chances to interrupt."""


@dataclass(frozen=True, slots=True)
class Sides:
    """``signs`` −1, 0, 1 per row, exact; in floating point the least margin above zero, and what lies below.

    ``fragile`` says whether changes of a few roundings in the data could move some row to another side; entries that
    are zero stay zero under such changes. ``margins`` and ``sizes`` are of the rows of sign −1, ascending; ``near`` are
    some rows of sign 1, those of least margin beside their size, where they were asked for.
    """

    signs: AnyArray
    least: float
    fragile: bool
    margins: Vector
    sizes: Vector
    near: Positions

    @property
    def complete(self) -> bool:
        """Whether every row is on its side."""
        return bool((self.signs > 0).all())

    def offending(self, level: bool) -> tuple[Positions, Vector, Vector]:
        """The rows on the wrong side, and with ``level`` those in between: numbers, margins and sizes."""
        which = np.flatnonzero(self.signs <= 0 if level else self.signs < 0)
        below = self.signs[which] < 0
        margins, sizes = np.zeros(len(which)), np.ones(len(which))
        margins[below], sizes[below] = self.margins, self.sizes
        return which, margins, sizes


def sides(rows: SignedRows, direction: Sequence[int], near: int = 0) -> Sides:
    """Sides of all rows under an integer direction, and the ``near`` rows that are the closest to changing theirs."""
    approximate = rounded(direction)
    # small entries may have underflowed in rounding, and columns of 1e300 would still have felt them
    wide = max(abs(entry).bit_length() for entry in direction) > WIDEST
    signs = np.empty(rows.count, dtype=np.int8)
    below: list[tuple[Vector, Vector]] = [(np.empty(0), np.empty(0))]
    close = np.empty(0), np.empty(0, dtype=np.int64)
    least, fragile = math.inf, False
    for part, margins, sizes in rows.brackets(approximate):
        if not np.isfinite(sizes).all():
            rows.refuse_not_finite()
        # the direction itself was rounded once; the last term is for what underflows
        error = (len(approximate) + 4) * UNIT_ROUNDOFF * sizes + 1e-300
        size = np.abs(margins)
        doubtful = np.arange(len(margins)) if wide else np.flatnonzero(size <= error)
        here = np.sign(margins).astype(np.int8)
        if len(doubtful):
            exact = exact_margins(rows, part.start + doubtful, direction)
            here[doubtful] = np.sign(exact)
            margins[doubtful] = exact
            size = np.abs(margins)
        signs[part] = here
        fragile = fragile or bool(((size <= 4.0 * UNIT_ROUNDOFF * sizes) & (sizes > 0.0)).any())
        least = min(least, float(margins.min(where=here > 0, initial=math.inf)))
        if near:
            close = _closest(near, *close, part.start, margins, sizes, here)
        wrong = here < 0
        if wrong.any():
            below.append((margins[wrong], sizes[wrong]))
    wrong_margins, wrong_sizes = (np.concatenate([pair[k] for pair in below]) for k in (0, 1))
    return Sides(signs, least, fragile, wrong_margins, wrong_sizes, close[1])


def _closest(
    count: int, known: Vector, places: Positions, first: int, margins: Vector, sizes: Vector, signs: AnyArray
) -> tuple[Vector, Positions]:
    """The ``count`` least of the relative margins known and those of the rows from ``first`` on, with their places."""
    inside = np.flatnonzero(signs > 0)
    relative = margins[inside] / np.maximum(sizes[inside], 1e-300)
    known, places = np.concatenate([known, relative]), np.concatenate([places, first + inside])
    if len(known) > count:
        limit = np.partition(known, count - 1)[count - 1]
        least = np.concatenate([np.flatnonzero(known < limit), np.flatnonzero(known == limit)])[:count]
        known, places = known[least], places[least]
    return known, places


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
