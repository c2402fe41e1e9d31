"""Counts of binary features as a sum over rows.

For class k: its weight Wₖ = Σ aᵢ, and for each column the weight Nₖⱼ of the rows with xⱼ > threshold. Rows of bytes are
counted as bytes; of sparse rows only what is stored is read. Counts of unit weights are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import NotFiniteError
from separatrix.core.total import Total


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Weights of the classes (K) and of their rows with a one (K × d); counts of two tables add up."""

    weights: Vector
    ones: Matrix

    def __add__(self, other: Self) -> Self:
        return type(self)(self.weights + other.weights, self.ones + other.ones)


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts above; ``binary`` asks that every value be 0 or 1.

    ``read`` raises NotFiniteError when a value was NaN, infinite, or not binary as asked.
    """

    classes: int
    threshold: float
    binary: bool = False
    kernel: str = "counts"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"classes": self.classes, "threshold": self.threshold, "binary": self.binary}

    def width(self, columns: int) -> int:
        """Weights, counts, and one number for strange values."""
        return self.classes * (1 + columns) + 1

    def work(self, entries_per_row: float, columns: int) -> float:
        """One read."""
        return entries_per_row

    def read(self, total: Total) -> ClassCounts:
        """The counts, if no value is strange."""
        sums = total.sums[0, 0]
        if sums[-1] != 0.0:
            raise NotFiniteError
        return ClassCounts(sums[: self.classes], sums[self.classes : -1].reshape(self.classes, -1))
