"""The certificate of weights that are still far from the optimum: by way of an anchor that is near it.

The lemma of ``self_concordance`` proves nothing where the gradient is large. But if it bounds the distance of another
point, the anchor a, F(a) − F* ≤ β, then for any w

    F(w) − F* = (F(w) − F(a)) + (F(a) − F*) ≤ F(w) − F(a) + β.

So a few Newton steps from where a descent stopped say how far it is from the optimum, nearly exactly. The two values
of F are averages of losses, each off by at most γF with γ from ``self_concordance``, which is added.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.certificates.optimum import OptimumCertificate
from separatrix.core.arrays import Vector
from separatrix.core.errors import CertificateError
from separatrix.core.factor import factorise


def anchored_bound(value: float, anchor_value: float, anchor_bound: float, gamma: float) -> float:
    """F(w) − F(a) + β, rounding included.

    >>> anchored_bound(0.75, 0.5, 1e-6, 0.0)
    0.250001
    """
    return max(value - anchor_value, 0.0) + anchor_bound + 4.0 * gamma * (abs(value) + abs(anchor_value))


@dataclass(frozen=True)
class AnchoredCertificate(OptimumCertificate):
    """F − F* ≤ ``bound`` at the witness, proved at ``anchor``, a point (w, b) near the optimum."""

    kind: str = "anchored"
    anchor: Vector = field(default_factory=lambda: np.empty(0), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The claim and its witness as plain values."""
        return super().to_dict() | {"anchor": self.anchor.tolist()}

    def _recompute(self, problem: Any) -> tuple[float, float]:
        if self.anchor.shape != self.point.shape or not np.isfinite(self.anchor).all():
            raise CertificateError("The anchor is not a finite point of the witness's shape.")
        value = problem.evaluate(self.point, curvature=False).value
        if not abs(value - self.objective) <= 1e-9 * max(abs(value), 1e-300):
            raise CertificateError(
                f"The objective at the stored weights is {value:.17g}, not {self.objective:.17g} as claimed.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
        if self.keep is not None:
            self._check_keep()
            if not problem.dependent(self.keep):
                raise CertificateError("Columns that were set aside as linearly dependent are not so in this data.")
        there = problem.evaluate(self.anchor, curvature=True)
        factor = factorise(there.hessian, there.point, self.keep)
        bound = math.inf if factor is None else problem.yardstick.bound(there, factor)
        bound += problem.uncentred(there.point)
        return float(value), anchored_bound(value, there.value, bound, problem.yardstick.gamma)
