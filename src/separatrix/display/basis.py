"""A bent boundary in x beside the straight one in φ-space that it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas
from separatrix.display.plane import weights_of_boundary

GRID = 240


@dataclass
class BasisDisplay:
    """f(x) = ⟨w, φ(x)⟩ + b over one or two columns of x, and the rows as points of φ-space.

    φ-space is seen in two directions. Two functions are shown as they are. Of more, either
    two are chosen (the line is then where f = 0 with the others at their mean), or, by default,
    one looks along the boundary: across is the signed distance f/‖w‖ from it, up the direction
    within the boundary in which the rows spread most; there the boundary is exactly the line 0.

    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import GaussianBasis, LogisticRegression
    >>> X, y = make_circles(100, noise=0.1, factor=0.4, random_state=0)
    >>> basis = GaussianBasis([[0.0, 0.0], [1.0, 0.0]], width=0.5)
    >>> display = BasisDisplay.from_estimator(make_pipeline(basis, LogisticRegression()).fit(X, y), X, y)
    >>> display.scores.shape, display.images.shape
    ((240, 240), (100, 2))
    """

    grid: Sequence[Vector]
    scores: Matrix
    functions: Matrix
    points: Matrix
    codes: AnyArray
    labels: Sequence[str]
    names: Sequence[str]
    images: Matrix
    normal: Vector
    offset: float
    axes: tuple[str, str]
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, pipeline: Any, X: Any, y: Any, functions: tuple[int, int] | None = None) -> Self:
        """A fitted ``Pipeline`` of a basis and a linear classifier of two classes, over the data given."""
        table = np.asarray(X, dtype=np.float64)
        if not hasattr(pipeline, "steps") or len(pipeline.steps) < 2:
            refuse("The estimator is no Pipeline of a basis and a classifier.", "make_pipeline(basis, classifier).")
        if table.ndim != 2 or table.shape[1] not in (1, 2):
            refuse(f"X has the shape {table.shape}.", "a picture has one or two columns.")
        model, frame = pipeline[-1], type(X) if hasattr(X, "iloc") else None
        if len(getattr(model, "coef_", ())) != 1:
            refuse("The last step is no linear classifier of two classes.", "a boundary in φ-space has one normal.")
        w, b = weights_of_boundary(model)

        def wrapped(rows: Matrix) -> Any:
            return rows if frame is None else frame(rows, columns=X.columns)

        def phi(rows: Matrix) -> Matrix:
            image = pipeline[:-1].transform(wrapped(rows))
            return np.asarray(image.toarray() if hasattr(image, "toarray") else image, dtype=np.float64)

        low, high = table.min(axis=0), table.max(axis=0)
        room = 0.08 * np.where(high > low, high - low, 1.0)
        grid = [np.linspace(a, z, GRID) for a, z in zip(low - room, high + room, strict=True)]
        places = np.stack([part.ravel() for part in np.meshgrid(*grid)], axis=1)
        images = phi(places)
        rows = phi(table)
        shown, normal, offset, axes = _view(rows, w, b, functions, _function_names(pipeline, w))
        found = getattr(pipeline, "feature_names_in_", None)
        return cls(
            grid,
            (images @ w + b).reshape([GRID] * len(grid)),
            images if len(grid) == 1 else np.empty((0, len(w))),
            table,
            np.searchsorted(pipeline.classes_, np.asarray(y)),
            [str(label) for label in pipeline.classes_],
            [f"x{'₀₁'[k]}" for k in range(len(grid))] if found is None else [str(name) for name in found],
            shown,
            normal,
            offset,
            axes,
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the two spaces side by side."""
        left, right = canvas.axes(ax, 2, size=(4.8, 4.2))
        colours = (canvas.NEGATIVE, canvas.POSITIVE)
        (self._line if len(self.grid) == 1 else self._plane)(left)
        for k in (0, 1):
            mine = self.codes == k
            down = self.points[mine, 1] if len(self.grid) == 2 else np.full(int(mine.sum()), self._below(k))
            left.scatter(self.points[mine, 0], down, s=16, color=colours[k], edgecolor="white", linewidth=0.4, zorder=3)
            right.scatter(*self.images[mine].T, s=16, color=colours[k], edgecolor="white", linewidth=0.4, zorder=3,
                          label=f"class {self.labels[k]}")  # fmt: skip
        bends = "the boundary bends" if len(self.grid) == 2 else f"cut at {len(self.crossings())} places"
        left.set_title(f"Input space: {bends}", fontsize=10)
        right.set_title("φ-space: the boundary is straight", fontsize=10)
        self._half_planes(right)
        right.set(xlabel=self.axes[0], ylabel=self.axes[1])
        right.legend(frameon=True, framealpha=0.85, fontsize=8)
        self.ax_, self.figure_ = [left, right], left.figure
        return self

    def _below(self, k: int) -> float:
        """Where the rows of class k lie, under the functions of one column."""
        low, high = float(self.functions.min()), float(self.functions.max())
        return low - (0.10 - 0.04 * k) * (high - low or 1.0)

    def _plane(self, panel: Any) -> None:
        x, y = self.grid
        panel.contourf(x, y, self.scores, levels=[-np.inf, 0.0, np.inf], colors=["#f3d9d2", "#d3e2ea"])
        if self.scores.min() < 0.0 < self.scores.max():
            panel.contour(x, y, self.scores, levels=[0.0], colors=[canvas.INK], linewidths=1.6)
        panel.set(xlabel=self.names[0], ylabel=self.names[1], xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))

    def _line(self, panel: Any) -> None:
        (x,) = self.grid
        edges = [x[0], *self.crossings(), x[-1]]
        for k, (low, high) in enumerate(pairwise(edges)):
            inside = np.interp((low + high) / 2, x, self.scores)
            panel.axvspan(low, high, color="#d3e2ea" if inside >= 0.0 else "#f3d9d2", lw=0)
            if k:
                panel.axvline(low, color=canvas.INK, lw=1.6)
        panel.plot(x, self.functions, color=canvas.INK, lw=1.1, alpha=0.55)
        panel.set(xlabel=self.names[0], ylabel="basis functions φⱼ(x)", xlim=(x[0], x[-1]))

    def crossings(self) -> list[float]:
        """Where f changes its sign along one column."""
        (x,) = self.grid
        change = np.flatnonzero((self.scores[:-1] >= 0.0) != (self.scores[1:] >= 0.0))
        share = self.scores[change] / (self.scores[change] - self.scores[change + 1])
        return [float(at) for at in x[change] + share * (x[change + 1] - x[change])]

    def _half_planes(self, panel: Any) -> None:
        low, high = self.images.min(axis=0), self.images.max(axis=0)
        room = 0.08 * np.where(high > low, high - low, 1.0)
        across, up = (np.linspace(a, z, 60) for a, z in zip(low - room, high + room, strict=True))
        f = self.normal[0] * across + self.normal[1] * up[:, None] + self.offset
        panel.contourf(across, up, f, levels=[-np.inf, 0.0, np.inf], colors=["#f3d9d2", "#d3e2ea"], zorder=0)
        if f.min() < 0.0 < f.max():
            panel.contour(across, up, f, levels=[0.0], colors=[canvas.INK], linewidths=1.6)
        panel.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]))


def _view(
    rows: Matrix, w: Vector, b: float, chosen: tuple[int, int] | None, names: Sequence[str]
) -> tuple[Matrix, Vector, float, tuple[str, str]]:
    """Two coordinates of φ-space for each row, the boundary's normal and offset in them, and their names."""
    count = len(w)
    if chosen is None and count == 2:
        chosen = (0, 1)
    if chosen is not None:
        i, j = chosen
        if i == j or not (0 <= i < count and 0 <= j < count):
            refuse(f"functions is {chosen}.", f"choose two different ones from 0 to {count - 1}.")
        others = np.delete(np.arange(count), [i, j])
        held = f" ({len(others)} others at their mean)" if len(others) else ""
        return rows[:, [i, j]], w[[i, j]], b + float(rows.mean(axis=0)[others] @ w[others]), (names[i] + held, names[j])
    length = float(np.linalg.norm(w))
    if length == 0.0:
        refuse("All weights are zero, so there is no boundary.", "raise C, or choose other functions.")
    distance = (rows @ w + b) / length
    centred = rows - rows.mean(axis=0)
    flat = centred - np.outer(centred @ w / length, w / length)
    _, _, ways = np.linalg.svd(flat, full_matrices=False)
    axes = ("signed distance from the boundary, f/‖w‖", "widest direction within the boundary")
    return np.stack([distance, flat @ ways[0]], axis=1), np.array([1.0, 0.0]), 0.0, axes


def _function_names(pipeline: Any, w: Vector) -> list[str]:
    try:
        return [str(name) for name in pipeline[:-1].get_feature_names_out()]
    except (AttributeError, ValueError):
        return [f"φ{k}" for k in range(len(w))]
