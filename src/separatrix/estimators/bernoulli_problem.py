"""Binary features stated without the data, so that a certificate can state them again from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates.closed_form import ClosedFormCertificate, Measured, sum_error
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Vector
from separatrix.core.errors import CertificateError, NotFiniteError
from separatrix.engines import block_of
from separatrix.estimators.inputs import encode, open_engine, sample_weights
from separatrix.terms.bernoulli import BernoulliClasses, estimate
from separatrix.terms.counts import ClassCounts, Counts

TOLERANCE = 1e-6
"""A bound on the error of a log-probability above this is not met."""


@dataclass(frozen=True)
class BernoulliProblem:
    """What was estimated and how, without the data."""

    classes: AnyArray
    alpha: AnyArray | float
    binarize: float | None
    priors: Vector | None = None

    equations = "The moment equations μₖⱼ(Wₖ + 2α) = Nₖⱼ + α"
    subject = "the log-probabilities"

    def count(self, engine: Any) -> ClassCounts:
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
        return ClosedFormCertificate.of(self._slack(counts, 0.0, 0.0, error), TOLERANCE, parameters, self)

    def measure(self, X: Any, y: Any, sample_weight: Any, parameters: Mapping[str, AnyArray]) -> Measured:
        """How well the stored probabilities fit the data given."""
        block = block_of(X)
        if np.shape(parameters["ones"]) != (len(self.classes), block.shape[1]):
            raise CertificateError(f"The stored probabilities are not those of {block.shape[1]} columns.")
        weights = sample_weights(sample_weight, block.shape[0])
        engine = open_engine(block, encode(y, block.shape[0], self.classes), weights)
        try:
            counts = self.count(engine)
        except NotFiniteError:
            raise CertificateError("This data holds values that cannot be counted.") from None
        return self._measured(counts, parameters, 0.0 if weights is None else sum_error(block.shape[0], True))

    def _measured(self, counts: ClassCounts, parameters: Mapping[str, AnyArray], error: float) -> Measured:
        here = self.estimate(counts)
        pairs = [(parameters[name], getattr(here, name)) for name in ("ones", "zeros", "priors")]
        logs, shares = 0.0, 0.0
        with np.errstate(invalid="ignore"):
            for stored, now in pairs:
                stored = np.asarray(stored)
                same = (stored == now) | ((stored < -700.0) & (now < -700.0))
                logs = max(logs, float(np.where(same, 0.0, np.abs(stored - now)).max(initial=0.0)))
                shares = max(shares, float(np.abs(np.exp(stored) - np.exp(now)).max(initial=0.0)))
        return self._slack(counts, shares, logs, error)

    def _slack(self, counts: ClassCounts, shares: float, logs: float, error: float) -> Measured:
        # a logarithm is rounded as a number of its own size, of which none is above 745
        slack = error + 8.0 * UNIT_ROUNDOFF
        loss = _amplification(counts) * error if error > 0.0 else 0.0
        return Measured(shares, logs + loss + 1500.0 * UNIT_ROUNDOFF, 1.0, slack, loss + 1500.0 * UNIT_ROUNDOFF)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "model": "bernoulli classes",
            "classes": self.classes.tolist(),
            "alpha": np.asarray(self.alpha).tolist(),
            "binarize": self.binarize,
            "priors": None if self.priors is None else self.priors.tolist(),
        }


def _amplification(counts: ClassCounts) -> float:
    """By how much the rounding of a weight grows in the smallest positive count of zeros, W − N."""
    zeros = counts.weights[:, None] - counts.ones
    share = np.where(zeros > 0, counts.weights[:, None] / np.where(zeros > 0, zeros, 1.0), 1.0)
    return 2.0 * float(share.max(initial=1.0))
