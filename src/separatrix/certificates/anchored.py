"""The certificate of weights that are still far from the optimum: by way of an anchor that is near it.

The lemma of ``self_concordance`` proves nothing where the gradient is large. But if it bounds the distance of another
point, the anchor a, F(a) − F* ≤ β, then for any w

    F(w) − F* = (F(w) − F(a)) + (F(a) − F*) ≤ F(w) − F(a) + β.

So a few Newton steps from where a descent stopped say how far it is from the optimum, nearly exactly. The two values
of F are averages of losses. Each is off by a share γ of itself, and by the errors of its scores: the loss of a row
moves by at most E when its score does. Both are added. Of small tables the scores are added up exactly
(``terms.sharp``), or a column at 1e8 would blur every loss by 1e-8.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from separatrix.certificates.optimum import OptimumCertificate, Proof, RestatedProblem
from separatrix.core.arrays import Vector
from separatrix.core.certificate import ALLOWANCE, MARGIN, stated_array
from separatrix.core.errors import CertificateError


def anchored_bound(value: float, anchor_value: float, anchor_bound: float, error: float) -> float:
    """F(w) − F(a) + β, with the error of the two values.

    >>> anchored_bound(0.75, 0.5, 1e-6, 0.0)
    0.250001
    """
    return max(value - anchor_value, 0.0) + anchor_bound + error


@dataclass(frozen=True, eq=False)
class AnchoredCertificate(OptimumCertificate):
    """F − F* ≤ ``bound`` at the witness, proved at ``anchor``, a point (w, b) near the optimum."""

    KINDS: ClassVar[tuple[str, ...]] = ("anchored",)

    kind: str = "anchored"
    anchor: Vector = field(default_factory=lambda: np.empty(0), repr=False)

    def _proof(self, problem: RestatedProblem) -> Proof:
        if self._direction is not None:
            raise CertificateError("An anchor proves the claim, and no direction with it.")
        stated_array(self.anchor, "anchor", (problem.size,))
        value, error = problem.measure(self.point)
        there, there_error = problem.measure(self.anchor)
        rest = self.bound - max(value - there, 0.0) - error - there_error
        proof = problem.prove(self.anchor, self.keep, rest, self._rows)
        found = anchored_bound(value, there, proof.found, error + there_error)
        claim = anchored_bound(value, there, proof.claim, ALLOWANCE * (error + there_error)) * MARGIN
        loosest = anchored_bound(value, there, proof.loosest, 0.0) if proof.loosest else 0.0
        return Proof(value, 2.0 * error, found, claim, loosest)
