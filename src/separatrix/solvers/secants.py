"""What the gradients already seen tell of the curvature: BFGS in compact form.

A step s along which the gradient changed by y is a secant of the Hessian: H s ≈ y. With the last m pairs as rows of S
and Y, a preconditioner M, a scale γ, R the upper triangle of S Yᵀ and D its diagonal, the inverse that BFGS builds from
γM⁻¹ is (Byrd, Nocedal and Schnabel)

    B⁻¹ = γM⁻¹ + Sᵀ R⁻ᵀ (D + γ Y M⁻¹ Yᵀ) R⁻¹ S − Sᵀ R⁻ᵀ γ Y M⁻¹ − γ M⁻¹ Yᵀ R⁻¹ S,

so that a product costs a few reads of m × p numbers. M⁻¹y is a difference of two M⁻¹g that were needed anyway.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from separatrix.core.arrays import Matrix, Vector

MEMORY = 30
"""Pairs that are remembered."""

LEAST_CURVATURE = 1e-14
"""A pair whose product is a smaller share of its lengths says nothing but rounding."""


class Preconditioner(Protocol):
    """A matrix near the Hessian whose inverse is cheap."""

    def solve(self, vector: Vector) -> Vector:
        """Its inverse times a vector."""


@dataclass(frozen=True, slots=True)
class Diagonal:
    """The preconditioner that costs nothing: the Hessian's diagonal, 1 where that is zero."""

    inverse: Vector

    @classmethod
    def of(cls, diagonal: Vector) -> "Diagonal":
        """From the diagonal itself."""
        return cls(1.0 / np.where(diagonal > 0, diagonal, 1.0))

    def solve(self, vector: Vector) -> Vector:
        """Each number over the diagonal's."""
        return self.inverse * vector


@dataclass(slots=True)
class Secants:
    """Pairs of steps and changes of the gradient on top of a preconditioner.

    >>> some = Secants(Diagonal(np.array([1.0, 1.0])), 2)
    >>> some.learn(np.array([1.0, 0.0]), np.array([4.0, 0.0]), np.array([4.0, 0.0]))
    >>> some.solve(np.array([4.0, 0.0]))
    array([1., 0.])
    """

    base: Preconditioner
    size: int
    most: int = MEMORY
    scale: float = 1.0
    count: int = field(default=0, init=False)
    _pairs: Matrix = field(init=False, repr=False)
    _products: Matrix = field(init=False, repr=False)
    _lengths: Matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._pairs = np.empty((3, self.most, self.size))
        self._products, self._lengths = np.zeros((self.most, self.most)), np.zeros((self.most, self.most))

    def learn(self, step: Vector, change: Vector, solved: Vector) -> None:
        """A step, how the gradient changed along it, and M⁻¹ times that; the oldest pair is forgotten."""
        product = float(step @ change)
        if not product > LEAST_CURVATURE * float(np.linalg.norm(step) * np.linalg.norm(change)):
            return
        if self.count == self.most:
            self._pairs[:, :-1] = self._pairs[:, 1:]
            self._products[:-1, :-1] = self._products[1:, 1:]
            self._lengths[:-1, :-1] = self._lengths[1:, 1:]
            self.count -= 1
        k = self.count
        self._pairs[0, k], self._pairs[1, k], self._pairs[2, k] = step, change, solved
        self.count = k + 1
        steps, images = self._pairs[0, : k + 1], self._pairs[2, : k + 1]
        self._products[: k + 1, k] = steps @ change
        self._lengths[k, : k + 1] = self._lengths[: k + 1, k] = images @ change
        self.scale = product / float(self._lengths[k, k])

    def learn_all(self, steps: Matrix, changes: Matrix) -> None:
        """Pairs that are sound, the oldest first, on top of a diagonal: those that there is room for."""
        k = min(len(steps), self.most)
        if k == 0:
            return
        steps, changes = steps[-k:], changes[-k:]
        images = np.array([self.base.solve(change) for change in changes])
        self._pairs[0, :k], self._pairs[1, :k], self._pairs[2, :k] = steps, changes, images
        self._products[:k, :k] = np.triu(steps @ changes.T)
        self._lengths[:k, :k] = images @ changes.T
        self.count, self.scale = k, float(self._products[k - 1, k - 1] / self._lengths[k - 1, k - 1])

    def solve(self, vector: Vector, solved: Vector | None = None) -> Vector:
        """B⁻¹ times a vector, given M⁻¹ times it if that is known."""
        first = self.scale * (self.base.solve(vector) if solved is None else solved)
        k = self.count
        if k == 0:
            return first
        steps, changes, images = self._pairs[:, :k]
        R = self._products[:k, :k]
        along = lapack.dtrtrs(R, steps @ vector)[0]
        middle = R.diagonal() * along + self.scale * (self._lengths[:k, :k] @ along) - changes @ first
        back = lapack.dtrtrs(R, middle, trans=1)[0]
        result: Vector = first + back @ steps - self.scale * (along @ images)
        return result
