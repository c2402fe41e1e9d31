"""The central limit theorem: standardised means of n draws come to look normal, whatever was drawn.

For independent draws with mean μ and standard deviation σ < ∞ the mean x̄ itself settles
on μ. It is √n (x̄ − μ)/σ that keeps a shape, and that shape tends to N(0, 1).
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import refuse


class Drawn(Protocol):
    """What can be drawn from: a law on the line with a mean and a variance."""

    @property
    def mean(self) -> float:
        """Its mean."""

    @property
    def variance(self) -> float:
        """Its variance."""

    def sample(self, n: int, seed: int | None = None) -> NDArray[np.generic]:
        """Draw n numbers."""


def standardised_means(law: Drawn, n: int, draws: int, seed: int | None = None) -> Vector:
    """√n (x̄ − μ)/σ for ``draws`` means of n draws each.

    >>> from separatrix.probability import Bernoulli
    >>> z = standardised_means(Bernoulli(0.5), n=1_000, draws=20_000, seed=0)
    >>> np.quantile(z, [0.16, 0.84]).round(1)  # one standard deviation to each side
    array([-1.,  1.])
    """
    if not all(hasattr(law, name) for name in ("mean", "variance", "sample")):
        refuse(f"law is of type {type(law).__name__}.", "take one with mean, variance and sample, such as Bernoulli.")
    if n < 1 or draws < 1:
        refuse(f"n is {n} and draws is {draws}.", "both are at least 1.")
    mean, variance = np.asarray(law.mean), np.asarray(law.variance)
    if mean.ndim != 0 or not variance > 0:
        refuse("The law has no mean on the line, or no spread.", "take a law on the line with a positive variance.")
    # block by block, so that memory stays small; a seed of its own for each
    rows = max(1, 2**20 // n)
    seeds = np.random.SeedSequence(seed).generate_state(-(-draws // rows), dtype=np.uint64)
    means = [
        np.asarray(law.sample(min(rows, draws - k * rows) * n, int(s)), dtype=np.float64).reshape(-1, n).mean(axis=1)
        for k, s in enumerate(seeds)
    ]
    answer: Vector = np.sqrt(n / variance) * (np.concatenate(means) - mean)
    return answer
