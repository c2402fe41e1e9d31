"""The certificate of a closed form: how well its equations hold, and how far the answer can be from theirs.

A fit by formula solves equations of the data: moments equal their averages, weights solve a linear system. Scaled to a
unit diagonal the system reads C u = β. Let the true one be (C + E) u* = β + e with |Eᵢⱼ| ≤ ε (rounding of the sums)
and let r = C u − β at the answer u. Then (C + E)(u − u*) = r + E u − e, hence

    ‖u − u*‖ ≤ (‖r‖ + p ε ‖u‖ + ‖e‖) / (λ_min(C) − p ε),

because ‖E‖ ≤ p ε. Where the residual comes from the rows themselves and not from C, p ε‖u‖ falls away. ``bound`` states
this as a share of ‖u‖, ``residual`` is ‖r‖ as a share of ‖β‖ + ‖C‖‖u‖, the size of both sides, ``condition`` is
λ_max/λ_min of C. Claims contain an allowance for rounding, so that whoever computes them again, in another order or
layout, stays below them; and they are no looser than that, so that another fit's numbers are noticed.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from scipy.linalg import eigvalsh, lstsq

from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix
from separatrix.core.certificate import ALLOWANCE, CLOSE, LOOSEST, MARGIN, Claim, restated, stated_number
from separatrix.core.errors import CertificateError
from separatrix.core.plain_values import same

PLENTY = 1e-3
"""A claim from plain sums below this share of the tolerance is left as it is; else rows are added up exactly."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the data says: residual and bound, their rounding errors, the condition number, and names of columns."""

    residual: float
    bound: float
    condition: float
    residual_rounding: float
    bound_rounding: float = 0.0
    aliased: tuple[str, ...] = ()
    separating: tuple[str, ...] = ()
    firm: bool = True

    def claim(self) -> tuple[float, float]:
        """Residual and bound as a certificate may state them; what is below rounding counts as rounding."""
        return (
            max(self.residual, self.residual_rounding) * MARGIN + ALLOWANCE * self.residual_rounding,
            max(self.bound, 2.0 * self.bound_rounding) * MARGIN + ALLOWANCE * self.bound_rounding,
        )

    @property
    def loose(self) -> tuple[float, float]:
        """By which factor a claim may differ when it is made again.

        What is below rounding is stated as rounding, and that is the same in any order; what is above it, or rests on
        an eigenvalue that is not ``firm``, is not.
        """
        return (
            1.0 + CLOSE if self.residual <= self.residual_rounding else LOOSEST,
            1.0 + CLOSE if self.firm and self.bound <= 2.0 * self.bound_rounding else LOOSEST,
        )


def sum_error(rows: int, sparse: bool) -> float:
    """Relative error of a sum over rows: dense rows are added in panels of at least 32, sparse ones one by one.

    Few rows have no more roundings than terms, in any order.

    >>> sum_error(3200, sparse=False) == 500 * 2.0**-53, sum_error(12, sparse=False) == 20 * 2.0**-53
    (True, True)
    """
    one_by_one = rows + 8.0
    return UNIT_ROUNDOFF * (one_by_one if sparse else min(one_by_one, rows / 32.0 + 400.0))


def measure_system(
    values: tuple[float, float],
    residual: Matrix,
    solution: Matrix,
    size: float,
    slack: float,
    eigenvalue_error: float,
    least_length: float,
    matrix: Matrix | None,
    matrix_error: float,
    row_slack: float = 0.0,
) -> Measured:
    """Residual, condition and bound of a scaled system C u = β.

    ``values`` are the least and the largest eigenvalue of C, each off by ``eigenvalue_error`` at most; ``size`` is ‖β‖;
    ``slack`` bounds what the residual is off by. A condition number beyond what the rounding lets through is cut there,
    and nothing is claimed where a tenth of the least eigenvalue is in doubt: in another order it could be another.
    A solution shorter than ``least_length`` is as good as zero, and its error is given as a share of that.

    The residual of a solution that is merely rounded is divided by the least eigenvalue for nothing: it lies across
    all of them. So the error is looked at itself. It is u − u* = (C + E)⁻¹r, and for any δ, here C⁻¹r as computed, no
    longer than ‖δ‖ + (‖r − Cδ‖ + ‖E‖‖δ‖)/λ_min; ``matrix`` is C, if it has kept λ_min at all, and ``matrix_error``
    bounds ‖E‖. Errors of the rows, of
    length ``row_slack``, reach the residual by Aᵀ with AᵀA ≼ C, and the solution divided by √λ_min alone.
    """
    length = float(np.linalg.norm(solution))
    off = float(np.linalg.norm(residual))
    whole = slack + row_slack * math.sqrt(values[1])
    if solution.size == 0 or max(length, least_length) == 0.0:
        return Measured(off / size if size > 0 else off, 0.0, 1.0, whole / size if size > 0 else whole)
    low, high = values
    size += high * max(length, least_length)
    least = low - eigenvalue_error
    condition = high / max(low, 20.0 * eigenvalue_error)
    if not low > 10.0 * eigenvalue_error:
        return Measured(off / size, math.inf, condition, whole / size)
    firm = bool(low > 1e4 * eigenvalue_error)
    far = off / least
    if matrix is not None:
        step = lstsq(matrix, residual, check_finite=False)[0]
        stray, moved = float(np.linalg.norm(matrix @ step - residual)), float(np.linalg.norm(step))
        stray += (matrix_error + 2.0 * len(matrix) * UNIT_ROUNDOFF * high) * moved
        far = float(np.fmin(far, moved + stray / least))
    # what is real of the error moves with the eigenvalue it is divided by
    rounding = slack / least + row_slack / math.sqrt(least) + far * eigenvalue_error / least
    length = max(length, least_length)
    bound = (far + rounding) / length
    return Measured(off / size, bound, condition, whole / size, rounding / length, firm=firm)


def extreme_eigenvalues(matrix: Matrix) -> tuple[float, float]:
    """The least and the largest eigenvalue.

    >>> extreme_eigenvalues(np.diag([1.0, 3.0, 2.0]))
    (1.0, 3.0)
    """
    if len(matrix) == 0:
        return 1.0, 1.0
    found = eigvalsh(matrix)
    return float(found[0]), float(found[-1])


class ClosedFormProblem(Protocol):
    """What was solved, without the data."""

    @property
    def equations(self) -> str:
        """What holds, as the subject of a sentence; for example "The normal equations"."""

    @property
    def subject(self) -> str:
        """What the bound is about; for example "the weights"."""

    @property
    def tolerance(self) -> float:
        """A bound above this is not met."""

    def measure(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        parameters: Mapping[str, AnyArray],
        rounding: float,
        exactly: bool = False,
    ) -> tuple[Measured, Measured]:
        """How well the equations hold for the parameters, and as a fit with the rounding told would measure it."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True, eq=False)
class ClosedFormCertificate(Claim):
    """The equations hold to ``residual`` of their size, so the answer is within ``bound`` of its own size.

    ``aliased`` names the columns that were left out with weight 0, ``separating`` those along which the classes differ
    without any spread, which decide first. ``rounding`` tells how far the fit's own sums may be off, by share: it
    depends on the order and the layout of the rows, which the data do not tell. Where plain sums leave
    much open and rows are few, they are added up exactly (``_exactly``).
    """

    KINDS = ("closed-form",)
    TOLD = ("rounding",)

    residual: float
    condition: float
    bound: float
    tol: float
    parameters: Mapping[str, AnyArray] = field(repr=False)
    problem: ClosedFormProblem = field(repr=False)
    aliased: tuple[str, ...] = ()
    separating: tuple[str, ...] = ()
    rounding: float = field(default=0.0, repr=False)
    kind: str = "closed-form"
    _exactly: bool = field(default=False, repr=False)

    @classmethod
    def of(
        cls,
        found: Measured,
        parameters: Mapping[str, AnyArray],
        problem: Any,
        rounding: float,
        exactly: bool = False,
    ) -> Self:
        """State what was measured."""
        residual, bound = found.claim()
        # more digits of it would be rounding
        condition = float(f"{found.condition:.6g}")
        claim = (residual, condition, bound, problem.tolerance, dict(parameters), problem)
        return cls(*claim, found.aliased, found.separating, rounding, _exactly=exactly)

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
        if self.separating:
            text += (
                " The classes differ without any spread along a direction that decides first, of the columns: "
                f"{', '.join(self.separating)}."
            )
        return text

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Recompute sums, residual and bound from the data."""
        residual = stated_number(self.residual, "residual", least=0.0)
        bound = stated_number(self.bound, "bound", least=0.0, infinite=True)
        condition = stated_number(self.condition, "condition", least=1.0 - 1e-9)
        if stated_number(self.tol, "tol", least=0.0) != self.problem.tolerance:
            raise CertificateError(f"A bound is asked to be below {self.problem.tolerance!r}, not {self.tol!r}.")
        told = stated_number(self.rounding, "rounding", least=0.0)
        if type(self._exactly) is not bool:
            raise CertificateError("The certificate does not tell how its sums were added up.")
        here, claim = self.problem.measure(X, y, sample_weight, self.parameters, told, bool(self._exactly))
        restated(residual, here.residual, claim.claim()[0], "residual", claim.loose[0])
        restated(bound, here.bound, claim.claim()[1], "bound", claim.loose[1])
        share = min(1e-5 + 1e-12 * condition, CLOSE) if claim.firm else LOOSEST - 1.0
        if not abs(claim.condition - condition) <= share * condition:
            raise CertificateError(f"The condition number is {claim.condition:.6g}, not {condition:.6g} as claimed.")
        for stated, names in ((self.aliased, here.aliased), (self.separating, here.separating)):
            if not same(stated, names):
                raise CertificateError(
                    f"The certificate names the columns {stated!r}; in this data they are {names!r}.\n\n"
                    "Hint: verify with the table of the fit, its column names included."
                )
