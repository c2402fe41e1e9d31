"""Which columns are independent over all rows, and how the others depend on them, exactly.

A few rows are eliminated modulo primes; the dependences found are multiplied out on
every row; rows that break one are added, and so on. Rows only ever raise the rank,
so this ends after at most as many rounds as there are columns, and usually after two.

Where the rank is the number of different rows (more columns than rows, most often) it can be no higher, and the
dependences of the other columns, long integers that would take minutes, are not needed.
"""

import math
from dataclasses import dataclass

import numpy as np

from separatrix.certificates.dependences import different_rows
from separatrix.certificates.sides import sides
from separatrix.core.arrays import Positions
from separatrix.core.errors import OutOfTime
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import Integers, NullSpace, independent_part, null_space

ROWS_PER_COLUMN = 2
BREAKERS = 4
"""Rows added for each broken dependence."""

MOST_NUMBERS = 2**25
"""Numbers in a sample of signed rows, of more than two classes: 256 MiB, and as much again on the way. What does not
fit would not be decided in any time that someone waits."""


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


def check_room(rows: SignedRows, count: int) -> None:
    """OutOfTime where so many signed rows of many classes have no room; each is as long as K − 1 rows."""
    if rows.per_row > 1 and float(count) * rows.width > MOST_NUMBERS:
        raise OutOfTime


def column_basis(rows: SignedRows, order: Positions, deadline: float = math.inf) -> ColumnBasis:
    """The basis of all rows; columns enter in the order given. OutOfTime past the deadline."""
    wanted = ROWS_PER_COLUMN * rows.width + 10
    chosen = rows.sample(wanted) if rows.count > wanted else np.arange(rows.count)
    check_room(rows, len(chosen))
    taken = rows.take(chosen)
    basis, few = independent_part(taken[:, order], deadline)
    if len(basis) == rows.width or (len(chosen) == rows.count and len(basis) == different_rows(taken)):
        return ColumnBasis(np.sort(order[basis]), chosen[few], ())
    while True:
        found = ordered_null_space(rows, chosen, order, deadline)
        chosen = chosen[found.rows]
        breaking = [np.flatnonzero(sides(rows, vector).signs)[:BREAKERS] for vector in found.vectors]
        new = np.setdiff1d(np.concatenate(breaking), chosen) if breaking else np.empty(0, dtype=np.int64)
        if not len(new):
            return ColumnBasis(found.basis, chosen, tuple(tuple(vector) for vector in found.vectors))
        chosen = np.union1d(chosen, new)


def ordered_null_space(rows: SignedRows, which: Positions, order: Positions, deadline: float = math.inf) -> NullSpace:
    """The null space of some rows on the columns named by ``order``, tried in that order."""
    found = null_space(rows.take(which)[:, order], deadline)
    vectors: list[Integers] = []
    for vector in found.vectors:
        whole = [0] * rows.width
        for column, entry in zip(order.tolist(), vector, strict=True):
            whole[column] = entry
        vectors.append(whole)
    own = order[np.setdiff1d(np.arange(len(order)), found.basis)]
    return NullSpace(np.sort(order[found.basis]), found.rows, [vectors[k] for k in np.argsort(own)])
