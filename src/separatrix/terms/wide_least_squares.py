"""Least squares with more columns than a Gram matrix could have: its equations by products with the rows.

(G + αI)v needs one read of the rows and never G: Σ aᵢ(xᵢ − m)⟨xᵢ − m, v⟩ is the product of the rows with the direction
(v, −⟨v, m⟩), about the mean. With α > 0 all eigenvalues are at least α, so whatever w is reached,

    ‖w − w*‖ ≤ ‖r − (G + αI)w‖/α.
"""

from dataclasses import dataclass

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.protocols import Engine, LabelledBlock
from separatrix.terms.combination import combined
from separatrix.terms.least_squares import signs_of
from separatrix.terms.logistic import LogisticLoss


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

        def weights_and_targets(part: LabelledBlock) -> Matrix:
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
