"""The certificate of a fit with an L1 penalty: a duality gap that anyone can compute again."""

from dataclasses import dataclass
from typing import Any

from separatrix.certificates.optimum import OptimumCertificate


@dataclass(frozen=True)
class GapCertificate(OptimumCertificate):
    """F − F* ≤ ``bound``, by a dual point made from the stored weights (see ``duality``).

    ``nonzero`` counts the weights that are not zero.
    """

    kind: str = "gap"
    nonzero: int = 0

    def __str__(self) -> str:
        if not self.proved:
            return super().__str__()
        return (
            f"The average objective {self.objective:.6g} is within {self.bound:.1e} of the smallest possible "
            f"(relative {self.relative:.1e}), by duality; {self.nonzero} weights are not zero."
        )

    def to_dict(self) -> dict[str, Any]:
        """The claim and its witness as plain values."""
        return super().to_dict() | {"nonzero": self.nonzero}

    def _recompute(self, problem: Any) -> tuple[float, float]:
        value, gap = problem.value_and_gap(self.point)
        return float(value), float(gap)
