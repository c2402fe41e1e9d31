r"""The logistic loss of a table that is not large, to the last digit.

A pass in plain floating point loses u·Σ|xᵢⱼwⱼ| in each score and n·u·Σ|terms| in each slope. Columns that
nearly depend on each other multiply that by their condition. Here scores and slopes are added up exactly and
rounded once (``kernels.exact_products``, ten nanoseconds a term), so that what remains is

* a score off by u|zᵢ|, and σ off by a few u of itself: the slope sᵢ = σ(zᵢ) − yᵢ of a row is off by at most
  (16 + 2|zᵢ|)u|sᵢ|. Since sᵢ² = e^{−mᵢ}·hᵢ with the margin mᵢ and the curvature hᵢ = σ(zᵢ)σ(−zᵢ), these errors move the
  gradient by at most √Σ aᵢe^{−mᵢ}((16 + 2|zᵢ|)u)² in the metric of H⁻¹, whatever the columns are: ``slope_error``;
* one rounding of each coordinate of the gradient: ``coordinate_error``.

The function is a sum, not an average: Φ(w, b) = Σ aᵢ log(1 + exp(−mᵢ)) + κ/2·‖w‖² + ⟨tilt, w⟩, over rows of
positive weight. Slopes and rows are given in the coordinates (w, b′ = b + ⟨c, w⟩), c the columns' means, where
there is a constant, and each column is multiplied by a power of two (``scale``), so that no square overflows.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, log_expit

from separatrix import kernels
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Positions, Vector
from separatrix.exact.arithmetic import powers_of_two

UNDERFLOW = 1e-150
"""What slopes too small to be held can move the gradient by, with room to spare."""


@dataclass(frozen=True, slots=True)
class SharpEvaluation:
    """Φ at a raw point (w, b): value, gradient and its errors, curvature of each row.

    ``gradient`` and ``coordinate_error`` are in scaled, shifted coordinates; ``curvature`` is aᵢhᵢ.
    """

    point: Vector
    value: float
    gradient: Vector
    coordinate_error: Vector
    slope_error: float
    curvature: Vector
    curvature_error: float
    mistakes: float


@dataclass(slots=True)
class SharpLoss:
    """The loss over dense float64 rows of positive weight; ``strength`` is κ, ``positive`` marks class 1.

    ``keep`` are the columns whose weights move, all if None: slopes, spreads and steps are theirs alone, while the
    others hold the weights that a point gives them.
    """

    rows: Matrix
    positive: AnyArray
    weights: Vector
    constant: bool
    strength: float
    keep: Positions | None = None
    shift: Vector = field(init=False)
    scale: Vector = field(init=False)
    spread: Matrix = field(init=False)
    _by_rows: kernels.Rows = field(init=False, repr=False)
    _by_columns: kernels.Rows = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.rows = np.ascontiguousarray(self.rows, dtype=np.float64)
        moving = self.rows if self.keep is None else self.rows[:, self.keep]
        columns = moving.shape[1]
        self.shift = moving.mean(axis=0) if self.constant else np.zeros(columns)
        self.shift = np.where(np.isfinite(self.shift), self.shift, 0.0)
        moved = moving - self.shift
        self.scale = np.append(powers_of_two(np.abs(moved).max(axis=0)), np.ones(int(self.constant)))
        self.spread = np.hstack([moved * self.scale[:columns], np.ones((len(moved), int(self.constant)))])
        self._by_rows = kernels.dense_rows(self.rows)
        self._by_columns = kernels.dense_rows(moving.T)

    @property
    def size(self) -> int:
        """Coefficients that move, the constant's included."""
        return len(self.shift) + int(self.constant)

    @property
    def ridge(self) -> Vector:
        """The penalty's curvature of each scaled coordinate; none of the constant."""
        penalty = np.full(self.size, self.strength)
        penalty[len(self.shift) :] = 0.0
        return penalty * np.square(self.scale)

    def scores(self, point: Vector) -> Vector:
        """⟨xᵢ, w⟩ + b of every row, rounded once; NaN where a weight is beyond the floats."""
        if not np.isfinite(point).all():
            return np.full(len(self.rows), np.nan)
        every = np.arange(len(self.rows))
        products = kernels.exact_products(self._by_rows, every, np.ascontiguousarray(point)[None, None], self.constant)
        return np.ascontiguousarray(products[:, 0])

    def moved(self, point: Vector, step: Vector) -> Vector:
        """The raw point after a step in scaled, shifted coordinates."""
        change = step * self.scale
        if self.constant:
            change[-1] -= float(self.shift @ change[:-1])
        if self.keep is None:
            return np.asarray(point + change)
        there = point.copy()
        there[self.keep] += change[: len(self.keep)]
        there[self.rows.shape[1] :] += change[len(self.keep) :]
        return there

    def combined(self, factors: Vector, added: Vector | None = None) -> tuple[Vector, Vector]:
        """Σ factorᵢx̃ᵢ in scaled, shifted coordinates, each added up exactly; and the sizes of what was rounded.

        ``added`` is one more number for each column.
        """
        columns = len(self.shift)
        if not np.isfinite(factors).all():
            nothing = np.full(self.size, np.nan)
            return nothing, nothing
        more = np.zeros(columns) if added is None else added
        raw = kernels.exact_products(self._by_columns, np.arange(columns), factors[None, None], False)[:, 0]
        total, size = raw + more, np.abs(raw) + 2.0 * np.abs(more)
        if self.constant:
            last = _exact_sum(factors)
            total, size = total - self.shift * last, size + np.abs(self.shift * last)
            total, size = np.append(total, last), np.append(size, abs(last))
        return total * self.scale, size * self.scale

    def evaluate(self, point: Vector, tilt: Vector | None = None) -> SharpEvaluation:
        """Φ at (w, b); ``tilt`` (one number per column) is added to the slope of the loss."""
        z = self.scores(point)
        sign = np.where(self.positive, 1.0, -1.0)
        margins = sign * z
        slopes = -sign * self.weights * expit(-margins)
        every = point[: self.rows.shape[1]]
        w = every if self.keep is None else every[self.keep]
        added = self.strength * w if tilt is None else self.strength * w + tilt
        value = -float(np.sum(self.weights * log_expit(margins))) + 0.5 * self.strength * float(every @ every)
        value += 0.0 if tilt is None else float(tilt @ w)
        gradient, size = self.combined(slopes, added)
        off = (16.0 + 2.0 * np.abs(z)) * UNIT_ROUNDOFF
        with np.errstate(over="ignore"):
            slope_error = float(np.sqrt(np.sum(self.weights * np.exp(-margins) * np.square(off)))) + UNDERFLOW
        return SharpEvaluation(
            np.asarray(point),
            value,
            gradient,
            4.0 * UNIT_ROUNDOFF * size,
            slope_error,
            self.weights * expit(z) * expit(-z),
            2.0 * float(off.max()),
            float(np.sum(self.weights * (margins < 0.0))),
        )


def _exact_sum(values: Vector) -> float:
    """Σ values, rounded once."""
    ones = np.ones((1, 1, len(values)))
    return float(kernels.exact_products(kernels.dense_rows(values[None]), np.arange(1), ones, False)[0, 0])
