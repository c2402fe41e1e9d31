"""Names for the arrays that appear everywhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]
AnyArray = NDArray[Any]

UNIT_ROUNDOFF = 2.0**-53
"""Half the distance from 1 to the next float64: the largest relative error of one operation."""
