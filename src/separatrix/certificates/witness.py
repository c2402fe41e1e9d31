"""Rows that balance each other, as a witness that can be checked again."""

from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from separatrix.certificates.balance import balance_slack
from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import CertificateError
from separatrix.core.exact import integer_products, nearest_float, null_space, rounded
from separatrix.core.protocols import SignedRows

IntegerVectors = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Balance:
    """λ > 0 on ``rows`` with Σ λᵢyᵢ = 0, and the rank of those rows.

    In floating point: near-multipliers, each within the share ``slack`` < 1 of an exact one, and
    ``coordinates``, integer vectors as many as the rank, in which ``balance_slack`` proves both. Or
    exactly: ``integers`` are the multipliers.
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

    def check(self, rows: SignedRows) -> None:
        """Raise CertificateError unless it is a proof on this data."""
        if len(self.rows) != len(self.multipliers) or len(np.unique(self.rows)) != len(self.rows):
            raise CertificateError("The proof names a row twice, or has not one multiplier per row.")
        if not len(self.rows) or self.rows.min() < 0 or self.rows.max() >= rows.count:
            raise CertificateError("The proof names rows that the data does not have.")
        taken = rows.take(self.rows)
        if digests(taken) != self.digests:
            raise CertificateError(
                "The rows of the proof have other values or labels now.\n\nHint: were rows reordered or changed?"
            )
        if any(len(vector) != rows.width for vector in self.coordinates):
            raise CertificateError("The coordinates of the proof have another width.")
        seen = [_seen(taken, vector) for vector in self.coordinates]
        table = np.column_stack(seen) if seen else np.empty((len(taken), 0))
        if self.integers is not None:
            self._check_exactly(taken, table)
        elif seen and not balance_slack(table, self.multipliers) <= self.slack < 1.0:
            raise CertificateError("The multipliers do not balance the rows of the proof.")
        elif not seen and taken.any():
            raise CertificateError("The rows of the proof are not zero.")

    def _check_exactly(self, taken: Matrix, table: Matrix) -> None:
        assert self.integers is not None
        if len(self.integers) != len(taken) or min(self.integers) <= 0:
            raise CertificateError("The exact multipliers are not positive, or not one per row.")
        if any(integer_products(np.ascontiguousarray(taken.T), list(self.integers))):
            raise CertificateError("The exact multipliers do not balance the rows of the proof.")
        if not np.array_equal(rounded(self.integers), self.multipliers):
            raise CertificateError("The multipliers are not the exact ones.")
        # what is independent modulo a prime is independent; each coordinate is a single column here, times one:
        # other factors would round, and rounding can make columns independent that are not
        if any(sum(map(bool, vector)) != 1 or sum(vector) != 1 for vector in self.coordinates):
            raise CertificateError("An exact proof is seen in plain columns.")
        if table.shape[1] and null_space(table).rank != table.shape[1]:
            raise CertificateError("The rows of the proof have a lower rank than claimed.")


def _seen(rows: Matrix, vector: tuple[int, ...]) -> Vector:
    """The rows in one coordinate, one rounding per entry; a plain column is copied."""
    used = [k for k, entry in enumerate(vector) if entry]
    if len(used) == 1 and vector[used[0]] == 1:
        return rows[:, used[0]]
    return np.array([nearest_float(value) for value in integer_products(rows, list(vector))])


def digests(rows: Matrix) -> tuple[str, ...]:
    """A short fingerprint of each signed row."""
    return tuple(blake2b((row + 0.0).tobytes(), digest_size=8).hexdigest() for row in rows)
