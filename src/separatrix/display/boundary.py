"""Where a classifier draws its boundaries, over two columns of the data."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.core.scores import last_of_highest
from separatrix.display import canvas
from separatrix.display.plane import Line, around, weights_of_boundary

GRID = 200
COMPARABLE = 5.0
"""Columns whose spans differ by less are drawn to one scale, so that right angles look right."""


@dataclass
class BoundaryDisplay:
    """Regions of all classes over two columns, with the data on top.

    Every place has the classes' colours mixed by their probabilities; lines show where
    the class changes. A model without probabilities gives each place to the class of the
    highest score. Columns that are not shown are held at their mean.

    A linear model of two classes has a ``line`` ⟨w, x⟩ + b = 0 with w its normal, and with two columns in all a
    signed ``distance`` (⟨w, x⟩ + b)/‖w‖ for each row. ``wrong`` are the rows on the side of another class.

    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression, Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> display = BoundaryDisplay.from_estimator(LogisticRegression().fit(X[:, 2:], y), X[:, 2:], y)
    >>> display.probabilities.shape
    (200, 200, 3)
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]]), [0, 0, 1]
    >>> model = Perceptron().fit(X, y, coef_init=[[1.0, 1.0]], intercept_init=[-4.0])
    >>> BoundaryDisplay.from_estimator(model, X, y).distance.round(4)
    array([-2.8284, -1.4142,  1.4142])
    """

    x: Vector
    y: Vector
    probabilities: Matrix
    points: Matrix
    codes: AnyArray
    labels: Sequence[str]
    names: tuple[str, str] = ("x₁", "x₂")
    held: int = 0
    scores: Matrix | None = None
    line: Line | None = None
    distance: Vector | None = None
    feet: Matrix | None = None
    wrong: AnyArray | None = None
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, columns: tuple[int, int] | None = None) -> Self:
        """The regions of a fitted classifier over two of its columns.

        ``columns`` may be left out when there are just two.
        """
        values = np.asarray(X, dtype=np.float64)
        width = values.shape[1]
        if columns is None:
            if width != 2:
                refuse(f"X has {width} columns, and a picture has two.", "choose two: columns=(0, 1).")
            columns = (0, 1)
        a, b = columns
        points = values[:, [a, b]]
        low, high = around(points)
        across, up = np.linspace(low, high, GRID).T
        grid = np.tile(values.mean(axis=0), (GRID * GRID, 1))
        grid[:, a], grid[:, b] = (part.ravel() for part in np.meshgrid(across, up))
        names = getattr(estimator, "feature_names_in_", None)
        if names is not None and hasattr(X, "iloc"):
            grid = type(X)(grid, columns=X.columns)
        shares, scores = _shares(estimator, grid)
        titles = tuple(str(names[k]) if names is not None else f"column {k}" for k in columns)
        codes = np.searchsorted(estimator.classes_, np.asarray(y))
        display = cls(
            across,
            up,
            shares.reshape(GRID, GRID, -1),
            points,
            codes,
            [str(label) for label in estimator.classes_],
            (titles[0], titles[1]),
            width - 2,
            None if scores is None else scores.reshape(GRID, GRID, -1),
            _line(estimator, values, [a, b]),
            wrong=np.asarray(estimator.predict(X)) != estimator.classes_[codes],
        )
        if display.line is not None and width == 2:
            display.distance, display.feet = display.line.distances(points), display.line.feet(points)
        return display

    @property
    def regions(self) -> AnyArray:
        """The class at each place of the grid; ties go to the later class."""
        classes = self.probabilities.shape[2]
        return np.asarray(classes - 1 - np.argmax(self.probabilities[:, :, ::-1], axis=2))

    @property
    def margins(self) -> tuple[float, float]:
        """For either class the smallest distance on its own side; negative if a row is on the other."""
        if self.distance is None:
            refuse("There is no distance from this boundary.", "distances need a linear model of two columns.")
        signed = np.where(self.codes == 1, self.distance, -self.distance)
        own = [signed[self.codes == k] for k in (0, 1)]
        return tuple(float(part.min()) if len(part) else float("nan") for part in own)  # type: ignore[return-value]  # own has two parts

    @property
    def comparable(self) -> bool:
        """Whether both columns can be drawn to one scale, where right angles look right."""
        wide, high = self.x[-1] - self.x[0], self.y[-1] - self.y[0]
        return bool(max(wide, high) <= COMPARABLE * min(wide, high))

    def colours(self) -> Matrix:
        """One colour per class: red and blue for two, a circle of hues for more."""
        from matplotlib import colormaps
        from matplotlib.colors import to_rgb

        count = self.probabilities.shape[2]
        if count == 2:
            return np.array([to_rgb(canvas.NEGATIVE), to_rgb(canvas.POSITIVE)])
        if count <= len(canvas.SERIES):
            return np.array([to_rgb(colour) for colour in canvas.SERIES[:count]])
        return np.asarray(colormaps["hsv"](np.linspace(0, 1, count, endpoint=False)))[:, :3]

    def plot(
        self, ax: Any = None, *, normal: bool | None = None, margins: bool = False, distances: bool = False
    ) -> Self:
        """Draw the shading, the boundaries and the data, wrong rows ringed.

        For a linear model of two classes ``normal`` draws w (unless told, where both columns have a common scale),
        ``margins`` the parallels through the row of either class that is nearest its side's edge,
        ``distances`` each row's perpendicular to the boundary.
        """
        if (normal or margins or distances) and self.line is None:
            refuse("The boundary is no single line.", "a normal, margins and distances need a linear model.")
        if (margins or distances) and self.distance is None:
            refuse(f"{self.held} other columns are held at their mean.", "distances are drawn for two columns in all.")
        one_scale = self.line is not None and (self.comparable or margins or distances or bool(normal))
        (panel,) = canvas.axes(ax, size=(5.6, 4.4))
        colours = self.colours()
        shade = 0.45 * (self.probabilities @ colours) + 0.55
        extent = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        panel.imshow(np.clip(shade, 0, 1), origin="lower", extent=extent, interpolation="bilinear",
                     aspect="equal" if one_scale else "auto")  # fmt: skip
        self._draw_boundaries(panel)
        if margins:
            self._draw_margins(panel)
        if distances and self.feet is not None:
            gap = np.full_like(self.points, np.nan)  # lifts the pen between two rows
            path = np.stack([self.points, self.feet, gap], axis=1).reshape(-1, 2)
            panel.plot(*path.T, color=canvas.INK, lw=0.7, alpha=0.6, zorder=2)
        for k in range(len(colours)):
            mine = self.codes == k
            panel.scatter(self.points[mine, 0], self.points[mine, 1], s=20, color=[colours[k]], edgecolor="white",
                          linewidth=0.5, label=f"class {self.labels[k]}", zorder=3)  # fmt: skip
        if self.wrong is not None and self.wrong.any():
            panel.scatter(*self.points[self.wrong].T, s=70, facecolor="none", edgecolor=canvas.INK, linewidth=1.1,
                          label=f"misclassified: {int(self.wrong.sum())}", zorder=3)  # fmt: skip
        if normal or (normal is None and one_scale):
            self._draw_normal(panel)
        panel.set(xlabel=self.names[0], ylabel=self.names[1], xlim=extent[:2], ylim=extent[2:])
        held = f" ({self.held} other columns at their mean)" if self.held else ""
        panel.set_title(f"Regions{' and probabilities' if self.scores is None else ''}{held}", fontsize=10)
        if margins or distances:  # many lines: the legend goes below
            canvas.legend_below(panel)
        elif len(colours) <= 10:
            panel.legend(fontsize=8, framealpha=0.85)
        self.ax_, self.figure_ = panel, panel.figure
        return self

    def _draw_boundaries(self, panel: Any) -> None:
        height = self.probabilities if self.scores is None else self.scores
        for k in range(1 if height.shape[2] == 2 else 0, height.shape[2]):
            lead = height[:, :, k] - np.delete(height, k, axis=2).max(axis=2)
            if lead.min() < 0 < lead.max():
                panel.contour(self.x, self.y, lead, levels=[0.0], colors=[canvas.INK], linewidths=1.4)

    def _draw_margins(self, panel: Any) -> None:
        box = np.array([[self.x[0], self.y[0]], [self.x[-1], self.y[-1]]])
        assert self.line is not None
        for k, margin in enumerate(self.margins):
            ends = self.line.moved(margin if k else -margin).ends(box)
            if ends is not None:
                panel.plot(*ends.T, color=(canvas.NEGATIVE, canvas.POSITIVE)[k], ls="--", lw=1.2, zorder=2,
                           label=f"margin of class {self.labels[k]}: {canvas.number(margin)}")  # fmt: skip

    def _draw_normal(self, panel: Any) -> None:
        box = np.array([[self.x[0], self.y[0]], [self.x[-1], self.y[-1]]])
        assert self.line is not None
        ends = self.line.ends(box)
        if ends is not None:
            foot = ends.mean(axis=0)
            reach = 0.17 * float((box[1] - box[0]).min())
            canvas.arrow(panel, foot, foot + reach * self.line.normal / self.line.length, label="w")


def _shares(estimator: Any, grid: Any) -> tuple[Matrix, Matrix | None]:
    """Probabilities; or, from a model without, all for the class of the highest score, and the scores."""
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(grid)), None
    scores = np.asarray(estimator.decision_function(grid))
    if scores.ndim == 1:
        scores = np.stack([-scores, scores], axis=1)
    return np.eye(scores.shape[1])[last_of_highest(scores)], scores


def _line(estimator: Any, values: Matrix, shown: list[int]) -> Line | None:
    """The boundary within the shown columns, the others at their mean; None if it is not one line."""
    weights = getattr(estimator, "coef_", None)
    if weights is None or np.shape(weights) != (1, values.shape[1]):
        return None
    at = values.mean(axis=0)
    at[shown] = 0.0
    normal, constant = weights_of_boundary(estimator)
    line = Line(normal[shown], float(constant + normal @ at))
    return line if line.length > 0.0 else None
