"""Rows that balance each other, as a witness that can be checked again."""

import math
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from separatrix.certificates.balance import balance_slack
from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.certificate import stated_array, stated_number
from separatrix.core.errors import CertificateError
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import integer_products, null_space, rounded
from separatrix.exact.coordinates import Coordinates

IntegerVectors = tuple[tuple[int, ...], ...]

STEPS = (2.0**-48, 2.0**-32, 2.0**-16, 0.999)
"""Values that a slack is rounded up to: sums in another order must not change what is stated."""


ENOUGH = 0.5
"""A slack that is small enough not to look for other coordinates."""


def stated_slack(found: float) -> float:
    """The first step that is some way above a slack.

    >>> stated_slack(1e-13) == 2.0**-32
    True
    """
    return next((step for step in STEPS if 16.0 * found <= step), STEPS[-1])


MOST_WHITENINGS, MOST_WHITENED = 2, 400
"""How often coordinates are made orthonormal, and for how many of them that is quick."""


@dataclass(frozen=True)
class Balance:
    """λ > 0 on ``rows`` with Σ λᵢyᵢ = 0, and the rank of those rows, which is that of their ``columns``.

    In floating point: near-multipliers, each within the share ``slack`` < 1 of an exact one, as ``balance_slack``
    proves in these columns or, where they nearly depend on each other, in exact coordinates that make the rows
    orthonormal. Or exactly: ``integers`` are the multipliers. The largest multiplier is between ½ and 1.
    """

    rows: Positions
    multipliers: Vector
    columns: Positions
    digests: tuple[str, ...] = field(repr=False)
    integers: tuple[int, ...] | None = field(default=None, repr=False)
    slack: float = 0.0

    @property
    def rank(self) -> int:
        """Rank of the rows."""
        return len(self.columns)

    def check(self, rows: SignedRows) -> bool:
        """Raise CertificateError unless it is a proof on this data; whether the proof needs every digit of it."""
        few = check_positions(self.rows, rows.count, "rows of the proof")
        columns = check_positions(self.columns, rows.width, "columns of the proof")
        multipliers = stated_array(self.multipliers, "multipliers", (len(few),))
        if not len(few) or not (multipliers.min() > 0.0 and 0.5 <= multipliers.max() <= 1.0):
            raise CertificateError("The multipliers are not positive with their largest between ½ and 1.")
        taken = rows.take(few)
        if digests(taken) != self.digests:
            raise CertificateError(
                "The rows of the proof have other values or labels now.\n\nHint: were rows reordered or changed?"
            )
        slack = stated_number(self.slack, "slack", 0.0)
        if self.integers is None and len(columns):
            found, fragile = proved_slack(taken, columns, multipliers)
            if not found <= slack < 1.0 or slack not in {stated_slack(f * found) for f in (0.5, 1.0, 2.0)}:
                raise CertificateError("The multipliers do not balance the rows of the proof within the slack stated.")
            return fragile
        if slack != 0.0:
            raise CertificateError("A proof without rounding has no slack.")
        if self.integers is not None:
            self._check_exactly(taken)
            return True
        if taken.any() or len(few) != 1 or multipliers[0] != 1.0:
            raise CertificateError("The row of the proof is not zero, or not alone.")
        return False

    def _check_exactly(self, taken: Matrix) -> None:
        whole = self.integers
        if type(whole) is not tuple or len(whole) != len(taken) or any(type(k) is not int or k <= 0 for k in whole):
            raise CertificateError("The exact multipliers are not positive, or not one per row.")
        if any(integer_products(np.ascontiguousarray(taken.T), list(whole))):
            raise CertificateError("The exact multipliers do not balance the rows of the proof.")
        if not np.array_equal(rounded(whole), self.multipliers) or math.gcd(*whole) != 1:
            raise CertificateError("The multipliers are not the exact ones in lowest terms.")
        # what is independent modulo a prime is independent
        if len(self.columns) and null_space(taken[:, self.columns]).rank != len(self.columns):
            raise CertificateError("The rows of the proof have a lower rank than claimed.")


def proved_slack(rows: Matrix, columns: Positions, multipliers: Vector) -> tuple[float, bool]:
    """``balance_slack`` in these columns, else in coordinates that make the rows orthonormal; whether the latter.

    If the rows (m × p) have full rank in coordinates T, they have it in the columns that T is made of, and T loses
    nothing of their span: what balances in T balances.
    """
    coordinates = Coordinates.plain(rows, columns)
    found = math.inf
    for count in range(1 + MOST_WHITENINGS):
        seen = coordinates.apply(rows)
        if not np.isfinite(seen).all():
            return math.inf, False
        # a column times a power of two is the same proof, and raw columns cannot underflow
        found = balance_slack(seen if count else rows[:, columns], multipliers)
        if found < ENOUGH or len(columns) > MOST_WHITENED or len(rows) < len(columns) or count == MOST_WHITENINGS:
            return found, count > 0
        coordinates = coordinates.whitened(rows, seen)
    return found, True


def check_positions(value: Any, limit: int, what: str) -> Positions:
    """Ascending positions below a limit, or CertificateError."""
    positions = stated_array(value, what, (len(value),), "i")
    if len(positions) and (positions[0] < 0 or positions[-1] >= limit or (np.diff(positions) <= 0).any()):
        raise CertificateError(f"The {what} do not ascend, or are not in the data.")
    return positions


def ordered(vectors: IntegerVectors) -> IntegerVectors:
    """Integer vectors in lowest terms that begin with a positive entry, in a fixed order.

    >>> ordered(((0, -4, 2), (3, 0, 0)))
    ((1, 0, 0), (0, 2, -1))
    """
    out = []
    for vector in vectors:
        divisor = math.gcd(*vector) or 1
        if next((entry for entry in vector if entry), 0) < 0:
            divisor = -divisor
        out.append(tuple(entry // divisor for entry in vector))
    return tuple(sorted(out, reverse=True))


def digests(rows: Matrix) -> tuple[str, ...]:
    """A short fingerprint of each signed row."""
    return tuple(blake2b((row + 0.0).tobytes(), digest_size=8).hexdigest() for row in rows)
