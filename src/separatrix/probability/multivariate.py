"""The normal law in d dimensions, closed under affine maps, marginals and conditionals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr, solve_triangular

from separatrix.probability.normal import LOG_2PI
from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, refuse, weights_for, whole

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class MultivariateNormal:
    """Density exp(−½ (x − μ)ᵀ Σ⁻¹ (x − μ)) / √((2π)ᵈ|Σ|), with Σ positive definite.

    Σ = LLᵀ (Cholesky) serves everything: log|Σ| = 2 Σ log Lₖₖ, the distance is
    ‖L⁻¹(x − μ)‖, a draw is μ + Lz, and the precision matrix is Λ = Σ⁻¹ = L⁻ᵀL⁻¹.

    - affine: c + Bx ~ N(c + Bμ, BΣBᵀ), if B has independent rows;
    - marginal: leave out rows and columns of μ and Σ;
    - conditional: with the coordinates split into a and b,
      x_a | x_b ~ N(μ_a + Σ_ab Σ_bb⁻¹ (x_b − μ_b), Σ_aa − Σ_ab Σ_bb⁻¹ Σ_ba).

    A singular Σ has no density and is refused; singular is judged after scaling every
    coordinate to variance one, so units do not matter.

    >>> law = MultivariateNormal([0.0, 1.0], [[2.0, 1.0], [1.0, 2.0]])
    >>> law.precision
    array([[ 0.66666667, -0.33333333],
           [-0.33333333,  0.66666667]])
    >>> law.conditional([0], given={1: 3.0}).mean
    array([1.])
    """

    mean: Vector
    covariance: Vector
    _root: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        mean, covariance = finite(self.mean, "mean").copy(), finite(self.covariance, "covariance")
        if mean.ndim != 1 or len(mean) == 0:
            refuse(f"mean has the shape {mean.shape}.", "give one number for each coordinate.")
        d = len(mean)
        if covariance.shape != (d, d):
            refuse(
                f"mean has {d} coordinates, but covariance has the shape {covariance.shape}.", f"it must be {d} × {d}."
            )
        scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        if (scale == 0.0).any():
            k = int((scale == 0.0).argmax())
            refuse(f"The variance of coordinate {k} is {covariance[k, k]:g}.", "every variance must be positive.")
        correlation = covariance / scale[:, None] / scale
        if np.abs(correlation - correlation.T).max() > 1e-9:
            refuse("covariance is not symmetric.", "the covariance of i and j is that of j and i.")
        root = _cholesky(0.5 * (correlation + correlation.T))
        if root is None:
            refuse(
                "covariance is not positive definite: some combination of the coordinates has no variance, "
                "or a negative one.",
                "leave out coordinates that are combinations of others.",
            )
        covariance = 0.5 * covariance + 0.5 * covariance.T
        for name, value in (("mean", mean), ("covariance", covariance), ("_root", scale[:, None] * root)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def fit(cls, x: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """The most likely mean and covariance (divided by n) of the rows of x."""
        rows = finite(x, "x")
        if rows.ndim != 2 or rows.shape[1] == 0:
            refuse(
                f"x has the shape {rows.shape}.", "give one row for each observation, one column for each coordinate."
            )
        share = weights_for(weights, len(rows))
        origin = rows[int(share.argmax())]
        with np.errstate(over="ignore", invalid="ignore"):
            away = rows - origin
            shift = share @ away
            away = (away - shift) * np.sqrt(share)[:, None]
            covariance = away.T @ away
        if not np.isfinite(covariance).all():
            k = int((~np.isfinite(np.diag(covariance))).argmax())
            refuse(f"The squares of column {k} of x overflow.", "divide it by a power of ten.")
        if (np.diag(covariance) <= 0.0).any():
            k = int((np.diag(covariance) <= 0.0).argmax())
            what = "is constant" if np.ptp(rows[share > 0, k]) == 0.0 else "has squares that underflow"
            refuse(f"Column {k} of x {what}: the likelihood has no maximum.", "leave the column out, or scale it.")
        if _cholesky(covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))) is None:
            refuse(
                f"The {len(rows)} observations lie in a plane of fewer than {rows.shape[1]} dimensions: "
                "the likelihood has no maximum.",
                "leave out columns that are combinations of others, or give more observations.",
            )
        return cls(origin + shift, covariance)

    @property
    def dimension(self) -> int:
        """How many coordinates there are."""
        return len(self.mean)

    @property
    def variance(self) -> Vector:
        """The variances of the coordinates: Σ's diagonal."""
        return np.diag(self.covariance)

    @cached_property
    def precision(self) -> Vector:
        """Λ = Σ⁻¹; Λᵢⱼ = 0 if i and j are independent given all others."""
        inverse = solve_triangular(self._root, np.eye(self.dimension), lower=True)
        precision: Vector = inverse.T @ inverse
        return precision

    @property
    def log_determinant(self) -> float:
        """The logarithm log|Σ|."""
        return 2.0 * float(np.log(np.diag(self._root)).sum())

    def mahalanobis(self, x: ArrayLike) -> Vector:
        """√((x − μ)ᵀ Σ⁻¹ (x − μ)) for points along the last axis."""
        points = finite(x, "x")
        if points.ndim == 0 or points.shape[-1] != self.dimension:
            refuse(f"x has the shape {points.shape}.", f"its last axis holds the {self.dimension} coordinates.")
        flat = (points - self.mean).reshape(-1, self.dimension)
        distance: Vector = np.linalg.norm(solve_triangular(self._root, flat.T, lower=True), axis=0)
        return distance.reshape(points.shape[:-1])[()]

    def log_pdf(self, x: ArrayLike) -> Vector:
        """The log of the density at points along the last axis."""
        with np.errstate(over="ignore"):
            answer: Vector = -0.5 * (self.mahalanobis(x) ** 2 + self.dimension * LOG_2PI + self.log_determinant)
        return answer

    def pdf(self, x: ArrayLike) -> Vector:
        """The density at points along the last axis; at the mean of two coordinates 1/(2π√|Σ|)."""
        with np.errstate(under="ignore", over="ignore"):
            density: Vector = np.exp(self.log_pdf(x))
        return density

    def entropy(self) -> float:
        """½ (d log(2πe) + log|Σ|)."""
        return 0.5 * (self.dimension * (LOG_2PI + 1.0) + self.log_determinant)

    def sample(self, n: int, seed: int | None = None) -> Vector:
        """Draw n points, as rows: μ + Lz with z standard normal."""
        z = np.random.default_rng(seed).standard_normal((whole(n), self.dimension))
        drawn: Vector = self.mean + z @ self._root.T
        return drawn

    def affine(self, c: ArrayLike, B: ArrayLike) -> "MultivariateNormal":
        """The law of c + Bx, N(c + Bμ, BΣBᵀ).

        >>> MultivariateNormal([1.0, 2.0], np.eye(2)).affine([5.0], [[1.0, -1.0]])
        MultivariateNormal(mean=array([4.]), covariance=array([[2.]]))
        """
        matrix, shift = finite(B, "B"), np.atleast_1d(finite(c, "c"))
        if matrix.ndim != 2 or matrix.shape[1] != self.dimension or len(matrix) == 0:
            refuse(f"B has the shape {matrix.shape}.", f"it needs {self.dimension} columns, one for each coordinate.")
        if shift.shape != (len(matrix),):
            refuse(
                f"c has the shape {shift.shape}, but B has {len(matrix)} rows.", "give one number for each row of B."
            )
        half = matrix @ self._root
        lengths = np.linalg.norm(half, axis=1)
        rank = int(np.linalg.matrix_rank(half / np.where(lengths > 0, lengths, 1.0)[:, None]))
        if rank < len(matrix):
            refuse(
                f"B has {len(matrix)} rows but rank {rank}, so c + Bx lies in a plane of {rank} dimensions "
                "and has no density.",
                "keep rows of B that are independent of each other.",
            )
        return MultivariateNormal._of_root(shift + matrix @ self.mean, half)

    def marginal(self, which: Sequence[int]) -> "MultivariateNormal":
        """The law of some coordinates, whatever the others are."""
        kept = self._coordinates(which)
        return MultivariateNormal._of_root(self.mean[kept], self._root[kept])

    def conditional(self, which: Sequence[int], given: Mapping[int, float]) -> "MultivariateNormal":
        """The law of some coordinates when others are known; those in neither are summed out."""
        kept = self._coordinates(which)
        if not given:
            return self.marginal(which)
        known = self._coordinates(list(given))
        both = next((k for k in kept if k in known), None)
        if both is not None:
            refuse(f"Coordinate {both} is asked for and given.", "ask for coordinates that are not known.")
        values = finite(list(given.values()), "given")
        # the joint law's root, known coordinates first: its last rows hold the conditional law
        order = known + kept
        root = self.marginal(order)._root
        m = len(known)
        z = solve_triangular(root[:m, :m], values - self.mean[known], lower=True)
        return MultivariateNormal._of_root(self.mean[kept] + root[m:, :m] @ z, root[m:, m:])

    @classmethod
    def _of_root(cls, mean: Vector, half: Vector) -> "MultivariateNormal":
        """The law with covariance HHᵀ, its triangular root from QR of Hᵀ: twice the digits of Cholesky of HHᵀ."""
        root = qr(half.T, mode="economic")[1].T
        root = root * np.where(np.diag(root) < 0.0, -1.0, 1.0)
        law = object.__new__(cls)
        for name, value in (("mean", mean), ("covariance", root @ root.T), ("_root", root)):
            value.flags.writeable = False
            object.__setattr__(law, name, value)
        return law

    def _coordinates(self, which: Sequence[int]) -> list[int]:
        places = np.atleast_1d(np.asarray(which))
        if places.dtype.kind not in "iu" and places.size:
            refuse(f"The coordinates {which!r} are not whole numbers.", f"they are 0 to {self.dimension - 1}.")
        kept = [int(k) for k in places]
        strange = next((k for k in kept if not 0 <= k < self.dimension), None)
        if strange is not None:
            refuse(f"There is no coordinate {strange}.", f"they are 0 to {self.dimension - 1}.")
        if len(kept) == 0 or len(set(kept)) < len(kept):
            refuse(f"The coordinates {kept} are not a choice.", "name at least one, and each only once.")
        return kept


def _cholesky(correlation: Vector) -> Vector | None:
    """The lower root, or None if some coordinate is a combination of those before it to rounding."""
    try:
        root: Vector = np.linalg.cholesky(correlation).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return None
    # Lₖₖ² is the share of variance that coordinates before k leave unexplained
    return root if np.diag(root).min() ** 2 > 8 * len(root) * EPSILON else None
