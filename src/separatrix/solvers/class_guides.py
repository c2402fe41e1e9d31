"""Rough inverses of the Hessian of softmax regression, to lead the steps of quasi-Newton methods.

With πᵢ the probabilities of row i the Hessian is H = Σ aᵢ (diag πᵢ − πᵢπᵢᵀ) ⊗ x̃ᵢx̃ᵢᵀ + κI. All of it has (Kp)² numbers.
Among coefficients that sum to zero over the classes, which solvers keep to, its blocks of one class each say nearly as
much: with cᵢₖ = aᵢπᵢₖ(1 − πᵢₖ) and C the centring over the classes,

    P = C·diag(B₁, …, B_K)⁻¹·C,     Bₖ = Σ cᵢₖ x̃ᵢx̃ᵢᵀ + κI = tₖ·[Sₖ + mₖmₖᵀ, mₖ; mₖᵀ, 1] + κI,

tₖ = Σ cᵢₖ, mₖ the mean of the rows with these weights and Sₖ their covariance. As diag π − ππᵀ ≼ 2 diag(πₖ(1 − πₖ)) no
eigenvalue of PH is above 2, and few are small. Classes differ by their means most: with one covariance S for all, the
mean of Sₖ, P is K times cheaper and nearly as good (what linear discriminant analysis assumes of classes). With the
diagonals of the Sₖ it costs next to nothing, and serves columns that are nearly uncorrelated. None of this enters a
proof.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from separatrix.core.arrays import Matrix, Vector

RAISED = 1e-10
"""A block's diagonal is raised by this share, for columns that depend on each other."""

LEAST = 1e-9
"""A class counts as having this share of the largest one's curvature, at least."""


class Guide(Protocol):
    """A rough inverse of the Hessian."""

    def solve(self, gradient: Vector) -> Vector:
        """That inverse times a vector."""


def centred(vector: Vector, classes: int) -> Matrix:
    """The vector (classes × p, flat) less its mean over the classes."""
    rows = vector.reshape(classes, -1)
    difference: Matrix = rows - rows.mean(axis=0)
    return difference


def inverse_of(block: Matrix) -> Matrix:
    """The inverse of a positive definite matrix, of its diagonal alone where it is not one in floats."""
    diagonal = block.diagonal()
    raised = block.copy()
    raised[np.diag_indices(len(raised))] += RAISED * diagonal
    lower, info = lapack.dpotrf(raised.T, lower=1, clean=0, overwrite_a=1)
    if info == 0:
        inverse, info = lapack.dpotri(lower, lower=1, overwrite_c=1)
    if info != 0:
        return np.diag(1.0 / np.where(diagonal > 0.0, diagonal, 1.0))
    whole: Matrix = np.tril(inverse) + np.tril(inverse, -1).T
    return whole


def classes_apart(rows: Matrix, constant: bool) -> tuple[Vector, Matrix]:
    """tₖ and mₖ from Σ cᵢₖx̃ᵢ; without a constant there are no means to take out, and tₖ is not known: one."""
    if not constant:
        return np.ones(len(rows)), np.zeros_like(rows)
    sizes = np.maximum(rows[:, -1], LEAST * rows[:, -1].max())
    return sizes, rows[:, :-1] / sizes[:, None]


def arrow(gradient: Vector, sizes: Vector, means: Matrix, constant: bool, within: Callable[[Matrix], Matrix]) -> Vector:
    """C·diag(B)⁻¹·C times a vector; ``within`` solves tₖSₖ + κI for all classes, the constant is eliminated."""
    rows = centred(gradient, len(sizes))
    if not constant:
        return centred(within(rows), len(sizes)).ravel()
    first = rows[:, -1]
    weights = within(rows[:, :-1] - means * first[:, None])
    constants = first / sizes - np.einsum("kj,kj->k", means, weights)
    return centred(np.column_stack([weights, constants]), len(sizes)).ravel()


@dataclass(frozen=True, slots=True)
class ByDiagonal:
    """The classes' means, and of the covariances the diagonals."""

    sizes: Vector
    means: Matrix
    inverse: Matrix
    constant: bool

    @classmethod
    def of(cls, diagonal: Vector, rows: Matrix, strength: float, constant: bool) -> "ByDiagonal":
        """From the diagonals of Σ cᵢₖx̃ᵢx̃ᵢᵀ and the weighted rows (classes × p both)."""
        sizes, means = classes_apart(rows, constant)
        squares = diagonal.reshape(rows.shape)[:, : means.shape[1]]
        spread = np.maximum(squares - sizes[:, None] * np.square(means), RAISED * squares) + strength
        return cls(sizes, means, 1.0 / np.where(spread > 0.0, spread, 1.0), constant)

    def solve(self, gradient: Vector) -> Vector:
        """P times a vector."""
        return arrow(gradient, self.sizes, self.means, self.constant, lambda rows: self.inverse * rows)


@dataclass(frozen=True, slots=True)
class Pooled:
    """The classes' means, and one covariance for all; κ is taken for a class of mean size."""

    sizes: Vector
    means: Matrix
    inverse: Matrix
    constant: bool

    @classmethod
    def of(cls, block: Matrix, rows: Matrix, strength: float, constant: bool) -> "Pooled":
        """From Σₖ Σ cᵢₖx̃ᵢx̃ᵢᵀ (p × p) and the weighted rows (classes × p)."""
        sizes, means = classes_apart(rows, constant)
        if constant:
            block = block[:-1, :-1] - (means * sizes[:, None]).T @ means
        covariance = block / sizes.sum()
        covariance[np.diag_indices(len(covariance))] += strength / sizes.mean()
        return cls(sizes, means, inverse_of(covariance), constant)

    def solve(self, gradient: Vector) -> Vector:
        """P times a vector."""

        def within(rows: Matrix) -> Matrix:
            solved: Matrix = (rows / self.sizes[:, None]) @ self.inverse
            return solved

        return arrow(gradient, self.sizes, self.means, self.constant, within)


@dataclass(frozen=True, slots=True)
class ByClass:
    """The inverses of the blocks themselves."""

    inverses: Matrix

    @classmethod
    def of(cls, blocks: Matrix, strength: float, constant: bool) -> "ByClass":
        """From Σ cᵢₖx̃ᵢx̃ᵢᵀ (classes × p × p)."""
        raised = blocks.copy()
        weights = raised.shape[1] - constant
        np.einsum("kii->ki", raised)[:, :weights] += strength
        return cls(np.stack([inverse_of(block) for block in raised]))

    def solve(self, gradient: Vector) -> Vector:
        """P times a vector."""
        classes = len(self.inverses)
        solved = np.matmul(self.inverses, centred(gradient, classes)[:, :, None])
        return centred(solved[:, :, 0], classes).ravel()
