"""What a verdict on separability must show, check by check.

The form of every part is fixed, so that what is stated can be compared: positions ascend, integer vectors have no
common divisor, multipliers have their largest between ½ and 1. What a kind of verdict has no use for is empty.
"""

import math
from typing import Any

import numpy as np

from separatrix.certificates.dependences import check_dependences, check_rank, independent_columns
from separatrix.certificates.sides import Sides, exact_margins, sides
from separatrix.certificates.witness import check_positions, ordered
from separatrix.core.arrays import Vector
from separatrix.core.certificate import stated_number
from separatrix.core.errors import CertificateError
from separatrix.core.plain_values import same
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import rounded

EMPTY: dict[str, dict[str, Any]] = {
    "complete": {"balance": None, "null": (), "separated": None, "open_rows": None},
    "quasi": {"open_rows": None},
    "overlap": {"integers": None, "null": (), "separated": None, "open_rows": None, "margin": math.nan, "late": False},
    "undecided": {"integers": None, "balance": None, "null": (), "separated": None, "margin": math.nan,
                  "limits": None, "fragile": False, "late": False},
}  # fmt: skip
"""Fields that a verdict of each kind leaves empty."""


def check_form(verdict: Any, rows: SignedRows) -> None:
    """The rows are those that the verdict is about, and nothing is stated that its kind has no proof for."""
    if any(type(number) is not int for number in (verdict.count, verdict.per_row)):
        raise CertificateError("The verdict counts its rows by no whole number.")
    if not same(rows.count, verdict.count):
        raise CertificateError(
            f"The verdict is about {verdict.count} signed rows; this data has {rows.count}.\n\n"
            "Hint: were rows added or left out, or labels or weights changed?"
        )
    if not (same(rows.per_row, verdict.per_row) and same(rows.members, verdict.members)):
        raise CertificateError("The signed rows stand for other rows of the table than the verdict says.")
    for name, empty in EMPTY[verdict.kind].items():
        if not same(getattr(verdict, name), empty):
            raise CertificateError(f"A verdict of kind {verdict.kind!r} has nothing to state as {name}.")
    if not isinstance(verdict.fragile, bool):
        raise CertificateError("Whether the verdict is fragile is not said.")


def check_columns(verdict: Any, rows: SignedRows) -> None:
    """Rank ≤ r: every column outside the basis depends on those inside. Rank ≥ r: some rows have it."""
    if verdict.basis is None:
        if verdict.rank is not None or verdict.kind != "complete" or verdict.dependences != ():
            raise CertificateError("The verdict names no basis of the columns.")
        return
    basis = check_positions(verdict.basis, rows.width, "basis")
    check_vectors(verdict.dependences, rows.width, "dependences")
    check_dependences(rows, verdict.dependences, basis, "column")
    if type(verdict.rank) is not int or verdict.rank != len(basis):
        raise CertificateError("The rank is not the number of basis columns.")
    if verdict.kind != "overlap":  # there the balance shows it
        check_rank(rows, basis)


def check_complete(verdict: Any, rows: SignedRows) -> None:
    """Every row on its side."""
    seen = _sides(verdict, rows)
    if (seen.signs <= 0).any():
        first = int((seen.signs <= 0).argmax())
        raise CertificateError(f"Row {first} is not on its side of the direction.")
    _check_margin(verdict, rows, seen)


def check_overlap(verdict: Any, rows: SignedRows) -> None:
    """A balance at full rank."""
    if verdict.balance is None or verdict.basis is None or not same(verdict.balance.columns, verdict.basis):
        raise CertificateError("The verdict of overlap has no proof at full rank.")
    if verdict.fragile != verdict.balance.check(rows):
        raise CertificateError("Whether rounding could change the verdict is not as stated.")


def check_quasi(verdict: Any, rows: SignedRows) -> None:
    """No row on the wrong side, and those of zero margin balance at the rank of all of them."""
    seen = _sides(verdict, rows)
    if (seen.signs < 0).any():
        raise CertificateError(f"Row {int((seen.signs < 0).argmax())} is on the wrong side of the direction.")
    separated = np.flatnonzero(seen.signs > 0)
    if not same(verdict.separated, separated) or not len(separated):
        raise CertificateError("The rows said to be separated are not those that the direction separates.")
    if verdict.balance is None or np.isin(verdict.balance.rows, separated).any():
        raise CertificateError("The verdict has no proof, or one with rows that are separated.")
    check_vectors(verdict.null, rows.width, "null vectors")
    if verdict.null != ordered(verdict.null):
        raise CertificateError("The null vectors are not in their order, or turned around.")
    inner = independent_columns(verdict.null, verdict.basis)
    rest = np.flatnonzero(seen.signs == 0)
    for vector in verdict.null:
        if np.any(exact_margins(rows, rest, vector)):
            raise CertificateError("The rows of zero margin have a higher rank than claimed.")
    if inner != verdict.balance.rank or not np.isin(verdict.balance.columns, verdict.basis).all():
        raise CertificateError("The proof's rows do not have the rank of all rows of zero margin.")
    verdict.balance.check(rows)
    _check_margin(verdict, rows, seen)


def check_vectors(vectors: Any, width: int, what: str) -> None:
    """Tuples of whole numbers, each as long as a row and without a common divisor."""
    if type(vectors) is not tuple or not all(type(vector) is tuple and len(vector) == width for vector in vectors):
        raise CertificateError(f"The {what} are not vectors over the columns.")
    for vector in vectors:
        if any(type(entry) is not int for entry in vector) or math.gcd(*vector) != 1:
            raise CertificateError(f"The {what} are not whole numbers without a common divisor.")


def distance(least: float, direction: Vector | None, rows: SignedRows) -> float:
    """The least margin over the length of the weights; infinite when only the constant decides."""
    assert direction is not None
    weights = direction[rows.is_weight]
    # the squares of small weights underflow
    scale = float(np.abs(weights).max(initial=0.0))
    return least / scale / float(np.linalg.norm(weights / scale)) if scale > 0.0 else math.inf


def _sides(verdict: Any, rows: SignedRows) -> Sides:
    if verdict.integers is None or len(verdict.integers) != rows.width or not any(verdict.integers):
        raise CertificateError("The verdict has no direction, or one of another width.")
    check_vectors((verdict.integers,), rows.width, "entries of the direction")
    return sides(rows, verdict.integers)


def _check_margin(verdict: Any, rows: SignedRows, seen: Sides) -> None:
    margin = distance(seen.least, rounded(verdict.integers), rows)
    stated = stated_number(verdict.margin, "margin", 0.0, infinite=True)
    if not (margin == stated or abs(margin - stated) <= 1e-9 * abs(margin)):
        raise CertificateError(f"The margin is {margin:.17g}, not {stated:.17g} as claimed.")
    if verdict.fragile != seen.fragile:
        raise CertificateError("Whether rounding could change the verdict is not as stated.")
