"""Labels drawn from a known logistic model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from separatrix.probability.sigmoid import Vector, sigmoid
from separatrix.simulate.linear import LinearModel
from separatrix.simulate.model import Risk, Sample
from separatrix.simulate.quadrature import REACH, normal_average
from separatrix.simulate.streams import LABELS, Streams


class LogisticModel(LinearModel):
    """P(y = 1 | x) = σ(f(x)), flipped with probability ``noise``.

    f is normal, so the share of the positive class and the Bayes risk E[min(σ(f), σ(−f))]
    are integrals over one variable, whatever the number of columns.

    >>> truth = logistic(0, weights=[3.0, 0.0]).truth
    >>> print(truth.bayes_risk)
    0.164086 (quadrature)
    """

    def _intercept_for(self, positive: float) -> float:
        far = 50.0 + REACH * self.scale
        return float(brentq(lambda b: normal_average(sigmoid, b, self.scale) - positive, -far, far, xtol=1e-13))

    def _block(self, streams: Streams, block: int, rows: int) -> tuple[Vector, NDArray[np.intp]]:
        X = self._columns(streams, block, rows)
        u = streams.at(LABELS, block).random(rows)
        return X, (u < sigmoid(self.scores(X))).astype(np.intp)

    def _clean(self, X: Vector) -> Vector:
        f = self.scores(X)
        return np.stack([sigmoid(-f), sigmoid(f)], axis=1)

    def _clean_risk(self) -> Risk:
        return Risk(normal_average(lambda f: sigmoid(-abs(f)), self.intercept, self.scale), "quadrature")


def logistic(
    rows: int,
    columns: int | None = None,
    *,
    weights: ArrayLike | None = None,
    intercept: float | None = None,
    positive: float | None = None,
    strength: float = 2.0,
    correlation: Any = 0.0,
    noise: float = 0.0,
    labels: Sequence[Any] | None = None,
    seed: int = 0,
) -> Sample:
    """Rows with labels drawn from a known logistic model.

    ``strength`` is the length of weights that are not given, ``positive`` the share of the
    positive class before noise, in place of the intercept.
    """
    model = LogisticModel(columns, weights, intercept, positive, strength, correlation, noise, labels, seed)
    return model.draw(rows)
