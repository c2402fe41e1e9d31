"""How the decision came about: the decision function after chosen epochs of a descent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas
from separatrix.probability import sigmoid

COUNT = 400


@dataclass
class DecisionHistoryDisplay:
    """Weights kept at some epochs, drawn over the data they were learned from; two classes.

    One column: the decision function w·x + b and the probability σ(w·x + b), a curve per epoch. On separable data
    the boundary hardly moves while the curves grow steeper without end. Two columns: a boundary line per epoch.

    >>> from separatrix import SGDClassifier
    >>> x, y = [[-1.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> model = SGDClassifier(batch_size="all", alpha=0.25, tol=1e-3, n_iter_no_change=None, certify_every=20)
    >>> model = model.set_params(keep_epochs=(1, 10)).fit(x, y)
    >>> display = DecisionHistoryDisplay.from_estimator(model, x, y)
    >>> display.epochs, display.points.shape
    ([1, 10], (4, 1))
    """

    weights: Mapping[int, Vector]
    points: Matrix
    positive: AnyArray
    labels: tuple[str, str] = ("0", "1")
    names: tuple[str, ...] = ("x₁", "x₂")
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        """The epochs that a model fitted with ``keep_epochs`` kept."""
        kept = getattr(estimator, "kept_", None)
        if not kept:
            refuse("The model kept no weights.", 'fit SGDClassifier(batch_size="all", keep_epochs=(1, 10, 100)).')
        width = estimator.coef_.shape[1]
        if len(estimator.classes_) != 2 or width not in (1, 2):
            refuse(
                f"The model has {len(estimator.classes_)} classes and {width} columns.",
                "a history is drawn for two classes and one or two columns.",
            )
        names = getattr(estimator, "feature_names_in_", ["x"] if width == 1 else ["x₁", "x₂"])
        return cls(
            {epoch: np.append(coef[0], intercept[0]) for epoch, (coef, intercept) in sorted(kept.items())},
            np.asarray(X, dtype=np.float64).reshape(-1, width),
            np.asarray(y) == estimator.classes_[1],
            (str(estimator.classes_[0]), str(estimator.classes_[1])),
            tuple(str(name) for name in names),
        )

    @property
    def epochs(self) -> list[int]:
        """The epochs shown."""
        return list(self.weights)

    def grid(self) -> Vector:
        """Places along the first column, over the data and a little beyond."""
        low, high = float(self.points[:, 0].min()), float(self.points[:, 0].max())
        room = 0.15 * (high - low or 1.0)
        return np.linspace(low - room, high + room, COUNT)

    def decision(self, epoch: int) -> Vector:
        """w·x + b over the grid, for one column."""
        w, b = self.weights[epoch]
        return np.asarray(w * self.grid() + b)

    def boundary(self, epoch: int) -> Vector:
        """Where w₁x₁ + w₂x₂ + b = 0, as x₂ over the grid, for two columns; NaN for an upright line."""
        w, v, b = self.weights[epoch]
        return np.asarray(-(w * self.grid() + b) / v) if v != 0 else np.full(COUNT, np.nan)

    def plot(self, ax: Any = None) -> Self:
        """Draw two panels for one column, one for two."""
        one = self.points.shape[1] == 1
        panels = canvas.axes(ax, 2 if one else 1, size=(5.0, 3.8) if one else (5.8, 4.4))
        if one:
            self._draw_curves(*panels)
        else:
            self._draw_lines(panels[0])
        for panel in panels:
            canvas.tidy(panel)
        self.ax_, self.figure_ = (np.array(panels) if one else panels[0]), panels[0].figure
        return self

    def _colours(self) -> list[Any]:
        """Light for early epochs, dark for late ones."""
        from matplotlib import colormaps

        return list(colormaps["viridis_r"](np.linspace(0.15, 0.95, len(self.weights))))

    def _draw_curves(self, left: Any, right: Any) -> None:
        for epoch, colour in zip(self.weights, self._colours(), strict=True):
            label = f"after {epoch:,} epoch{'s' if epoch > 1 else ''}"
            left.plot(self.grid(), self.decision(epoch), color=colour, lw=2, label=label)
            right.plot(self.grid(), sigmoid(self.decision(epoch)), color=colour, lw=2, label=label)
        left.axhline(0.0, color=canvas.FAINT, lw=1, ls="--")
        for panel, low, high in ((left, 0.0, 0.0), (right, 0.0, 1.0)):
            self._scatter(panel, self.points[:, 0], np.where(self.positive, high, low))
        left.set(xlabel=self.names[0], ylabel="w·x + b", title="Decision function")
        right.set(xlabel=self.names[0], ylabel="probability of the positive class", title="σ(w·x + b)")
        right.set_ylim(-0.04, 1.04)
        left.legend(frameon=False, fontsize=8)

    def _draw_lines(self, panel: Any) -> None:
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        room = 0.1 * np.where(high > low, high - low, 1.0)
        for epoch, colour in zip(self.weights, self._colours(), strict=True):
            label = f"after {epoch:,} epoch{'s' if epoch > 1 else ''}"
            w, v, b = self.weights[epoch]
            if v == 0 and w != 0:
                panel.axvline(-b / w, color=colour, lw=2, label=label)
            else:
                panel.plot(self.grid(), self.boundary(epoch), color=colour, lw=2, label=label)
        self._scatter(panel, self.points[:, 0], self.points[:, 1])
        panel.set(
            xlabel=self.names[0],
            ylabel=self.names[1],
            xlim=(low[0] - room[0], high[0] + room[0]),
            ylim=(low[1] - room[1], high[1] + room[1]),
            title="Boundaries",
        )
        panel.legend(fontsize=8, framealpha=0.85)

    def _scatter(self, panel: Any, across: Vector, up: Vector) -> None:
        for mine, colour, label in zip(
            (~self.positive, self.positive), (canvas.NEGATIVE, canvas.POSITIVE), self.labels, strict=True
        ):
            panel.scatter(
                across[mine],
                up[mine],
                s=26,
                color=colour,
                edgecolor="white",
                lw=0.5,
                label=f"class {label}",
                zorder=4,
                clip_on=False,
            )
