"""Directions in which the classes differ but have no spread: what decides before anything else.

Let the covariance within classes Σ vanish along the directions N (d × m), ΣN = 0. Dummies that add up to the class are
the usual cause, or more columns than rows. Maximum likelihood has no maximum there: the density grows without end as
the spread goes to zero. The limit is clear all the same. With D the columns' variances over all rows and Σ + εD
in place of Σ, ε → 0,

    (Σ + εD)⁻¹ = Π/ε + O(1),    Π = N(NᵀDN)⁻¹Nᵀ,

so the log-posteriors of two classes k, l differ by [(x − μₗ)ᵀΠ(x − μₗ) − (x − μₖ)ᵀΠ(x − μₖ)]/2ε plus what stays finite:
the class whose mean is nearest in Π has probability 1, and classes that share their place there are told apart by
the rest. In coordinates a(x) = Aᵀ(x − m) with AAᵀ = Π on the span of the means, the nearest of the places
āg has the largest ⟨āg, a(x)⟩ − ½‖āg‖², which is linear in x: a **wall** for each place. Units of columns do not matter.

Rounding and near-dependence: two places are taken as different when they are a hundred times as far apart as any row
is from the place of its class, and a millionth of the columns' spread. Then every row is on the right side, and a
Gaussian of that spread would give it log-odds of thousands.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr
from scipy.sparse.csgraph import connected_components

from separatrix.core.arrays import UNIT_ROUNDOFF, Codes, Matrix, Positions, Vector
from separatrix.core.protocols import Engine
from separatrix.terms.gaussian import GaussianClasses, scaled_lower
from separatrix.terms.logistic import Scores

CLEAR = 100.0
"""Places are this many times as far apart as rows are from theirs, at least."""

SMALLEST = 1e-6
"""No difference of places below this share of the columns' spread is trusted."""

TIE = 1e-9
"""Walls that differ by less than this share of the squared distance of two places do not decide."""


@dataclass(frozen=True, slots=True)
class Walls:
    """Weights and offset of each place's score (G × (d + 1)), and the place of each class (K); none: nothing decides.

    >>> walls = Walls(np.array([[-2.0, 0.0], [2.0, 0.0]]), np.array([0, 1]), np.ones(1))
    >>> walls.decide(np.array([[-1.0, 1.0], [0.0, 0.0]]), np.zeros((2, 2)))
    array([[-inf,   0.],
           [  0.,   0.]])
    """

    points: Matrix
    places: Positions
    spread: Vector

    @property
    def columns(self) -> Positions:
        """Columns that take part."""
        if not len(self.points):
            return np.empty(0, dtype=np.int64)
        weights = self.points[:, :-1] - self.points[0, :-1]
        size = (np.abs(weights) * self.spread).max(axis=0)
        return np.flatnonzero(size > 1e-6 * size.max(initial=0.0))

    @property
    def least_gap(self) -> float:
        """The smallest squared distance of two places."""
        weights = self.points[:, :-1] * self.spread
        squares = np.square(weights[:, None] - weights[None]).sum(axis=2)
        return float(squares[~np.eye(len(squares), dtype=bool)].min())

    @property
    def between(self) -> Vector | None:
        """Of two classes at two places: the hyperplane halfway between them, (normal, offset), positive at class 1."""
        if len(self.places) != 2 or not len(self.points):
            return None
        return np.asarray(self.points[self.places[1]] - self.points[self.places[0]])

    def decide(self, heights: Matrix, scores: Matrix) -> Matrix:
        """Scores of the classes (n × K), −∞ for those that are not at the nearest place; ``heights`` are the walls'."""
        top = heights.max(axis=1, keepdims=True)
        size = np.abs(self.points[:, -1]).max() + np.abs(heights).max(axis=1, keepdims=True)
        near = heights >= top - TIE * self.least_gap - 16.0 * UNIT_ROUNDOFF * size
        return np.where(near[:, self.places], scores, -np.inf)


def none(classes: GaussianClasses) -> Walls:
    """Nothing decides first."""
    count, d = classes.means.shape
    return Walls(np.empty((0, d + 1)), np.zeros(count, dtype=np.int64), np.ones(d))


def find_walls(classes: GaussianClasses, keep: Positions, engine: Engine | None) -> Walls:
    """The walls of these classes; the rows say how far each is from its place, or without them the covariance."""
    count, d = classes.means.shape
    seen = np.flatnonzero(classes.priors > 0)
    if len(keep) == d or len(seen) < 2:
        return none(classes)
    centre = classes.means[seen].mean(axis=0)
    apart = classes.means[seen] - centre
    variance = classes.covariance.diagonal() + np.square(apart).mean(axis=0)
    spread = np.where(variance > 0, np.sqrt(variance), 1.0)
    flat = _flat_directions(classes, keep, spread)
    at = (apart / spread) @ flat
    _, sizes, across = np.linalg.svd(at, full_matrices=False)
    axes = flat @ across[sizes > 1e-12].T
    if not axes.size:
        return none(classes)
    axes = axes / spread[:, None]
    at = apart @ axes
    off = _off(classes, seen, engine, axes, centre, at)
    gaps = np.linalg.norm(at[:, None] - at[None], axis=2)
    number, labels = connected_components(gaps <= max(CLEAR * off, SMALLEST), directed=False)
    if number == 1:
        return none(classes)
    middles = np.array([at[labels == place].mean(axis=0) for place in range(number)])
    weights = middles @ axes.T
    offsets = -0.5 * np.square(middles).sum(axis=1) - weights @ centre
    # a class that has not been seen yet keeps its finite score, which is as good as nothing
    places = np.zeros(count, dtype=np.int64)
    places[seen] = labels
    return Walls(np.column_stack([weights, offsets]), places, spread)


def _flat_directions(classes: GaussianClasses, keep: Positions, spread: Vector) -> Matrix:
    """An orthonormal basis, in units of the spread, of what vanishes within the classes (d × m)."""
    d = len(spread)
    out = np.setdiff1d(np.arange(d), keep)
    null = np.zeros((d, len(out)))
    null[out, np.arange(len(out))] = 1.0
    if len(keep):
        scale, lower = scaled_lower(classes.covariance, keep)
        side = classes.covariance[np.ix_(keep, out)] / scale[:, None]
        null[keep] = -lapack.dpotrs(lower, side, lower=1)[0] / scale[:, None]
    null = null * spread[:, None]
    return np.asarray(qr(null / np.linalg.norm(null, axis=0), mode="economic")[0])


def _off(
    classes: GaussianClasses, seen: Positions, engine: Engine | None, axes: Matrix, centre: Vector, at: Matrix
) -> float:
    """How far a row is from the place of its class, at most."""
    if engine is None:
        return float(np.sqrt(max(np.einsum("jr,jl,lr->", axes, classes.covariance, axes), 0.0))) + 1e-7
    points = np.column_stack([axes.T, -(centre @ axes)])
    values = engine.map(Scores(True), np.ascontiguousarray(points))
    mine = np.zeros((len(classes.means), at.shape[1]))
    mine[seen] = at

    def farthest(part: Matrix, codes: Codes, weights: Vector | None) -> float:
        apart = np.linalg.norm(part - mine[codes], axis=1)
        return float((apart if weights is None else apart[weights > 0]).max(initial=0.0))

    return max(farthest(*together) for together in values.beside(engine.labels, engine.row_weights))
