"""A Bayesian network as a directed acyclic graph, with what is known and what follows."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

from separatrix.core.arrays import Vector
from separatrix.display import canvas
from separatrix.display.layered import Layout, layered
from separatrix.probability import BayesNet

WIDTH, GAP, LINE = 1.0, 0.3, 0.17
DARK = "#a86f12"
FEW = 16
"""Variables up to which probabilities are shown unless it is said otherwise."""

STATES = 5
"""States of a variable that are listed; more are counted."""


@dataclass
class BayesNetDisplay:
    """Variables as boxes, parents above children, with P(variable | given) as bars inside.

    >>> from separatrix.probability import BayesNet
    >>> net = BayesNet({"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])})
    >>> display = BayesNetDisplay.from_network(net, given={"wet": 1})
    >>> display.probabilities["rain"].round(3), display.layout.places["wet"][1]
    (array([0.333, 0.667]), -1.0)
    """

    layout: Layout
    states: Mapping[str, tuple[Any, ...]]
    probabilities: Mapping[str, Vector]
    given: Mapping[str, Any]
    factorisation: str
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_network(
        cls, network: BayesNet, given: Mapping[str, Any] | None = None, probabilities: bool | None = None
    ) -> Self:
        """The graph of a network; ``given`` is evidence, ``probabilities`` says whether bars are shown."""
        known = dict(given or {})
        shown = len(network.variables) <= FEW if probabilities is None else probabilities
        bars = {}
        if shown:
            bars = {name: network.query(name, known).probabilities for name in network.variables if name not in known}
        plan = layered({name: network.parents[name] for name in network.order}, WIDTH, GAP)
        return cls(plan, network.states, bars, known, network.factorisation())

    def height(self, name: str) -> float:
        """Of a variable's box, with a line for its name and one for each state shown."""
        lines = min(len(self.probabilities[name]), STATES) if name in self.probabilities else 0
        return 0.30 + LINE * (lines or (1 if name in self.given else 0)) if self.probabilities else 0.34

    def plot(self, ax: Any = None) -> Self:
        """Draw boxes, bars and arrows."""
        places = self.layout.places
        tallest = max(self.height(name) for name in places)
        step = tallest + 0.4
        across, down = ([place[k] for place in places.values()] for k in (0, 1))
        wide, high = max(across) - min(across) + WIDTH + 0.3, (max(down) - min(down)) * step + tallest + 0.2
        (panel,) = canvas.axes(ax, size=(max(3.2, 1.5 * wide), max(1.2, 1.4 * high) + 0.5))
        self._arrows(panel, step)
        for name, (x, y) in places.items():
            self._box(panel, name, x, y * step)
        panel.set_xlim(min(across) - WIDTH / 2 - 0.15, max(across) + WIDTH / 2 + 0.15)
        panel.set_ylim(min(down) * step - tallest / 2 - 0.1, max(down) * step + tallest / 2 + 0.1)
        panel.set_aspect("equal")
        panel.axis("off")
        title = textwrap.wrap(self.factorisation, max(40, int(20 * wide)))
        panel.set_title(
            "\n".join(title) if len(title) <= 3 else f"{len(places)} variables", fontsize=9, color=canvas.INK
        )
        self.ax_, self.figure_ = panel, panel.figure
        return self

    def _arrows(self, panel: Any, step: float) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 11, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
        ports = self._ports()
        for edge, route in self.layout.routes.items():
            (first, _), *passed, (last, _) = route
            start = (first + ports[edge][0], route[0][1] * step - self.height(edge[0]) / 2)
            end = (last + ports[edge][1], route[-1][1] * step + self.height(edge[1]) / 2 + 0.01)
            points = [start, *((x, y * step) for x, y in passed), end]
            vertices, codes = [start], [Path.MOVETO]
            for (x0, y0), (x1, y1) in pairwise(points):
                middle = (y0 + y1) / 2
                vertices += [(x0, middle), (x1, middle), (x1, y1)]
                codes += [Path.CURVE4] * 3
            panel.add_patch(FancyArrowPatch(path=Path(vertices, codes), color=canvas.FAINT, zorder=1, **style))

    def _ports(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Arrows of one box leave and enter side by side, in the order of where they lead."""
        ports = {edge: [0.0, 0.0] for edge in self.layout.routes}
        for end, near in ((0, 1), (1, -2)):
            places = {edge: route[near][0] for edge, route in self.layout.routes.items()}
            groups: dict[str, list[tuple[str, str]]] = {}
            for edge in sorted(places, key=places.__getitem__):
                groups.setdefault(edge[end], []).append(edge)
            for edges in groups.values():
                for k, edge in enumerate(edges):
                    ports[edge][end] = (k - (len(edges) - 1) / 2) * min(0.22, 0.7 * WIDTH / len(edges))
        return {edge: (leave, enter) for edge, (leave, enter) in ports.items()}

    def _box(self, panel: Any, name: str, x: float, y: float) -> None:
        from matplotlib.patches import FancyBboxPatch

        known, high = name in self.given, self.height(name)
        face, edge = ("#fdf3e1", canvas.BOUND) if known else ("white", canvas.INK)
        colours: dict[str, Any] = {"facecolor": face, "edgecolor": edge}
        shape = "round,pad=0,rounding_size=0.08"
        panel.add_patch(
            FancyBboxPatch((x - WIDTH / 2, y - high / 2), WIDTH, high, boxstyle=shape, lw=1.3, zorder=2, **colours)
        )
        common: dict[str, Any] = {"va": "center", "zorder": 4}
        told = f"= {self.given[name]}" if known else ""
        top = y + high / 2 - 0.15 if self.probabilities else y
        label = f"{name} {told}" if known and not self.probabilities else name
        panel.text(x, top, _short(label, 16), ha="center", fontsize=9.5, weight="bold", color=canvas.INK, **common)
        if known and self.probabilities:
            panel.text(x, top - 0.19, _short(told, 16), ha="center", fontsize=9, weight="bold", color=DARK, **common)
        if name in self.probabilities:
            self._bars(panel, name, x, top - 0.19, common)

    def _bars(self, panel: Any, name: str, x: float, top: float, common: dict[str, Any]) -> None:
        from matplotlib.patches import Rectangle

        p = self.probabilities[name]
        listed = len(p) if len(p) <= STATES else STATES - 1
        for k in range(listed):
            y = top - LINE * k
            panel.text(x - 0.44, y, _short(str(self.states[name][k]), 8), fontsize=7.5, color=canvas.INK, **common)
            for share, colour in ((1.0, "#e6e9ed"), (float(p[k]), canvas.POSITIVE)):
                panel.add_patch(Rectangle((x - 0.1, y - 0.05), 0.3 * share, 0.1, color=colour, lw=0, zorder=3))
            panel.text(x + 0.455, y, f"{p[k]:.3f}", ha="right", fontsize=7.5, color=canvas.INK, **common)
        if listed < len(p):
            more = f"… {len(p) - listed} more"
            panel.text(x, top - LINE * listed, more, ha="center", fontsize=7, color=canvas.FAINT, **common)


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
