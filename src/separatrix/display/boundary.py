"""Where a classifier draws its boundaries, over two columns of the data."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas

GRID = 200


@dataclass
class BoundaryDisplay:
    """Probabilities of all classes over two columns, with the data on top.

    Every place has the classes' colours mixed by their probabilities; lines show where
    the most probable class changes. Columns that are not shown are held at their mean.

    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> display = BoundaryDisplay.from_estimator(LogisticRegression().fit(X[:, 2:], y), X[:, 2:], y)
    >>> display.probabilities.shape
    (200, 200, 3)
    """

    x: Vector
    y: Vector
    probabilities: Matrix
    points: Matrix
    codes: AnyArray
    labels: Sequence[str]
    names: tuple[str, str] = ("x₁", "x₂")
    held: int = 0
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, columns: tuple[int, int] | None = None) -> Self:
        """The regions of a fitted classifier over two of its columns.

        ``columns`` may be left out when there are just two.
        """
        table = np.asarray(X, dtype=np.float64)
        width = table.shape[1]
        if columns is None:
            if width != 2:
                refuse(f"X has {width} columns, and a picture has two.", "choose two: columns=(0, 1).")
            columns = (0, 1)
        a, b = columns
        points = table[:, [a, b]]
        low, high = points.min(axis=0), points.max(axis=0)
        room = 0.08 * np.where(high > low, high - low, 1.0)
        across, up = (np.linspace(low[k] - room[k], high[k] + room[k], GRID) for k in (0, 1))
        grid = np.tile(table.mean(axis=0), (GRID * GRID, 1))
        grid[:, a], grid[:, b] = (part.ravel() for part in np.meshgrid(across, up))
        names = getattr(estimator, "feature_names_in_", None)
        if names is not None and hasattr(X, "iloc"):
            grid = type(X)(grid, columns=X.columns)
        shares = np.asarray(estimator.predict_proba(grid)).reshape(GRID, GRID, -1)
        titles = tuple(str(names[k]) if names is not None else f"column {k}" for k in columns)
        return cls(
            across,
            up,
            shares,
            points,
            np.searchsorted(estimator.classes_, np.asarray(y)),
            [str(label) for label in estimator.classes_],
            (titles[0], titles[1]),
            width - 2,
        )

    @property
    def regions(self) -> AnyArray:
        """The most probable class at each place of the grid; ties go to the later class."""
        classes = self.probabilities.shape[2]
        return np.asarray(classes - 1 - np.argmax(self.probabilities[:, :, ::-1], axis=2))

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

    def plot(self, ax: Any = None) -> Self:
        """Draw the shading, the boundaries and the data."""
        (panel,) = canvas.axes(ax, size=(5.6, 4.4))
        colours = self.colours()
        shade = 0.45 * (self.probabilities @ colours) + 0.55
        extent = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        panel.imshow(np.clip(shade, 0, 1), origin="lower", extent=extent, aspect="auto", interpolation="bilinear")
        classes = self.probabilities.shape[2]
        for k in range(classes):
            others = np.delete(self.probabilities, k, axis=2).max(axis=2)
            lead = self.probabilities[:, :, k] - others
            if lead.min() < 0 < lead.max():
                panel.contour(self.x, self.y, lead, levels=[0.0], colors=[canvas.INK], linewidths=1.2)
        for k in range(classes):
            mine = self.codes == k
            panel.scatter(self.points[mine, 0], self.points[mine, 1], s=20, color=[colours[k]], edgecolor="white",
                          linewidth=0.5, label=f"class {self.labels[k]}")  # fmt: skip
        panel.set(xlabel=self.names[0], ylabel=self.names[1], xlim=extent[:2], ylim=extent[2:])
        held = f" ({self.held} other columns at their mean)" if self.held else ""
        panel.set_title(f"Regions and probabilities{held}", fontsize=10)
        if classes <= 10:
            panel.legend(fontsize=8, framealpha=0.85)
        self.ax_, self.figure_ = panel, panel.figure
        return self
