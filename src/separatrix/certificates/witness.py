"""Rows that balance each other, as a witness that can be checked again."""

import math
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from separatrix.certificates.balance import balance_slack
from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.certificate import stated_array, stated_number
from separatrix.core.errors import CertificateError
from separatrix.core.exact import integer_products, nearest_float, null_space, rounded
from separatrix.core.protocols import SignedRows

IntegerVectors = tuple[tuple[int, ...], ...]

STATED = 4.0
"""The slack is stated so many times larger than it was: in another order of summation it comes out a little different."""

MOST_SLACK = 0.999


@dataclass(frozen=True)
class Balance:
    """λ > 0 on ``rows`` with Σ λᵢyᵢ = 0, and the rank of those rows.

    In floating point: near-multipliers, each within the share ``slack`` < 1 of an exact one, and
    ``coordinates``, integer vectors as many as the rank, in which ``balance_slack`` proves both. Or
    exactly: ``integers`` are the multipliers. The largest multiplier is between ½ and 1.
    """

    rows: Positions
    multipliers: Vector
    coordinates: IntegerVectors
    digests: tuple[str, ...] = field(repr=False)
    integers: tuple[int, ...] | None = field(default=None, repr=False)
    slack: float = 0.0

    @property
    def rank(self) -> int:
        """Rank of the rows."""
        return len(self.coordinates)

    @property
    def fragile(self) -> bool:
        """Whether the proof needs every digit: exact multipliers, or coordinates other than single columns."""
        return self.integers is not None or any(sum(map(bool, vector)) != 1 for vector in self.coordinates)

    def check(self, rows: SignedRows) -> None:
        """Raise CertificateError unless it is a proof on this data."""
        few = stated_array(self.rows, "rows of the proof", (len(self.rows),), "i")
        multipliers = stated_array(self.multipliers, "multipliers", (len(few),))
        if not len(few) or few[0] < 0 or few[-1] >= rows.count or (np.diff(few) <= 0).any():
            raise CertificateError("The rows of the proof do not ascend, or are not in the data.")
        if not (multipliers.min() > 0.0 and 0.5 <= multipliers.max() <= 1.0):
            raise CertificateError("The multipliers are not positive with their largest between ½ and 1.")
        taken = rows.take(few)
        if digests(taken) != self.digests:
            raise CertificateError(
                "The rows of the proof have other values or labels now.\n\nHint: were rows reordered or changed?"
            )
        self._check_coordinates(rows.width)
        seen = [_seen(taken, vector) for vector in self.coordinates]
        table = np.column_stack(seen) if seen else np.empty((len(taken), 0))
        slack = stated_number(self.slack, "slack", 0.0)
        if self.integers is not None:
            self._check_exactly(taken, table)
        elif seen:
            found = balance_slack(table, multipliers)
            claim = min(STATED * found, MOST_SLACK)
            if not (found <= slack < 1.0 and 0.6 * claim <= slack <= 1.4 * claim):
                raise CertificateError("The multipliers do not balance the rows of the proof within the slack stated.")
            return
        elif taken.any():
            raise CertificateError("The rows of the proof are not zero.")
        elif len(few) != 1 or multipliers[0] != 1.0:
            raise CertificateError("A row of zeros is a proof by itself.")
        if slack != 0.0:
            raise CertificateError("A proof without rounding has no slack.")

    def _check_coordinates(self, width: int) -> None:
        if type(self.coordinates) is not tuple or any(
            type(vector) is not tuple or len(vector) != width or any(type(entry) is not int for entry in vector)
            for vector in self.coordinates
        ):
            raise CertificateError("The coordinates of the proof have another width, or are not whole numbers.")
        if self.coordinates != ordered(self.coordinates):
            raise CertificateError("The coordinates of the proof are not in their order, or not in lowest terms.")

    def _check_exactly(self, taken: Matrix, table: Matrix) -> None:
        whole = self.integers
        if type(whole) is not tuple or len(whole) != len(taken) or any(type(k) is not int or k <= 0 for k in whole):
            raise CertificateError("The exact multipliers are not positive, or not one per row.")
        if any(integer_products(np.ascontiguousarray(taken.T), list(whole))):
            raise CertificateError("The exact multipliers do not balance the rows of the proof.")
        if not np.array_equal(rounded(whole), self.multipliers) or np.gcd.reduce(np.array(whole, dtype=object)) != 1:
            raise CertificateError("The multipliers are not the exact ones in lowest terms.")
        # what is independent modulo a prime is independent; each coordinate is a single column here, times one:
        # other factors would round, and rounding can make columns independent that are not
        if any(sum(map(bool, vector)) != 1 or sum(vector) != 1 for vector in self.coordinates):
            raise CertificateError("An exact proof is seen in plain columns.")
        if table.shape[1] and null_space(table).rank != table.shape[1]:
            raise CertificateError("The rows of the proof have a lower rank than claimed.")


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


def _seen(rows: Matrix, vector: tuple[int, ...]) -> Vector:
    """The rows in one coordinate, one rounding per entry; a plain column is copied."""
    used = [k for k, entry in enumerate(vector) if entry]
    if len(used) == 1 and vector[used[0]] == 1:
        return rows[:, used[0]]
    return np.array([nearest_float(value) for value in integer_products(rows, list(vector))])


def digests(rows: Matrix) -> tuple[str, ...]:
    """A short fingerprint of each signed row."""
    return tuple(blake2b((row + 0.0).tobytes(), digest_size=8).hexdigest() for row in rows)
