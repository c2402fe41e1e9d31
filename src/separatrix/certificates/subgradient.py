"""The certificate of a fit with an L1 penalty: a bound that is quadratic in what is left of the slope."""

from dataclasses import dataclass
from typing import Any

from separatrix.certificates.gap import GapCertificate


@dataclass(frozen=True)
class SubgradientCertificate(GapCertificate):
    """F − F* ≤ ``bound``: with a subgradient of the L1 part in its place F is smooth, and its slope small (see ``tilted``).

    ``nonzero`` counts the weights that are not zero.
    """

    kind: str = "subgradient"

    def __str__(self) -> str:
        return super().__str__().replace(", by duality;", ", by a subgradient and the curvature;")

    def _recompute(self, problem: Any) -> tuple[float, float]:
        value, bound = problem.value_and_tilted(self.point, self.bound)
        return float(value), float(bound)
