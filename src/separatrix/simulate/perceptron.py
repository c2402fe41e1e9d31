"""Labels from a known perceptron: separable, with a margin, until labels are flipped."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import number, refuse
from separatrix.simulate.linear import LinearModel
from separatrix.simulate.model import Risk, Sample
from separatrix.simulate.streams import Streams


class PerceptronModel(LinearModel):
    """y = 1 where f(x) ≥ 0, then both classes pushed away from the boundary by ``margin``.

    A row at distance t from the boundary is moved along the normal to the distance
    t + margin, so y·f(x)/‖w‖ ≥ margin holds for every row before labels are flipped: in exact
    arithmetic too, for the push has room for rounding. The posterior is 1 − noise on the
    label's side, hence the Bayes risk is the noise.

    >>> X, y, truth = perceptron(500, columns=3, margin=0.5, seed=1)
    >>> distances = np.where(y == 1, 1, -1) * truth.scores(X) / np.linalg.norm(truth.weights)
    >>> bool(distances.min() >= 0.5)
    True
    """

    def __init__(self, margin: float, **common: Any) -> None:
        super().__init__(strength=1.0, **common)
        self.margin = number(margin, "margin")
        if self.margin < 0.0:
            refuse(f"margin is {self.margin:g}.", "it is a distance.")

    def _intercept_for(self, positive: float) -> float:
        return self.scale * float(ndtri(positive))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Weights, intercept, margin, the columns' covariance before the push, and the noise."""
        return {"margin": self.margin, **super().parameters}

    def _block(self, streams: Streams, block: int, rows: int) -> tuple[Vector, NDArray[np.intp]]:
        X = self._columns(streams, block, rows)
        codes = (self.scores(X) >= 0.0).astype(np.intp)
        if self.margin > 0.0:
            size = np.abs(X).max(axis=1) + self.margin + abs(self.intercept) / self.length
            rounding = 8.0 * (self.columns + 2) * np.finfo(np.float64).eps * size
            push = np.where(codes == 1, 1.0, -1.0) * (self.margin + rounding)
            X = X + push[:, None] * (self.weights / self.length)
        return X, codes

    def _clean(self, X: Vector) -> Vector:
        up = (self.scores(X) >= 0.0).astype(np.float64)
        return np.stack([1.0 - up, up], axis=1)

    def _clean_risk(self) -> Risk:
        return Risk(0.0, "closed form")


def perceptron(
    rows: int,
    columns: int | None = None,
    *,
    weights: ArrayLike | None = None,
    intercept: float | None = None,
    positive: float | None = None,
    margin: float = 0.0,
    correlation: Any = 0.0,
    noise: float = 0.0,
    labels: Sequence[Any] | None = None,
    seed: int = 0,
) -> Sample:
    """Rows with the labels of a known perceptron; separable, with a margin, unless ``noise`` > 0.

    ``positive`` is the share of the positive class, in place of the intercept.
    ``correlation`` is one number or the columns' covariance matrix.
    """
    model = PerceptronModel(margin, columns=columns, weights=weights, intercept=intercept, positive=positive,
                            correlation=correlation, noise=noise, labels=labels, seed=seed)  # fmt: skip
    return model.draw(rows)
