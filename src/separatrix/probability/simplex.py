"""Probabilities as they are given: not negative, summing to one; weights and samples beside them.

This room knows no other, so it refuses with a plain ``ValueError``: a fact, a blank
line and a hint, like the library's other errors.
"""

from typing import Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.probability.sigmoid import Vector

TOLERANCE = 1e-9
"""How far a sum of probabilities may be from one: figures rounded to nine digits pass."""


def refuse(fact: str, hint: str) -> Never:
    """Raise a ValueError: a fact, a blank line and a hint."""
    raise ValueError(f"{fact}\n\nHint: {hint}")


def numbers(values: ArrayLike, name: str) -> Vector:
    """``values`` as float64; what is no number is refused under ``name``."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        why = str(error).rstrip(".")
    refuse(f"{name} cannot be read as numbers: {why}.", "give numbers, in rows of one length.")


def number(value: ArrayLike, name: str) -> float:
    """One finite number."""
    array = finite(value, name)
    if array.ndim:
        refuse(f"{name} has the shape {array.shape}.", "give one number.")
    return float(array)


def whole(n: object, name: str = "n", least: int = 0, below: float = 2.0**63) -> int:
    """A whole number of at least ``least``; how many there are fits into 64 bits."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not least <= n < below:
        limit = ", below 2⁶³" if below < np.inf else ""
        refuse(f"{name} is {_shown(n)}.", f"give a whole number, {least} or more{limit}.")
    return int(n)


def flag(value: object, name: str) -> bool:
    """True or False, and nothing that only counts as one.

    >>> flag("False", "log")
    Traceback (most recent call last):
        ...
    ValueError: log is 'False'.
    <BLANKLINE>
    Hint: log must be True or False.
    """
    if not isinstance(value, (bool, np.bool_)):
        refuse(f"{name} is {_shown(value)}.", f"{name} must be True or False.")
    return bool(value)


def _shown(value: object) -> str:
    """A value for an error's text; Python refuses to print very long numbers."""
    long = isinstance(value, int) and value.bit_length() > 10_000
    return f"a number of {value.bit_length()} bits" if isinstance(value, int) and long else repr(value)


def finite(values: ArrayLike, name: str) -> Vector:
    """``values`` as float64 without NaN and infinities.

    >>> finite([1.0, np.nan], "x")
    Traceback (most recent call last):
        ...
    ValueError: x has a NaN at position 1.
    <BLANKLINE>
    Hint: give finite numbers.
    """
    array = numbers(values, name)
    bad = ~np.isfinite(array)
    if bad.any():
        place = first(bad)
        what = "a NaN" if np.isnan(array[place]) else "an infinity"
        refuse(f"{name} has {what}{_at(place)}.", "give finite numbers.")
    return array


def simplex(p: ArrayLike, axis: int = -1, name: str = "p") -> Vector:
    """``p`` as float64, with probabilities along ``axis``.

    >>> simplex([0.5, 0.6])
    Traceback (most recent call last):
        ...
    ValueError: p sums to 1.1.
    <BLANKLINE>
    Hint: probabilities sum to one; divide counts by their sum.
    """
    array = finite(p, name)
    if array.ndim == 0 or array.size == 0:
        refuse(f"{name} holds no probabilities: its shape is {array.shape}.", "give one number for each outcome.")
    counted = isinstance(axis, (int, np.integer)) and not isinstance(axis, bool)
    if not counted or not -array.ndim <= axis < array.ndim:
        refuse(
            f"axis is {_shown(axis)}, but {name} has {array.ndim} axes.", "choose the axis along which it sums to one."
        )
    negative = array < 0.0
    if negative.any():
        place = first(negative)
        refuse(f"{name} is {float(array[place])!r}{_at(place)}.", "a probability is not negative.")
    sums = array.sum(axis=axis)
    wrong = np.abs(sums - 1.0) > TOLERANCE
    if np.any(wrong):
        place = first(np.atleast_1d(wrong)) if array.ndim > 1 else ()
        where = f" along axis {axis}{_at(place)}" if array.ndim > 1 else ""
        refuse(
            f"{name} sums to {float(np.asarray(sums)[place]):.12g}{where}.",
            "probabilities sum to one; divide counts by their sum.",
        )
    return array


def weights_for(weights: ArrayLike | None, rows: int) -> Vector:
    """Weights of a sample, scaled to sum to one; equal ones when none are given.

    >>> weights_for([1, 3], 2)
    array([0.25, 0.75])
    """
    if rows == 0:
        refuse("The sample is empty.", "maximum likelihood needs at least one observation.")
    if weights is None:
        return np.full(rows, 1.0 / rows)
    w = finite(weights, "weights")
    if w.shape != (rows,):
        refuse(f"weights have the shape {w.shape}, but there are {rows} observations.", "give one weight for each.")
    if (w < 0).any():
        refuse(f"weights are negative{_at(first(w < 0))}.", "a weight counts how often an observation occurs.")
    largest = w.max()
    if largest == 0.0:
        refuse("All weights are zero.", "give some observation a positive weight.")
    w = w / largest
    share: Vector = w / w.sum()
    return share


def first(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """The position of the first True."""
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _at(place: tuple[int, ...]) -> str:
    if not place:
        return ""
    return f" at position {place[0] if len(place) == 1 else place}"
