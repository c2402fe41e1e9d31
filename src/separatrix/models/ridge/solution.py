"""The weights that least squares with a penalty asks for: by Cholesky, or by a triangle of the rows."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.protocols import Engine
from separatrix.terms.least_squares import (
    WORST,
    NormalEquations,
    equation_residual,
    independent_columns,
    triangle,
)


@dataclass(frozen=True, slots=True)
class RidgeSolution:
    """Weights (targets × d), offsets, the kept columns, and T with ‖T(x − m, 1)‖² = h."""

    coef: Matrix
    intercept: Vector
    keep: Positions
    leverage_map: Matrix


def solve_ridge(engine: Engine, equations: NormalEquations, alpha: float) -> RidgeSolution:
    """Cholesky of the scaled Gram matrix and one refinement from the data, or a triangle where that is too ill."""
    d = len(equations.gram)
    scale = np.sqrt(equations.gram.diagonal() + alpha)
    unit = np.where(scale > 0, scale, 1.0)
    keep: Positions = np.arange(d)
    if alpha == 0.0:
        keep = independent_columns(equations)
    matrix = (equations.gram + alpha * np.eye(d))[np.ix_(keep, keep)] / np.outer(unit[keep], unit[keep])
    lower, info = lapack.dpotrf(matrix.T, lower=1, clean=1)
    trusted = info == 0 and len(keep) > 0
    if trusted:
        trusted = bool(lapack.dpocon(lower, np.abs(matrix).sum(axis=0).max(), uplo="L")[0] > WORST)
    coef = np.zeros((equations.side.shape[1], d))
    if trusted:
        coef[:, keep] = (lapack.dpotrs(lower, equations.side[keep] / unit[keep, None], lower=1)[0].T) / unit[keep]
    elif len(keep):
        upper, turned = triangle(engine, equations, alpha, keep, unit)
        lower = upper.T
        coef[:, keep] = lapack.dtrtrs(upper, turned)[0].T / unit[keep]
    coef = _refined(engine, equations, alpha, coef, lower, keep, unit)
    across = np.zeros((len(keep) + equations.constant, d + equations.constant))
    if len(keep):
        inverse = lapack.dtrtri(lower, lower=1)[0]
        across[: len(keep), keep] = np.tril(inverse) / unit[keep]
    if equations.constant:
        across[-1, -1] = equations.weight**-0.5
    return RidgeSolution(coef, equations.intercept(coef), keep, across)


def _refined(
    engine: Engine, equations: NormalEquations, alpha: float, coef: Matrix, lower: Matrix, keep: Positions, unit: Vector
) -> Matrix:
    """Weights moved by what the rows say is left of the equations, for as long as that becomes less."""
    if not len(keep):
        return coef
    left = equation_residual(engine, equations, coef, alpha)[0][keep] / unit[keep, None]
    for _ in range(2):
        moved = coef.copy()
        moved[:, keep] += lapack.dpotrs(lower, left, lower=1)[0].T / unit[keep]
        now = equation_residual(engine, equations, moved, alpha)[0][keep] / unit[keep, None]
        if not np.linalg.norm(now) < np.linalg.norm(left):
            break
        enough = np.linalg.norm(now) > 0.1 * np.linalg.norm(left)
        coef, left = moved, now
        if enough:
            break
    return coef
