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
from separatrix.core.certificate import CLOSE, Claim, restated, stated_array, stated_number
from separatrix.core.errors import CertificateError

SLACK = (1e-9, 1e-6)
"""What rounding may do to a value, and to a gradient by share: claims are looser by that."""

PRECISIONS = ("float64", "float32")
"""In which a network may be trained; what is claimed of it is computed in float64 in any case."""


class NetworkProblem(Protocol):
    """What was minimised, without the data."""

    def evaluate(self, X: Any, y: Any, sample_weight: Any, point: Vector) -> tuple[float, Vector]:
        """The objective and its gradient on the data given."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True, eq=False)
class NetworkCertificate(Claim):
    """At the witness the average objective F is ``objective`` and ‖∇F‖ ≤ ``gradient_norm``.

    ``bound`` is no less than the largest entry of the gradient, in size; ``met`` compares
    it with tol. They are computed in float64, whatever the network was trained in, as
    ``verify`` computes them. Nothing is said about
    other points. ``precision`` and ``tol`` tell of the run.
    """

    KINDS = ("network",)
    TOLD = ("tol", "precision")

    bound: float
    gradient_norm: float
    tol: float
    objective: float
    point: Vector = field(repr=False)
    problem: NetworkProblem = field(repr=False)
    precision: str = "float64"
    kind: str = "network"

    @classmethod
    def at(
        cls, value: float, gradient: Vector, tol: float, point: Vector, problem: NetworkProblem, precision: str
    ) -> Any:
        """The claim that these numbers allow, computed in float64 of a network trained in this precision."""
        size, length = (_claimed(found, value) for found in _sizes(gradient))
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

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Recompute objective and gradient from the data."""
        stated_number(self.tol, "tol", least=0.0, infinite=True)
        if type(self.precision) is not str or self.precision not in PRECISIONS:
            raise CertificateError(f"The certificate tells of a precision {self.precision!r}.")
        stated_array(self.point, "point", (len(self.point),))
        objective = stated_number(self.objective, "objective")
        stated = [stated_number(getattr(self, name), name, least=0.0) for name in ("bound", "gradient_norm")]
        value, gradient = self.problem.evaluate(X, y, sample_weight, self.point)
        allowed = SLACK[0] * max(1.0, abs(value))
        if not abs(value - objective) <= allowed:
            raise CertificateError(
                f"The objective at the stored weights is {value:.17g}, not {objective:.17g} as claimed.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
        for number, found, what in zip(stated, _sizes(gradient), ("bound", "gradient norm"), strict=True):
            restated(number, found, _claimed(found, value), what, 1.0 + CLOSE)


def _sizes(gradient: Vector) -> tuple[float, float]:
    """The largest entry, and the length."""
    return float(np.abs(gradient).max()), float(np.linalg.norm(gradient))


def _claimed(found: float, value: float) -> float:
    small, share = SLACK
    return (1.0 + share) * found + small * max(1.0, value)
