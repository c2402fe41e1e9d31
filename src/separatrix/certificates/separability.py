"""The verdict on separability, with its proof.

Let yᵢ = sᵢ·(xᵢ, 1) be the signed rows, taken as the exact fractions that the stored
floats are, and r their rank. Three cases exclude each other:

- **complete**: a v has ⟨yᵢ, v⟩ > 0 for all i. Checked by multiplying out every row.
- **overlap**: no v ≠ 0 in the span of the rows has ⟨yᵢ, v⟩ ≥ 0 for all i. Proof: λ > 0 on rows S of
  rank r with Σ λᵢyᵢ = 0. For if all ⟨yᵢ, v⟩ ≥ 0, then Σ λᵢ⟨yᵢ, v⟩ = 0 makes each zero on S,
  and S spans all rows. At most 2r rows are needed.
- **quasi**: a v has all ⟨yᵢ, v⟩ ≥ 0, not all zero, and λ > 0 balances rows S of zero margin, of the same
  rank as all rows Z of zero margin. So no direction separates any row of Z: v separates
  as many rows as can be.

The rank is proved from both sides: S in r coordinates has full rank (``balance``), and each
column outside the basis has a dependence, an integer vector that is orthogonal to all rows.
In the quasi case the same is done for Z. The likelihood of a logistic regression has a
maximum just in the case of overlap (Albert and Anderson 1984).
"""

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from separatrix.certificates.limits import coefficient_limits
from separatrix.certificates.margin import MarginCertificate, largest_margin
from separatrix.certificates.sides import sides
from separatrix.certificates.verdict_checks import (
    check_columns,
    check_complete,
    check_form,
    check_overlap,
    check_quasi,
    distance,
)
from separatrix.certificates.verdict_text import sentence
from separatrix.certificates.witness import Balance, IntegerVectors
from separatrix.core.apart import apart
from separatrix.core.arrays import Positions, Vector
from separatrix.core.certificate import Claim
from separatrix.core.errors import CertificateError, OutOfTime
from separatrix.core.parameters import SECONDS, check_value
from separatrix.core.plain_values import same
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import Integers, rounded, scaled_integers
from separatrix.kernels.threads import one_blas_thread

KINDS = ("complete", "quasi", "overlap", "undecided")

LIMITS_WORK, LIMITS_LONG = 1e8, 1e6
"""Rows times columns times free directions, and columns times their square, up to which the verdict says what becomes
of each coefficient."""

MOST_WIDENED = 400
"""Columns up to which the least squares of a corridor, which do not look at the clock, take no longer than a second."""


MOST_CLASSES = 100
"""Classes up to which a verdict on all of them has parts on two at a time, which are thousands."""


class SeparabilityProblem(Protocol):
    """What was asked, without the data."""

    @property
    def fit_intercept(self) -> bool:
        """Whether there is a constant."""

    @property
    def set_aside(self) -> tuple[int, ...]:
        """Columns of the table that are left out as combinations of others, to the rounding of their decimals."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the table."""

    def signed_rows(self, X: Any, y: Any, sample_weight: Any) -> SignedRows:
        """The signed rows of the data given; CertificateError where the question does not fit them."""

    def column_names(self) -> list[str]:
        """A name for each column of the signed rows."""

    def pairs(self) -> dict[Any, tuple[set[Any], set[Any]]]:
        """With more than two classes, the questions of two: by pair, the labels on either side."""

    def against_rest(self) -> dict[Any, tuple[set[Any], set[Any]]]:
        """With more than two classes, the questions of each against all others, by label."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True, eq=False)
class Separability(Claim):
    """``kind`` is "complete", "quasi", "overlap" or "undecided".

    ``direction`` has one weight per column and the constant's last (where there is one), scaled below 1;
    exactly it is the integer vector ``integers``. ``margin`` is the smallest ⟨yᵢ, v⟩ over the rows
    that are separated, divided by the length of v without the constant: a distance. Of more than two classes,
    ``pairs`` and ``against_rest`` hold the verdicts on two at a time and on each against all others.
    ``late`` says that the budget ran out before ``coefficients`` were known.

    The verdict that ``separability`` returns remembers the data, for ``max_margin()``; copies, pickles and
    the certificates of fitted models do not.
    """

    KINDS: ClassVar[tuple[str, ...]] = KINDS
    LABELS: ClassVar[tuple[str, ...]] = ("pairs", "against_rest")

    kind: str
    problem: SeparabilityProblem = field(repr=False)
    rank: int | None = None
    basis: Positions | None = field(default=None, repr=False)
    dependences: IntegerVectors = field(default=(), repr=False)
    integers: tuple[int, ...] | None = field(default=None, repr=False)
    margin: float = math.nan
    balance: Balance | None = field(default=None, repr=False)
    null: IntegerVectors = field(default=(), repr=False)
    separated: Positions | None = field(default=None, repr=False)
    fragile: bool = False
    open_rows: Positions | None = field(default=None, repr=False)
    count: int = 0
    members: Positions | None = field(default=None, repr=False)
    per_row: int = 1
    limits: dict[str, str] | None = field(default=None, repr=False)
    late: bool = field(default=False, repr=False)
    pairs: "dict[tuple[Any, Any], Separability]" = field(default_factory=dict, repr=False)
    against_rest: "dict[Any, Separability]" = field(default_factory=dict, repr=False)
    _source: SignedRows | None = field(default=None, repr=False, compare=False)

    @property
    def direction(self) -> Vector | None:
        """The direction in floating point, its largest entry between ½ and 1."""
        return None if self.integers is None else rounded(self.integers)

    @property
    def set_aside(self) -> tuple[str, ...]:
        """Names of the columns that are left out as combinations of others, to the rounding of their decimals."""
        return tuple(self.problem.names[j] for j in self.problem.set_aside)

    def _row_numbers(self, signed: Positions) -> Positions:
        """Rows of the user's table: with K classes each has K − 1 signed rows; some may be left out."""
        rows = np.unique(signed // self.per_row) if self.per_row > 1 else signed
        return rows if self.members is None else self.members[rows]

    @property
    def rows(self) -> Positions | None:
        """Rows of the proof of balance."""
        return None if self.balance is None else self._row_numbers(self.balance.rows)

    @property
    def multipliers(self) -> Vector | None:
        """λ of the proof of balance."""
        return None if self.balance is None else self.balance.multipliers

    @property
    def separated_rows(self) -> Positions:
        """Rows that some direction puts strictly on their side while none is on the wrong one."""
        if self.kind == "complete":
            return self._row_numbers(np.arange(self.count))
        return np.empty(0, dtype=np.int64) if self.separated is None else self._row_numbers(self.separated)

    @property
    def overlapping_rows(self) -> Positions:
        """The other rows: every direction leaves them at zero or puts one on the wrong side."""
        return np.setdiff1d(self._row_numbers(np.arange(self.count)), self.separated_rows)

    @property
    def coefficients(self) -> dict[str, str]:
        """For each column "finite", "+inf", "-inf", "unbounded" (either sign) or "aliased" (not identified)."""
        if self.limits is None:
            raise CertificateError(
                "The verdict does not say what becomes of each coefficient: it is undecided, the data is large, or the "
                "budget ran out.\n\n"
                "Hint: verdict.coefficients_of(X, y) computes it; of an undecided verdict raise the budget."
            )
        return self.limits

    def coefficients_of(
        self, X: Any, y: Any, sample_weight: Any = None, *, budget: float | None = None
    ) -> dict[str, str]:
        """What ``coefficients`` says, from the data of the verdict, however large; within ``budget`` seconds."""
        if budget is not None:
            check_value("budget", budget, SECONDS)
        if self.limits is not None:
            return self.limits
        deadline = math.inf if budget is None else time.monotonic() + float(budget)
        rows = self.problem.signed_rows(X, y, sample_weight)
        try:
            return apart(lambda: self._limits(rows, deadline), deadline)
        except OutOfTime:
            raise CertificateError(
                "What becomes of each coefficient was not found within the budget.\n\nHint: raise budget."
            ) from None

    @property
    def infinite(self) -> list[str]:
        """Names of the columns whose coefficients run to infinity, as far as known."""
        return [name for name, what in (self.limits or {}).items() if what not in ("finite", "aliased")]

    def _held_rows(self, X: Any, y: Any, sample_weight: Any) -> SignedRows:
        if X is not None:
            return self.problem.signed_rows(X, y, sample_weight)
        if self._source is None:
            raise CertificateError(
                "The verdict was stored without its data.\n\nHint: pass the data: verdict.max_margin(X, y)."
            )
        return self._source

    @property
    def _states_limits(self) -> bool:
        """Whether coefficients are part of the verdict: a matter of size alone, so that it can be checked."""
        if self.kind == "undecided" or self.basis is None:
            return False
        free = {"overlap": 0, "quasi": len(self.null)}.get(self.kind, len(self.basis))
        work = free * float(len(self.problem.column_names()))
        return work * self.count <= LIMITS_WORK and work * free <= LIMITS_LONG

    def with_limits(self, rows: SignedRows, deadline: float = math.inf) -> "Separability":
        """The same verdict with what becomes of each coefficient, unless the data is too large or time is over."""
        if not self._states_limits:
            return self
        with suppress(OutOfTime):
            return replace(self, limits=self._limits(rows, deadline), late=False)
        return replace(self, limits=None, late=True)

    def _limits(self, rows: SignedRows, deadline: float = math.inf) -> dict[str, str]:
        names = self.problem.column_names()
        if self.kind == "undecided":
            raise CertificateError("The verdict is undecided.\n\nHint: raise budget.")
        if self.basis is None:
            raise CertificateError("With so many columns their rank was not computed, nor what becomes of each.")
        if self.kind == "overlap":
            inside = set(self.basis.tolist())
            return {name: "finite" if j in inside else "aliased" for j, name in enumerate(names)}
        with one_blas_thread(), np.errstate(all="ignore"):
            every = np.arange(self.count) if self.separated is None else self.separated
            level = np.empty(0, dtype=np.int64) if self.balance is None else self.balance.rows
            null = self.null if self.kind == "quasi" else None
            assert self.integers is not None
            return coefficient_limits(
                rows, names, self.basis, null, every, self.integers, self.dependences, level, deadline
            )

    def max_margin(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> MarginCertificate:
        """The separating hyperplane of largest margin, with the rows on its edge, bracketed from both sides.

        Rows that come too close join a small sample until none is left outside the corridor. A verdict that does
        not remember its data needs it again.
        """
        if self.kind != "complete":
            raise CertificateError(f"The data is not completely separable ({self.kind}): there is no largest margin.")
        rows = self._held_rows(X, y, sample_weight)
        assert self.direction is not None
        with one_blas_thread(), np.errstate(all="ignore"):
            return largest_margin(rows, self.direction, self.problem)

    def widened(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, deadline: float = math.inf
    ) -> "Separability":
        """The same verdict with the direction of largest margin, to which fits without a penalty tend.

        Past the deadline, with the widest found so far; where columns are many and the time is limited, as it is.
        """
        rows = self._held_rows(X, y, sample_weight)
        if rows.width > MOST_WIDENED and deadline < math.inf:
            return self
        assert self.direction is not None
        try:
            with one_blas_thread(), np.errstate(all="ignore"):
                best = largest_margin(rows, self.direction, self.problem, deadline)
        except CertificateError:
            return self
        integers = lowest_terms(scaled_integers(best.direction, 53))
        seen = sides(rows, integers)
        if not seen.complete:
            return self
        margin = distance(seen.least, rounded(integers), rows)
        if not margin > self.margin:
            return self
        wider = replace(self, integers=tuple(integers), margin=margin, fragile=seen.fragile)
        # where least squares decides a limit it starts from the direction: what is stated is what verify finds
        return wider.with_limits(rows, deadline)

    def without_data(self) -> "Separability":
        """The same verdict, holding none of the data: what a fitted model keeps."""
        return replace(
            self,
            pairs={key: verdict.without_data() for key, verdict in self.pairs.items()},
            against_rest={key: verdict.without_data() for key, verdict in self.against_rest.items()},
            _source=None,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None}

    @property
    def exists(self) -> bool:
        """Whether the likelihood has a maximum."""
        return self.kind == "overlap"

    @property
    def met(self) -> bool:
        """Whether there is a verdict."""
        return self.kind != "undecided"

    @property
    def bound(self) -> float:
        """The slack of the proof, below 1: 0 where every claim was multiplied out exactly."""
        if not self.met:
            return math.inf
        return 0.0 if self.balance is None else self.balance.slack

    def __str__(self) -> str:
        return sentence(self)

    def _rederive(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Prove it again from the data and the stored witness alone."""
        if self.kind == "undecided":
            raise CertificateError("A verdict of kind 'undecided' claims nothing.")
        with one_blas_thread():
            rows = self.problem.signed_rows(X, y, sample_weight)
            check_form(self, rows)
            check_columns(self, rows)
            {"complete": check_complete, "quasi": check_quasi, "overlap": check_overlap}[self.kind](self, rows)
            if type(self.late) is not bool or (self.late and (self.limits is not None or not self._states_limits)):
                raise CertificateError("Whether the budget ran out before the coefficients were known is not said.")
            # where it did, the verdict says nothing of coefficients
            if not self.late and not same(self.limits, self._limits(rows) if self._states_limits else None):
                raise CertificateError("The coefficients do not run where the verdict says.")
            self._check_parts(X, y, sample_weight)

    def _check_parts(self, X: Any, y: Any, sample_weight: Any) -> None:
        """The verdicts on two classes at a time: about the classes they are filed under, and each proved."""
        for held, asked in ((self.pairs, self.problem.pairs()), (self.against_rest, self.problem.against_rest())):
            expected = bool(self.pairs or self.against_rest)
            if not isinstance(held, Mapping) or (expected and not same(list(held), list(asked))):
                raise CertificateError(
                    "The verdicts on two classes are not those of all pairs and of each against the rest."
                )
            for key, verdict in held.items():
                if type(verdict) is not Separability or verdict.pairs or verdict.against_rest:
                    raise CertificateError("What is filed under two classes is no verdict on two.")
                if verdict.problem.sides() != asked[key]:  # type: ignore[attr-defined]  # pairs are about two classes
                    raise CertificateError("A verdict on two classes is filed under others.")
                if verdict.problem.fit_intercept is not self.problem.fit_intercept:
                    raise CertificateError("A verdict on two classes is about another constant than the whole.")
                if verdict.kind == "undecided":  # it claims nothing; what is proved of the others stands
                    check_form(verdict, verdict.problem.signed_rows(X, y, sample_weight))
                else:
                    verdict.verify(X, y, sample_weight)


def lowest_terms(vector: Integers) -> Integers:
    """The vector divided by the greatest common divisor of its entries.

    >>> lowest_terms([4, -6])
    [2, -3]
    """
    divisor = math.gcd(*vector) or 1
    return [entry // divisor for entry in vector]


def as_vectors(vectors: list[Integers]) -> IntegerVectors:
    """Integer vectors as a value that does not change."""
    return tuple(tuple(vector) for vector in vectors)
