"""Least squares with more columns than a Gram matrix could have: conjugate gradients on products with the rows."""

import numpy as np

from separatrix.core.arrays import Matrix
from separatrix.core.protocols import Engine
from separatrix.solvers.linear_gradients import conjugate_gradients
from separatrix.terms.least_squares import equation_residual
from separatrix.terms.logistic import CurvatureProduct
from separatrix.terms.wide_least_squares import WideEquations

CLOSE = 1e-13
"""Conjugate gradients stop when the residual is this share of the right side."""

MOST_STEPS = 1000


def solve_wide(engine: Engine, equations: WideEquations, alpha: float) -> Matrix:
    """Weights (targets × d), begun again from what is left."""
    weights = engine.row_weights or engine.collect(lambda part: np.ones(part.rows))

    def product(directions: Matrix) -> Matrix:
        """(G + αI) times each direction, one read of the rows."""
        moved = np.column_stack([directions, -(directions @ equations.centre)])
        products: Matrix = engine.total(CurvatureProduct(True, weights), np.ascontiguousarray(moved))
        return products[:, :-1] - np.outer(products[:, -1], equations.centre) + alpha * directions

    coef = np.zeros(equations.side.T.shape)
    left = equations.side.T.copy()
    goal = CLOSE * np.linalg.norm(left, axis=1)
    for _ in range(2):
        coef = coef + conjugate_gradients(product, equations.diagonal + alpha, left, goal, MOST_STEPS)
        left = equation_residual(engine, equations, coef, alpha)[0].T
    return coef
