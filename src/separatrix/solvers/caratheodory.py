"""Few rows that balance, out of many.

If Σ λᵢyᵢ = 0 with λ > 0 and the rows have rank r, at most 2r of them do the same with
rank r (Steinitz). First r independent rows are set aside with half their multipliers;
then the rest is reduced: while more rows than r carry weight, a dependence among them
is subtracted until a multiplier reaches zero (Carathéodory).
"""

import math
import time

import numpy as np
import scipy.linalg

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import OutOfTime


def few_rows(rows: Matrix, multipliers: Vector, deadline: float = math.inf) -> tuple[Positions, Vector]:
    """Positions of at most 2r rows and their multipliers, for rows of full column rank r; OutOfTime past the deadline.

    >>> rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])
    >>> which, multipliers = few_rows(rows, np.ones(6))
    >>> len(which) <= 4, abs(multipliers @ rows[which]).max() < 1e-14
    (True, np.True_)
    """
    rank = rows.shape[1]
    weighted = rows * multipliers[:, None]
    kept = np.sort(scipy.linalg.qr(weighted.T, mode="r", pivoting=True, check_finite=False)[1][:rank])
    rest = multipliers.copy()
    rest[kept] *= 0.5
    reduced = _reduce(rows, rest, deadline)
    total = reduced.copy()
    total[kept] += 0.5 * multipliers[kept]
    which = np.flatnonzero(total > 0.0)
    return which, _rebalance(rows[which], total[which])


def _reduce(rows: Matrix, multipliers: Vector, deadline: float) -> Vector:
    """Multipliers on at most r rows with the same Σ λᵢyᵢ, those carrying little removed first."""
    rank = rows.shape[1]
    carrying = np.flatnonzero(multipliers > 0.0)
    if len(carrying) <= rank:
        return multipliers
    # In relative terms every multiplier is 1, and the rows are λᵢyᵢ; the first basis is well conditioned.
    weighted = rows[carrying] * multipliers[carrying, None]
    order = scipy.linalg.qr(weighted.T, mode="r", pivoting=True, check_finite=False)[1]
    basis = order[:rank].copy()
    inverse = np.asfortranarray(np.linalg.inv(weighted[basis].T))
    level = np.ones(rank)
    # Each other row either goes, its weight moved to the basis, or takes the place of
    # the basis row that reaches zero first.
    for other in order[rank:]:
        if time.monotonic() > deadline:
            raise OutOfTime
        column = inverse @ weighted[other]
        new = level + column
        if new.min() >= 0.0:
            level = new
            continue
        falling = column < 0.0
        ratio = np.where(falling, level / np.where(falling, -column, 1.0), np.inf)
        place = int(ratio.argmin())
        share = float(ratio[place])
        level = level + share * column
        level[place] = 1.0 - share
        basis[place] = other
        top = inverse[place] / column[place]
        column[place] -= 1.0
        inverse = scipy.linalg.blas.dger(-1.0, column, top, a=inverse, overwrite_a=True)
    reduced = np.zeros(len(multipliers))
    reduced[carrying[basis]] = np.maximum(level, 0.0) * multipliers[carrying[basis]]
    return reduced


def _rebalance(rows: Matrix, multipliers: Vector) -> Vector:
    """Remove what rounding left of Σ λᵢyᵢ, each multiplier changed in proportion to itself."""
    for _ in range(2):
        weighted = rows * multipliers[:, None]
        change = scipy.linalg.lstsq(weighted.T, weighted.sum(axis=0), check_finite=False)[0]
        trial = multipliers * (1.0 - change)
        if not (np.isfinite(trial).all() and trial.min() > 0.0):
            break
        multipliers = trial
    return multipliers
