"""Binary features stated without the data, so that a certificate can state them again from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates.closed_form import ClosedFormCertificate, Measured, sum_error
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Vector
from separatrix.core.certificate import stated_array, stated_entries
from separatrix.core.errors import CertificateError, NotFiniteError
from separatrix.core.plain_values import plain
from separatrix.core.protocols import Engine
from separatrix.engines import block_of
from separatrix.models.bernoulli.binary_rows import refuse_strange
from separatrix.models.labels import encode, open_engine, sample_weights
from separatrix.terms.bernoulli import BernoulliClasses, estimate
from separatrix.terms.counts import ClassCounts, Counts

TOLERANCE = 1e-6
"""A bound on the error of a log-probability above this is not met."""


@dataclass(frozen=True, slots=True)
class BernoulliProblem:
    """What was estimated and how, without the data."""

    classes: AnyArray
    alpha: AnyArray | float
    binarize: float | None
    priors: Vector | None = None

    equations = "The moment equations μₖⱼ(Wₖ + 2α) = Nₖⱼ + α"
    subject = "the log-probabilities"
    tolerance = TOLERANCE

    def count(self, engine: Engine) -> ClassCounts:
        """One pass over the rows."""
        threshold = 0.5 if self.binarize is None else self.binarize
        counts: ClassCounts = engine.total(
            Counts(len(self.classes), threshold, self.binarize is None), np.empty((1, 0))
        )
        return counts

    def estimate(self, counts: ClassCounts) -> BernoulliClasses:
        """Log-probabilities from counts."""
        weights = counts.weights
        return estimate(counts, self.alpha, weights / weights.sum() if self.priors is None else self.priors)

    def certificate(self, model: BernoulliClasses, counts: ClassCounts, error: float) -> ClosedFormCertificate:
        """What the fit's own counts say about its probabilities."""
        parameters = {"ones": model.ones, "zeros": model.zeros, "priors": model.priors}
        return ClosedFormCertificate.of(self._slack(counts, 0.0, 0.0, error), parameters, self, error)

    def columns(self, claim: Any) -> int:
        """How many columns a claim about this problem is about."""
        return int(claim.parameters["ones"].shape[1])

    def measure(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        parameters: Mapping[str, AnyArray],
        rounding: float,
        exactly: bool = False,
    ) -> tuple[Measured, Measured]:
        """How well the stored probabilities fit the data given."""
        block = block_of(X)
        weights = sample_weights(sample_weight, block.shape[0])
        engine = open_engine(block, encode(y, block.shape[0], self.classes), weights)
        shape = (len(self.classes), block.shape[1])
        shapes = {"ones": shape, "zeros": shape, "priors": shape[:1]}
        stated_entries(parameters, "parameters", tuple(shapes))
        for name in shapes:
            # what cannot happen has the logarithm −∞
            if (stated_array(parameters[name], name, shapes[name], infinite=True) > 1e-12).any():
                raise CertificateError(f"The certificate's {name} hold a probability above one.")
        try:
            counts = self.count(engine)
        except NotFiniteError:
            refuse_strange(block, self.binarize is None)
        error = count_error(weights, block.shape[0])
        return self._measured(counts, parameters, error), self._measured(counts, parameters, rounding)

    def _measured(self, counts: ClassCounts, parameters: Mapping[str, AnyArray], error: float) -> Measured:
        here = self.estimate(counts)
        logs, shares = [0.0], [0.0]
        for name, stored in parameters.items():
            now = getattr(here, name)
            # both impossible, or both below what a float64 can hold
            same = (stored == now) | ((stored < -700.0) & (now < -700.0) & (np.isneginf(stored) == np.isneginf(now)))
            logs.append(float(np.where(same, 0.0, np.abs(stored - now)).max(initial=0.0)))
            shares.append(float(np.abs(np.exp(stored) - np.exp(now)).max(initial=0.0)))
        # not Python's max, which forgets NaN
        return self._slack(counts, float(np.max(shares)), float(np.max(logs)), error)

    def _slack(self, counts: ClassCounts, shares: float, logs: float, error: float) -> Measured:
        # a logarithm is rounded as a number of its own size, of which none is above 745
        slack = error + 8.0 * UNIT_ROUNDOFF
        loss = _amplification(counts) * error if error > 0.0 else 0.0
        return Measured(shares, logs + loss + 1500.0 * UNIT_ROUNDOFF, 1.0, slack, loss + 1500.0 * UNIT_ROUNDOFF)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "model": "bernoulli classes",
            "classes": plain(self.classes),
            "alpha": plain(self.alpha),
            "binarize": self.binarize,
            "priors": None if self.priors is None else self.priors.tolist(),
        }


def count_error(weights: Vector | None, rows: int) -> float:
    """The share by which counts of rows may be off: none where every weight is a whole number of 1024ths.

    >>> count_error(np.array([1.0, 2.5, 0.0]), 3), count_error(np.array([0.1, 1.0]), 2) > 0.0
    (0.0, True)
    """
    if weights is None:
        return 0.0
    parts = 1024.0 * weights
    # so many of them add up without rounding, and so do thousands of such sums
    exact = bool((parts == np.floor(parts)).all()) and float(parts.sum()) < 2.0**41
    return 0.0 if exact else sum_error(rows, True)


def _amplification(counts: ClassCounts) -> float:
    """By how much the rounding of a weight grows in the smallest positive count of zeros, W − N."""
    zeros = counts.weights[:, None] - counts.ones
    share = np.where(zeros > 0, counts.weights[:, None] / np.where(zeros > 0, zeros, 1.0), 1.0)
    return 2.0 * float(share.max(initial=1.0))
