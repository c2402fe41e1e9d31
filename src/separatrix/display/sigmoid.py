"""One column, two classes: the fitted probability as a curve over the points at 0 and 1."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas
from separatrix.display.plane import weights_of_boundary
from separatrix.probability import logit, sigmoid

ZERO = 1e-12
"""A boundary nearer to zero than this share of the largest |x| is written as 0."""

STEEPER = (2.0, 6.0, 18.0)
"""On the way to a step: curves that rise by so many units of score over the distance of the nearest point."""


@dataclass
class SigmoidDisplay:
    """p(class 1 | x) = σ(w x + b) over the data of one column, with the boundary at x = −b/w.

    Where maximum likelihood has no maximum (``certain``) the curves grow steeper without end, and the
    limit is a step: probability 0 on one side of the boundary and 1 on the other. Rows on the boundary keep the
    probability that the finite part gives, ``on_boundary``.

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
    certain: bool = False
    on_boundary: float = 0.5
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """The curve of a model fitted to one column, over the data given."""
        width = estimator.coef_.shape[1]
        if width != 1:
            refuse(f"The model has {width} columns.", "a sigmoid over the data is drawn for one column.")
        names = getattr(estimator, "feature_names_in_", ["x"])
        w, b = weights_of_boundary(estimator)
        display = cls(
            np.asarray(X, dtype=np.float64).reshape(-1),
            np.asarray(y) == estimator.classes_[1],
            float(w[0]),
            b,
            (str(estimator.classes_[0]), str(estimator.classes_[1])),
            str(names[0]),
            getattr(estimator, "direction_", None) is not None,
        )
        if display.certain:
            finite = estimator.coef_[0, 0] * display.boundary + estimator.intercept_[0]
            display.on_boundary = float(sigmoid(finite))
        return display

    @property
    def boundary(self) -> float:
        """Where the probability is one half, or jumps; NaN for a flat curve."""
        if self.slope == 0.0:
            return float("nan")
        found = -self.intercept / self.slope
        return found if abs(found) > ZERO * float(np.abs(self.x).max(initial=0.0)) else 0.0

    def curve(self, count: int = 400) -> tuple[Vector, Vector]:
        """Points of the curve, over the data and a little beyond; of a step also both its ends."""
        low, high = float(self.x.min()), float(self.x.max())
        room = 0.15 * (high - low or 1.0)
        grid = np.linspace(low - room, high + room, count)
        if not self.certain:
            return grid, sigmoid(self.slope * grid + self.intercept)
        below, above = (0.0, 1.0) if self.slope > 0 else (1.0, 0.0)
        left, right = grid[grid < self.boundary], grid[grid > self.boundary]
        x = np.concatenate([left, [self.boundary] * 2, right])
        return x, np.repeat([below, above], [len(left) + 1, len(right) + 1])

    def plot(self, ax: Any = None) -> Self:
        """Draw the curve, the points at 0 and 1, and the boundary."""
        (panel,) = canvas.axes(ax, size=(6.0, 3.6))
        grid, height = self.curve()
        if self.certain:
            self._draw_steeper(panel, grid)
        label = "the limit: a step" if self.certain else "p(1 | x) = σ(w x + b)"
        panel.plot(grid, height, color=canvas.INK, lw=2, label=label, zorder=3)
        panel.scatter(self.x[~self.positive], np.zeros((~self.positive).sum()), s=28, color=canvas.NEGATIVE,
                      alpha=0.7, label=f"class {self.labels[0]}", clip_on=False, zorder=4)  # fmt: skip
        panel.scatter(self.x[self.positive], np.ones(self.positive.sum()), s=28, color=canvas.POSITIVE,
                      alpha=0.7, label=f"class {self.labels[1]}", clip_on=False, zorder=4)  # fmt: skip
        if grid[0] <= self.boundary <= grid[-1]:
            if not self.certain:
                panel.plot([self.boundary] * 2, [0, 1], color=canvas.FAINT, ls="--", lw=1)
            elif (self.x == self.boundary).any():
                panel.scatter(
                    [self.boundary], [self.on_boundary], s=30, facecolor="white", edgecolor=canvas.INK, zorder=5
                )
            panel.annotate(
                f"boundary {self.boundary:.4g}",
                (self.boundary, 0.5),
                xytext=(8, -4),
                textcoords="offset points",
                color=canvas.INK,
                fontsize=9,
            )
        panel.set(xlabel=self.name, ylabel="probability of the positive class", ylim=(-0.04, 1.04))
        panel.set_title("No maximum: the curve grows into a step" if self.certain else "The sigmoid over the data")
        panel.legend(frameon=False, fontsize=8, loc="center left" if self.slope < 0 else "upper left",
                     bbox_to_anchor=(0.01, 0.88) if self.slope >= 0 else None)  # fmt: skip
        canvas.tidy(panel)
        self.ax_, self.figure_ = panel, panel.figure
        return self

    def _draw_steeper(self, panel: Any, grid: Vector) -> None:
        """Curves on the way to the step."""
        apart = np.abs(self.x - self.boundary)
        near = float(apart[apart > 0].min(initial=np.inf))
        unit = 1.0 / near if np.isfinite(near) else 1.0
        smooth = np.linspace(grid[0], grid[-1], 400)
        for k, steep in enumerate(STEEPER):
            label = "on the way there" if k == 0 else None
            rising = np.sign(self.slope) * steep * unit * (smooth - self.boundary) + logit(self.on_boundary)
            panel.plot(smooth, sigmoid(rising), color=canvas.FAINT, lw=1, label=label, zorder=2)
