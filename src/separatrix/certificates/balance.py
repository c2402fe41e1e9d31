"""Proof that some λ > 0 balances given rows exactly, from a λ that nearly does.

Let A be the m × r matrix with rows λ̂ᵢyᵢ, so that the wanted λᵢ = λ̂ᵢ(1 + δᵢ) need
Aᵀ(1 + δ) = 0. With W = R⁻¹ from A = QR, B = AW has nearly orthonormal columns. If its
smallest singular value σ is positive, A has full rank, and the shortest solution has

    ‖δ‖ ≤ ‖WᵀAᵀ1‖ / σ,      σ ≥ √(1 − ‖BᵀB − I‖) − (error of B).

When this *slack* is below 1, all 1 + δᵢ > 0: positive multipliers exist whose sum is
zero exactly, and the rows have rank r. W need not be accurate, it only has to be some
matrix; every rounding error after it is bounded, with u = 2⁻⁵³:

- entries of the rows may have a relative error 4u (exact products are rounded to 52 bits), products with λ̂ another u:
  |ΔA| ≤ 5.01u|A|;
- B, as computed, is off by at most (r + 7)u |A||W| entry by entry;
- BᵀB by m·u |B|ᵀ|B|, and Aᵀ1 by (m + 5)u |A|ᵀ1 (any order of summation).
"""

import math

import numpy as np
import scipy.linalg

from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Vector

SAFETY = 1.01
"""Covers the rounding in computing the bounds themselves, all sums of positive numbers."""


def balance_slack(rows: Matrix, multipliers: Vector) -> float:
    """A bound on ‖δ‖, or infinity where none follows; below 1 it is a proof.

    ``rows`` (m × r) may be off by 4u per entry.

    >>> square = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> balance_slack(square, np.ones(4)) < 1e-12
    True
    >>> balance_slack(square, np.array([1.0, 2.0, 1.0, 1.0])) < 1
    True
    >>> balance_slack(square[:3], np.ones(3)) < 1
    False
    """
    m, r = rows.shape
    if m < r or not (np.isfinite(multipliers).all() and multipliers.min(initial=1.0) > 0.0):
        return math.inf
    if not np.isfinite(rows).all() or not rows.any(axis=0).all():
        return math.inf
    # Powers of two are kept apart until each column's largest is about one: nothing overflows, and what
    # underflows is below 2^-1022 of its column, far inside the bounds on rounding.
    factors, powers = np.frexp(rows)
    others, more = np.frexp(multipliers)
    matrix = factors * others[:, None]
    exponents = powers.astype(np.int64) + more[:, None]
    largest = np.where(rows != 0.0, exponents, np.iinfo(np.int64).min).max(axis=0)
    matrix = np.ldexp(matrix, np.clip(exponents - largest, -4000, 0).astype(np.int32))
    with np.errstate(all="ignore"):
        triangle = scipy.linalg.qr(matrix, mode="r", check_finite=False)[0][:r]
        if not (np.abs(np.diag(triangle)) > 0.0).all():
            return math.inf
        whitener = scipy.linalg.solve_triangular(triangle, np.eye(r), check_finite=False)
        return _slack(matrix, whitener, m, r)


def _slack(matrix: Matrix, whitener: Matrix, m: int, r: int) -> float:
    u = UNIT_ROUNDOFF
    size, wide = np.abs(matrix), np.abs(whitener)
    white = matrix @ whitener
    white_error = SAFETY * (r + 7) * u * float(np.linalg.norm(size @ wide))
    gram_error = SAFETY * (m + 2) * u * float(np.linalg.norm(np.abs(white).T @ np.abs(white)))
    departure = float(np.linalg.norm(white.T @ white - np.eye(r))) + gram_error
    if not departure < 1.0:
        return math.inf
    smallest = math.sqrt(1.0 - departure) - white_error
    if not smallest > 0.0:
        return math.inf
    sums = matrix.sum(axis=0)
    sums_error = SAFETY * (m + 6) * u * size.sum(axis=0)
    left = float(np.linalg.norm(np.abs(whitener.T @ sums) + SAFETY * wide.T @ (sums_error + r * u * np.abs(sums))))
    return SAFETY * left / smallest
