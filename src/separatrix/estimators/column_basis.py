"""Which columns are independent over all rows, and how the others depend on them, exactly.

A few rows are eliminated modulo primes; the dependences found are multiplied out on
every row; rows that break one are added, and so on. Rows only ever raise the rank,
so this ends after at most as many rounds as there are columns, and usually after two.
"""

from dataclasses import dataclass

import numpy as np

from separatrix.certificates.sides import sides
from separatrix.core.arrays import Positions
from separatrix.core.exact import Integers, NullSpace, null_space
from separatrix.core.protocols import SignedRows

ROWS_PER_COLUMN = 2
BREAKERS = 4
"""Rows added for each broken dependence."""


@dataclass(frozen=True, slots=True)
class ColumnBasis:
    """``basis`` columns, ``rows`` of full rank, and a dependence for every other column."""

    basis: Positions
    rows: Positions
    dependences: tuple[tuple[int, ...], ...]

    @property
    def rank(self) -> int:
        """Rank of all rows."""
        return len(self.basis)


def column_basis(rows: SignedRows, among: Positions | None = None) -> ColumnBasis:
    """The basis of all rows, or of the rows ``among``; columns enter in the rows' own order."""
    chosen = _first_rows(rows, among)
    inside = None if among is None else np.isin(np.arange(rows.count), among)
    while True:
        found = ordered_null_space(rows, chosen)
        chosen = chosen[found.rows]
        breaking: list[Positions] = []
        for vector in found.vectors:
            broken = sides(rows, vector).signs != 0
            if inside is not None:
                broken &= inside
            breaking.append(np.flatnonzero(broken)[:BREAKERS])
        new = np.setdiff1d(np.concatenate(breaking), chosen) if breaking else np.empty(0, dtype=np.int64)
        if not len(new):
            return ColumnBasis(found.basis, chosen, tuple(tuple(vector) for vector in found.vectors))
        chosen = np.union1d(chosen, new)


def _first_rows(rows: SignedRows, among: Positions | None) -> Positions:
    wanted = ROWS_PER_COLUMN * rows.width + 10
    if among is None:
        return rows.sample(wanted) if rows.count > wanted else np.arange(rows.count)
    return among[np.arange(min(wanted, len(among))) * len(among) // min(wanted, len(among))]


def ordered_null_space(rows: SignedRows, which: Positions) -> NullSpace:
    """The null space of some rows, with columns tried in the rows' own order."""
    order = rows.order
    found = null_space(rows.take(which)[:, order])
    vectors: list[Integers] = []
    for vector in found.vectors:
        back = [0] * len(order)
        for place, entry in zip(order, vector, strict=True):
            back[int(place)] = entry
        vectors.append(back)
    return NullSpace(order[found.basis], found.rows, vectors)
