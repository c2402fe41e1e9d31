"""The certificate of a network: how flat the objective is where training ended, and no more.

A network's objective has many local minima, saddles and flats, so no cheap fact about
a point bounds its distance from the best. What can be checked is the gradient: at a
minimum it is zero (where it exists; ReLU has kinks, where 0 is taken as its slope).
"""

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.errors import CertificateError

SLACK = {"float64": (1e-9, 1e-6), "float32": (1e-5, 1e-2)}
"""What rounding may do to a value, and to a gradient by share, in each precision: claims are looser by that."""


class NetworkProblem(Protocol):
    """What was minimised, without the data."""

    def evaluate(self, X: Any, y: Any, sample_weight: Any, point: Vector) -> tuple[float, Vector]:
        """The objective and its gradient on the data given."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True)
class NetworkCertificate:
    """At the witness the average objective F is ``objective`` and ‖∇F‖ ≤ ``gradient_norm``.

    ``bound`` is no less than the largest entry of the gradient, in size; ``met`` compares
    it with tol. A fit in float32 computes them in float32 and claims a little less, so
    that they hold in float64, which is how ``verify`` computes. Nothing is said about
    other points.
    """

    bound: float
    gradient_norm: float
    tol: float
    objective: float
    point: Vector = field(repr=False)
    problem: NetworkProblem = field(repr=False)
    precision: str = "float64"
    kind: str = "stationary"

    @classmethod
    def at(
        cls, value: float, gradient: Vector, tol: float, point: Vector, problem: NetworkProblem, precision: str
    ) -> Any:
        """The claim that these numbers allow, if they were computed in this precision."""
        small, share = SLACK[precision]
        size, length = (
            (1.0 + share) * float(found) + small * max(1.0, value)
            for found in (np.abs(gradient).max(), np.linalg.norm(gradient))
        )
        return cls(size, length, tol, value, point, problem, precision)

    @property
    def met(self) -> bool:
        """Whether no entry of the gradient is larger than tol."""
        return bool(self.bound <= self.tol)

    @property
    def proved(self) -> bool:
        """Whether the gradient is finite."""
        return math.isfinite(self.bound)

    def __str__(self) -> str:
        return (
            f"At the average objective {self.objective:.6g} the gradient has length {self.gradient_norm:.1e} and no "
            f"entry above {self.bound:.1e}. Nothing is claimed about other weights: a lower minimum may exist."
        )

    def to_dict(self) -> dict[str, Any]:
        """The claim and its witness as plain values."""
        return {
            "kind": self.kind,
            "bound": self.bound,
            "gradient_norm": self.gradient_norm,
            "tol": self.tol,
            "met": self.met,
            "objective": self.objective,
            "precision": self.precision,
            "point": self.point.tolist(),
            "problem": self.problem.to_dict(),
        }

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> "NetworkCertificate":
        """Recompute objective and gradient from the data; CertificateError when the claim is false."""
        if self.kind != type(self).kind:
            raise CertificateError(f"A certificate of kind {self.kind!r} is not about a stationary point.")
        if self.precision not in SLACK or not (
            self.bound >= 0.0 and self.gradient_norm >= 0.0 and np.isfinite(self.point).all()
        ):
            raise CertificateError("The certificate holds a negative bound or a witness that is not finite.")
        value, gradient = self.problem.evaluate(X, y, sample_weight, self.point)
        allowed = SLACK[self.precision][0] * max(1.0, abs(value))
        if not abs(value - self.objective) <= allowed:
            raise CertificateError(
                f"The objective at the stored weights is {value:.17g}, not {self.objective:.17g} as claimed.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
        for found, claimed in (
            (float(np.abs(gradient).max()), self.bound),
            (float(np.linalg.norm(gradient)), self.gradient_norm),
        ):
            if not found <= claimed:
                raise CertificateError(
                    f"On this data the gradient measures {found:.3e}, not {claimed:.3e} as claimed.\n\n"
                    "Hint: was it fitted to other rows, labels or weights?"
                )
        return self
