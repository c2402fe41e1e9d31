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
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from separatrix.certificates.dependences import check_dependences, independent_columns
from separatrix.certificates.limits import coefficient_limits
from separatrix.certificates.margin import MarginCertificate, largest_margin
from separatrix.certificates.sides import exact_margins, sides
from separatrix.certificates.witness import Balance, IntegerVectors
from separatrix.core.arrays import Positions, Vector
from separatrix.core.errors import CertificateError
from separatrix.core.exact import Integers, null_space, rounded, scaled_integers
from separatrix.core.protocols import SignedRows
from separatrix.core.threads import one_blas_thread

KINDS = ("complete", "quasi", "overlap", "undecided")


class SeparabilityProblem(Protocol):
    """What was asked, without the data."""

    def signed_rows(self, X: Any, y: Any, sample_weight: Any) -> SignedRows:
        """The signed rows of the data given."""

    def column_names(self) -> list[str]:
        """A name for each column of the signed rows."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""


@dataclass(frozen=True)
class Separability:
    """``kind`` is "complete", "quasi", "overlap" or "undecided".

    ``direction`` has one weight per column and the constant's last (where there is one), scaled below 1;
    exactly it is the integer vector ``integers``. ``margin`` is the smallest ⟨yᵢ, v⟩ over the rows
    that are separated, divided by the length of v without the constant: a distance.
    """

    kind: str
    problem: SeparabilityProblem = field(repr=False)
    rank: int | None = None
    basis: Positions | None = field(default=None, repr=False)
    dependences: IntegerVectors = field(default=(), repr=False)
    independent: Positions | None = field(default=None, repr=False)
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
    source: SignedRows | None = field(default=None, repr=False, compare=False)

    @property
    def direction(self) -> Vector | None:
        """The direction in floating point, its largest entry between ½ and 1."""
        return None if self.integers is None else rounded(self.integers)

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
            object.__setattr__(self, "limits", self._limits(self._held_rows()))
        assert self.limits is not None
        return self.limits

    @property
    def infinite(self) -> list[str]:
        """Names of the columns whose coefficients run to infinity, as far as known."""
        if self.limits is None and self.source is None:
            return []
        return [name for name, what in self.coefficients.items() if what not in ("finite", "aliased")]

    def _held_rows(self) -> SignedRows:
        if self.source is None:
            raise CertificateError(
                "The verdict was stored without its data.\n\nHint: call separability(X, y) on the data again."
            )
        return self.source

    def _limits(self, rows: SignedRows) -> dict[str, str]:
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
            return coefficient_limits(rows, names, self.basis, null, every, self.integers, self.dependences, level)

    def max_margin(self) -> MarginCertificate:
        """The separating hyperplane of largest margin, with the rows on its edge, bracketed from both sides.

        Rows that come too close join a small sample until none is left outside the corridor.
        """
        if self.kind != "complete":
            raise CertificateError(f"The data is not completely separable ({self.kind}): there is no largest margin.")
        rows = self._held_rows()
        assert self.direction is not None
        with one_blas_thread(), np.errstate(all="ignore"):
            return largest_margin(rows, self.direction, self.problem)

    def widened(self) -> "Separability":
        """The same verdict with the direction of largest margin, to which fits without a penalty tend."""
        try:
            best = self.max_margin()
        except CertificateError:
            return self
        rows = self._held_rows()
        integers = scaled_integers(best.direction, 53)
        seen = sides(rows, integers)
        if not (seen.signs > 0).all():
            return self
        margin = distance(seen.margins, rounded(integers), rows)
        return replace(self, integers=tuple(integers), margin=margin) if margin > self.margin else self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": None}

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
        tail = " Changes of the size of rounding could change that." if self.fragile else ""
        if self.kind == "complete":
            return (
                f"Completely separable: every row lies on its side, at a distance of {self.margin:.3g} at least.{tail}"
            )
        if self.kind == "overlap":
            assert self.balance is not None
            few = len(self.balance.rows)
            return f"The classes overlap: {few} rows balance each other at the full rank {self.rank}.{tail}"
        if self.kind == "quasi":
            assert self.separated is not None
            infinite = self.infinite
            text = f"Quasi-completely separable: {len(self.separated)} of {self.count} rows can be separated, no more."
            if infinite:
                text += f" Not finite: {', '.join(infinite[:10])}{', …' if len(infinite) > 10 else ''}."
            return text + tail
        left = 0 if self.open_rows is None else len(self.open_rows)
        return f"Undecided: the budget ran out with {left} rows still open."

    def to_dict(self) -> dict[str, Any]:
        """The claim and its witness as plain values."""
        balance = self.balance
        return {
            "kind": self.kind,
            "rank": self.rank,
            "basis": None if self.basis is None else self.basis.tolist(),
            "dependences": [list(vector) for vector in self.dependences],
            "independent": None if self.independent is None else self.independent.tolist(),
            "direction": None if self.integers is None else list(self.integers),
            "margin": self.margin,
            "rows": None if balance is None else balance.rows.tolist(),
            "multipliers": None if balance is None else balance.multipliers.tolist(),
            "coordinates": None if balance is None else [list(vector) for vector in balance.coordinates],
            "integers": None if balance is None or balance.integers is None else list(balance.integers),
            "slack": None if balance is None else balance.slack,
            "digests": None if balance is None else list(balance.digests),
            "null": [list(vector) for vector in self.null],
            "separated": None if self.separated is None else self.separated.tolist(),
            "coefficients": self.limits,
            "fragile": self.fragile,
            "problem": self.problem.to_dict(),
        }

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> "Separability":
        """Prove it again from the data and the stored witness alone; raises CertificateError where it is false."""
        if self.kind not in KINDS or self.kind == "undecided":
            raise CertificateError(f"A verdict of kind {self.kind!r} claims nothing.")
        rows = self.problem.signed_rows(X, y, sample_weight)
        if rows.count != self.count:
            raise CertificateError(f"The verdict is about {self.count} signed rows; this data has {rows.count}.")
        if rows.per_row != self.per_row or not _same(rows.members, self.members):
            raise CertificateError("The signed rows stand for other rows of the table than the verdict says.")
        with one_blas_thread(), np.errstate(all="ignore"):
            self._check_columns(rows)
            {"complete": self._check_complete, "quasi": self._check_quasi, "overlap": self._check_overlap}[self.kind](
                rows
            )
            if self.limits is not None and self.limits != self._limits(rows):
                raise CertificateError("The coefficients do not run where the verdict says.")
        return self

    def _check_columns(self, rows: SignedRows) -> None:
        """Rank ≤ r: every column outside the basis depends on those inside."""
        if self.basis is None:
            if self.rank is not None or self.kind != "complete":
                raise CertificateError("The verdict names no basis of the columns.")
            return
        check_dependences(rows, self.dependences, self.basis, "column")
        if self.rank != len(self.basis):
            raise CertificateError("The rank is not the number of basis columns.")
        chosen = np.empty(0, dtype=np.int64) if self.independent is None else self.independent
        if len(chosen) != self.rank or (len(chosen) and (chosen.min() < 0 or chosen.max() >= rows.count)):
            raise CertificateError("The rank has no rows to show it.")
        if self.rank and null_space(rows.take(chosen)[:, self.basis]).rank != self.rank:
            raise CertificateError("The rank is lower than claimed.")

    def _sides(self, rows: SignedRows) -> Any:
        if self.integers is None or len(self.integers) != rows.width or not any(self.integers):
            raise CertificateError("The verdict has no direction, or one of another width.")
        return sides(rows, self.integers)

    def _check_complete(self, rows: SignedRows) -> None:
        seen = self._sides(rows)
        if (seen.signs <= 0).any():
            first = int((seen.signs <= 0).argmax())
            raise CertificateError(f"Row {first} is not on its side of the direction.")
        self._check_margin(rows, seen)

    def _check_overlap(self, rows: SignedRows) -> None:
        if self.balance is None or self.basis is None or self.balance.rank != len(self.basis):
            raise CertificateError("The verdict of overlap has no proof at full rank.")
        self.balance.check(rows)

    def _check_quasi(self, rows: SignedRows) -> None:
        seen = self._sides(rows)
        if (seen.signs < 0).any():
            raise CertificateError(f"Row {int((seen.signs < 0).argmax())} is on the wrong side of the direction.")
        separated = np.flatnonzero(seen.signs > 0)
        if self.separated is None or not np.array_equal(separated, self.separated) or not len(separated):
            raise CertificateError("The rows said to be separated are not those that the direction separates.")
        if self.balance is None or np.isin(self.balance.rows, separated).any():
            raise CertificateError("The verdict has no proof, or one with rows that are separated.")
        assert self.basis is not None
        rest = np.flatnonzero(seen.signs == 0)
        if any(len(vector) != rows.width for vector in self.null):
            raise CertificateError("A null vector has another width.")
        inner = independent_columns(self.null, self.basis)
        for vector in self.null:
            if np.any(exact_margins(rows, rest, vector)):
                raise CertificateError("The rows of zero margin have a higher rank than claimed.")
        if inner != self.balance.rank:
            raise CertificateError("The proof's rows do not have the rank of all rows of zero margin.")
        self.balance.check(rows)
        self._check_margin(rows, seen)

    def _check_margin(self, rows: SignedRows, seen: Any) -> None:
        margin = distance(seen.margins[seen.signs > 0], self.direction, rows)
        if not (margin == self.margin or abs(margin - self.margin) <= 1e-9 * abs(self.margin)):
            raise CertificateError(f"The margin is {margin:.17g}, not {self.margin:.17g} as claimed.")


def distance(margins: Vector, direction: Vector | None, rows: SignedRows) -> float:
    """The smallest margin over the length of the weights; infinite when only the constant decides."""
    assert direction is not None
    weights = direction[rows.is_weight]
    # the squares of small weights underflow
    scale = float(np.abs(weights).max(initial=0.0))
    return float(margins.min()) / scale / float(np.linalg.norm(weights / scale)) if scale > 0.0 else math.inf


def _same(one: Positions | None, other: Positions | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def as_vectors(vectors: list[Integers]) -> IntegerVectors:
    """Integer vectors as a value that does not change."""
    return tuple(tuple(vector) for vector in vectors)
