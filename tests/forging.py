"""A mechanical forger: every value that could take the place of another, and what gets past ``verify``."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from numbers import Integral, Real

import numpy as np

from separatrix.core.errors import CertificateError
from separatrix.core.plain_values import same

SCALES = (2, 0.5, 1000)


def forgeries(value, other=None, depth=3):
    """(what was done, the forged value) for a value and that of another fit."""
    yield "None", None
    yield "text", "forged"
    yield "another type", object()
    if (passing := disguised(value)) is not None:
        yield "a class that passes for it", passing
    if other is not None and not _close(value, other):
        yield "another fit's", other
    if isinstance(value, (bool, np.bool_)):
        yield "not", not value
    elif isinstance(value, Real):
        yield from _numbers(value)
    elif isinstance(value, np.ndarray):
        yield from _arrays(value)
    elif isinstance(value, (tuple, list)):
        yield from _sequences(value, other, depth)
    elif isinstance(value, Mapping):
        yield from _mappings(value, other, depth)
    elif is_dataclass(value) and depth:
        for each in fields(value):
            theirs = getattr(other, each.name, None)
            for what, forged in forgeries(getattr(value, each.name), theirs, depth - 1):
                try:
                    yield f"{each.name}: {what}", replace(value, **{each.name: forged})
                except Exception:  # a part that cannot be built at all cannot be forged either
                    continue
    elif isinstance(value, str):
        yield "empty", ""
        yield "longer", value + "!"


def disguised(value):
    """An equal value in a class that derives from its own: it equals anything, as it says, and shows something else."""
    kind = type(value)
    if value is None or kind is bool:
        return None
    shown = {name: lambda self, *_: "forged" for name in ("__repr__", "__str__", "__format__")}
    equal = {"__eq__": lambda *_: True, "__ne__": lambda *_: False, "__hash__": kind.__hash__}
    if isinstance(value, np.ndarray):
        return value.view(type("Forged", (np.ndarray,), shown)) if kind is np.ndarray else None
    if kind in (int, float, str, bytes, tuple, list, dict):
        return type("Forged", (kind,), shown | equal)(value)
    if is_dataclass(value):
        passing = object.__new__(type("Forged", (kind,), equal))
        for each in fields(value):
            object.__setattr__(passing, each.name, getattr(value, each.name))
        return passing
    return None


def _close(value, other):
    """Whether two bounds of rounding size are the same as far as the order of summation goes."""
    numbers = all(isinstance(each, Real) and not isinstance(each, (bool, Integral)) for each in (value, other))
    return numbers and 0.0 < value < 1e-6 and value <= 1.5 * other <= 2.25 * value


def _numbers(value):
    yield "nan", float("nan")
    yield "inf", float("inf")
    yield "-inf", float("-inf")
    yield "zero", type(value)(0)
    yield "-1", type(value)(-1)
    for scale in SCALES:
        yield f"× {scale}", int(value * scale) if isinstance(value, Integral) else value * scale
    yield "an array", np.array([value])
    if isinstance(value, Integral):
        yield "a float", float(value) if abs(value) < 2**53 else float("nan")


def _arrays(value):
    yield "a list", value.tolist()
    yield "empty", value[:0]
    yield "truncated", value[:-1]
    yield "longer", np.concatenate([value, value[-1:]]) if value.ndim else value
    yield "another shape", value[..., None]
    yield "backwards", value[::-1].copy()
    yield "shuffled", np.roll(value.ravel(), 1).reshape(value.shape)
    if value.dtype.kind not in "fi":
        return
    for what, filling in (("nan", np.nan), ("inf", np.inf), ("-inf", -np.inf), ("zero", 0), ("-1", -1)):
        if value.dtype.kind == "f" or np.isfinite(filling):
            yield what, np.full_like(value, filling)
            if value.size:
                for place in (0, -1):
                    one = value.copy()
                    one.ravel()[place] = filling
                    yield f"{what} at {place}", one
        else:
            yield what, np.full(value.shape, filling)
    for scale in SCALES:
        with np.errstate(all="ignore"):
            yield f"× {scale}", (value * scale).astype(value.dtype)


def _sequences(value, other, depth):
    yield "empty", type(value)()
    if len(value):
        yield "truncated", value[:-1]
        yield "longer", value + value[-1:]
        yield "backwards", value[::-1]
        yield "as an array", np.array(value, dtype=object)
    if all(isinstance(entry, Integral) for entry in value):
        for scale in (2, 1000):
            yield f"× {scale}", type(value)(scale * entry for entry in value)
        yield "turned around", type(value)(-entry for entry in value)
    if depth:
        for place in {0, len(value) - 1} if len(value) else ():
            theirs = other[place] if isinstance(other, (tuple, list)) and len(other) > place else None
            for what, forged in forgeries(value[place], theirs, depth - 1):
                yield f"[{place}] {what}", type(value)([*value[:place], forged, *value[place + 1 :]])


def _mappings(value, other, depth):
    yield "empty", {}
    for name in value:
        yield f"without {name}", {key: part for key, part in value.items() if key != name}
        theirs = other.get(name) if isinstance(other, Mapping) else None
        # of many certificates filed alike the first will do
        deep = depth and not (is_dataclass(value[name]) and name != next(iter(value)))
        for what, forged in forgeries(value[name], theirs, depth - 1) if deep else ():
            yield f"{name}: {what}", {**value, name: forged}
        if (passing := disguised(name)) is not None:
            others = {key: part for key, part in value.items() if key != name}
            yield f"{name}: filed under what passes for it", {**others, passing: value[name]}


def seen(certificate):
    """The sentence and every public attribute, as anyone can read them."""
    found = {"str": _read(lambda: str(certificate))}
    for name in dir(type(certificate)) + [each.name for each in fields(certificate)]:
        if not name.startswith("_") and name not in ("KINDS", "TOLD"):
            value = _read(lambda name=name: getattr(certificate, name))
            if not callable(value):
                found[name] = value
    return found


def _read(get):
    try:
        return get()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def gets_past(certificate, name, data, other=None):
    """Forgeries of one field that ``verify`` lets through although something that is stated has changed."""
    told = getattr(type(certificate), "TOLD", ())
    honest = seen(certificate)
    allowed = {"told", "met", *told} if name in told else set()
    past = []
    for what, value in forgeries(getattr(certificate, name), getattr(other, name, None)):
        try:
            forged = replace(certificate, **{name: value})
        except Exception:
            continue
        changed = {key for key, now in seen(forged).items() if key not in allowed and not same(now, honest.get(key))}
        if name in told and changed == {"str"} and "as told" in str(forged):
            changed = set()
        if not changed or changed <= {"problem", "separation"}:  # another question with the same answer
            continue
        try:
            forged.verify(*data)
        except CertificateError:
            continue
        except Exception as error:
            past.append(f"{name} {what}: raises {type(error).__name__}")
        else:
            past.append(f"{name} {what}: changes {', '.join(sorted(changed))}")
    return past
