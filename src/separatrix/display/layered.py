"""A directed acyclic graph in layers: arrows point down, cross seldom and run straight where they can.

Three steps, each simple: a node's layer is one below its lowest parent (a root comes down
to just above its first child); nodes of a layer are sorted by the mean place of their
neighbours, sweep after sweep, and the order with fewest crossings is kept; then every node
moves to the mean of its neighbours as far as the order and the widths allow, which is
isotonic regression. An arrow that passes layers gets a place in each, so that it does not
run through boxes.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

Edge = tuple[str, str]
Place = tuple[float, float]
Joint = tuple[str, str, int]
"""Where the arrow from a to b passes layer k."""


@dataclass(frozen=True)
class Layout:
    """Places of the nodes, layer k at height −k, and for each arrow the places it passes."""

    places: dict[str, Place]
    routes: dict[Edge, list[Place]]


def layered(parents: Mapping[str, Sequence[str]], width: float = 1.0, gap: float = 0.4, sweeps: int = 24) -> Layout:
    """Lay out the graph in which every node's parents are named, parents first.

    Parts that no arrow connects stand side by side, the largest first; lone nodes in columns.

    >>> plan = layered({"a": [], "b": [], "c": ["a", "b"]}, width=1.0, gap=1.0)
    >>> plan.places["c"][1] - plan.places["a"][1], abs(plan.places["a"][0] - plan.places["b"][0])
    (-1.0, 2.0)
    """
    parts = sorted(_parts(parents), key=lambda part: -len(part))
    plans = [_connected({name: parents[name] for name in part}, width, gap, sweeps) for part in parts if len(part) > 1]
    lone = [part[0] for part in parts if len(part) == 1]
    if lone:
        deepest = max((-min(y for _, y in plan.places.values()) for plan in plans), default=0.0)
        rows = int(max(deepest + 1, round(len(lone) ** 0.5)))
        columns = {name: ((width + gap) * (k // rows), -float(k % rows)) for k, name in enumerate(lone)}
        plans.append(Layout(columns, {}))
    places: dict[str, Place] = {}
    routes: dict[Edge, list[Place]] = {}
    edge = 0.0
    for plan in plans:
        points = [*plan.places.values(), *(point for route in plan.routes.values() for point in route)]
        shift = edge - min(x for x, _ in points)
        places |= {name: (x + shift, y) for name, (x, y) in plan.places.items()}
        routes |= {arrow: [(x + shift, y) for x, y in route] for arrow, route in plan.routes.items()}
        edge += max(x for x, _ in points) - min(x for x, _ in points) + width + gap
    middle = (edge - width - gap) / 2
    return Layout(
        {name: (x - middle, y) for name, (x, y) in places.items()},
        {arrow: [(x - middle, y) for x, y in route] for arrow, route in routes.items()},
    )


def _parts(parents: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Nodes that arrows connect, in the order given."""
    part = {name: name for name in parents}

    def root(name: str) -> str:
        while part[name] != name:
            part[name] = part[part[name]]
            name = part[name]
        return name

    for name, sources in parents.items():
        for source in sources:
            part[root(name)] = root(source)
    groups: dict[str, list[str]] = {}
    for name in parents:
        groups.setdefault(root(name), []).append(name)
    return list(groups.values())


def _connected(parents: Mapping[str, Sequence[str]], width: float, gap: float, sweeps: int) -> Layout:
    layer = _layers(parents)
    rows: list[list[str | Joint]] = [[] for _ in range(max(layer.values()) + 1)]
    for name in parents:
        rows[layer[name]].append(name)
    above: dict[str | Joint, list[str | Joint]] = {name: [] for name in parents}
    chains: dict[Edge, list[str | Joint]] = {}
    for name, sources in parents.items():
        for source in sources:
            joints: list[str | Joint] = [(source, name, k) for k in range(layer[source] + 1, layer[name])]
            for k, joint in enumerate(joints, layer[source] + 1):
                rows[k].append(joint)
            chain = [source, *joints, name]
            chains[source, name] = chain
            for upper, lower in itertools.pairwise(chain):
                above.setdefault(lower, []).append(upper)
    below: dict[str | Joint, list[str | Joint]] = {}
    for lower, uppers in above.items():
        for upper in uppers:
            below.setdefault(upper, []).append(lower)
    rows = _ordered(rows, above, below, sweeps)
    x = _across(rows, above, below, width, gap, sweeps)
    heights = {node: -float(k) for k, row in enumerate(rows) for node in row}
    places = {name: (x[name], heights[name]) for name in parents}
    routes = {edge: [(x[node], heights[node]) for node in chain] for edge, chain in chains.items()}
    return Layout(places, routes)


def _layers(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    layer: dict[str, int] = {}
    for name, sources in parents.items():
        layer[name] = 1 + max((layer[source] for source in sources), default=-1)
    for name, sources in parents.items():
        if not sources:
            children = [layer[child] for child, its in parents.items() if name in its]
            layer[name] = min(children, default=1) - 1
    return layer


def _ordered(rows: list[list[str | Joint]], above: dict, below: dict, sweeps: int) -> list[list[str | Joint]]:  # type: ignore[type-arg]  # keys are names or joints
    best, fewest = rows, _crossings(rows, above)
    for sweep in range(sweeps):
        if fewest == 0:
            break
        down = sweep % 2 == 0
        rows = [list(row) for row in rows]
        for k in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            fixed = {node: place for place, node in enumerate(rows[k - 1 if down else k + 1])}
            links = above if down else below
            own = {node: place for place, node in enumerate(rows[k])}
            means = {
                node: float(np.mean([fixed[other] for other in links.get(node, [])])) if links.get(node) else own[node]
                for node in rows[k]
            }
            rows[k].sort(key=lambda node: means[node])  # sorted at once
        count = _crossings(rows, above)
        if count < fewest:
            best, fewest = rows, count
    return best


def _crossings(rows: list[list[str | Joint]], above: dict) -> int:  # type: ignore[type-arg]  # keys are names or joints
    total = 0
    for k in range(1, len(rows)):
        place = {node: at for at, node in enumerate(rows[k - 1])}
        ends = np.array([(place[upper], at) for at, node in enumerate(rows[k]) for upper in above.get(node, [])])
        if len(ends) > 1:
            apart = np.sign(ends[:, None] - ends[None, :])
            total += int((apart[..., 0] * apart[..., 1] < 0).sum()) // 2
    return total


def _across(
    rows: list[list[str | Joint]],
    above: dict,  # type: ignore[type-arg]  # keys are names or joints
    below: dict,  # type: ignore[type-arg]  # keys are names or joints
    width: float,
    gap: float,
    sweeps: int,
) -> dict[str | Joint, float]:
    # a joint needs room for a line only
    offsets = []
    for row in rows:
        widths = np.array([width if isinstance(node, str) else 0.0 for node in row])
        steps = (widths[:-1] + widths[1:]) / 2 + gap
        offsets.append(np.concatenate([[0.0], np.cumsum(steps)]))
    x: dict[str | Joint, float] = {}
    for row, offset in zip(rows, offsets, strict=True):
        x.update(zip(row, offset - offset[-1] / 2, strict=True))
    for sweep in range(2 * sweeps):
        order = range(len(rows)) if sweep % 2 == 0 else range(len(rows) - 1, -1, -1)
        for k in order:
            around = [[*above.get(node, []), *below.get(node, [])] for node in rows[k]]
            if sweep < sweeps:  # first settle each layer by one side, then by both
                one_side = above if sweep % 2 == 0 else below
                around = [one_side.get(node) or near for node, near in zip(rows[k], around, strict=True)]
            wanted = np.array(
                [
                    np.mean([x[other] for other in near]) if near else x[node]
                    for node, near in zip(rows[k], around, strict=True)
                ]
            )
            # joints pull harder: a long arrow should be straight
            pull = np.array([1.0 if isinstance(node, str) else 4.0 for node in rows[k]])
            settled = isotonic_regression(wanted - offsets[k], weights=pull).x + offsets[k]
            x.update(zip(rows[k], settled, strict=True))
    middle = (min(x.values()) + max(x.values())) / 2
    return {node: float(at - middle) for node, at in x.items()}
