"""The certificate of a smooth fit: how far from the minimum it can be, at most."""

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from separatrix.certificates.iterative import IterativeYardstick
from separatrix.certificates.self_concordance import Yardstick
from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import CertificateError
from separatrix.core.factor import factorise
from separatrix.core.protocols import Evaluation


class RestatedProblem(Protocol):
    """The fitted problem, stated again from data: an objective and what bounds it."""

    yardstick: Yardstick
    iterative: IterativeYardstick

    def evaluate(self, raw: Vector, curvature: bool) -> Evaluation:
        """The objective at the raw point (w, b)."""

    def dependent(self, keep: Positions) -> bool:
        """Whether all columns are combinations of those kept."""

    def uncentred(self, point: Vector) -> float:
        """What the penalty would fall by if the classes' weights were made to sum to zero."""

    def evaluate_with_product(self, raw: Vector, direction: Vector) -> tuple[Evaluation, Vector, Vector]:
        """The objective at the raw point, a direction in its coordinates, and the Hessian times it."""


class Problem(Protocol):
    """What was minimised, without the data."""

    def restate(self, X: Any, y: Any, sample_weight: Any, shift: Vector | None) -> RestatedProblem:
        """The same problem on the data given; ``shift`` fixes the coordinates."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True)
class OptimumCertificate:
    """F − F* ≤ ``bound`` at the witness, and hence a minimiser exists.

    F is the average objective over the rows. The witness is the raw point (w, b)
    and, where the Hessian was too large to factorise, a ``direction`` close to the
    Newton step and the ``shift`` of the columns it was found with. ``verify`` needs
    nothing else but the data.

    With ``keep`` (linearly dependent columns, no penalty) the claim is about the weights
    of the columns kept: no change of those lowers F by more than ``bound``. The other
    columns are combinations of them, to 1e-9 of their size in every row; ``aliased`` names all
    columns that take part in such a dependence.
    """

    bound: float
    tol: float
    objective: float
    point: Vector = field(repr=False)
    problem: Problem = field(repr=False)
    direction: Vector | None = field(default=None, repr=False)
    shift: Vector | None = field(default=None, repr=False)
    keep: Positions | None = field(default=None, repr=False)
    aliased: tuple[str, ...] = ()
    kind: str = "optimum"

    @property
    def met(self) -> bool:
        """Whether the bound is below tol·min(F, 1)."""
        return bool(self.bound <= self.tol * min(self.objective, 1.0))

    @property
    def proved(self) -> bool:
        """Whether anything is proved: a finite bound, and so a minimiser."""
        return math.isfinite(self.bound)

    @property
    def relative(self) -> float:
        """The bound as a share of the objective."""
        return self.bound / self.objective if self.objective > 0 else math.inf

    def __str__(self) -> str:
        if not self.proved:
            return (
                f"Nothing is proved: at average objective {self.objective:.6g} the gradient is still too large "
                "to say whether a minimum exists."
            )
        text = (
            f"The average objective {self.objective:.6g} is within {self.bound:.1e} of the smallest possible "
            f"(relative {self.relative:.1e}), and a minimiser exists."
        )
        if self.aliased:
            text += (
                f" Not identified, because columns are linearly dependent to 9 digits: {', '.join(self.aliased)}; "
                "the solution of least norm is given, and the claim is about the weights of the columns kept."
            )
        return text

    def to_dict(self) -> dict[str, Any]:
        """The claim and its witness as plain values."""
        return {
            "kind": self.kind,
            "bound": self.bound,
            "tol": self.tol,
            "met": self.met,
            "objective": self.objective,
            "point": self.point.tolist(),
            "direction": None if self.direction is None else self.direction.tolist(),
            "shift": None if self.shift is None else self.shift.tolist(),
            "keep": None if self.keep is None else self.keep.tolist(),
            "aliased": list(self.aliased),
            "problem": self.problem.to_dict(),
        }

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> "OptimumCertificate":
        """Recompute objective, gradient, curvature and bound from the data.

        Raises CertificateError when the claim is false for this data, and returns
        the certificate itself when it holds.
        """
        if self.kind != type(self).kind:
            raise CertificateError(f"A certificate of kind {self.kind!r} is not about an optimum.")
        if not self.proved:
            raise CertificateError("The certificate claims nothing: its bound is infinite.")
        if not self.bound >= 0.0 or not np.isfinite(self.point).all():
            raise CertificateError("The certificate holds a negative bound or a witness that is not finite.")
        problem = self.problem.restate(X, y, sample_weight, self.shift)
        value, bound = self._recompute(problem)
        if not abs(value - self.objective) <= self.bound + 1e-9 * max(abs(value), 1e-300):
            raise CertificateError(
                f"The objective at the stored weights is {value:.17g}, not {self.objective:.17g} as claimed.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
        if not bound <= self.bound:
            raise CertificateError(
                f"From this data only a bound of {bound:.3e} follows, not {self.bound:.3e} as claimed.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
        return self

    def _recompute(self, problem: RestatedProblem) -> tuple[float, float]:
        if self.direction is not None:
            evaluation, step, image = problem.evaluate_with_product(self.point, self.direction)
            return evaluation.value, problem.iterative.bound(evaluation, step, image)
        if self.keep is not None:
            self._check_keep()
        if self.keep is not None and not problem.dependent(self.keep):
            raise CertificateError("Columns that were set aside as linearly dependent are not so in this data.")
        evaluation = problem.evaluate(self.point, curvature=True)
        hessian: Matrix | None = evaluation.hessian
        assert hessian is not None
        factor = factorise(hessian, evaluation.point, self.keep)
        bound = math.inf if factor is None else problem.yardstick.bound(evaluation, factor)
        return evaluation.value, bound + problem.uncentred(evaluation.point)

    def _check_keep(self) -> None:
        keep = np.asarray(self.keep)
        inside = keep.ndim == 1 and len(keep) > 0 and keep[0] >= 0 and keep[-1] < len(self.point)
        if not inside or (np.diff(keep) <= 0).any() or math.isfinite(self.problem.to_dict()["C"]):
            raise CertificateError("Columns may be set aside only without a penalty, each once and in order.")
