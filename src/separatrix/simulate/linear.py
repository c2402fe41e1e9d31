"""Labels from one linear score f(x) = ⟨w, x⟩ + b over Gaussian columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, number, refuse
from separatrix.simulate.columns import Spread
from separatrix.simulate.model import Model, share
from separatrix.simulate.streams import COLUMNS, PARAMETERS, Streams, products


class LinearModel(Model):
    """x ~ N(0, Σ) and a label that depends on x through f(x) = ⟨w, x⟩ + b alone; f ~ N(b, wᵀΣw).

    Weights that are not given point in a random direction and have the length ``strength``.
    """

    def __init__(
        self,
        columns: int | None,
        weights: ArrayLike | None,
        intercept: float | None,
        positive: float | None,
        strength: float,
        correlation: Any,
        noise: float,
        labels: Sequence[Any] | None,
        seed: int,
    ) -> None:
        given = None if weights is None else finite(weights, "weights")
        if given is not None and (given.ndim != 1 or not given.any()):
            refuse(f"weights have the shape {given.shape}.", "give one number for each column, not all zero.")
        if given is not None and columns is not None and columns != len(given):
            refuse(f"There are {len(given)} weights, but columns is {columns}.", "leave one of the two out.")
        super().__init__(len(given) if given is not None else 2 if columns is None else columns, 2, labels, noise, seed)
        self.spread = Spread.of(correlation, self.columns, "correlation")
        length = number(strength, "strength")
        if length <= 0.0:
            refuse(f"strength is {length:g}.", "it is the length of the weights, and positive.")
        if given is None:
            direction = self.streams.at(PARAMETERS, 0).standard_normal(self.columns)
            given = length * direction / np.sqrt(np.sum(direction**2))
        self.weights = given
        # lengths by way of the largest weight, whose square may overflow or vanish
        largest = float(np.abs(given).max())
        self.length = largest * float(np.sqrt(np.sum((given / largest) ** 2)))
        self.scale = largest * float(np.sqrt(self.spread.variance_along(given / largest)))
        if not 0.0 < self.scale < np.inf:
            refuse(f"The scores have a standard deviation of {self.scale:g}.", "give weights of a moderate size.")
        if intercept is not None and positive is not None:
            refuse("Both intercept and positive are given.", "the intercept decides the share of the positive class.")
        self.intercept = number(0.0 if intercept is None else intercept, "intercept")
        if positive is not None:
            self.intercept = self._intercept_for(share(positive, "positive"))

    def _intercept_for(self, positive: float) -> float:
        raise NotImplementedError

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Weights, intercept, the columns' covariance and the noise."""
        return {
            "weights": self.weights,
            "intercept": self.intercept,
            "covariance": self.spread.covariance,
            "noise": self.noise,
        }

    def scores(self, X: Vector) -> Vector:
        """f(x) = ⟨w, x⟩ + b, row by row."""
        return products(X, self.weights) + self.intercept

    def _columns(self, streams: Streams, block: int, rows: int) -> Vector:
        return self.spread.apply(streams.at(COLUMNS, block).standard_normal((rows, self.columns)))
