"""Weight space: every row a constraint on the weights, and the path that a perceptron takes to satisfy all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.optimize import linprog

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas
from separatrix.display.plane import Line, cut, table
from separatrix.models.labels import encode

GRID = 160
MOST_LINES = 300
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass
class WeightSpaceDisplay:
    """Two weights as a plane. A row x of sign s is on its right side where s⟨w, x⟩ > 0: a half-plane.

    The ``solution`` for a margin b is where all rows have s⟨w, x⟩ ≥ b: a convex set that shrinks as b
    grows, and is empty if the classes cannot be parted. ``criterion`` is J_p(w) = Σ max(0, −s⟨w, x⟩) on a grid: zero
    on the solution region, and at w = 0, which separates nothing. A perceptron's ``path`` moves
    by ηsx, across the constraint of the row that it visits.

    The weights are w₁, w₂ of two columns without a constant, or w₀ (the constant's) and w₁ of one
    column. Weights held at a value are given by their number, ``fixed={0: 1.0}``; two must remain.

    >>> X, y = [[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]], [-1, -1, 1, 1]
    >>> display = WeightSpaceDisplay.from_data(X, y, margins=(0.0, 1.0))
    >>> display.signed[0], display.contains([1.0, -1.0], margin=1.0), display.contains([1.0, 1.0])
    (array([ 1., -2.]), True, False)
    >>> display.area(1.0) < display.area(0.0)
    True
    """

    signed: Matrix
    offsets: Vector
    margins: tuple[float, ...]
    box: Matrix
    names: tuple[str, str]
    path: Matrix | None = None
    held: str = ""
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        path: Iterable[Any] | None = None,
        margins: Sequence[float] | None = None,
        fixed: Mapping[int, float] | None = None,
        fit_intercept: bool | None = None,
    ) -> Self:
        """The constraints of the rows of two classes.

        ``path`` are the steps of ``Perceptron.steps(X, y)``. ``margins`` are those asked for: 0 and, unless told,
        two more whose regions begin within reach of the path. ``fit_intercept`` says whether there is a
        constant: unless told, if X has one column or a weight is fixed.
        """
        values, _ = table(X)
        target = encode(y, len(values))
        if len(target.classes) != 2:
            refuse(f"There are {len(target.classes)} classes.", "weight space is drawn for two: pass y == label.")
        given = None if margins is None else tuple(sorted(float(b) for b in margins))
        if given is not None and (not given or not np.isfinite(given).all() or given[0] < 0.0):
            refuse(f"margins are {margins!r}.", "pass finite numbers, at least 0.")
        has_constant = values.shape[1] == 1 or bool(fixed) if fit_intercept is None else bool(fit_intercept)
        numbers = list(range(0 if has_constant else 1, values.shape[1] + 1))
        rows = np.column_stack([np.ones(len(values)), values]) if has_constant else values
        signed = np.where(target.codes == 1, 1.0, -1.0)[:, None] * rows
        still = dict(fixed or {})
        if not set(still) <= set(numbers):
            refuse(
                f"The weights are {numbers}, but {sorted(set(still) - set(numbers))} is fixed.", "0 is the constant."
            )
        free = [j for j, number in enumerate(numbers) if number not in still]
        if len(free) != 2:
            refuse(f"{len(free)} weights are free, and a plane has two.", "fix the others: fixed={0: 1.0}.")
        bound = [j for j in range(len(numbers)) if j not in free]
        levels = np.array([still[numbers[j]] for j in bound])
        offsets = signed[:, bound] @ levels if bound else np.zeros(len(values))
        walked = None if path is None else _walked(path, len(numbers), bound, levels)[:, free]
        names = [f"w{numbers[j]}".translate(SUBSCRIPTS) for j in free]
        held = ", ".join(f"w{numbers[j]}".translate(SUBSCRIPTS) + f" = {still[numbers[j]]:g}" for j in bound)
        wanted = _margins(signed[:, free], offsets, walked) if given is None else given
        box = _box(signed[:, free], offsets, wanted, walked)
        return cls(signed[:, free], offsets, wanted, box, (names[0], names[1]), walked, held)

    def contains(self, weights: Any, margin: float = 0.0) -> bool:
        """Whether all rows have s⟨w, x⟩ ≥ margin, for margin 0 strictly."""
        scores = self.signed @ np.asarray(weights, dtype=np.float64) + self.offsets
        return bool((scores > 0.0).all() and (scores >= margin).all())

    def solution(self, margin: float = 0.0) -> Matrix:
        """The corners of the region for a margin, within the box; none if it is empty there."""
        still = self.offsets[~self.signed.any(axis=1)]  # rows of zeros, whose score no weights here change
        if not ((still > 0.0) & (still >= margin)).all():
            return np.empty((0, 2))
        (left, low), (right, high) = self.box
        corners = np.array([[left, low], [right, low], [right, high], [left, high]])
        for row, offset in zip(self.signed, self.offsets, strict=True):
            corners = cut(corners, row, offset - margin)
        # what is left of an empty region is a point or a line
        return corners if _area(corners) > 1e-12 * float(np.prod(self.box[1] - self.box[0])) else np.empty((0, 2))

    def area(self, margin: float = 0.0) -> float:
        """The area of the region for a margin, within the box."""
        return _area(self.solution(margin))

    @property
    def grid(self) -> tuple[Vector, Vector]:
        """The places where the criterion is computed."""
        across, up = np.linspace(self.box[0], self.box[1], GRID).T
        return across, up

    @property
    def criterion(self) -> Matrix:
        """J_p on the grid, rows from bottom to top."""
        across, up = np.meshgrid(*self.grid)
        places = np.stack([across.ravel(), up.ravel()])
        total = np.zeros(places.shape[1])
        for first in range(0, len(self.signed), 100):  # few rows at a time: the table of scores stays small
            part = slice(first, first + 100)
            total += np.maximum(0.0, -(self.signed[part] @ places + self.offsets[part, None])).sum(axis=0)
        return total.reshape(GRID, GRID)

    def plot(self, ax: Any = None) -> Self:
        """Draw J_p as shading, the constraints as lines, the solution regions and the path."""
        (panel,) = canvas.axes(ax, size=(5.8, 5.2))
        across, up = self.grid
        height = self.criterion
        top = float(height.max()) or 1.0
        panel.contourf(across, up, height, np.linspace(0.0, top, 13), cmap="Greys", vmin=0.0, vmax=2.2 * top, zorder=0)
        for row, offset in list(zip(self.signed, self.offsets, strict=True))[:MOST_LINES]:
            ends = Line(row, float(offset)).ends(self.box)
            if ends is not None:
                panel.plot(*ends.T, color=canvas.FAINT, lw=0.9 if len(self.signed) < 30 else 0.4, zorder=1)
        panel.plot([], [], color=canvas.FAINT, lw=0.9, label="s⟨w, x⟩ = 0 of each row")
        for k, margin in enumerate(self.margins):
            corners = self.solution(margin)
            text = f"solutions, margin {margin:g}" if len(corners) else f"no solution here, margin {margin:g}"
            shade = 0.22 + 0.5 * (k + 1) / len(self.margins) * 0.6
            panel.fill(*corners.T, facecolor=canvas.POSITIVE, edgecolor=canvas.POSITIVE, alpha=shade, lw=1.2, zorder=2,
                       label=text)  # fmt: skip
        if self.path is not None:
            self._draw_path(panel)
        panel.axhline(0.0, color=canvas.INK, lw=0.5, alpha=0.5)
        panel.axvline(0.0, color=canvas.INK, lw=0.5, alpha=0.5)
        panel.set(xlim=self.box[:, 0], ylim=self.box[:, 1], xlabel=self.names[0], ylabel=self.names[1])
        panel.set_aspect("equal")
        panel.set_title(f"Weight space{f', {self.held}' if self.held else ''} (grey: J_p)", fontsize=10)
        canvas.legend_below(panel, 2)
        self.ax_, self.figure_ = panel, panel.figure
        return self

    def _draw_path(self, panel: Any) -> None:
        assert self.path is not None
        for here, there in zip(self.path[:-1], self.path[1:], strict=True):
            canvas.arrow(panel, here, there, canvas.NEGATIVE, lw=1.3, mutation_scale=9)
        panel.plot(
            *self.path.T, "o", color=canvas.NEGATIVE, ms=3, label=f"path, {len(self.path) - 1} updates", zorder=5
        )
        panel.plot(*self.path[0], "s", color=canvas.NEGATIVE, ms=6, label="start", zorder=6)
        panel.plot(*self.path[-1], "*", color=canvas.BOUND, mec=canvas.INK, ms=13, label="last weights", zorder=6)


def _area(corners: Matrix) -> float:
    after = np.roll(corners, -1, axis=0)
    return float(abs(corners[:, 0] @ after[:, 1] - corners[:, 1] @ after[:, 0])) / 2.0


def _walked(path: Iterable[Any], width: int, bound: list[int], levels: Vector) -> Matrix:
    """The start and the weights after each update."""
    points: list[Vector] = []
    for step in path:
        if not points:
            points.append(np.asarray(step.before))
        if step.mistake:
            points.append(np.asarray(step.after))
    if not points or points[0].shape != (width,):
        refuse(f"The path does not have {width} weights.", "take it from steps of the same columns and constant.")
    made = np.array(points)
    if bound and not (made[:, bound] == levels).all():
        refuse("The path leaves the plane: a weight that is fixed changes.", "leave path out, or free that weight.")
    return made


def _tip(signed: Matrix, offsets: Vector, margin: float) -> Vector | None:
    """The weights of smallest max(|w₁|, |w₂|) in the region for a margin; None if it is empty."""
    # least t with −t ≤ w ≤ t and all scores ≥ margin
    sides = np.array([[1.0, 0.0, -1.0], [-1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [0.0, -1.0, -1.0]])
    above = np.column_stack([-signed, np.zeros(len(signed))])
    found = linprog([0.0, 0.0, 1.0], np.vstack([above, sides]), np.concatenate([offsets - margin, np.zeros(4)]),
                    bounds=[(None, None)] * 3)  # fmt: skip
    return np.asarray(found.x[:2]) if found.status == 0 else None


def _margins(signed: Matrix, offsets: Vector, path: Matrix | None) -> tuple[float, ...]:
    """0 and two more, of one digit, whose regions begin at about a third and two thirds of the path's reach."""
    one = _tip(signed, offsets, 1.0)
    if path is None or one is None or offsets.any() or not path.any():
        return (0.0, 1.0, 2.0)
    step = float(np.abs(path).max() / np.abs(one).max()) / 3.0
    step = float(f"{step:.0e}")
    return (0.0, step, 2.0 * step)


def _box(signed: Matrix, offsets: Vector, margins: tuple[float, ...], path: Matrix | None) -> Matrix:
    """A box with the origin, the path and the beginning of every region that is not empty."""
    tips = [tip for tip in (_tip(signed, offsets, margin) for margin in margins) if tip is not None]
    inside = np.vstack([np.zeros((1, 2)), *([path] if path is not None else []), *(tip[None] for tip in tips)])
    low, high = inside.min(axis=0), inside.max(axis=0)
    span = float((high - low).max()) or 1.0
    middle, half = (low + high) / 2.0, np.maximum((high - low) / 2.0, 0.3 * span) + 0.25 * span
    return np.array([middle - half, middle + half])
