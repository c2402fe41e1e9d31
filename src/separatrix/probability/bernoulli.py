"""The Bernoulli law: one yes-or-no outcome."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlog1py, xlogy

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, number, numbers, refuse, weights_for, whole


@dataclass(frozen=True)
class Bernoulli:
    """P(1) = p, P(0) = 1 − p: mean p, variance p(1 − p), at most 1/4.

    The likelihood of a weighted sample is pᵃ(1 − p)ᵇ with a and b the weights of the
    ones and zeros, so the maximum is at p = a/(a + b): the mean.

    >>> law = Bernoulli.fit([1, 0, 1, 1])
    >>> law, law.variance
    (Bernoulli(p=0.75), 0.1875)
    """

    p: float

    def __post_init__(self) -> None:
        p = number(self.p, "p")
        if not 0.0 <= p <= 1.0:
            refuse(f"p is {p!r}.", "a probability lies between 0 and 1.")
        object.__setattr__(self, "p", p)

    @classmethod
    def fit(cls, x: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """The most likely p for a sample of zeros and ones."""
        sample = finite(x, "x").ravel()
        strange = (sample != 0.0) & (sample != 1.0)
        if strange.any():
            place = int(strange.argmax())
            refuse(f"x is {sample[place]:g} at position {place}.", "a Bernoulli sample has zeros and ones.")
        return cls(min(1.0, float(weights_for(weights, len(sample)) @ sample)))

    @property
    def mean(self) -> float:
        """The mean p."""
        return self.p

    @property
    def variance(self) -> float:
        """The variance p(1 − p)."""
        return self.p * (1.0 - self.p)

    def pmf(self, x: ArrayLike) -> Vector:
        """P(x): p at 1, 1 − p at 0, nothing elsewhere."""
        x = numbers(x, "x")
        answer: Vector = np.where(x == 1.0, self.p, np.where(x == 0.0, 1.0 - self.p, 0.0))[()]
        return answer

    def log_pmf(self, x: ArrayLike) -> Vector:
        """Log P(x): −∞ for what cannot happen."""
        x = numbers(x, "x")
        with np.errstate(divide="ignore"):
            one, zero = np.log(self.p), np.log1p(-self.p)
        answer: Vector = np.where(x == 1.0, one, np.where(x == 0.0, zero, -np.inf))[()]
        return answer

    def entropy(self) -> float:
        """−p log p − (1 − p) log(1 − p): at most log 2, at p = 1/2.

        >>> Bernoulli(0.5).entropy() == np.log(2.0), Bernoulli(1.0).entropy()
        (np.True_, 0.0)
        """
        return 0.0 - float(xlogy(self.p, self.p) + xlog1py(1.0 - self.p, -self.p))

    def sample(self, n: int, seed: int | None = None) -> NDArray[np.int64]:
        """Draw n zeros and ones.

        >>> Bernoulli(1.0).sample(3)
        array([1, 1, 1])
        """
        return (np.random.default_rng(seed).random(whole(n)) < self.p).astype(np.int64)
