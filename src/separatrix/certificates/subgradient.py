"""The certificate of a fit with an L1 penalty: a bound that is quadratic in what is left of the slope."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from separatrix.certificates.gap import GapCertificate, Standing
from separatrix.core.arrays import Vector
from separatrix.core.errors import CertificateError

MOST_WAYS = 6
"""Ways to count rounding: from the Hessian, from that of the weights not proved to be zero, four from exact sums."""


@dataclass(frozen=True, eq=False)
class SubgradientCertificate(GapCertificate):
    """F − F* ≤ ``bound``: with a subgradient in place of its L1 part F is smooth, and its slope small (see ``tilted``).

    ``_typical`` and ``_way`` say in which coordinates and with how much care rounding was counted: another way proves
    the same up to that. ``_shift`` is what the columns were shifted by, which the order of the rows decides, and
    ``_rows`` the number of rows whose rounding is allowed for: one of weight two may be given twice.
    """

    kind: str = "subgradient"
    _typical: bool = False
    _way: int = 0
    _rows: int | None = None
    _shift: Vector | None = field(default=None, repr=False)

    KINDS: ClassVar[tuple[str, ...]] = ("subgradient",)
    HOW: ClassVar[str] = "by a subgradient and the curvature"

    @property
    def _coordinates(self) -> Vector | None:
        return self._shift

    def _stand(self, problem: Any, point: Vector) -> Standing:
        if type(self._typical) is not bool or type(self._way) is not int or self._way not in range(MOST_WAYS):
            raise CertificateError("The certificate names a way to its bound that does not exist.")
        standing: Standing = problem.by_tilting(point, self._typical, self._way, self._rows, float(self.bound))
        return standing
