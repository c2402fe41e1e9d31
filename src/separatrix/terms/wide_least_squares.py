"""Least squares with more columns than a Gram matrix could have: conjugate gradients on products with the rows.

(G + αI)v needs one read of the rows and never G: Σ aᵢ(xᵢ − m)⟨xᵢ − m, v⟩ is the product of the rows with the direction
(v, −⟨v, m⟩), about the mean. With α > 0 all eigenvalues are at least α, so whatever w is reached,

    ‖w − w*‖ ≤ ‖r − (G + αI)w‖/α.
"""

from dataclasses import dataclass

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.protocols import Engine
from separatrix.terms.combination import combined
from separatrix.terms.least_squares import equation_residual, signs_of
from separatrix.terms.logistic import CurvatureProduct, LogisticLoss

CLOSE = 1e-13
"""Conjugate gradients stop when the residual is this share of the right side."""

MOST_STEPS = 1000


@dataclass(frozen=True, slots=True)
class WideEquations:
    """The right side r (d × targets), the centre m, the mean targets, the diagonal of G and the weight of all rows."""

    side: Matrix
    centre: Vector
    target: Vector
    diagonal: Vector
    weight: float
    constant: bool

    @classmethod
    def of(cls, engine: Engine, classes: int, constant: bool) -> "WideEquations":
        """Two passes over the rows."""
        signs = signs_of(classes)

        def weights_and_targets(part: Engine) -> Matrix:
            weights = np.ones(part.rows) if part.weights is None else part.weights
            return np.column_stack([weights, weights[:, None] * signs[part.codes]])

        sums = combined(engine, weights_and_targets)
        weight = float(sums[0, -1])
        centre = sums[0, :-1] / weight if constant else np.zeros(engine.columns_count)
        target = sums[1:, -1] / weight if constant else np.zeros(signs.shape[1])
        side = (sums[1:, :-1] - np.outer(sums[1:, -1], centre)).T
        # at zero weights the logistic curvature of a row is a quarter of its weight
        loss = LogisticLoss(constant=False, diagonal=True)
        squares = 4.0 * engine.total(loss, np.zeros((1, engine.columns_count)))[0][0].diagonal
        diagonal = np.maximum(squares - weight * np.square(centre), 0.0)
        return cls(side, centre, target, diagonal, weight, constant)

    def intercept(self, coef: Matrix) -> Vector:
        """ȳ − ⟨w, m⟩."""
        return np.asarray(self.target - coef @ self.centre)


def _product(engine: Engine, equations: WideEquations, weights: Vector, alpha: float, directions: Matrix) -> Matrix:
    """(G + αI) times each direction (targets × d)."""
    moved = np.column_stack([directions, -(directions @ equations.centre)])
    products: Matrix = engine.total(CurvatureProduct(True, weights), np.ascontiguousarray(moved))
    return products[:, :-1] - np.outer(products[:, -1], equations.centre) + alpha * directions


def solve_wide(engine: Engine, equations: WideEquations, alpha: float) -> Matrix:
    """Weights (targets × d), by conjugate gradients preconditioned with the diagonal, begun again from what is left."""
    weights = np.ones(engine.rows) if engine.weights is None else engine.weights
    coef = np.zeros(equations.side.T.shape)
    left = equations.side.T.copy()
    goal = CLOSE * np.linalg.norm(left, axis=1)
    for _ in range(2):
        coef = coef + _conjugate_gradients(engine, equations, weights, alpha, left, goal)
        left = equation_residual(engine, equations, coef, alpha)[0].T
    return coef


def _conjugate_gradients(
    engine: Engine, equations: WideEquations, weights: Vector, alpha: float, side: Matrix, goal: Vector
) -> Matrix:
    scale = equations.diagonal + alpha
    found, left = np.zeros_like(side), side.copy()
    eased = left / scale
    direction, length = eased.copy(), np.einsum("kj,kj->k", left, eased)
    for _ in range(MOST_STEPS):
        if (np.linalg.norm(left, axis=1) <= goal).all():
            break
        image = _product(engine, equations, weights, alpha, direction)
        curve = np.einsum("kj,kj->k", direction, image)
        step = np.divide(length, curve, out=np.zeros_like(length), where=curve > 0)[:, None]
        found += step * direction
        left -= step * image
        eased = left / scale
        now = np.einsum("kj,kj->k", left, eased)
        direction = eased + np.divide(now, length, out=np.zeros_like(now), where=length > 0)[:, None] * direction
        length = now
    return found
