"""Classes of zeros and ones, independent given the class: naive Bayes is right for them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax, xlog1py, xlogy

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, refuse, whole
from separatrix.simulate.generative import ClassModel
from separatrix.simulate.model import Risk, Sample
from separatrix.simulate.streams import COLUMNS, PARAMETERS, Streams, products

ENUMERATED = 20
"""Columns up to which all 2ᵈ rows of zeros and ones are added up."""


class BernoulliModel(ClassModel):
    """xⱼ | class k ~ Bernoulli(μₖⱼ), independent given the class: naive Bayes is right here.

    Up to 20 columns the Bayes risk is a sum over all 2ᵈ rows, above it is drawn.

    >>> truth = bernoulli_classes(0, probabilities=[[0.2, 0.5], [0.7, 0.5]]).truth
    >>> print(truth.bayes_risk)  # ½ (0.2 + 0.3)
    0.25 (closed form)
    """

    def __init__(self, probabilities: Vector, priors: Any, noise: float, labels: Any, seed: int) -> None:
        super().__init__(probabilities.shape[1], len(probabilities), priors, noise, labels, seed)
        self.probabilities = probabilities

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The (K × d) probabilities of a one, priors and noise."""
        return {"probabilities": self.probabilities, "priors": self.priors, "noise": self.noise}

    def _block(self, streams: Streams, block: int, rows: int) -> tuple[Vector, NDArray[np.intp]]:
        codes = self._codes(streams, block, rows)
        u = streams.at(COLUMNS, block).random((rows, self.columns))
        return (u < self.probabilities[codes]).astype(np.float64), codes

    def _log_joint(self, X: Vector) -> Vector:
        strange = (X != 0.0) & (X != 1.0)
        if strange.any():
            row, column = np.argwhere(strange)[0]
            refuse(f"X is {X[row, column]:g} in row {row}, column {column}.", "these columns hold zeros and ones.")
        if ((self.probabilities > 0) & (self.probabilities < 1)).all():
            ones, zeros = np.log(self.probabilities), np.log1p(-self.probabilities)
            with np.errstate(divide="ignore"):
                logs: Vector = products(X, ones - zeros) + zeros.sum(axis=1) + np.log(self.priors)
            return logs
        with np.errstate(divide="ignore"):
            each = [
                xlogy(X, p).sum(axis=1) + xlog1py(1.0 - X, -p).sum(axis=1) + np.log(prior)
                for p, prior in zip(self.probabilities, self.priors, strict=True)
            ]
        return np.stack(each, axis=1)

    def _clean(self, X: Vector) -> Vector:
        logs = self._log_joint(X)
        impossible = np.isneginf(logs).all(axis=1)
        if impossible.any():
            refuse(f"Row {int(impossible.argmax())} of X has probability zero.", "no class can have drawn it.")
        posterior: Vector = softmax(logs, axis=1)
        return posterior

    def _clean_risk(self) -> Risk | None:
        if self.columns > ENUMERATED:
            return None
        joint = self.priors[:, None]
        for p in self.probabilities.T:  # p(x, class) over all rows of the columns so far
            joint = np.concatenate([joint * (1.0 - p)[:, None], joint * p[:, None]], axis=1)
        return Risk(max(0.0, float((joint.sum(axis=0) - joint.max(axis=0)).sum())), "closed form")


def bernoulli_classes(
    rows: int,
    columns: int | None = None,
    *,
    probabilities: ArrayLike | None = None,
    classes: int = 2,
    priors: ArrayLike | None = None,
    noise: float = 0.0,
    labels: Sequence[Any] | None = None,
    seed: int = 0,
) -> Sample:
    """Rows of zeros and ones, independent given the class.

    Probabilities that are not given are drawn uniformly between 0.1 and 0.9.
    """
    if probabilities is None:
        shape = whole(classes, "classes", 2), 2 if columns is None else whole(columns, "columns", 1)
        p = Streams.from_seed(whole(seed, "seed", 0, np.inf)).at(PARAMETERS, 0).uniform(0.1, 0.9, shape)
    else:
        p = finite(probabilities, "probabilities")
        if p.ndim != 2 or len(p) < 2 or columns not in (None, p.shape[1]):
            refuse(f"probabilities have the shape {p.shape}.", "give one row for each of two or more classes.")
        if (p < 0).any() or (p > 1).any():
            refuse("Some of the probabilities lie outside 0 to 1.", "each is the probability of a one.")
    return BernoulliModel(p, priors, noise, labels, seed).draw(rows)
