"""Gaussian columns: correlated, drawn block by block without a BLAS."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.probability.multivariate import MultivariateNormal
from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, refuse
from separatrix.simulate.streams import products


@dataclass(frozen=True, eq=False)
class Spread:
    """A covariance Σ and a root of it that serves for drawing.

    One number ρ stands for variances of one and all correlations ρ. Then the symmetric root is
    aI + b11ᵀ with a = √(1 − ρ) and a + d·b = √(1 + (d − 1)ρ), which costs d, not d², for each row;
    ρ must exceed −1/(d − 1). A matrix is any positive definite covariance.
    """

    columns: int
    correlation: float
    matrix: Vector | None

    @classmethod
    def of(cls, given: Any, columns: int, name: str) -> "Spread":
        """From one number or a matrix."""
        array = finite(given, name)
        if array.ndim == 0:
            rho = float(array)
            least = -1.0 / (columns - 1) if columns > 1 else -1.0
            if not least < rho < 1.0 and rho != 0.0:
                refuse(f"{name} is {rho:g}.", f"with {columns} columns it lies above {least:.4g} and below 1.")
            return cls(columns, rho, None)
        MultivariateNormal(np.zeros(columns), array)  # refuses what is no covariance
        return cls(columns, 0.0, array)

    @property
    def covariance(self) -> Vector:
        """Σ in full."""
        if self.matrix is not None:
            return self.matrix
        return np.full((self.columns, self.columns), self.correlation) + (1 - self.correlation) * np.eye(self.columns)

    def apply(self, z: Vector) -> Vector:
        """Rows with covariance Σ from rows of independent standard normals."""
        if self.matrix is not None:
            return products(z, self._root)
        if self.correlation == 0.0:
            return z
        a = np.sqrt(1.0 - self.correlation)
        b = (np.sqrt(1.0 + (self.columns - 1) * self.correlation) - a) / self.columns
        spread: Vector = a * z + b * z.sum(axis=1, keepdims=True)
        return spread

    def variance_along(self, w: Vector) -> float:
        """The variance wᵀΣw of ⟨w, x⟩."""
        if self.matrix is not None:
            return float(w @ self.matrix @ w)
        return float((1.0 - self.correlation) * (w @ w) + self.correlation * w.sum() ** 2)

    def squared_distance(self, v: Vector) -> float:
        """The squared Mahalanobis length vᵀΣ⁻¹v."""
        if self.matrix is not None:
            return float(MultivariateNormal(np.zeros(self.columns), self.matrix).mahalanobis(v)) ** 2
        one = 1.0 - self.correlation
        return float((v @ v - self.correlation * v.sum() ** 2 / (one + self.columns * self.correlation)) / one)

    @property
    def _root(self) -> Vector:
        return MultivariateNormal(np.zeros(self.columns), self.covariance)._root
