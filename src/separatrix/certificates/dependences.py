"""Checks that a rank is no higher than claimed: columns that depend on others exactly, or too few different rows."""

import numpy as np

from separatrix.certificates.sides import sides
from separatrix.certificates.witness import IntegerVectors
from separatrix.core.arrays import Matrix, Positions
from separatrix.core.errors import CertificateError
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import independent_part, null_space


def different_rows(rows: Matrix) -> int:
    """How many rows differ from each other and from each other's opposites; rows of zeros count for nothing.

    >>> different_rows(np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 0.0], [0.0, 3.0]]))
    2
    """
    first = np.take_along_axis(rows, (rows != 0.0).argmax(axis=1)[:, None], axis=1) if rows.shape[1] else rows
    facing = np.where(first < 0.0, -rows, rows) + 0.0
    return len({row.tobytes() for row in facing if row.any()})


def check_dependences(rows: SignedRows, vectors: IntegerVectors, basis: Positions, what: str) -> None:
    """Each vector orthogonal to all rows, with its own column outside the basis; all columns accounted for.

    Without vectors: the data has no more different rows than the basis has columns.
    """
    outside = np.setdiff1d(np.arange(rows.width), basis)
    if len(np.unique(basis)) + len(outside) != rows.width or len(basis) + len(outside) != rows.width:
        raise CertificateError("The basis names a column twice or one that is not there.")
    if not len(vectors) and len(outside) and rows.count <= 2 * rows.width + 10:
        if different_rows(rows.take(np.arange(rows.count))) > len(basis):
            raise CertificateError("The rank may be higher: there are more different rows than columns in the basis.")
        return
    if len(vectors) != len(outside):
        raise CertificateError("Not every column outside the basis has its dependence.")
    for column, vector in zip(outside, vectors, strict=True):
        if len(vector) != rows.width or not vector[column] > 0 or any(vector[k] for k in outside if k != column):
            raise CertificateError("A dependence speaks of other columns than its own and the basis.")
        if sides(rows, vector).signs.any():
            raise CertificateError(f"The {what} {int(column)} does not depend on the basis in this data.")


def check_rank(rows: SignedRows, basis: Positions) -> None:
    """The columns of the basis are independent over all rows: some rows show it, found again here.

    Where a few rows leave a dependence among them, rows that break it are added; if none does, the rank is lower.
    """
    wanted = 2 * len(basis) + 10
    chosen = rows.sample(wanted) if rows.count > wanted else np.arange(rows.count)
    while len(independent_part(rows.take(chosen)[:, basis])[0]) < len(basis):
        found = null_space(rows.take(chosen)[:, basis])
        breaking = []
        for vector in found.vectors:
            whole = [0] * rows.width
            for column, entry in zip(basis.tolist(), vector, strict=True):
                whole[column] = entry
            breaking.append(np.flatnonzero(sides(rows, whole).signs)[:4])
        if not all(map(len, breaking)):
            raise CertificateError("The rank is lower than claimed.")
        if not found.vectors:
            return
        chosen = np.union1d(chosen[found.rows], np.concatenate(breaking))


def independent_columns(vectors: IntegerVectors, basis: Positions) -> int:
    """len(basis) − the number of vectors, which must be independent and live on the basis columns."""
    inside = {int(column) for column in basis}
    for place, vector in enumerate(vectors):
        used = {k for k, entry in enumerate(vector) if entry}
        # by place, not by identity: the same object twice is one vector, not two
        others = {k for at, other in enumerate(vectors) if at != place for k, entry in enumerate(other) if entry}
        if not used <= inside or used <= others:
            raise CertificateError("The null vectors are not independent on the basis columns.")
    return len(basis) - len(vectors)
