"""Names for the arrays that appear everywhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]
Floats = NDArray[np.float32]
Visits = NDArray[np.int32] | NDArray[np.int64]
"""Row numbers in the order in which rows are visited, in 32 bits where they fit."""

AnyArray = NDArray[Any]


def every(rows: int) -> Visits:
    """The numbers of so many rows, ascending.

    >>> every(3)
    array([0, 1, 2], dtype=int32)
    """
    return np.arange(rows, dtype=np.int32) if rows < 2**31 else np.arange(rows, dtype=np.int64)


def brief(numbers: Positions, rows: int) -> Visits:
    """Numbers of some of so many rows, in as few bits as these need."""
    return numbers.astype(np.int32) if rows < 2**31 else numbers


UNIT_ROUNDOFF = 2.0**-53
"""Half the distance from 1 to the next float64: the largest relative error of one operation."""
