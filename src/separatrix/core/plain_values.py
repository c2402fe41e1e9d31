"""Values of any field as plain ones, and whether two of them are the same.

**Plain** means what ``json.dumps(value, allow_nan=False)`` takes. The rules:

- NaN and the infinities are the strings "nan", "inf" and "-inf"; JSON has no numbers for them;
- whole numbers beyond 64 bits are strings in hexadecimal: most readers round them, and Python refuses to print very
  long ones in decimal;
- a fraction is the string "3/4", bytes are their text (what is not UTF-8 escaped), dates and times are ISO 8601;
- arrays, tuples and sets are lists (sets in order of their text); the keys of a mapping become text;
- what has a ``to_dict`` is that dictionary, any other dataclass the dictionary of its fields, and anything else its
  ``repr``.

**The same** means equal by value: arrays by shape and entries, NaN equal to NaN, dataclasses and plain objects by type
and fields. It answers for any two values and never raises.
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

LONGEST = 64
"""Bits of a whole number that is written as one."""


def plain(value: Any) -> Any:
    """The value as JSON knows it.

    >>> plain({"bound": np.inf, "keep": np.arange(2), "day": np.datetime64("2020-02-29"), "label": b"yes"})
    {'bound': 'inf', 'keep': [0, 1], 'day': '2020-02-29', 'label': 'yes'}
    """
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, (str, np.datetime64, np.timedelta64)):
        return str(value)
    if isinstance(value, Integral):
        whole = int(value)
        return whole if whole.bit_length() <= LONGEST else hex(whole)
    if isinstance(value, Fraction):
        return f"{plain(value.numerator)}/{plain(value.denominator)}"
    if isinstance(value, (Real, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return _plain_parts(value)


def _plain_parts(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        # item by item: tolist() would turn dates into counts of nanoseconds
        return [plain(part) for part in value] if value.ndim else plain(value[()])
    if isinstance(value, Mapping):
        return {_key(key): plain(part) for key, part in value.items()}
    if isinstance(value, (set, frozenset)):
        return [plain(part) for part in sorted(value, key=repr)]
    if isinstance(value, Sequence):
        return [plain(part) for part in value]
    if hasattr(value, "to_dict") and not isinstance(value, type):
        return plain(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    return repr(value)


def _key(key: Any) -> str:
    simple = plain(key)
    return simple if isinstance(simple, str) else str(simple)


def is_number(value: Any) -> bool:
    """Whether a value is a real number of Python's own types or NumPy's: any other may show one and compare as another.

    >>> is_number(1), is_number(np.float32(0.5)), is_number(type("Any", (float,), {"__eq__": lambda *_: True})(2.0))
    (True, True, False)
    """
    kind = type(value)
    return kind in (bool, int, float, Fraction) or (isinstance(value, np.generic) and kind is value.dtype.type)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, entry by entry; NaN is equal to NaN.

    >>> same({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])}), same(np.zeros(2), [0.0, 0.0])
    (True, False)
    """
    try:
        return _same(one, other)
    except Exception:  # whatever cannot be compared is not the same
        return False


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and _same_arrays(one, other)
    if isinstance(one, (Real, np.generic)) and isinstance(other, (Real, np.generic)):
        if type(one) is not type(other) and not (is_number(one) and is_number(other)):
            return False
        return bool(one == other) or bool(one != one and other != other)
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if is_dataclass(one):
        return all(_same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one) if each.compare)
    if getattr(type(one), "__eq__", None) is object.__eq__:
        # an object without an equality of its own, for example an estimator: by what it holds
        return hasattr(one, "__dict__") and _same(vars(one), vars(other))
    return bool(one == other)


def _same_arrays(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
        return False
    if one.dtype.kind in "fcmM":
        return bool(np.array_equal(one, other, equal_nan=True))
    if one.dtype.kind == "O":
        return all(map(_same, one.ravel().tolist(), other.ravel().tolist()))
    return bool(np.array_equal(one, other))
