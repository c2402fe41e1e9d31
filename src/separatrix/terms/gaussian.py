"""Gaussian classes with one covariance: from moments to parameters to a linear posterior.

p(x | cₖ) = N(μₖ, Σ) with priors πₖ gives log P(cₖ | x) = ⟨wₖ, x⟩ + bₖ + const, and after subtracting what all
classes share, with m = Σ πₖμₖ,

    wₖ = Σ⁻¹(μₖ − m),    bₖ = −½(μₖ − m)ᵀΣ⁻¹(μₖ − m) − ⟨wₖ, m⟩ + log πₖ.

For two classes w = Σ⁻¹(μ₁ − μ₀) and w₀ = −½(μ₁ᵀΣ⁻¹μ₁ − μ₀ᵀΣ⁻¹μ₀) + log(π₁/π₀): the lectures' formulas. Maximum
likelihood: πₖ = Wₖ/W, μₖ the class means, Σ = Σₖ Sₖ/W ("pooled"). The plain mean of the class covariances Sₖ/Wₖ is
"average".

Shrinkage s replaces Σ by (1 − s)Σ + s·(tr Σ/d)·I. Ledoit and Wolf (2004) choose s for each class from its n
standardised rows z with correlation matrix C: s = min(β, δ)/δ, β = (Σ‖z‖⁴/n − ‖C‖²)/(d·n), δ = (‖C‖² − d)/d.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from separatrix.core.arrays import UNIT_ROUNDOFF, Codes, Matrix, Positions, Vector
from separatrix.core.factor import independent
from separatrix.core.protocols import Engine
from separatrix.terms.moments import ClassMoments, Spreads, full_columns


@dataclass(frozen=True, slots=True)
class GaussianClasses:
    """Priors (K), means (K × d) and the shared covariance (d × d)."""

    priors: Vector
    means: Matrix
    covariance: Matrix

    @property
    def centre(self) -> Vector:
        """Σ πₖμₖ."""
        return np.asarray(self.means[0] + self.priors @ (self.means - self.means[0]))

    def kept(self, tol: float) -> Positions:
        """Columns with a variance of their own that others do not explain, to the share tol²."""
        scale = np.sqrt(self.covariance.diagonal())
        # a column whose spread is a few roundings of its value is constant
        constant = scale <= 8.0 * UNIT_ROUNDOFF * np.abs(self.means).max(axis=0)
        matrix = np.where(constant[:, None] | constant[None, :], 0.0, self.covariance)
        return independent(matrix, last_first=False, least=tol * tol)


def covariance_of(moments: ClassMoments, kind: str) -> Matrix:
    """Σ by maximum likelihood ("pooled"), or the plain mean of the class covariances ("average")."""
    if kind == "pooled":
        return moments.scatter / moments.weight
    seen = moments.weights > 0
    return np.asarray(np.mean(moments.scatters[seen] / moments.weights[seen, None, None], axis=0))


def shrunk(covariance: Matrix, amount: float) -> Matrix:
    """(1 − s)Σ + s·(tr Σ/d)·I.

    >>> shrunk(np.diag([1.0, 3.0]), 0.5)
    array([[1.5, 0. ],
           [0. , 2.5]])
    """
    d = len(covariance)
    out = (1.0 - amount) * covariance
    out.flat[:: d + 1] += amount * float(np.trace(covariance)) / d
    return out


def ledoit_wolf(engine: Engine, moments: ClassMoments) -> tuple[Matrix, Vector]:
    """Each class's covariance (K × d × d), shrunk by Ledoit and Wolf's amount about its own scale, and the amounts."""
    variances = np.einsum("kjj->kj", moments.scatters) / moments.weights[:, None]
    scales = np.where(variances > 0, np.sqrt(variances), 1.0)
    full = full_columns(engine, len(scales)) if engine.sparse else None
    lengths = engine.map(Spreads(np.ascontiguousarray(1.0 / scales), full), np.ascontiguousarray(moments.means))

    def fourths_of(part: Matrix, codes: Codes, weights: Vector | None) -> Vector:
        fourth = np.square(part[:, 0]) if weights is None else weights * np.square(part[:, 0])
        return np.bincount(codes, fourth, minlength=len(scales)).astype(np.float64)

    fourths = lengths.sum(fourths_of, engine.labels, engine.row_weights)
    covariances, amounts = [], []
    for scatter, scale, n, sum_of_fourths in zip(moments.scatters, scales, moments.weights, fourths, strict=True):
        d = len(scale)
        standard = scatter / n / np.outer(scale, scale)
        trace, squares = float(np.trace(standard)), float(np.square(standard).sum())
        mean = trace / d
        spread = (squares - 2.0 * mean * trace + d * mean * mean) / d
        noise = min((float(sum_of_fourths) / n - squares) / (d * n), spread)
        amount = 0.0 if noise == 0.0 or d == 1 else noise / spread
        amounts.append(amount)
        covariances.append(shrunk(standard, amount) * np.outer(scale, scale))
    return np.array(covariances), np.array(amounts)


@dataclass(frozen=True, slots=True)
class LinearPosterior:
    """Weights (K × d) and offsets (K) of the log-posteriors; of two classes one row, the log-odds of class 1."""

    coef: Matrix
    intercept: Vector


def scaled_lower(covariance: Matrix, keep: Positions) -> tuple[Vector, Matrix]:
    """√Σⱼⱼ of the kept columns, and the Cholesky factor of their correlation matrix."""
    part = covariance[np.ix_(keep, keep)]
    scale = np.sqrt(part.diagonal())
    lower, info = lapack.dpotrf((part / np.outer(scale, scale)).T, lower=1, clean=1)
    if info != 0:
        raise FloatingPointError("The covariance of the kept columns is not positive definite.")
    return scale, lower


def linear_posterior(classes: GaussianClasses, keep: Positions) -> LinearPosterior:
    """The weights of the posterior, on the kept columns; the other weights are zero."""
    count, d = classes.means.shape
    centre = classes.centre
    apart = (classes.means - centre)[:, keep]
    coef = np.zeros((count, d))
    if len(keep):
        scale, lower = scaled_lower(classes.covariance, keep)
        coef[:, keep] = (lapack.dpotrs(lower, (apart / scale).T, lower=1)[0].T) / scale
    # a class that has not been seen yet: as good as impossible, and finite
    logs = np.log(np.maximum(classes.priors, np.finfo(np.float64).tiny))
    halves = 0.5 * np.einsum("kj,kj->k", coef[:, keep], apart)
    if count == 2:
        w = coef[1] - coef[0]
        # halfway between the means the squares cancel
        middle = classes.means[0] + 0.5 * (classes.means[1] - classes.means[0])
        return LinearPosterior(w[None], np.array([-float(w @ middle) + logs[1] - logs[0]]))
    return LinearPosterior(coef, logs - halves - coef @ centre)


def discriminant_axes(classes: GaussianClasses, keep: Positions, tol: float) -> tuple[Matrix, Vector]:
    """Directions V (d × r) with VᵀΣV = 1 that spread the means most, and each one's share of that spread."""
    count, d = classes.means.shape
    if not len(keep):
        return np.zeros((d, 0)), np.zeros(0)
    scale, lower = scaled_lower(classes.covariance, keep)
    apart = (classes.means - classes.centre)[:, keep] * np.sqrt(classes.priors)[:, None]
    white = lapack.dtrtrs(lower, (apart / scale).T, lower=1)[0]
    left, values, _ = np.linalg.svd(white, full_matrices=False)
    rank = int(np.sum(values > tol * values[0])) if values[0] > 0 else 0
    axes = np.zeros((d, rank))
    if rank:
        axes[keep] = lapack.dtrtrs(lower, left[:, :rank], lower=1, trans=1)[0] / scale[:, None]
    squares = np.square(values)
    total = float(squares.sum())
    shares = squares / total if total > 0 else np.zeros_like(squares)
    return axes, shares[: min(count - 1, d)]
