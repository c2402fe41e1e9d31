"""A symmetric positive definite matrix, factorised: steps, lengths, and what is dependent."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.kept import kept

DEPENDENT = 1e-11
"""A pivot below this share of its column's own size counts as zero."""


@dataclass(frozen=True)
class Factor:
    """H = L Lᵀ on the coordinates ``keep`` (all, if None), taken at the point ``anchor``.

    ``share`` says how much of it is certain: the true Hessian there is at least
    ``share``·H. Coordinates that are not kept do not move.
    """

    lower: Matrix
    diagonal: Vector
    anchor: Vector
    keep: Positions | None = None
    share: float = 1.0

    def solve(self, vector: Vector) -> Vector:
        """H⁻¹ times a vector."""
        if self.keep is None:
            solution: Vector = lapack.dpotrs(self.lower, vector, lower=1)[0]
            return solution
        out = np.zeros_like(vector)
        out[self.keep] = lapack.dpotrs(self.lower, vector[self.keep], lower=1)[0]
        return out

    @kept
    def inverse_lengths(self) -> Vector:
        """√(H⁻¹)ⱼⱼ for each kept coordinate: the length of the unit vectors in H⁻¹."""
        inverse, _ = lapack.dpotri(self.lower, lower=1)
        lengths: Vector = np.sqrt(np.diagonal(inverse))
        return lengths

    def kept(self, vector: Vector) -> Vector:
        """The kept coordinates of a vector."""
        return vector if self.keep is None else vector[self.keep]


def factorise(hessian: Matrix, anchor: Vector, keep: Positions | None = None, share: float = 1.0) -> Factor | None:
    """Cholesky of the Hessian, or None where it is not positive definite in floats.

    Columns of wildly different size do no harm: Cholesky's relative errors do not
    change when rows and columns are scaled by powers of two.

    >>> factorise(np.diag([4.0, 1e-16]), np.zeros(2)).solve(np.array([4.0, 1e-16]))
    array([1., 1.])
    """
    part = hessian if keep is None else hessian[np.ix_(keep, keep)]
    diagonal = part.diagonal().copy()
    if not (diagonal > 0).all() or not np.isfinite(diagonal).all():
        return None
    lower, info = lapack.dpotrf(part.T, lower=1, clean=0)
    if info != 0 or (np.square(lower.diagonal()) <= DEPENDENT * 1e-3 * diagonal).any():
        return None
    return Factor(lower, diagonal, anchor, keep, share)


def nudged(hessian: Matrix, anchor: Vector, keep: Positions | None = None) -> Factor:
    """A factor of the Hessian with its diagonal raised just enough: for steps, not for proofs."""
    diagonal = np.abs(hessian.diagonal())
    floor = np.where(diagonal > 0, diagonal, diagonal.max() or 1.0)
    raise_by = 1e-12
    while raise_by < 1e3:
        factor = factorise(hessian + np.diag(raise_by * floor), anchor, keep, share=0.0)
        if factor is not None:
            return factor
        raise_by *= 100
    raise FloatingPointError("The Hessian holds values that are not finite.")


def independent(gram: Matrix, last_first: bool, least: float = 0.0) -> Positions:
    """Coordinates whose columns are linearly independent, in ascending order.

    Cholesky of the Gram matrix scaled to a unit diagonal, with pivots: a column is
    left out when what the others do not explain is below ``DEPENDENT``·p of its
    square. Of columns that would serve almost equally well (a tenth of the best) the
    first is taken, so that of two equal columns the first stays. ``last_first`` takes
    the constant before any other; ``least`` raises the share below which a column is left out.

    >>> x = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0], [3.0, 6.0, 0.0]])
    >>> independent(x.T @ x, last_first=False)
    array([0, 2])
    """
    p = len(gram)
    size = np.sqrt(gram.diagonal())
    unit = np.where(size > 0, size, 1.0)
    scaled = gram / np.outer(unit, unit)
    left = np.where(size > 0, 1.0, 0.0)
    rows = np.zeros((p, p))
    chosen: list[int] = []
    for step in range(p):
        most = float(left.max())
        if most <= max(DEPENDENT * p, least):
            break
        take_last = last_first and step == 0 and left[-1] > 0
        j = p - 1 if take_last else int(np.argmax(left >= 0.1 * most))
        rows[:, step] = (scaled[:, j] - rows[:, :step] @ rows[j, :step]) / np.sqrt(left[j])
        left = left - np.square(rows[:, step])
        left[j] = -1.0  # taken
        chosen.append(j)
    return np.sort(np.array(chosen, dtype=np.int64))
