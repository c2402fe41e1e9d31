"""The certificate of a smooth fit: how far from the minimum it can be, at most."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.certificate import LOOSEST, Claim, restated, stated_array, stated_number
from separatrix.core.errors import CertificateError
from separatrix.core.plain_values import same


@dataclass(frozen=True, slots=True)
class Proof:
    """What the data says at a point: F, how far rounding may move that, and the bound on F − F*.

    ``claim`` is the bound that a fit would state, with rounding allowed for three times; ``found`` allows for it once.
    ``loosest`` is above ``claim`` where a fit to so many rows may have looked at some of them only.
    """

    value: float
    value_error: float
    found: float
    claim: float
    loosest: float = 0.0


class RestatedProblem(Protocol):
    """The fitted problem, stated again from data: an objective and what bounds it."""

    @property
    def size(self) -> int:
        """Numbers in a raw point."""

    def dependent_columns(self, keep: Any) -> tuple[str, ...]:
        """Names of all columns that take part in a dependence; CertificateError unless ``keep`` is proved by the data.

        ``keep`` are coordinates of the point: for every class the same columns, the others combinations of them.
        """

    def prove(self, point: Vector, keep: Positions | None, stated: float, rows: int | None) -> Proof:
        """F at a raw point and its bound, from gradient and Hessian: as sharp as it takes to prove what was stated.

        ``rows`` is the number of rows that the claim was made for: one of weight two may be given twice.
        """

    def prove_by_direction(self, point: Vector, direction: Vector, rows: int | None) -> Proof:
        """The same, from the Hessian times a direction close to Newton's step."""

    def measure(self, point: Vector) -> tuple[float, float]:
        """F at a raw point, and how far it may be off."""


class Problem(Protocol):
    """What was minimised, without the data."""

    def restate(self, X: Any, y: Any, sample_weight: Any, shift: Vector | None) -> RestatedProblem:
        """The same problem on the data given; ``shift`` fixes the coordinates."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True, eq=False)
class OptimumCertificate(Claim):
    """F − F* ≤ ``bound`` at the witness, and hence a minimiser exists.

    F is the average objective over the rows. The witness is the raw point (w, b)
    and, where the Hessian was too large to factorise, a direction close to the
    Newton step; beside it the shift of the columns that the bound was computed about, and the number of rows
    whose rounding it allows for. ``verify`` needs nothing else but the data.

    With ``keep`` (linearly dependent columns, no penalty) the claim is about the weights
    of the columns kept: no change of those lowers F by more than ``bound``. The other
    columns are combinations of them, to the rounding of their decimals in every row (see ``models.aliasing``);
    ``aliased`` names all columns that take part in such a dependence.
    """

    KINDS: ClassVar[tuple[str, ...]] = ("optimum",)
    TOLD: ClassVar[tuple[str, ...]] = ("tol",)

    bound: float
    tol: float
    objective: float
    point: Vector = field(repr=False)
    problem: Problem = field(repr=False)
    _direction: Vector | None = field(default=None, repr=False)
    _shift: Vector | None = field(default=None, repr=False)
    keep: Positions | None = field(default=None, repr=False)
    aliased: tuple[str, ...] = ()
    kind: str = "optimum"
    _rows: int | None = field(default=None, repr=False)

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
                " Not identified, because columns are linearly dependent to the rounding of their decimals (9 digits, "
                f"or those of float32): {', '.join(self.aliased)}; "
                "the solution of least norm is given, and the claim is about the weights of the columns kept."
            )
        return text

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        bound = stated_number(self.bound, "bound", 0.0, infinite=True)
        if math.isinf(bound):
            raise CertificateError("The certificate claims nothing: its bound is infinite.")
        stated_number(self.tol, "tol", 0.0)
        objective = stated_number(self.objective, "objective", 0.0)
        problem = self.problem.restate(X, y, sample_weight, self._shift)
        stated_array(self.point, "weights", (problem.size,))
        if not isinstance(self.aliased, tuple) or (self.keep is None and self.aliased != ()):
            raise CertificateError("The certificate names columns as dependent and set none aside.")
        if self.keep is not None:
            if not isinstance(self.keep, np.ndarray):
                raise CertificateError("The columns kept are not an array of positions.")
            names = problem.dependent_columns(self.keep)
            if not same(self.aliased, names):
                raise CertificateError(
                    f"The columns that depend on each other in this data are {', '.join(names)}, "
                    f"not {', '.join(map(str, self.aliased))}.\n\n"
                    "Hint: give the table it was fitted to, with its names."
                )
        proof = self._proof(problem)
        if not abs(proof.value - objective) <= proof.value_error:
            raise CertificateError(
                f"The objective at the stored weights is {proof.value:.6g}, not {objective:.6g} as claimed: "
                f"they differ by {abs(proof.value - objective):.1e}.\n\n"
                "Hint: was it fitted to other rows, labels or weights?"
            )
        if not proof.found <= bound <= proof.loosest:
            restated(bound, proof.found, proof.claim, "bound", LOOSEST)

    def _proof(self, problem: RestatedProblem) -> Proof:
        if self._direction is None:
            return problem.prove(self.point, self.keep, self.bound, self._rows)
        if self.keep is not None:
            raise CertificateError("A direction proves the claim for all columns, and some were set aside.")
        stated_array(self._direction, "direction", (problem.size,))
        return problem.prove_by_direction(self.point, np.asarray(self._direction), self._rows)
