"""The moments of each class as a sum over rows: weight, mean, scatter.

For class k with rows of weight aᵢ the sums are Wₖ = Σ aᵢ, sₖ = Σ aᵢ(xᵢ − cₖ) and Tₖ = Σ aᵢ(xᵢ − cₖ)(xᵢ − cₖ)ᵀ, with
cₖ any point near the class's mean. Then

    mean μₖ = cₖ + sₖ/Wₖ,    scatter Sₖ = Σ aᵢ(xᵢ − μₖ)(xᵢ − μₖ)ᵀ = Tₖ − sₖsₖᵀ/Wₖ.

Products of raw values would lose the variance of a column such as 1e9 ± 1; about cₖ, the mean of a few rows, nothing
is lost. Of sparse rows only columns that store every value are shifted; any other column holds zeros, so its
variance is at least mean²/n and at most the logarithm of n is lost.

Two sets of rows merge by Chan's formula: with δ = μ′ − μ the merged scatter is S + S′ + δδᵀ·WW′/(W + W′).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.protocols import Engine
from separatrix.core.total import Total

SAMPLE = 2048
"""Rows whose class means serve as shifts."""

MOST_LOST = 4.0
"""Where the rounding of a variance grew by more than this, the sums are taken again about the means found."""


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """Weights (K), means (K × d) and scatters: (K × d × d), or (1 × d × d) for their sum.

    ``moved`` (K × d) is how far each mean was from the point that the sums were taken about. Where that is long
    compared with the spread, T − ssᵀ/W loses digits: Wδ²/S times as many as a sum of squares about the mean.

    >>> a = ClassMoments(np.array([1.0]), np.array([[0.0]]), np.array([[[0.0]]]))
    >>> b = ClassMoments(np.array([1.0]), np.array([[2.0]]), np.array([[[0.0]]]))
    >>> (a + b).means, (a + b).scatters
    (array([[1.]]), array([[[2.]]]))
    """

    weights: Vector
    means: Matrix
    scatters: Matrix
    moved: Matrix | None = None

    def __add__(self, other: Self) -> Self:
        weights = self.weights + other.weights
        share = np.divide(other.weights, weights, out=np.zeros_like(weights), where=weights > 0)
        delta = other.means - self.means
        means = np.where((self.weights > 0)[:, None], self.means + share[:, None] * delta, other.means)
        between = self.weights * share
        if len(self.scatters) == 1:  # without a matrix of every class on the way
            between = ((between[:, None] * delta).T @ delta)[None]
        else:
            between = np.einsum("k,ki,kj->kij", between, delta, delta)
        moved = None
        if self.moved is not None and other.moved is not None:
            moved = np.maximum(self.moved, other.moved)
        return type(self)(weights, means, self.scatters + other.scatters + between, moved)

    def lost(self, shares: Vector, variances: Vector) -> Vector:
        """By how much rounding of the sums has grown in each variance; ``shares`` is how the classes enter it (K)."""
        if self.moved is None:
            return np.ones_like(variances)
        squares = shares @ np.square(self.moved)
        return 1.0 + np.divide(squares, variances, out=np.zeros_like(squares), where=variances > 0)

    @property
    def scatter(self) -> Matrix:
        """The scatter within classes, of all together."""
        return self.scatters[0] if len(self.scatters) == 1 else np.asarray(self.scatters.sum(axis=0))

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.weights.sum())

    @property
    def mean(self) -> Vector:
        """Mean of all rows."""
        base = self.means[0]
        return np.asarray(base + self.weights @ (self.means - base) / self.weight)


@dataclass(frozen=True, slots=True)
class Moments:
    """The sums above; ``each`` asks for a scatter of every class instead of their sum."""

    shift: Matrix
    each: bool = False
    kernel: str = "moments"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"shift": self.shift, "each": self.each}

    def width(self, columns: int) -> int:
        """Weights, sums, scatters."""
        classes = len(self.shift)
        return classes * (1 + columns) + (classes if self.each else 1) * columns * columns

    def work(self, entries_per_row: float, columns: int) -> float:
        """One read, and half a square for the scatter."""
        return entries_per_row + entries_per_row * entries_per_row / 2

    def read(self, total: Total) -> ClassMoments:
        """Means and scatters about them."""
        sums = total.sums[0, 0]
        classes, d = self.shift.shape
        weights = sums[:classes]
        offsets = sums[classes : classes * (1 + d)].reshape(classes, d)
        scatters = sums[classes * (1 + d) :].reshape(-1, d, d)
        part = np.divide(offsets, weights[:, None], out=np.zeros_like(offsets), where=(weights > 0)[:, None])
        correction = np.einsum("ki,kj->kij", offsets, part) if self.each else offsets.T @ part
        scatters = scatters - correction
        # rounding may leave a variance just below zero
        diagonal = np.einsum("kjj->kj", scatters)
        np.maximum(diagonal, 0.0, out=diagonal)
        scatters = 0.5 * (scatters + scatters.transpose(0, 2, 1))
        return ClassMoments(weights, self.shift + part, scatters, np.abs(part))


@dataclass(frozen=True, slots=True)
class Spreads:
    """‖(x − centreₖ)·scaleₖ‖² of every row, k its class; the centres are the points.

    A sparse row is that of an empty one, corrected by what it stores, which cancels where values are large and close to
    their centre; ``full`` (K × d) names the columns that every row of a class stores, and is summed without.
    """

    scale: Matrix
    full: Any = None
    kernel: str = "spreads"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"scale": self.scale, "full": self.full}

    def outputs(self, points: int) -> int:
        """One number per row."""
        return 1


def class_shifts(engine: Engine, classes: int) -> Matrix:
    """Points near the class means (K × d), from a few rows.

    Sparse rows are shifted only in columns of which every row of the class stores its value.
    """
    d = engine.columns_count
    some = engine.sample(min(SAMPLE, engine.rows), 0)
    full = np.ones((classes, d), dtype=bool)
    if engine.sparse:
        full = full_columns(engine, classes)
        if not full.any():
            return np.zeros((classes, d))
    rows = some.take(np.arange(some.rows))
    shift = np.zeros((classes, d))
    with np.errstate(all="ignore"):
        for code in range(classes):
            part = rows[np.flatnonzero(some.codes == code)]
            if part.shape[0]:
                shift[code] = np.where(full[code], np.asarray(part.mean(axis=0)).ravel(), 0.0)
    return np.where(np.isfinite(shift), shift, 0.0)


def full_columns(engine: Engine, classes: int) -> Any:
    """Which columns (K × d) every row of a class stores a value of."""
    stored, seen = np.zeros((classes, engine.columns_count), dtype=np.int64), np.zeros(classes, dtype=np.int64)
    for block in engine.blocks():
        stored += block.stored_in(classes)
        seen += np.bincount(block.codes, minlength=classes)
    return stored == seen[:, None]


def class_moments(engine: Engine, classes: int, each: bool = False, shift: Matrix | None = None) -> ClassMoments:
    """Moments of the classes in one pass over the rows; a second where the shifts were too far from the means.

    A few heavy rows may have most of the weight, and none of them be in the sample that the shifts come from.
    """
    if shift is None:
        shift = class_shifts(engine, classes)
    moments: ClassMoments = engine.total(Moments(np.ascontiguousarray(shift), each), np.empty((1, 0)))
    if not engine.sparse and moments.weight > 0 and np.isfinite(moments.means).all():
        variances = moments.scatter.diagonal() / moments.weight
        if (moments.lost(moments.weights / moments.weight, variances) > MOST_LOST).any():
            again: ClassMoments = engine.total(Moments(np.ascontiguousarray(moments.means), each), np.empty((1, 0)))
            return again
    return moments
