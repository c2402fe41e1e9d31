"""Conditional tables as they are declared: parents known, no cycle, shapes that fit, rows that sum to one."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import TOLERANCE, finite, first, refuse

State = Hashable


@dataclass(frozen=True)
class Declared:
    """A network's variables in causal order, and for each its parents, its states and its table."""

    order: tuple[str, ...]
    parents: dict[str, tuple[str, ...]]
    states: dict[str, tuple[State, ...]]
    tables: dict[str, Vector]


def declare(tables: Mapping[str, Any], states: Mapping[str, Sequence[State]]) -> Declared:
    """Check what the user wrote; every complaint names the variable.

    >>> declare({"wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]]), "rain": [0.8, 0.2]}, {}).order
    ('rain', 'wet')
    """
    if not tables:
        refuse("The network has no variables.", "give a table for each.")
    named = {name: tuple(values) for name, values in states.items()}
    stranger = next((name for name in named if name not in tables), None)
    if stranger is not None:
        refuse(f"states names the states of {stranger!r}, which has no table.", "give it a table.")
    parents: dict[str, tuple[str, ...]] = {}
    arrays: dict[str, Vector] = {}
    for name, given in tables.items():
        if not isinstance(name, str):
            refuse(f"A variable is named {name!r}.", "names are strings.")
        above, table = given if _has_parents(given) else ((), given)
        parents[name] = (above,) if isinstance(above, str) else tuple(above)
        arrays[name] = finite(table, f"The table of {name!r}").copy()
        _check_parents(name, parents[name], tables)
    order = _causal_order(parents)
    found: dict[str, tuple[State, ...]] = {}
    for name in order:
        found[name] = _states(name, arrays[name], named.get(name))
        _check_table(name, arrays[name], parents[name], found)
        arrays[name].flags.writeable = False
    return Declared(order, parents, found, arrays)


def _has_parents(given: Any) -> bool:
    """(parents, table), and not a row of probabilities that happens to be a tuple."""
    return isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], (int, float, np.number))


def _check_parents(name: str, parents: tuple[str, ...], tables: Mapping[str, Any]) -> None:
    for above in parents:
        if above not in tables:
            refuse(f"{name!r} has the parent {above!r}, which has no table.", "give every variable a table.")
    if len(set(parents)) < len(parents):
        refuse(f"{name!r} names a parent twice: {', '.join(parents)}.", "name each parent once.")


def _causal_order(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Parents before children, otherwise as declared; a cycle is named."""
    done: dict[str, None] = {}
    for root in parents:
        path: list[tuple[str, int]] = [(root, 0)] if root not in done else []
        on_path = {root}
        while path:
            name, k = path.pop()
            if k == len(parents[name]):
                done[name] = None
                on_path.discard(name)
                continue
            path.append((name, k + 1))
            above = parents[name][k]
            if above in on_path:
                names = [step for step, _ in path]
                circle = [*names[names.index(above) :], above]
                refuse(f"The arrows go round in a circle: {' → '.join(circle[::-1])}.", "a network has no cycle.")
            if above not in done:
                path.append((above, 0))
                on_path.add(above)
    return tuple(done)


def _states(name: str, table: Vector, named: tuple[State, ...] | None) -> tuple[State, ...]:
    count = table.shape[-1] if table.ndim else 0
    if count == 0:
        refuse(f"The table of {name!r} holds no probabilities.", "its last axis has one entry for each state.")
    if named is None:
        return tuple(range(count))
    if not all(isinstance(state, Hashable) for state in named):
        refuse(f"The states of {name!r} are {list(named)}.", "name them with strings, numbers or tuples.")
    if len(named) != count or len(set(named)) < count:
        refuse(f"{name!r} has {count} states, but they are named {list(named)}.", "name each state once.")
    return named


def _check_table(name: str, table: Vector, parents: tuple[str, ...], states: Mapping[str, tuple[State, ...]]) -> None:
    expected = (*(len(states[above]) for above in parents), len(states[name]))
    if table.shape != expected:
        axes = ", ".join((*parents, name))
        refuse(
            f"The table of {name!r} has the shape {table.shape}, but its axes ({axes}) need {expected}.",
            "one axis for each parent, in their order, and the variable's own states last.",
        )
    for wrong, what in ((table.min(axis=-1) < 0.0, "has a negative entry"),
                        (np.abs(table.sum(axis=-1) - 1.0) > TOLERANCE, "sums to {:.12g}")):  # fmt: skip
        if np.any(wrong):
            place = first(wrong)
            row = ", ".join(f"{above}={states[above][k]}" for above, k in zip(parents, place, strict=True))
            told = what.format(float(table.sum(axis=-1)[place]))
            refuse(f"P({name}{' | ' + row if row else ''}) {told}.", "probabilities are not negative and sum to one.")
