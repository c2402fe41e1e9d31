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
from typing import Any, Protocol, Self

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.errors import CertificateError

ALLOWANCE = 3.0
"""How many times the rounding error is part of a claim."""

MARGIN = 1.0 + 1e-6
"""A claim is this much looser than what was computed."""


@dataclass(frozen=True, slots=True)
class Stationarity:
    """What the data says at a point: value, decrement and scaled slopes, and the rounding error of those two."""

    value: float
    decrement: float
    scaled: Vector
    rounding: float

    def claim(self) -> tuple[float, Vector]:
        """Decrement and scaled slopes as a certificate may state them."""
        slack = ALLOWANCE * self.rounding
        return self.decrement * MARGIN + slack, self.scaled * MARGIN + slack


class StationaryProblem(Protocol):
    """What was minimised, without the data."""

    @property
    def slope(self) -> str:
        """What vanishes, as the subject of a sentence; for example "The gradient"."""

    @property
    def unit(self) -> str:
        """The unit of the decrement, in words; may be empty."""

    def stationarity(self, X: Any, y: Any, sample_weight: Any, point: Vector, keep: Positions | None) -> Stationarity:
        """Value and slope at the point, from the data given; raises CertificateError where ``keep`` is false."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True)
class StationaryCertificate:
    """λ ≤ ``decrement`` at the witness ``point``, and the value there is ``objective``.

    With ``keep`` the other coordinates are zero and belong to columns that are combinations of
    those kept, to 1e-9 of their size in every row; ``aliased`` names them.
    """

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

    def to_dict(self) -> dict[str, Any]:
        """The claim and its witness as plain values."""
        return {
            "kind": self.kind,
            "decrement": self.decrement,
            "bound": self.bound,
            "tol": self.tol,
            "met": self.met,
            "objective": self.objective,
            "scaled": self.scaled.tolist(),
            "point": self.point.tolist(),
            "keep": None if self.keep is None else self.keep.tolist(),
            "aliased": list(self.aliased),
            "problem": self.problem.to_dict(),
        }

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Recompute value and slope from the data; CertificateError when the claim is false for it."""
        if self.kind != type(self).kind:
            raise CertificateError(f"A certificate of kind {self.kind!r} is not about a stationary point.")
        if not self.proved:
            raise CertificateError("The certificate claims nothing: its decrement is not finite.")
        if not self.decrement >= 0.0 or not np.isfinite(self.point).all() or not np.isfinite(self.scaled).all():
            raise CertificateError("The certificate holds a negative decrement or a witness that is not finite.")
        here = self.problem.stationarity(X, y, sample_weight, self.point, self.keep)
        hint = "\n\nHint: was it fitted to other rows, labels or weights?"
        if not abs(here.value - self.objective) <= self.bound + 1e-9 * max(abs(here.value), 1e-3):
            raise CertificateError(
                f"The objective at the stored point is {here.value:.17g}, not {self.objective:.17g} as claimed.{hint}"
            )
        if not here.decrement + here.rounding <= self.decrement:
            raise CertificateError(
                f"From this data only a decrement of {here.decrement + here.rounding:.3e} follows, "
                f"not {self.decrement:.3e} as claimed.{hint}"
            )
        if here.scaled.shape != self.scaled.shape or not (here.scaled + here.rounding <= self.scaled).all():
            raise CertificateError(f"The scaled slopes of this data are not below those claimed.{hint}")
        return self
