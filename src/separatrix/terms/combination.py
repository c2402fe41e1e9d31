"""Sums of rows by factors of their own, to the last few digits, and never all factors at once.

Residuals are n numbers, or n for each class: beside 50 float32 columns as many float64 numbers are four hundredths
of the data, and a residual is made of several. ``combined`` makes them of a part of the rows at a time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix
from separatrix.core.protocols import Engine, LabelledBlock
from separatrix.core.row_vector import RowVector
from separatrix.core.total import CompensatedTotal, Total, merge_tree


@dataclass(frozen=True, slots=True)
class Combination:
    """Σ rᵢₖ x̃ᵢ for each column k of the factors r (n × count), to the last few digits.

    What additions lose is added up beside the sums, so the error does not grow with the
    number of rows: it is at most ``ERROR`` times the sum of the terms' sizes.
    """

    ERROR: ClassVar[float] = 8 * UNIT_ROUNDOFF

    factors: RowVector
    constant: bool
    kernel: str = "combine"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"factors": self.factors, "constant": self.constant}

    def width(self, columns: int) -> int:
        """One combination per column of factors."""
        return 2 * self.factors.width * (columns + self.constant)

    def work(self, entries_per_row: float, columns: int) -> float:
        """Half as much again as a plain sum per column of factors."""
        return 1.5 * self.factors.width * entries_per_row

    def read(self, total: Total) -> Matrix:
        """Combinations (count × p)."""
        high, lost = total.sums[0]
        combinations: Matrix = (high + lost).reshape(self.factors.width, -1)
        return combinations


def combined(engine: Engine, factors: Callable[[LabelledBlock], Matrix]) -> Matrix:
    """Σ rᵢₖ (xᵢ, 1) for each column k of the factors that the function gives for the rows of a part.

    >>> from separatrix.engines import block_of, open_rows
    >>> engine = open_rows(block_of(np.array([[1.0], [2.0]])), np.array([0, 1], dtype=np.int32), 2, None)
    >>> combined(engine, lambda part: np.ones((part.rows, 1)))
    array([[3., 2.]])
    """

    def of(part: LabelledBlock) -> CompensatedTotal:
        given = RowVector((np.ascontiguousarray(factors(part)),))
        sums: Matrix = part.total(Combination(given, True), np.empty((1, 0)))
        return CompensatedTotal(np.stack([sums.ravel(), np.zeros(sums.size)])[None], np.empty(0))

    high, lost = merge_tree(of(part) for _, part in engine.parts()).sums[0]
    return np.asarray((high + lost).reshape(-1, engine.columns_count + 1))
