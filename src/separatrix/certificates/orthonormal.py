r"""The bound of ``self_concordance`` where columns nearly depend on each other.

A Hessian H = Σ cᵢx̃ᵢx̃ᵢᵀ + D (cᵢ = aᵢhᵢ, D the penalty) whose columns have condition κ has condition κ²: Cholesky
proves nothing from κ = 1e7 on. Its square root does not square: let A be the rows √cᵢ·x̃ᵢ and √D below each
other, and R the triangle of A = QR. **What QR's rounding did to R is measured, not estimated.** Solve for
zᵢ = R⁻ᵀx̃ᵢ and for the rows of √D R⁻¹. Substitution gives rows with |zᵢR − x̃ᵢ| ≤ c|zᵢ||R|, c = 4(p + 4)u
(Higham, Accuracy and Stability, theorem 8.5). Let B be the solved rows √cᵢ·zᵢ and √D R⁻¹ below each other,
δ ≥ ‖BᵀB − I‖ and ℓⱼ = ‖R⁻ᵀeⱼ‖. Then for every v

    ‖Av‖ ≥ ‖BRv‖ − c‖|B||R||v|‖ ≥ (√(1−δ) − ε)·‖Rv‖,     ε = c‖B‖ Σⱼ ‖Reⱼ‖ℓⱼ,

as ‖|R||v|‖ ≤ Σⱼ‖Reⱼ‖|vⱼ| and |vⱼ| ≤ ℓⱼ‖Rv‖. So H ≽ (√(1−δ) − ε)²·RᵀR: a proof as long as ε, of the
order of u·κ, is small.

The rows zᵢ are at hand, so the reach is the longest of them and not a sum over columns, and it does not
grow with the condition: R ≥ maxᵢ‖x̃ᵢ‖ in H⁻¹ = maxᵢ‖zᵢ‖, up to the factors above. ‖g‖ in H⁻¹ is ‖R⁻ᵀg‖, to
which the errors of the gradient are added: ``coordinate_error`` as Σⱼ errorⱼℓⱼ, ``slope_error`` as it is (see
``terms.sharp``). Entries of x̃ are off by u of themselves, which c contains; curvatures by ``curvature_error``,
half of which is a factor of √H.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack, solve_triangular

from separatrix.certificates.self_concordance import excess_bound
from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Vector
from separatrix.core.kept import kept

MOST_ERROR = 0.05
"""The largest ε: beyond it another order of summation could tip the bound."""


class Measured(Protocol):
    """A gradient with its errors, and the curvature of each row."""

    @property
    def gradient(self) -> Vector:
        """The slope of Φ."""

    @property
    def coordinate_error(self) -> Vector:
        """How far each of its coordinates may be off."""

    @property
    def slope_error(self) -> float:
        """How far the rows' slopes may move it, as a length in H⁻¹."""

    @property
    def curvature(self) -> Vector:
        """The curvature cᵢ of each row."""

    @property
    def curvature_error(self) -> float:
        """How far that may be off, as a share."""


@dataclass(frozen=True)
class Orthonormal:
    """Coordinates in which the Hessian is the identity, nearly: H ≈ RᵀR, proved up to ``certain``.

    ``triangle`` is R, ``lengths`` are the ℓⱼ, ``reach`` the longest zᵢ, ``off`` is δ, ``error`` is ε.
    """

    triangle: Matrix
    lengths: Vector
    reach: float
    off: float
    error: float

    def solve(self, vector: Vector) -> Vector:
        """(RᵀR)⁻¹ times a vector."""
        return np.asarray(solve_triangular(self.triangle, self.whiten(vector), check_finite=False))

    def whiten(self, vector: Vector) -> Vector:
        """R⁻ᵀ times a vector, whose length is that of the vector in H⁻¹."""
        return np.asarray(solve_triangular(self.triangle, vector, trans="T", check_finite=False))

    @kept
    def usable(self) -> bool:
        """Whether anything can be proved with it."""
        return self.error < MOST_ERROR and self.off < 0.5

    def bound(self, measured: Measured, allowance: float = 1.0) -> float:
        """Φ − Φ* at the point is at most this; infinity where nothing is proved.

        ``allowance`` ≥ 1 multiplies all rounding, so that whoever repeats it stays below the claim.
        """
        if not self.usable:
            return math.inf
        error = allowance * self.error
        certain = math.sqrt(1.0 - self.off) - error - 0.5 * allowance * measured.curvature_error
        if not certain > 0.5:
            return math.inf
        decrement = float(np.linalg.norm(self.whiten(measured.gradient))) * (1.0 + error)
        rounding = float(measured.coordinate_error @ self.lengths) * (1.0 + error) + measured.slope_error
        decrement = (decrement + allowance * rounding) / certain * (1.0 + 1e-9)
        reach = self.reach * (1.0 + error) / certain * (1.0 + 1e-9)
        return excess_bound(decrement, reach) if math.isfinite(decrement) else math.inf


def orthonormal(spread: Matrix, curvature: Vector, ridge: Vector) -> Orthonormal | None:
    """R, proved, for rows ``spread`` (n × p) with curvatures and a penalty's diagonal; None where R is singular.

    >>> found = orthonormal(np.eye(3), np.full(3, 4.0), np.zeros(3))
    >>> found.solve(np.array([4.0, 8.0, 0.0]))
    array([1., 2., 0.])
    """
    p = spread.shape[1]
    roots, penalised = np.sqrt(curvature)[:, None], np.flatnonzero(ridge > 0)
    below = np.zeros((len(penalised), p))
    below[np.arange(len(penalised)), penalised] = np.sqrt(ridge[penalised])
    if len(spread) + len(penalised) < p:
        return None
    triangle = np.asarray(np.linalg.qr(np.vstack([roots * spread, below]), mode="r"))
    diagonal = np.abs(triangle.diagonal())
    sizes = np.linalg.norm(triangle, axis=0)
    if not np.isfinite(sizes).all() or not (diagonal > p * UNIT_ROUNDOFF * sizes).all():
        return None
    solved = _substituted(triangle, spread)
    whitened = np.vstack([roots * solved, _substituted(triangle, below)])
    inverse, _ = lapack.dtrtri(triangle, lower=0)
    lengths = np.linalg.norm(inverse, axis=1)
    size = float(np.linalg.norm(whitened))
    off = float(np.linalg.norm(whitened.T @ whitened - np.eye(p)))
    off += (len(whitened) + p) * UNIT_ROUNDOFF * size * size
    error = 4.0 * (p + 4) * UNIT_ROUNDOFF * size * float(sizes @ lengths)
    reach = float(np.sqrt(np.square(solved).sum(axis=1).max()))
    return Orthonormal(triangle, lengths / (1.0 - min(error, 0.5)), reach, off, error)


def _substituted(triangle: Matrix, rows: Matrix) -> Matrix:
    """R⁻ᵀ times each row."""
    if not len(rows):
        return rows
    return np.ascontiguousarray(solve_triangular(triangle, rows.T, trans="T", check_finite=False).T)
