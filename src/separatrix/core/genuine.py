"""What the fields of a certificate may be made of: types that cannot show one value and compute with another.

``verify`` compares values, and a subclass may say that it equals anything: a float that prints 1e-300 and computes with
1e-3, a name that equals "income" and prints "age", a question that derives from an honest one and restates nothing. So
the parts of a certificate are of just these types, and not of classes that derive from them:

- None, truth values, whole numbers, floats (NumPy's up to eight bytes too), text and bytes;
- arrays of NumPy, in memory or mapped, their entries up to eight bytes for each real number;
- tuples, lists and dictionaries of such;
- classes of this library, found under their own names, field by field.

Labels are the user's and may be anything; they are compared with those of the data, type and all. The question may be
an object of another's making (``StationaryCertificate`` serves any problem with a slope): what it says of the data is
what its author wrote. But it must not pass for one of ours.
"""

import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any

import numpy as np

SIMPLE = frozenset({NoneType, bool, int, float, str, bytes})
ROOMS = ("separatrix.",)

USERS_OWN = frozenset({"covariance_estimator"})
"""Parameters of a question that hold an estimator of the user's."""


def counterfeit(value: Any, foreign: bool = False, labels: bool = False) -> type | None:
    """The type of the first part that is none of these; None where there is no such part.

    ``foreign``: an object of another's making will do. ``labels``: entries of a tuple, and keys, are labels.

    >>> class Odd(float):
    ...     pass
    >>> counterfeit({"bound": (1e-9, np.float64(2.0))}), counterfeit({"bound": (Odd(1e-9),)})
    (None, <class 'separatrix.core.genuine.Odd'>)
    """
    kind = type(value)
    if kind in SIMPLE:
        return None
    if kind in (tuple, list):
        return None if labels else _among(value)
    if kind is dict:
        return (None if labels else _among(value)) or _among(value.values())
    if isinstance(value, (np.ndarray, np.generic)):
        exact = kind in (np.ndarray, np.memmap) or kind is value.dtype.type
        return None if exact and value.dtype not in (np.longdouble, np.clongdouble) else kind
    if _ours(kind):
        every = [each for each in fields(value) if each.compare] if is_dataclass(value) else []
        parts = ((each.name, getattr(value, each.name)) for each in every)
        return _among(part for name, part in parts if not (name in USERS_OWN and _is_estimator(part)))
    return None if foreign and not _passes_for_ours(kind) else kind


def _among(parts: Iterable[Any]) -> type | None:
    held = tuple(parts)
    if SIMPLE.issuperset(map(type, held)):  # long vectors of whole numbers
        return None
    return next((found for each in held if (found := counterfeit(each)) is not None), None)


def _is_estimator(value: Any) -> bool:
    """Whether it is an estimator, and does not pass for a plain value."""
    plain = (*(each for each in SIMPLE if each is not NoneType), tuple, list, dict, np.ndarray, np.generic)
    return hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, plain)


def _ours(kind: type) -> bool:
    """Whether a class is one of this library, and found there under its name."""
    home = sys.modules.get(kind.__module__) if kind.__module__.startswith(ROOMS) else None
    return home is not None and getattr(home, kind.__qualname__, None) is kind


def _passes_for_ours(kind: type) -> bool:
    """Whether a class derives from one of this library, protocols aside, or says it is one."""
    return any(each.__module__.startswith(ROOMS) and not getattr(each, "_is_protocol", False) for each in kind.__mro__)
