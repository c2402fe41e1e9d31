"""Least squares beside logistic regression: far points on the right side pull the one and not the other."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas
from separatrix.display.plane import weights_of_boundary

Line = tuple[Vector, float]


@dataclass
class OutlierDisplay:
    """Boundaries of both models without and with some far points, in two panels.

    (1 − z)² punishes a point with z = 10 for being too right; log(1 + e^−z) does not.

    >>> draw = np.random.default_rng(0)
    >>> X, y = draw.normal(size=(40, 2)), np.arange(40) % 2
    >>> X[y == 1] += 3
    >>> display = OutlierDisplay.from_data(X, y, far=[[8, 8], [9, 8]], far_y=[1, 1])
    >>> display.moved["least squares"] > 5 * display.moved["logistic"]
    True
    """

    points: Matrix
    codes: AnyArray
    far: Matrix
    far_codes: AnyArray
    lines: dict[str, tuple[Line, Line]]
    labels: tuple[str, str] = ("0", "1")
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_data(cls, X: Any, y: Any, far: Any, far_y: Any, C: float = 1.0) -> Self:
        """Fit both models to rows of two columns, without and with the far ones."""
        from sklearn.base import clone

        from separatrix.models.logistic.estimator import LogisticRegression
        from separatrix.models.ridge.estimator import RidgeClassifier

        points, more = np.asarray(X, dtype=np.float64), np.asarray(far, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2 or more.shape[1:] != (2,):
            refuse("This picture has two columns.", "pass X and far with two columns each.")
        both, labels = np.vstack([points, more]), np.concatenate([np.asarray(y), np.asarray(far_y)])
        lines = {}
        for name, model in (("least squares", RidgeClassifier(alpha=0.0)), ("logistic", LogisticRegression(C=C))):
            lines[name] = (_line(clone(model).fit(points, y)), _line(model.fit(both, labels)))
        classes = np.unique(labels)
        if len(classes) != 2:
            refuse(f"There are {len(classes)} classes.", "this picture compares two.")
        codes, far_codes = np.searchsorted(classes, np.asarray(y)), np.searchsorted(classes, np.asarray(far_y))
        return cls(points, codes, more, far_codes, lines, (str(classes[0]), str(classes[1])))

    @property
    def moved(self) -> dict[str, float]:
        """How far each boundary moved at the middle of the data, in units of the data's spread."""
        middle, spread = self.points.mean(axis=0), float(self.points.std())
        return {
            name: abs(_distance(before, middle) - _distance(after, middle)) / spread
            for name, (before, after) in self.lines.items()
        }

    @property
    def turned(self) -> dict[str, float]:
        """By how many degrees each boundary turned."""
        return {
            name: float(np.degrees(np.arccos(np.clip(_cosine(before[0], after[0]), -1.0, 1.0))))
            for name, (before, after) in self.lines.items()
        }

    def plot(self, ax: Any = None) -> Self:
        """Draw one panel per model: the data, the far points, and both boundaries."""
        panels = canvas.axes(ax, 2, size=(4.6, 4.2))
        everything = np.vstack([self.points, self.far])
        low, high = everything.min(axis=0), everything.max(axis=0)
        room = 0.08 * (high - low)
        for panel, (name, (before, after)) in zip(panels, self.lines.items(), strict=True):
            for k, colour in enumerate((canvas.NEGATIVE, canvas.POSITIVE)):
                mine, away = self.codes == k, self.far_codes == k
                panel.scatter(*self.points[mine].T, s=20, color=colour, alpha=0.75, edgecolor="white", linewidth=0.4,
                              label=f"class {self.labels[k]}")  # fmt: skip
                if away.any():
                    panel.scatter(*self.far[away].T, s=46, color=colour, marker="D", edgecolor=canvas.INK,
                                  linewidth=0.9, label=f"far, class {self.labels[k]}")  # fmt: skip
            for line, style, label in ((before, "--", "without the far points"), (after, "-", "with them")):
                ends = _segment(line, low - room, high + room)
                panel.plot(ends[:, 0], ends[:, 1], color=canvas.INK, ls=style, lw=1.8, label=label)
            panel.set(xlim=(low[0] - room[0], high[0] + room[0]), ylim=(low[1] - room[1], high[1] + room[1]))
            panel.set_title(
                f"{name}: turned {self.turned[name]:.0f}°, moved {self.moved[name]:.2f} spreads", fontsize=10
            )
            canvas.tidy(panel)
        panels[0].legend(frameon=False, fontsize=8)
        self.ax_, self.figure_ = panels, panels[0].figure
        return self


def _line(model: Any) -> Line:
    return weights_of_boundary(model)


def _distance(line: Line, point: Vector) -> float:
    return float((line[0] @ point + line[1]) / np.linalg.norm(line[0]))


def _cosine(v: Vector, w: Vector) -> float:
    return float(v @ w / (np.linalg.norm(v) * np.linalg.norm(w)))


def _segment(line: Line, low: Vector, high: Vector) -> Matrix:
    """A long piece of ⟨w, x⟩ + b = 0 through the picture."""
    w, b = line
    middle = 0.5 * (low + high)
    foot = middle - (w @ middle + b) / (w @ w) * w
    along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
    reach = float(np.linalg.norm(high - low)) * 2.0
    return np.array([foot - reach * along, foot + reach * along])
