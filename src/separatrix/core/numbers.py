"""What counts as a number where a user gives one."""

from numbers import Integral, Real


def is_number(value: object, least: float = -float("inf"), most: float = float("inf")) -> bool:
    """A real number, no bool, no NaN, within least … most.

    >>> is_number(0.5, 0, 1), is_number(True), is_number(float("nan")), is_number("1")
    (True, False, False, False)
    """
    return not isinstance(value, bool) and isinstance(value, Real) and least <= float(value) <= most


def is_count(value: object, least: int = 1) -> bool:
    """A whole number of at least ``least``, no bool.

    >>> is_count(3), is_count(0), is_count(1.0)
    (True, False, False)
    """
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= least


def is_positive(value: object) -> bool:
    """A positive, finite number.

    >>> is_positive(1e-300), is_positive(float("inf")), is_positive(0)
    (True, False, False)
    """
    return is_number(value) and 0.0 < float(value) < float("inf")  # type: ignore[arg-type]  # is_number has seen to it
