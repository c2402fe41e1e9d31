"""A row vector: numbers of every row, kept block by block where the rows are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray


@dataclass(frozen=True, slots=True, eq=False)
class RowVector:
    """One array for each block of an engine, in the order of the rows.

    ``axis`` is where an array has its rows: 0 for (rows,) and (rows × columns), 1 for (classes × rows). Terms take row
    vectors among their options, and a kernel sees the part of its block.

    >>> halves = RowVector((np.array([1.0, 2.0]), np.array([3.0])))
    >>> halves.each(lambda part: 2 * part).array()
    array([2., 4., 6.])
    >>> halves.sum(lambda part: float(part.sum()))
    6.0
    """

    parts: tuple[AnyArray, ...]
    axis: int = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each block."""
        return tuple(part.shape[self.axis] for part in self.parts)

    @property
    def rows(self) -> int:
        """How many rows."""
        return sum(self.sizes)

    def of(self, block: int) -> "RowVector":
        """The part of one block, for an engine of that block alone."""
        return RowVector((self.parts[block],), self.axis)

    @property
    def width(self) -> int:
        """Numbers per row."""
        part = self.parts[0]
        return int(part.size) // max(int(part.shape[self.axis]), 1)

    def each(self, function: Callable[..., AnyArray], *others: Self | None, axis: int = 0) -> "RowVector":
        """A function of the arrays, block by block; of those of other row vectors too."""
        return RowVector(tuple(function(*together) for together in self.beside(*others)), axis)

    def sum(self, function: Callable[..., Any], *others: Self | None) -> Any:
        """Σ of a function of the arrays, block by block."""
        first, *rest = (function(*together) for together in self.beside(*others))
        for value in rest:
            first = first + value
        return first

    def beside(self, *others: Self | None) -> Iterator[tuple[Any, ...]]:
        """The arrays block by block, with those of other row vectors of the same blocks; None for one not there."""
        for other in others:
            if other is not None and other.sizes != self.sizes:
                raise ValueError(f"Row vectors of {self.sizes} and {other.sizes} rows do not belong together.")
        for k, part in enumerate(self.parts):
            yield (part, *(None if other is None else other.parts[k] for other in others))

    def array(self) -> Any:
        """All numbers in one array: the array itself where there is one block."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts, axis=self.axis)


def array_of(vector: RowVector | None) -> Any:
    """All numbers in one array; None for what is not there."""
    return None if vector is None else vector.array()
