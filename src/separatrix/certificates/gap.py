"""The certificate of a fit with an L1 penalty: a duality gap that anyone can compute again."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from separatrix.core.arrays import Vector
from separatrix.core.certificate import CLOSE, LOOSEST, Claim, stated_array, stated_number
from separatrix.core.errors import CertificateError


class Standing(Protocol):
    """The objective at a point and its distance from the minimum, found again."""

    @property
    def value(self) -> float:
        """The objective."""

    @property
    def error(self) -> float:
        """How far rounding may move it."""

    @property
    def found(self) -> float:
        """The distance that is proved."""

    @property
    def claim(self) -> float:
        """What a fit would state."""

    @property
    def nonzero(self) -> int:
        """Weights that are not zero."""


@dataclass(frozen=True, eq=False)
class GapCertificate(Claim):
    """F − F* ≤ ``bound``, by a dual point made from the stored weights (see ``duality``).

    F is the average objective over the rows; the witness is the raw point (w, b). ``nonzero`` counts the weights
    that are not zero.
    """

    bound: float
    tol: float
    objective: float
    point: Vector = field(repr=False)
    problem: Any = field(repr=False)
    kind: str = "gap"
    nonzero: int = 0

    KINDS: ClassVar[tuple[str, ...]] = ("gap",)
    TOLD: ClassVar[tuple[str, ...]] = ("tol",)
    HOW: ClassVar[str] = "by duality"

    @property
    def met(self) -> bool:
        """Whether the bound is below tol·min(F, 1)."""
        return bool(self.bound <= self.tol * min(self.objective, 1.0))

    @property
    def proved(self) -> bool:
        """Whether anything is proved: a finite bound."""
        return math.isfinite(self.bound)

    @property
    def relative(self) -> float:
        """The bound as a share of the objective."""
        return self.bound / self.objective if self.objective > 0 else math.inf

    def __str__(self) -> str:
        if not self.proved:
            return (
                f"Nothing is proved: at average objective {self.objective:.6g} the slope is still too large "
                "to say how far the minimum is."
            )
        return (
            f"The average objective {self.objective:.6g} is within {self.bound:.1e} of the smallest possible "
            f"(relative {self.relative:.1e}), {self.HOW}; {self.nonzero} weights are not zero."
        )

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        bound = stated_number(self.bound, "bound", 0.0, infinite=True)
        stated_number(self.tol, "tol", 0.0)
        if math.isinf(bound):
            raise CertificateError("The certificate claims nothing: its bound is infinite.")
        problem = self.problem.restate(X, y, sample_weight, self._coordinates)
        point = stated_array(self.point, "weights", (problem.objective.size,))
        standing = self._stand(problem, point)
        self._check_value(standing)
        # a bound far above rounding does not move with it
        factor = LOOSEST if standing.claim <= 1e-6 * max(standing.value, 1.0) else 1.0 + CLOSE
        if not max(standing.found, standing.claim / factor) <= bound <= factor * standing.claim:
            raise CertificateError(
                f"From this data a bound of {standing.claim:.3e} follows, and not {bound:.3e} as claimed.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )

    @property
    def _coordinates(self) -> Vector | None:
        """The shift of the columns that the bound was computed about, where it depends on that."""
        return None

    def _stand(self, problem: Any, point: Vector) -> Standing:
        standing: Standing = problem.by_gap(point)
        return standing

    def _check_value(self, standing: Standing) -> None:
        stated = stated_number(self.objective, "objective")
        if not abs(standing.value - stated) <= standing.error:
            raise CertificateError(
                f"The objective at the stored weights is {standing.value:.17g}, not {stated:.17g} as claimed.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
        if type(self.nonzero) is not int or self.nonzero != standing.nonzero:
            raise CertificateError(f"{standing.nonzero} weights are not zero, and not {self.nonzero} as claimed.")
