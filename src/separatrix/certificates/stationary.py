"""The certificate of a fit that is not convex: the slope vanishes at the witness, and no more is claimed.

Let g be the slope of what was minimised at the stored point and M a positive definite matrix that says how long
a slope is. The certificate states λ = √(gᵀM⁻¹g), the **decrement**. With M the information of a likelihood, λ
is the length of the next step of Fisher scoring in standard errors, and λ²/2 what that step
expects to gain; with M = 1 it is the length of the gradient. ``scaled`` states the same coordinate
by coordinate, each in its own unit.

A small λ says that the point is close to *being stationary*. It does not say that it is a minimum, nor that no
other point is better: for that the function would have to be convex.

The stated numbers contain three times the estimated rounding error of their computation, so that whoever
computes them again, in another order or layout, and adds that error once, stays below them.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.certificate import ALLOWANCE, CLOSE, LOOSEST, MARGIN, Claim, restated, stated_array, stated_number
from separatrix.core.errors import CertificateError
from separatrix.core.plain_values import same

NOISE = 0.05
"""Slopes computed in another order differ by less than this share of their rounding error, which is a worst case."""


@dataclass(frozen=True, slots=True)
class Stationarity:
    """What the data says at a point: value, decrement and scaled slopes, and the rounding error of each.

    ``value_error`` is that of the value, ``rounding`` that of the other two.
    """

    value: float
    value_error: float
    decrement: float
    scaled: Vector
    rounding: float

    def claim(self) -> tuple[float, Vector]:
        """Decrement and scaled slopes as a certificate may state them."""
        slack = ALLOWANCE * self.rounding
        # slopes that are rounding and no more are stated alike
        decrement = max(self.decrement * MARGIN, self.rounding) + slack
        return decrement, np.maximum(self.scaled * MARGIN, self.rounding) + slack


class StationaryProblem(Protocol):
    """What was minimised, without the data."""

    @property
    def slope(self) -> str:
        """What vanishes, as the subject of a sentence; for example "The gradient"."""

    @property
    def unit(self) -> str:
        """The unit of the decrement, in words; may be empty."""

    def stationarity(
        self, X: Any, y: Any, sample_weight: Any, point: Vector, keep: Positions | None, stated: float
    ) -> tuple[Stationarity, tuple[str, ...]]:
        """Value and slope at the point from the data given, and the names of columns left out.

        As sharp as it takes to find the ``stated`` decrement. Raises CertificateError where ``keep`` is false.
        """

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True, eq=False)
class StationaryCertificate(Claim):
    """λ ≤ ``decrement`` at the witness ``point``, and the value there is ``objective``.

    With ``keep`` the other coordinates are zero and belong to columns that are combinations of those kept, to the
    rounding of their decimals in every row (see ``models.aliasing``); ``aliased`` names them.
    """

    KINDS: ClassVar[tuple[str, ...]] = ("stationary",)
    TOLD: ClassVar[tuple[str, ...]] = ("tol",)

    decrement: float
    tol: float
    objective: float
    scaled: Vector = field(repr=False)
    point: Vector = field(repr=False)
    problem: StationaryProblem = field(repr=False)
    keep: Positions | None = field(default=None, repr=False)
    aliased: tuple[str, ...] = ()
    kind: str = "stationary"

    @property
    def bound(self) -> float:
        """λ²/2: what the next step expects to gain. It bounds no distance from an optimum."""
        return 0.5 * self.decrement * self.decrement

    @property
    def met(self) -> bool:
        """Whether λ²/2 is below tol."""
        return bool(self.bound <= self.tol)

    @property
    def proved(self) -> bool:
        """Whether anything is stated: a finite decrement."""
        return math.isfinite(self.decrement)

    def __str__(self) -> str:
        if not self.proved:
            return f"Nothing is stated: at objective {self.objective:.6g} the slope could not be measured."
        unit = f" {self.problem.unit}" if self.problem.unit else ""
        text = (
            f"{self.problem.slope} vanishes to {self.decrement:.1e}{unit} at objective {self.objective:.6g}; "
            "no more is claimed, because the function need not be convex and may have other stationary points."
        )
        if self.aliased:
            text += f" Left out with weight 0, as combinations of other columns: {', '.join(self.aliased)}."
        return text

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        decrement = stated_number(self.decrement, "decrement", 0.0, infinite=True)
        if math.isinf(decrement):
            raise CertificateError("The certificate claims nothing: its decrement is not finite.")
        stated_number(self.tol, "tol", 0.0)
        objective = stated_number(self.objective, "objective")
        if self.keep is not None and not isinstance(self.keep, np.ndarray):
            raise CertificateError("The columns kept are not an array of positions.")
        here, left_out = self.problem.stationarity(X, y, sample_weight, self.point, self.keep, decrement)
        if not same(self.aliased, left_out):
            raise CertificateError(
                f"The columns left out in this data are {', '.join(left_out) or 'none'}, "
                f"not {', '.join(map(str, self.aliased)) or 'none'}.\n\n"
                "Hint: give the table it was fitted to, with its names."
            )
        if not abs(here.value - objective) <= 2.0 * here.value_error:
            raise CertificateError(
                f"The objective at the stored point is {here.value:.6g}, not {objective:.6g} as claimed: "
                f"they differ by {abs(here.value - objective):.1e}.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
        claim, slopes = here.claim()
        restated(decrement, here.decrement + here.rounding, claim, "decrement", LOOSEST)
        scaled = stated_array(self.scaled, "scaled slopes", here.scaled.shape)
        near = np.abs(scaled - slopes) <= CLOSE * slopes + NOISE * here.rounding
        if not ((scaled >= np.minimum(here.scaled + here.rounding, slopes)) & near).all():
            raise CertificateError(
                "The scaled slopes of this data are not those claimed.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
