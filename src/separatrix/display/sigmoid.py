"""One column, two classes: the fitted probability as a curve over the points at 0 and 1."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas
from separatrix.probability import sigmoid


@dataclass
class SigmoidDisplay:
    """p(class 1 | x) = σ(w x + b) over the data of one column, with the boundary at x = −b/w.

    >>> from separatrix import LogisticRegression
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> display = SigmoidDisplay.from_estimator(LogisticRegression().fit(x, y), x, y)
    >>> round(float(display.boundary), 6)
    1.5
    """

    x: Vector
    positive: AnyArray
    slope: float
    intercept: float
    labels: tuple[str, str] = ("0", "1")
    name: str = "x"
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """The curve of a model fitted to one column, over the data given."""
        width = estimator.coef_.shape[1]
        if width != 1:
            refuse(f"The model has {width} columns.", "a sigmoid over the data is drawn for one column.")
        names = getattr(estimator, "feature_names_in_", ["x"])
        return cls(
            np.asarray(X, dtype=np.float64).reshape(-1),
            np.asarray(y) == estimator.classes_[1],
            float(estimator.coef_[0, 0]),
            float(estimator.intercept_[0]),
            (str(estimator.classes_[0]), str(estimator.classes_[1])),
            str(names[0]),
        )

    @property
    def boundary(self) -> float:
        """Where the probability is one half; NaN for a flat curve."""
        return -self.intercept / self.slope if self.slope != 0 else float("nan")

    def curve(self, count: int = 400) -> tuple[Vector, Vector]:
        """Points of the curve, over the data and a little beyond."""
        low, high = float(self.x.min()), float(self.x.max())
        room = 0.15 * (high - low or 1.0)
        grid = np.linspace(low - room, high + room, count)
        return grid, sigmoid(self.slope * grid + self.intercept)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curve, the points at 0 and 1, and the boundary."""
        (panel,) = canvas.axes(ax, size=(6.0, 3.6))
        grid, height = self.curve()
        panel.plot(grid, height, color=canvas.INK, lw=2, label="p(1 | x) = σ(w x + b)", zorder=3)
        panel.scatter(self.x[~self.positive], np.zeros((~self.positive).sum()), s=28, color=canvas.NEGATIVE,
                      alpha=0.7, label=f"class {self.labels[0]}", clip_on=False, zorder=4)  # fmt: skip
        panel.scatter(self.x[self.positive], np.ones(self.positive.sum()), s=28, color=canvas.POSITIVE,
                      alpha=0.7, label=f"class {self.labels[1]}", clip_on=False, zorder=4)  # fmt: skip
        if grid[0] <= self.boundary <= grid[-1]:
            panel.plot([self.boundary] * 2, [0, 1], color=canvas.FAINT, ls="--", lw=1)
            panel.annotate(
                f"boundary {self.boundary:.4g}",
                (self.boundary, 0.5),
                xytext=(8, -4),
                textcoords="offset points",
                color=canvas.INK,
                fontsize=9,
            )
        panel.set(xlabel=self.name, ylabel="probability of the positive class", ylim=(-0.04, 1.04))
        panel.set_title("The sigmoid over the data")
        panel.legend(frameon=False, fontsize=8, loc="center left" if self.slope < 0 else "upper left",
                     bbox_to_anchor=(0.01, 0.88) if self.slope >= 0 else None)  # fmt: skip
        canvas.tidy(panel)
        self.ax_, self.figure_ = panel, panel.figure
        return self
