"""The normal law on the line."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, number, numbers, refuse, weights_for, whole

LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Normal:
    """Density exp(−(x − μ)²/(2σ²))/√(2πσ²), given by mean μ and *variance* σ².

    Of all densities with this mean and variance it has the greatest entropy,
    ½ log(2πe σ²): negative when σ² < 1/(2πe). The most likely μ and σ² of a sample are
    its mean and its mean squared deviation (divided by n, not n − 1).

    >>> law = Normal.fit([1.0, 3.0, 3.0, 5.0])
    >>> law
    Normal(mean=3.0, variance=2.0)
    >>> round(law.entropy(), 6)
    1.765512
    """

    mean: float = 0.0
    variance: float = 1.0

    def __post_init__(self) -> None:
        mean, variance = number(self.mean, "mean"), number(self.variance, "variance")
        if variance <= 0.0:
            refuse(f"variance is {variance!r}.", "it must be positive; a point has no density.")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "variance", variance)

    @classmethod
    def fit(cls, x: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """The most likely mean and variance of a sample."""
        sample = finite(x, "x").ravel()
        share = weights_for(weights, len(sample))
        # about a value of the sample, so that few digits cancel
        origin = sample[int(share.argmax())]
        with np.errstate(over="ignore", invalid="ignore"):
            away = sample - origin
            shift = float(share @ away)
            variance = float(share @ (away - shift) ** 2)
        if not np.isfinite(variance):
            refuse("The squares of x overflow.", "divide x by a power of ten.")
        if variance <= 0.0 and np.ptp(sample[share > 0]) > 0.0:
            refuse("The squares of x underflow.", "multiply x by a power of ten.")
        if variance <= 0.0:
            refuse(
                f"All observations are {origin:g}: the likelihood grows without bound as the variance falls to 0.",
                "a normal law needs two different values.",
            )
        return cls(float(origin + shift), variance)

    @property
    def standard_deviation(self) -> float:
        """σ, the root of the variance."""
        return float(np.sqrt(self.variance))

    def standardise(self, x: ArrayLike) -> Vector:
        """(x − μ)/σ."""
        z: Vector = (numbers(x, "x") - self.mean) / self.standard_deviation
        return z

    def pdf(self, x: ArrayLike) -> Vector:
        """The density at x."""
        with np.errstate(under="ignore"):
            density: Vector = np.exp(self.log_pdf(x))
        return density

    def log_pdf(self, x: ArrayLike) -> Vector:
        """The log of the density at x: right where the density itself is below every float."""
        with np.errstate(over="ignore"):
            answer: Vector = -0.5 * (self.standardise(x) ** 2 + LOG_2PI + np.log(self.variance))
        return answer

    def cdf(self, x: ArrayLike) -> Vector:
        """P(X ≤ x).

        >>> Normal(1.0, 4.0).cdf(1.0)
        np.float64(0.5)
        """
        answer: Vector = ndtr(self.standardise(x))
        return answer

    def log_cdf(self, x: ArrayLike) -> Vector:
        """Log P(X ≤ x), right far in the tail."""
        answer: Vector = log_ndtr(self.standardise(x))
        return answer

    def entropy(self) -> float:
        """½ log(2πe σ²)."""
        return 0.5 * (LOG_2PI + 1.0 + float(np.log(self.variance)))

    def sample(self, n: int, seed: int | None = None) -> Vector:
        """Draw n numbers.

        >>> Normal(5.0, 1e-20).sample(2).round(6)
        array([5., 5.])
        """
        return self.mean + self.standard_deviation * np.random.default_rng(seed).standard_normal(whole(n))
