"""A network drawn: its neurons with their weights, and what each hidden unit sees."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas

MOST_UNITS = 12
MOST_MAPS = 12
GRID = 120


@dataclass
class NetworkDisplay:
    """Layers from left to right; a line per weight, blue for positive, red for negative, thick for large.

    Of a layer with more than ``most_units`` units those are drawn whose weights, in and
    out, are the largest together; ``shown`` says which. For a network of two columns,
    given the data, ``maps`` holds each unit of a hidden layer over the plane.

    >>> from separatrix import MLPClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = MLPClassifier((3,), activation="tanh", solver="lbfgs").fit(X, y)
    >>> display = NetworkDisplay.from_estimator(model, X, y)
    >>> [len(layer) for layer in display.shown], display.maps.shape
    ([2, 3, 1], (120, 120, 3))
    """

    weights: Sequence[AnyArray]
    constants: Sequence[AnyArray]
    shown: Sequence[AnyArray]
    inputs: Sequence[str]
    outputs: Sequence[str]
    activation: str
    grids: tuple[Vector, Vector] | None = None
    maps: AnyArray | None = field(default=None, repr=False)
    layer: int = 1
    points: Matrix | None = field(default=None, repr=False)
    codes: AnyArray | None = field(default=None, repr=False)
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, layer: int = 1, most_units: int = MOST_UNITS
    ) -> Self:
        """A fitted MLPClassifier; with data of two columns also the maps of hidden layer ``layer`` (1, 2, …)."""
        weights, constants = list(estimator.coefs_), list(estimator.intercepts_)
        columns = weights[0].shape[0]
        names = getattr(estimator, "feature_names_in_", None)
        inputs = [str(name) for name in names] if names is not None else [f"x{k + 1}" for k in range(columns)]
        labels = [str(label) for label in estimator.classes_]
        outputs = [f"p({labels[1]})"] if len(labels) == 2 else [f"p({label})" for label in labels]
        activation = estimator.certificate_.problem.architecture.activation
        display = cls(weights, constants, _largest(weights, most_units), inputs, outputs, activation)
        if X is not None and columns == 2:
            display._add_maps(np.asarray(X, dtype=np.float64), layer)
            if y is not None:
                display.codes = np.searchsorted(estimator.classes_, np.asarray(y))
        return display

    def _add_maps(self, X: Matrix, layer: int) -> None:
        if not 1 <= layer <= len(self.weights) - 1:
            refuse(f"layer is {layer}, but there are {len(self.weights) - 1} hidden layers.", "they count from 1.")
        low, high = X.min(axis=0), X.max(axis=0)
        room = 0.1 * np.where(high > low, high - low, 1.0)
        across, up = (np.linspace(low[k] - room[k], high[k] + room[k], GRID) for k in (0, 1))
        values = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
        for matrix, constants in zip(self.weights[:layer], self.constants[:layer], strict=True):
            values = values @ matrix.astype(np.float64)
            kernels.activate(self.activation, values, constants.astype(np.float64))
        self.grids, self.maps, self.layer, self.points = (across, up), values.reshape(GRID, GRID, -1), layer, X

    def positions(self) -> list[Matrix]:
        """Where the neurons stand: one (units × 2) array per layer, centred on a common line."""
        return [
            np.column_stack([np.full(len(layer), float(k)), (len(layer) - 1) / 2.0 - np.arange(len(layer))])
            for k, layer in enumerate(self.shown)
        ]

    def plot(self, ax: Any = None) -> Self:
        """Draw neurons and weights."""
        places = self.positions()
        tallest = max(len(layer) for layer in self.shown)
        (panel,) = canvas.axes(ax, size=(2.2 + 1.9 * len(places), 1.2 + 0.36 * tallest))
        for k, matrix in enumerate(self.weights):
            part = matrix[np.ix_(self.shown[k], self.shown[k + 1])]
            largest = float(np.abs(part).max()) or 1.0
            for i, row in enumerate(part):
                for j, weight in enumerate(row):
                    share = abs(float(weight)) / largest
                    (x0, y0), (x1, y1) = places[k][i], places[k + 1][j]
                    panel.plot([x0, x1], [y0, y1], lw=0.3 + 3.0 * share, alpha=0.15 + 0.75 * share, zorder=1,
                               color=canvas.POSITIVE if weight > 0 else canvas.NEGATIVE)  # fmt: skip
        for k, spots in enumerate(places):
            panel.scatter(*spots.T, s=170, facecolor="white", edgecolor=canvas.INK, linewidth=1.3, zorder=2)
            units = len(self.weights[0]) if k == 0 else self.weights[k - 1].shape[1]
            what = "input" if k == 0 else "output" if k == len(places) - 1 else f"hidden {k}, {self.activation}"
            some = f"{len(spots)} of {units}" if len(spots) < units else f"{units}"
            panel.text(k, (tallest - 1) / 2.0 + 0.85, f"{what}\n{some}", ha="center", fontsize=8, color=canvas.INK)
        for k, names, side, align in ((0, self.inputs, -0.12, "right"), (-1, self.outputs, 0.12, "left")):
            for (x, y), unit in zip(places[k], self.shown[k], strict=True):
                panel.text(x + side, y, names[unit], ha=align, va="center", fontsize=8)
        panel.set_xlim(-0.8, len(places) - 0.2)
        panel.set_ylim(-(tallest - 1) / 2.0 - 0.7, (tallest - 1) / 2.0 + 2.0)
        panel.axis("off")
        self.ax_, self.figure_ = panel, panel.figure
        return self

    def plot_units(self, ax: Any = None) -> Self:
        """Draw each unit of the hidden layer over the plane, dark where it is large, a line where its score is 0."""
        if self.maps is None or self.grids is None or self.points is None:
            refuse("There are no maps of hidden units.", "give data of two columns: from_estimator(model, X, y).")
        units = min(self.maps.shape[2], MOST_MAPS)
        order = _largest(self.weights, units)[self.layer]
        panels = canvas.axes(ax, units, size=(2.1, 2.3))
        signed = self.activation in ("tanh", "identity")
        top = float(np.abs(self.maps).max()) or 1.0
        low = -top if signed else 0.0
        high = low + 3.0 * (top - low)  # a third of the greys only, so that the points stand out
        codes = np.zeros(len(self.points), dtype=int) if self.codes is None else self.codes
        colours = np.array([canvas.NEGATIVE, *canvas.SERIES[:1], *canvas.SERIES[2:]])[codes % len(canvas.SERIES)]
        extent = (self.grids[0][0], self.grids[0][-1], self.grids[1][0], self.grids[1][-1])
        for panel, unit in zip(panels, order, strict=True):
            heights = self.maps[:, :, unit]
            panel.imshow(heights, origin="lower", extent=extent, aspect="auto", cmap="Greys",
                         vmin=low, vmax=high)  # fmt: skip
            middle = 0.5 if self.activation == "logistic" else 0.0 if signed else 1e-12
            if heights.min() < middle < heights.max():
                panel.contour(*self.grids, heights, levels=[middle], colors=[canvas.INK], linewidths=1.0)
            panel.scatter(*self.points.T, s=6, c=colours, linewidth=0)
            panel.set_title(f"unit {unit + 1}", fontsize=8)
            panel.set(xticks=[], yticks=[], xlim=extent[:2], ylim=extent[2:])
        self.ax_, self.figure_ = np.array(panels), panels[0].figure
        return self


def _largest(weights: Sequence[AnyArray], most: int) -> list[AnyArray]:
    """Per layer the numbers of the units to draw, in order: those whose weights are the largest together."""
    chosen = []
    for k in range(len(weights) + 1):
        into = (np.asarray(weights[k - 1], dtype=np.float64) ** 2).sum(axis=0) if k > 0 else 0.0
        out = (np.asarray(weights[k], dtype=np.float64) ** 2).sum(axis=1) if k < len(weights) else 0.0
        sizes = np.asarray(into + out)
        chosen.append(np.sort(np.argsort(-sizes, kind="stable")[:most]))
    return chosen
