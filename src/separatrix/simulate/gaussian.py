"""Gaussian classes: linear discriminant analysis is right for them if the covariance is common."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from separatrix.probability.multivariate import MultivariateNormal
from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import finite, number, refuse, whole
from separatrix.simulate.columns import Spread
from separatrix.simulate.generative import ClassModel
from separatrix.simulate.model import Risk, Sample
from separatrix.simulate.quadrature import REACH, integral
from separatrix.simulate.streams import COLUMNS, PARAMETERS, Streams


class GaussianModel(ClassModel):
    """x | class k ~ N(μₖ, Σ), or N(μₖ, Σₖ).

    Two classes with a common Σ at Mahalanobis distance Δ have the Bayes risk

        π₀ Φ(−Δ/2 − log(π₀/π₁)/Δ) + π₁ Φ(−Δ/2 + log(π₀/π₁)/Δ);

    in one column, or with all means on one line of a common Σ, it is an integral over one
    variable; otherwise it is drawn.

    >>> truth = gaussian_classes(0, separation=2.0).truth
    >>> print(truth.bayes_risk)  # Φ(−1)
    0.158655 (closed form)
    """

    def __init__(self, means: Vector, spreads: list[Spread], priors: Any, noise: float, labels: Any, seed: int) -> None:
        super().__init__(means.shape[1], len(means), priors, noise, labels, seed)
        self.means, self.spreads = means, spreads
        self._laws = [MultivariateNormal(mean, spreads[k % len(spreads)].covariance) for k, mean in enumerate(means)]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Means, covariances (one if common), priors and noise."""
        covariances = [spread.covariance for spread in self.spreads]
        return {
            "means": self.means,
            "covariance": covariances[0] if len(covariances) == 1 else covariances,
            "priors": self.priors,
            "noise": self.noise,
        }

    def _block(self, streams: Streams, block: int, rows: int) -> tuple[Vector, NDArray[np.intp]]:
        codes = self._codes(streams, block, rows)
        z = streams.at(COLUMNS, block).standard_normal((rows, self.columns))
        if len(self.spreads) == 1:
            return self.means[codes] + self.spreads[0].apply(z), codes
        X = np.empty_like(z)
        for k, spread in enumerate(self.spreads):  # each on the whole block, so that no rounding depends on the mix
            X = np.where((codes == k)[:, None], self.means[k] + spread.apply(z), X)
        return X, codes

    def _log_joint(self, X: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            logs = np.log(self.priors)
        return np.stack([law.log_pdf(X) + log for law, log in zip(self._laws, logs, strict=True)], axis=1)

    def _clean_risk(self) -> Risk | None:
        if len(self.labels) == 2 and len(self.spreads) == 1:
            distance = np.sqrt(self.spreads[0].squared_distance(self.means[1] - self.means[0]))
            if distance == 0.0 or self.priors.min() == 0.0:
                return Risk(float(self.priors.min()), "closed form")
            tilt = np.log(self.priors[0] / self.priors[1]) / distance
            missed = ndtr([-distance / 2 - tilt, -distance / 2 + tilt])
            return Risk(float(self.priors @ missed), "closed form")
        line = self._on_a_line()
        return None if line is None else Risk(_risk_on_the_line(*line, self.priors), "quadrature")

    def _on_a_line(self) -> tuple[Vector, Vector] | None:
        """Means and standard deviations of one variable that tells all that x tells."""
        if self.columns == 1:
            return self.means[:, 0], np.array([np.sqrt(law.covariance[0, 0]) for law in self._laws])
        if len(self.spreads) > 1:
            return None
        away = self.means - self.means[0]
        lengths = np.array([np.sqrt(max(0.0, self.spreads[0].squared_distance(v))) for v in away])
        far = int(lengths.argmax())
        if lengths[far] == 0.0:
            return np.zeros(len(away)), np.ones(len(away))
        way = self._laws[0].precision @ away[far] / lengths[far]
        along = away @ way
        return (
            (along, np.ones(len(away)))
            if np.allclose(np.abs(along), lengths, rtol=0, atol=1e-12 * lengths[far])
            else None
        )


def _risk_on_the_line(means: Vector, deviations: Vector, priors: Vector) -> float:
    """1 − ∫ max_k πₖ N(x; μₖ, σₖ²) dx, cut where the winner changes."""
    logs = np.log(np.maximum(priors, 1e-300)) - np.log(deviations)
    cuts = {float(m + s * k) for m, s in zip(means, deviations, strict=True) for k in (-12, -6, -3, -1, 0, 1, 3, 6, 12)}
    for i in range(len(means)):
        for j in range(i):
            a = 0.5 / deviations[j] ** 2 - 0.5 / deviations[i] ** 2
            b = means[i] / deviations[i] ** 2 - means[j] / deviations[j] ** 2
            c = 0.5 * (means[j] / deviations[j]) ** 2 - 0.5 * (means[i] / deviations[i]) ** 2 + logs[i] - logs[j]
            roots = np.roots([a, b, c]) if abs(a) + abs(b) > 0 else np.array([])
            cuts |= {float(root.real) for root in roots if abs(root.imag) < 1e-9 * max(1.0, abs(root))}

    def largest(x: float) -> float:
        z = (x - means) / deviations
        return float(np.max(priors * np.exp(-0.5 * z * z) / deviations))

    low, high = float(min(means - REACH * deviations)), float(max(means + REACH * deviations))
    return max(0.0, 1.0 - integral(largest, cuts, low, high) / float(np.sqrt(2.0 * np.pi)))


def gaussian_classes(
    rows: int,
    columns: int | None = None,
    *,
    means: ArrayLike | None = None,
    covariance: Any = None,
    covariances: Sequence[Any] | None = None,
    separation: float = 2.0,
    classes: int = 2,
    priors: ArrayLike | None = None,
    correlation: float = 0.0,
    noise: float = 0.0,
    labels: Sequence[Any] | None = None,
    seed: int = 0,
) -> Sample:
    """Rows of Gaussian classes.

    Means that are not given lie in random directions, two of them ``separation`` apart in
    Mahalanobis distance, more of them as far as that from their common centre. The covariance is common
    (``covariance``, or variances of one with ``correlation``) or one for each class (``covariances``).
    """
    given = None if means is None else finite(means, "means")
    if given is not None and (given.ndim != 2 or len(given) < 2 or columns not in (None, given.shape[1])):
        refuse(f"means have the shape {given.shape}.", "give one row for each of two or more classes.")
    count = classes if given is None else len(given)
    whole(count, "classes", 2)
    d = given.shape[1] if given is not None else _columns_of(columns, covariance, covariances)
    if covariance is not None and covariances is not None:
        refuse("Both covariance and covariances are given.", "the classes have one in common, or one each.")
    if covariances is not None:
        spreads = [Spread.of(c, d, f"covariances[{k}]") for k, c in enumerate(covariances)]
        if len(spreads) != count:
            refuse(f"There are {count} classes, but {len(spreads)} covariances.", "give one for each class.")
    else:
        spreads = [Spread.of(correlation if covariance is None else covariance, d, "covariance")]
    if given is None:
        length = number(separation, "separation")
        if length < 0.0:
            refuse(f"separation is {length:g}.", "it is a distance.")
        ways = (
            Streams.from_seed(whole(seed, "seed", 0, np.inf))
            .at(PARAMETERS, 0)
            .standard_normal((1 if count == 2 else count, d))
        )
        sizes = np.sqrt([[spreads[0].squared_distance(way)] for way in ways])
        given = length * ways / sizes
        given = np.concatenate([-0.5 * given, 0.5 * given]) if count == 2 else given
    return GaussianModel(given, spreads, priors, noise, labels, seed).draw(rows)


def _columns_of(columns: int | None, covariance: Any, covariances: Any) -> int:
    matrix = covariance if covariance is not None else covariances[0] if covariances is not None else None
    if columns is None:
        return 2 if matrix is None or np.ndim(matrix) != 2 else len(np.asarray(matrix))
    return whole(columns, "columns", 1)
