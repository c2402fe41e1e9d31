"""Binary features, independent within a class: from counts to probabilities to a linear posterior.

P(xⱼ = 1 | cₖ) = μₖⱼ. Maximum likelihood is μₖⱼ = Nₖⱼ/Wₖ, the share of ones; smoothing adds α ones and α zeros:
(Nₖⱼ + α)/(Wₖ + 2α). The log-joint is linear in x,

    log πₖ + Σⱼ [xⱼ log μₖⱼ + (1 − xⱼ) log(1 − μₖⱼ)] = log πₖ + Σⱼ log(1 − μₖⱼ) + Σⱼ xⱼ·(log μₖⱼ − log(1 − μₖⱼ)),

d numbers for a class, where the full table of x would need 2^d − 1. Without smoothing μ may be 0 or 1: then
0·(−∞) = 0, and a row with xⱼ = 1 where μₖⱼ = 0, or xⱼ = 0 where μₖⱼ = 1, is impossible under class k. Such events are
counted by a second linear score, so that no infinity is ever multiplied.
"""

from dataclasses import dataclass

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.terms.counts import ClassCounts


@dataclass(frozen=True, slots=True)
class BernoulliClasses:
    """log P(xⱼ = 1 | cₖ) and log P(xⱼ = 0 | cₖ), (K × d) each, and log priors (K); −∞ for what cannot happen."""

    ones: Matrix
    zeros: Matrix
    priors: Vector

    @property
    def coef(self) -> Matrix:
        """The finite part of log μ − log(1 − μ): what can be multiplied with x."""
        return _finite(self.ones) - _finite(self.zeros)

    @property
    def offset(self) -> Vector:
        """The finite part of Σ log(1 − μ)."""
        return np.asarray(_finite(self.zeros).sum(axis=1))

    @property
    def certain(self) -> bool:
        """Whether some probability is 0 or 1."""
        return bool(np.isneginf(self.ones).any() or np.isneginf(self.zeros).any())

    @property
    def barriers(self) -> tuple[Matrix, Vector]:
        """Weights and offsets of a score that counts the impossible values of a row under each class."""
        never, always = np.isneginf(self.ones), np.isneginf(self.zeros)
        return never.astype(np.float64) - always, always.sum(axis=1).astype(np.float64)

    def log_odds(self) -> tuple[Vector, float]:
        """(w, w₀) of two classes: the log-odds are ⟨w, x⟩ + w₀ where every probability lies between 0 and 1."""
        w = (self.ones[1] - self.ones[0]) - (self.zeros[1] - self.zeros[0])
        return w, float((self.zeros[1] - self.zeros[0]).sum() + self.priors[1] - self.priors[0])


def _finite(logs: Matrix) -> Matrix:
    return np.where(np.isneginf(logs), 0.0, logs)


def estimate(counts: ClassCounts, alpha: AnyArray | float, priors: Vector) -> BernoulliClasses:
    """Probabilities from counts, each tail from its own count so that neither loses digits.

    A class without rows, and without smoothing, is given even chances: nothing is known.
    """
    weights = counts.weights[:, None]
    ones, zeros, every = counts.ones + alpha, (weights - counts.ones) + alpha, weights + 2.0 * np.asarray(alpha)
    empty = every <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ones = np.where(empty, -np.log(2.0), np.log(ones) - np.log(every))
        log_zeros = np.where(empty, -np.log(2.0), np.log(np.maximum(zeros, 0.0)) - np.log(every))
        return BernoulliClasses(log_ones, log_zeros, np.log(priors))
