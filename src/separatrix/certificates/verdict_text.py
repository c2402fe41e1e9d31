"""A verdict on separability in words."""

import math
from typing import Any

MOST_NAMES = 10


def sentence(verdict: Any) -> str:
    """What is claimed, what was assumed, and whether rounding could change it."""
    text = _softmax(verdict) if verdict.pairs else _of_one(verdict)
    for label, part in verdict.against_rest.items():
        text += f"\n  {label!r} against the rest: {part.kind}"
    for (a, b), part in verdict.pairs.items():
        text += f"\n  {a!r} against {b!r}: {part.kind}"
    return text


def _softmax(verdict: Any) -> str:
    if verdict.kind == "overlap":
        text = "The softmax likelihood has a maximum: all classes overlap."
    elif verdict.kind == "undecided":
        text = _claim(verdict)
    else:
        how = "completely" if verdict.kind == "complete" else "quasi-completely"
        text = f"The softmax likelihood has no maximum: the classes are {how} separable."
    return text + _assumed(verdict)


def _of_one(verdict: Any) -> str:
    tail = " Changes of the size of rounding could change that." if verdict.fragile else ""
    return _claim(verdict) + tail + _assumed(verdict)


def _claim(verdict: Any) -> str:
    if verdict.kind == "complete":
        if math.isinf(verdict.margin):
            return "Completely separable: there is one class only, and the constant decides."
        if verdict.per_row > 1:
            return "Completely separable: every row scores highest in its own class."
        return f"Completely separable: every row lies on its side, at a distance of {verdict.margin:.3g} at least."
    if verdict.kind == "overlap":
        few = len(verdict.balance.rows)
        return f"The classes overlap: {few} rows balance each other at the full rank {verdict.rank}."
    if verdict.kind == "quasi":
        apart = f"{len(verdict.separated)} of {verdict.count}"
        what = "rows can be separated" if verdict.per_row == 1 else "pairs of a row and a wrong class can be separated"
        return f"Quasi-completely separable: {apart} {what}, no more.{_running(verdict)}"
    left = 0 if verdict.open_rows is None else len(verdict.open_rows)
    if not left:
        return "Undecided: the budget left no time, or the memory no room, for a first look."
    return f"Undecided: the budget ran out with {left} rows still open."


def _running(verdict: Any) -> str:
    infinite = verdict.infinite
    return f" Not finite: {_listed(infinite)}." if infinite else ""


def _assumed(verdict: Any) -> str:
    aside = verdict.set_aside
    if not aside:
        return ""
    what = "a combination" if len(aside) == 1 else "combinations"
    return f" Set aside as {what} of other columns to the rounding of their decimals: {_listed(aside)}."


def _listed(names: Any) -> str:
    return ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
