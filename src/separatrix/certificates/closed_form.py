"""The certificate of a closed form: how well its equations hold, and how far the answer can be from theirs.

A fit by formula solves equations of the data: moments equal their averages, weights solve a linear system. Scaled to a
unit diagonal the system reads C u = β. Let the true one be (C + E) u* = β + e with |Eᵢⱼ| ≤ ε (rounding of the sums)
and let r = C u − β at the answer u. Then (C + E)(u − u*) = r + E u − e, hence

    ‖u − u*‖ ≤ (‖r‖ + p ε ‖u‖ + ‖e‖) / (λ_min(C) − p ε),

because ‖E‖ ≤ p ε. ``bound`` states this as a share of ‖u‖, ``residual`` is ‖r‖ as a share of ‖β‖ + ‖C‖‖u‖, the
size of both sides, ``condition`` is λ_max/λ_min of C. Claims contain an allowance for rounding, so that whoever
computes them again, in another order or layout, stays below them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from scipy.linalg import eigvalsh

from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix
from separatrix.core.errors import CertificateError

ALLOWANCE = 3.0
"""How many times the rounding error is part of a claim."""

MARGIN = 1.0 + 1e-6
"""A claim is this much looser than what was computed."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the data says: residual and bound, their rounding errors, and the condition number."""

    residual: float
    bound: float
    condition: float
    residual_rounding: float
    bound_rounding: float = 0.0

    def claim(self) -> tuple[float, float]:
        """Residual and bound as a certificate may state them."""
        return (
            self.residual * MARGIN + ALLOWANCE * self.residual_rounding,
            self.bound * MARGIN + ALLOWANCE * self.bound_rounding,
        )


def sum_error(rows: int, sparse: bool) -> float:
    """Relative error of a sum over rows: dense rows are added in panels of at least 32, sparse ones one by one.

    >>> sum_error(3200, sparse=False) == 500 * 2.0**-53
    True
    """
    return UNIT_ROUNDOFF * ((rows if sparse else rows / 32.0) + 400.0)


def measure_system(
    matrix: Matrix, residual: Matrix, solution: Matrix, size: float, matrix_error: float, side_error: float
) -> Measured:
    """Residual, condition and bound of a scaled system; ``size`` is ‖β‖, errors are of each entry of C and of ‖β‖."""
    p = len(matrix)
    length = float(np.linalg.norm(solution))
    off = float(np.linalg.norm(residual))
    slack = p * matrix_error * length + side_error
    if p == 0 or length == 0.0:
        return Measured(off / size if size > 0 else off, 0.0, 1.0, slack / size if size > 0 else slack)
    values = eigvalsh(matrix)
    size += float(values[-1]) * length
    least = float(values[0]) - p * matrix_error
    condition = float(values[-1] / values[0]) if values[0] > 0 else math.inf
    if least <= 0.0:
        return Measured(off / size, math.inf, condition, slack / size)
    return Measured(
        off / size, (off + slack) / (least * length), condition, slack / size, (slack + 0.1 * off) / (least * length)
    )


class ClosedFormProblem(Protocol):
    """What was solved, without the data."""

    @property
    def equations(self) -> str:
        """What holds, as the subject of a sentence; for example "The normal equations"."""

    @property
    def subject(self) -> str:
        """What the bound is about; for example "the weights"."""

    def measure(self, X: Any, y: Any, sample_weight: Any, parameters: Mapping[str, AnyArray]) -> Measured:
        """How well the equations hold for the parameters, from the data given."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True)
class ClosedFormCertificate:
    """The equations hold to ``residual`` of their size, so the answer is within ``bound`` of its own size."""

    residual: float
    condition: float
    bound: float
    tol: float
    parameters: Mapping[str, AnyArray] = field(repr=False)
    problem: ClosedFormProblem = field(repr=False)
    aliased: tuple[str, ...] = ()
    kind: str = "closed-form"

    @classmethod
    def of(
        cls, found: Measured, tol: float, parameters: Mapping[str, AnyArray], problem: Any, aliased: Any = ()
    ) -> Self:
        """State what was measured."""
        residual, bound = found.claim()
        return cls(residual, found.condition, bound, tol, dict(parameters), problem, tuple(aliased))

    @property
    def met(self) -> bool:
        """Whether the bound is below tol."""
        return bool(self.bound <= self.tol)

    @property
    def proved(self) -> bool:
        """Whether the bound is finite."""
        return math.isfinite(self.bound)

    def __str__(self) -> str:
        text = f"{self.problem.equations} hold to {self.residual:.1e} of their size"
        if self.proved:
            text += (
                f"; with condition number {self.condition:.1e}, {self.problem.subject} are exact to {self.bound:.1e}."
            )
        else:
            text += f", but with condition number {self.condition:.1e} nothing follows for {self.problem.subject}."
        if self.aliased:
            text += f" Left out with weight 0, as constant or combinations of others: {', '.join(self.aliased)}."
        return text

    def to_dict(self) -> dict[str, Any]:
        """The claim and its witness as plain values."""
        return {
            "kind": self.kind,
            "residual": self.residual,
            "condition": self.condition,
            "bound": self.bound,
            "tol": self.tol,
            "met": self.met,
            "parameters": {name: np.asarray(value).tolist() for name, value in self.parameters.items()},
            "aliased": list(self.aliased),
            "problem": self.problem.to_dict(),
        }

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Recompute sums, residual and bound from the data; CertificateError when the claim is false for it."""
        if self.kind != type(self).kind:
            raise CertificateError(f"A certificate of kind {self.kind!r} is not about a closed form.")
        if not self.residual >= 0.0 or not self.bound >= 0.0 or not self.condition >= 1.0:
            raise CertificateError("The certificate holds a negative residual or bound, or a condition below one.")
        here = self.problem.measure(X, y, sample_weight, self.parameters)
        hint = "\n\nHint: was it fitted to other rows, labels or weights?"
        if not here.residual <= self.residual:
            raise CertificateError(
                f"{self.problem.equations} hold only to {here.residual:.3e} in this data, "
                f"not to {self.residual:.3e} as claimed.{hint}"
            )
        if not here.bound <= self.bound:
            raise CertificateError(
                f"From this data only a bound of {here.bound:.3e} follows, not {self.bound:.3e} as claimed.{hint}"
            )
        both = (here.condition, self.condition)
        if not all(map(math.isinf, both)) and not abs(both[0] - both[1]) <= both[1] * (1e-3 + 1e-11 * both[1]):
            raise CertificateError(f"The condition number is {both[0]:.6g}, not {both[1]:.6g} as claimed.{hint}")
        return self
