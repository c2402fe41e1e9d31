"""What counts as a number, a count or a flag where a user gives one.

A bool is no number and a number is no bool, NumPy's included; NaN is no number. An integer or a fraction too large for
a float is no number either: every formula here is one of floats.
"""

from numbers import Integral, Real

import numpy as np

LARGEST_COUNT = 2**63 - 1
"""What the kernels can count to."""


def is_flag(value: object) -> bool:
    """True or False, NumPy's too; 0, 1 and "False" are not.

    >>> is_flag(np.True_), is_flag(1), is_flag("False")
    (True, False, False)
    """
    return isinstance(value, (bool, np.bool_))


def is_number(value: object, least: float = -float("inf"), most: float = float("inf")) -> bool:
    """A real number, no bool, no NaN, within least … most.

    >>> is_number(0.5, 0, 1), is_number(True), is_number(float("nan")), is_number("1"), is_number(10**400)
    (True, False, False, False, False)
    """
    if is_flag(value) or not isinstance(value, Real):
        return False
    try:
        return least <= float(value) <= most
    except OverflowError:
        return False


def is_count(value: object, least: int = 1) -> bool:
    """A whole number of at least ``least``, no bool, that fits into 64 bits.

    >>> is_count(3), is_count(0), is_count(1.0), is_count(10**30)
    (True, False, False, False)
    """
    return not is_flag(value) and isinstance(value, Integral) and least <= int(value) <= LARGEST_COUNT


def is_positive(value: object) -> bool:
    """A positive, finite number.

    >>> is_positive(1e-300), is_positive(float("inf")), is_positive(0)
    (True, False, False)
    """
    return is_number(value) and 0.0 < float(value) < float("inf")  # type: ignore[arg-type]  # is_number has seen to it
