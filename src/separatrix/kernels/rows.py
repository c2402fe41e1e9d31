"""Rows as the kernels read them, and what belongs to them.

The compiled ``Rows`` brings a chunk of any layout to float64 in cache, so one kernel serves all layouts
it is listed for.
"""

from dataclasses import dataclass
from typing import Any

from separatrix.core.arrays import AnyArray, Codes, Matrix, Positions, Vector
from separatrix.core.lanes import THREAD_WORK, Span
from separatrix.kernels import _kernels
from separatrix.kernels.threads import thread_count

Rows = _kernels.Rows


@dataclass(frozen=True, slots=True)
class Labels:
    """What belongs to the rows beside their columns: class codes, weights, folds."""

    codes: Codes
    weights: Vector | None = None
    folds: Codes | None = None
    fold_count: int = 1


def threads_for(span: Span) -> int:
    """One thread for little work, all for more; never a matter of the result."""
    return thread_count() if span.work >= THREAD_WORK else 1


def dense_rows(array: AnyArray) -> Rows:
    """A two-dimensional numeric array, wherever it lies."""
    return Rows.dense(array)


def sparse_rows(starts: AnyArray, indices: AnyArray, values: AnyArray, shape: tuple[int, int], by_rows: bool) -> Rows:
    """A compressed sparse matrix, by rows or by columns."""
    return Rows.sparse(starts, indices, values, shape[0], shape[1], by_rows)


def column_rows(pieces: list[list[tuple[int, Any, int]]], n: int) -> Rows:
    """Columns of their own types; each a list of (first row, array, bit offset or −1)."""
    return Rows.columns(pieces, n)


MOST_CHECK_LANES = 16


def sparse_fault(rows: Rows, stored: int) -> str:
    """'' or what is wrong with a sparse matrix of so many numbers: 'starts', 'range' or 'order'."""
    return str(rows.fault(MOST_CHECK_LANES, thread_count() if stored >= THREAD_WORK else 1))


def gather(rows: Rows, which: Positions) -> Matrix:
    """Dense rows by number, as a float64 copy."""
    copied: Matrix = rows.gather(which)
    return copied
