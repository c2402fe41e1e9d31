"""Points that a descent walks through: a number or an array, of floats or of Fractions.

Fractions stay Fractions, so that a walk can be compared with one done by hand.
A single number is handed to the user's functions as a number, not as an array.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray
from separatrix.core.errors import refuse

FAR = 1e12
"""A point farther away than this many first steps, or lengths of the start, has diverged."""

FARTHEST = 1e150
"""Beyond this, squares overflow."""


@dataclass(frozen=True, slots=True)
class Space:
    """What the points look like: their shape, and whether arithmetic is exact.

    >>> Space.of(2.0).start, Space.of([Fraction(1, 3), 0]).exact
    (array(2.), True)
    """

    start: AnyArray
    exact: bool

    @classmethod
    def of(cls, start: Any) -> "Space":
        """Read a start; refuses what is not finite numbers."""
        values = np.asarray(start)
        if values.dtype == object and values.size and all(isinstance(v, (int, Fraction)) for v in values.flat):
            exact = np.empty(values.size, dtype=object)
            exact[:] = [Fraction(v) for v in values.flat]
            return cls(exact.reshape(values.shape), True)
        if values.dtype.kind not in "iufb" or values.size == 0:
            refuse(f"start is {start!r}.", "give a number or a non-empty array of numbers.")
        values = np.array(values, dtype=np.float64)
        if not np.isfinite(values).all():
            refuse(f"start is {start!r}.", "every coordinate must be finite.")
        return cls(values, False)

    def shown(self, point: AnyArray) -> Any:
        """A point as the user's functions see it; a copy, so that they cannot move us."""
        return point.copy() if self.start.ndim else point.item()

    def gradient(self, value: Any, step: int) -> AnyArray:
        """A gradient that a user's function returned, checked."""
        found = np.asarray(value, dtype=object if self.exact else None)
        if found.shape != self.start.shape:
            refuse(
                f"The gradient at step {step} has shape {found.shape}, but the point has shape {self.start.shape}.",
                "return one number per coordinate.",
            )
        if self.exact:
            if not all(isinstance(v, (int, Fraction)) for v in found.flat):
                refuse(
                    f"The start holds Fractions, but the gradient at step {step} holds {type(found.flat[0]).__name__}.",
                    "compute it from whole numbers and Fractions, or start from floats.",
                )
            return found
        if found.dtype.kind not in "iufb":
            refuse(f"The gradient at step {step} is {value!r}, which is not made of real numbers.", "return floats.")
        found = np.array(found, dtype=np.float64)
        if np.isnan(found).any():
            refuse(
                f"The gradient at step {step} holds NaN.",
                "check the function there; if the points ran away, lower the rate.",
            )
        return found

    def value(self, value: Any, step: int) -> float:
        """A value that a user's function returned, as a float; infinity may be, NaN not."""
        try:
            found = float(value)
        except OverflowError:
            return math.inf
        except (TypeError, ValueError):
            refuse(f"The function at step {step} is {value!r}, which is not a number.", "return a single number.")
        if math.isnan(found):
            refuse(f"The function at step {step} is NaN.", "check the function there; lower the rate.")
        return found


def length(vector: AnyArray) -> float:
    """‖v‖ as a float; infinite where it overflows.

    >>> length(np.array([3.0, 4.0]))
    5.0
    """
    try:
        values = np.abs(np.asarray(vector, dtype=np.float64).ravel())
    except OverflowError:
        return math.inf
    largest = float(values.max())
    if not 0.0 < largest < math.inf:
        return largest
    return largest * float(np.linalg.norm(values / largest))  # squares must not overflow


def close_enough(point: AnyArray, start: AnyArray, first_step: float) -> bool:
    """Whether a point is finite and within FAR·max(1, ‖start‖, the first step) of the start, at most FARTHEST."""
    with np.errstate(over="ignore", invalid="ignore"):
        distance = length(np.asarray(point - start))
        return distance <= min(FAR * max(1.0, length(start), first_step), FARTHEST)
