"""A label from the priors, then a row from the law of its class."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import refuse, simplex
from separatrix.simulate.model import Model
from separatrix.simulate.streams import LABELS, Streams, cumulative_codes


class ClassModel(Model):
    """y from the priors, then x from the law of its class; the posterior by Bayes' theorem."""

    def __init__(
        self, columns: int, classes: int, priors: ArrayLike | None, noise: float, labels: Any, seed: int
    ) -> None:
        super().__init__(columns, classes, labels, noise, seed)
        self.priors = np.full(classes, 1.0 / classes) if priors is None else simplex(priors, name="priors")
        if self.priors.shape != (classes,):
            refuse(f"There are {classes} classes, but priors of shape {self.priors.shape}.", "give one for each class.")
        self.priors = self.priors / self.priors.sum()

    def _log_joint(self, X: Vector) -> Vector:
        """Log p(x | class) + log prior, (n × K)."""
        raise NotImplementedError

    def _clean(self, X: Vector) -> Vector:
        posterior: Vector = softmax(self._log_joint(X), axis=1)
        return posterior

    def _codes(self, streams: Streams, block: int, rows: int) -> NDArray[np.intp]:
        return cumulative_codes(self.priors, streams.at(LABELS, block).random(rows))
