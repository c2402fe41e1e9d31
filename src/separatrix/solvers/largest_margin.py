"""The separating hyperplane of largest margin, for a few signed rows.

    minimise ‖w‖²/2   subject to  sᵢ(⟨w, xᵢ⟩ + b) ≥ 1,

whose dual is the shortest vector between the convex hulls of the two classes. Lawson
and Hanson's least-distance programming turns it into non-negative least squares, which
ends after finitely many steps. The free constant is a coordinate so long that its share
of the length vanishes; then the rows in support are solved for exactly once more.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.optimize import nnls

from separatrix.core.arrays import Matrix, Vector


@dataclass(frozen=True, slots=True)
class WidestCorridor:
    """Weights (with the constant last where there is one), and the multipliers of the rows."""

    direction: Vector
    multipliers: Vector


def widest_corridor(rows: Matrix, constant: bool) -> WidestCorridor:
    """For signed rows s·(x, 1), or s·x without a constant; they must be separable.

    >>> corridor = widest_corridor(np.array([[1.0, 1.0], [3.0, 1.0], [1.0, -1.0]]), True)
    >>> bool(np.allclose(corridor.direction, [1.0, 0.0]))
    True
    """
    if not constant:
        multipliers = _least_distance(rows)
        return _polish(rows, multipliers, constant)
    signs, values = rows[:, -1], rows[:, :-1]
    points = signs[:, None] * values
    # seen from the middle of the corridor the constant is small
    middle = 0.5 * (points[signs > 0].mean(axis=0) + points[signs < 0].mean(axis=0))
    centred = signs[:, None] * (points - middle)
    size = float(np.abs(centred).max(initial=0.0)) or 1.0
    best = None
    for length in (1e2, 1e4, 1e6):
        multipliers = _least_distance(np.column_stack([centred, signs * size * length]))
        corridor = _polish(np.column_stack([centred, signs]), multipliers, constant)
        width = _width(np.column_stack([centred, signs]), corridor.direction)
        if best is None or width > best[0]:
            best = width, corridor
    assert best is not None
    direction = best[1].direction.copy()
    direction[-1] -= float(direction[:-1] @ middle)
    return WidestCorridor(direction, best[1].multipliers)


def _width(rows: Matrix, direction: Vector) -> float:
    length = float(np.linalg.norm(direction[:-1]))
    return float((rows @ direction).min()) / length if length > 0.0 else -np.inf


def _least_distance(rows: Matrix) -> Vector:
    """Multipliers u of min ‖z‖ with ⟨yᵢ, z⟩ ≥ 1."""
    size = float(np.abs(rows).max())
    table = np.vstack([rows.T / size, np.ones(len(rows))])
    target = np.zeros(len(table))
    target[-1] = 1.0
    return np.asarray(nnls(table, target, maxiter=100 * len(rows) + 1000)[0])


def _polish(rows: Matrix, multipliers: Vector, constant: bool) -> WidestCorridor:
    """The hyperplane with all rows in support at distance one, rows of negative multiplier dropped."""
    support = np.flatnonzero(multipliers > 1e-10 * multipliers.max())
    weights = rows[:, :-1] if constant else rows
    while True:
        mine = weights[support]
        direction = _level(mine, rows[support, -1] if constant else None)
        # w = Σ αᵢsᵢxᵢ and Σ αᵢsᵢ = 0, from the rows themselves and not from their products
        system, right = mine.T, direction[: mine.shape[1]]
        if constant:
            size = float(np.abs(mine).max()) or 1.0
            system, right = np.vstack([system, size * rows[support, -1]]), np.append(right, 0.0)
        factors = scipy.linalg.lstsq(system, right, check_finite=False)[0]
        if len(support) <= 1 + constant or factors.min() >= -1e-9 * np.abs(factors).max():
            break
        support = np.delete(support, int(factors.argmin()))
    full = np.zeros(len(rows))
    full[support] = np.maximum(factors, 0.0)
    return WidestCorridor(direction, full)


def _level(rows: Matrix, signs: Vector | None) -> Vector:
    """(w, b) with ⟨yᵢ, w⟩ + sᵢb = 1 on all rows and w as short as can be."""
    ones = np.ones(len(rows))
    if signs is None:
        return np.asarray(scipy.linalg.lstsq(rows, ones, check_finite=False)[0])
    # b for which the solution is shortest: the one whose multipliers add up to zero over the signs
    left, sizes, right = scipy.linalg.svd(rows, full_matrices=False, check_finite=False)
    keep = sizes > 1e-13 * sizes[0]
    left, sizes, right = left[:, keep], sizes[keep], right[keep]
    unreached = signs - left @ (left.T @ signs)
    if unreached @ unreached > 1e-20 * len(signs):
        constant = float(unreached @ ones) / float(unreached @ signs)
    else:
        a, c = left.T @ ones / sizes, left.T @ signs / sizes
        constant = float(a @ c) / float(c @ c)
    weights = right.T @ (left.T @ (ones - constant * signs) / sizes)
    return np.append(weights, constant)
