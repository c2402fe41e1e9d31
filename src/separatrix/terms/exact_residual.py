r"""What is left of a closed form's equations, from rows that are few enough to be added up exactly.

A residual from moments is rounded as often as there are rows, and columns far from zero make it worse. Here scores
and sums over rows are exact and rounded once (``kernels.exact_products``), about a point m near the rows.

**Least squares.** eᵢ = yᵢ − ⟨w, xᵢ⟩ − b is off by u(|zᵢ| + |eᵢ|), z the score, and rⱼ = Σ aᵢeᵢ(xᵢⱼ − mⱼ) − αwⱼ.

**Gaussian classes.** With tᵢ = ⟨w, xᵢ − m⟩ and τₖ its class means, Σw − Σₖ cₖμₖ = Σᵢ fᵢ(xᵢ − m), where
fᵢ = aᵢ[(tᵢ − τₖ)/W − cₖ/Wₖ] for a row of class k, because Σ fᵢ = 0: one sum for both sides of the equation.

Errors δf of the factors move the residual by Σ δfᵢ(xᵢ − m), and by Cauchy and Schwarz a column of it by no more than
√Σ(δfᵢ²/aᵢ)·√Σ aᵢ(xᵢⱼ − mⱼ)². The sums themselves are rounded once each.
"""

from dataclasses import dataclass

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import UNIT_ROUNDOFF, Codes, Matrix, Vector
from separatrix.core.protocols import Engine

MOST_TERMS = 2**21
"""Products that are added up exactly, at most: a few hundredths of a second."""


@dataclass(frozen=True, slots=True)
class ExactResidual:
    """The residual (d × targets), and how far each entry may be off.

    ``sums`` is what rounding the sums did to each entry, ``rows`` is √Σ(δfᵢ²/aᵢ) of each target. The second moves the
    residual by Aᵀδ with A the rows √aᵢ(xᵢ − m), and a solution (AᵀA + αI)⁻¹Aᵀδ by no more than ‖δ‖/√λ_min.
    """

    values: Matrix
    sums: Matrix
    rows: Vector
    lengths: Vector

    @property
    def errors(self) -> Matrix:
        """Both together, for each entry."""
        return np.outer(self.lengths, self.rows) + self.sums


def few_enough(engine: Engine, targets: int) -> bool:
    """Whether the rows may be written out and added up exactly."""
    return bool(engine.rows * (engine.columns_count + 1) * targets <= MOST_TERMS)


def _table(engine: Engine) -> tuple[Matrix, Vector, Codes]:
    """All rows, their weights and classes: they are few."""
    rows = engine.take(np.arange(engine.rows))
    weights = np.ones(engine.rows) if engine.row_weights is None else engine.row_weights.array()
    return (
        np.ascontiguousarray(rows.toarray() if engine.sparse else rows, dtype=np.float64),
        weights,
        engine.labels.array(),
    )


def _scores(rows: Matrix, points: Matrix) -> Matrix:
    """⟨w, x⟩ + b (n × targets), rounded once."""
    vectors = np.ascontiguousarray(points)[:, None, :]
    return kernels.exact_products(kernels.dense_rows(rows), np.arange(len(rows)), vectors, True)


def _combined(rows: Matrix, factors: Matrix, centre: Vector) -> tuple[Matrix, Matrix]:
    """Σ fᵢ(xᵢ − m) (d × targets), each sum rounded once, and what was rounded, in size."""
    columns = kernels.dense_rows(np.ascontiguousarray(np.vstack([rows.T, np.ones(len(rows))])))
    vectors = np.ascontiguousarray(factors.T)[:, None, :]
    sums = kernels.exact_products(columns, np.arange(rows.shape[1] + 1), vectors, False)
    moved = np.outer(centre, sums[-1])
    return sums[:-1] - moved, np.abs(sums[:-1]) + np.abs(moved)


def _column_lengths(rows: Matrix, weights: Vector, centre: Vector) -> Vector:
    return np.sqrt(weights @ np.square(rows - centre)) * (1.0 + 1e-9)


def least_squares_residual(
    engine: Engine, signs: Matrix, centre: Vector, coef: Matrix, intercept: Vector, alpha: float
) -> ExactResidual:
    """Σ aᵢeᵢ(xᵢ − m) − αw."""
    rows, weights, codes = _table(engine)
    scores = _scores(rows, np.column_stack([coef, intercept]))
    missed = signs[codes] - scores
    sums, size = _combined(rows, weights[:, None] * missed, centre)
    off = UNIT_ROUNDOFF * np.sqrt(weights @ np.square(np.abs(scores) + 3.0 * np.abs(missed)))
    shrunk = alpha * coef.T
    rounded = 4.0 * UNIT_ROUNDOFF * (size + np.abs(shrunk))
    return ExactResidual(sums - shrunk, rounded, off, _column_lengths(rows, weights, centre))


def gaussian_residual(engine: Engine, means: Matrix, coef: Matrix, sides: Matrix) -> ExactResidual:
    """Σwₜ − Σₖ cₖₜμₖ for each target t; ``sides`` is c (K × targets), its columns adding up to zero."""
    rows, weights, codes = _table(engine)
    count = len(means)
    centre = means.mean(axis=0)
    scores = _scores(rows, np.column_stack([coef, -(coef @ centre)]))
    inside = np.zeros((len(rows), count))
    inside[np.arange(len(rows)), codes] = weights
    # class weights, and the classes' sums of scores, each rounded once
    ones = np.ones((len(rows), 1))
    heavy = _combined(ones, inside, np.zeros(1))[0][0]
    within = [
        _combined(ones, weights[:, None] * scores * (codes == k)[:, None], np.zeros(1))[0][0] for k in range(count)
    ]
    middles = np.array(within) / heavy[:, None]
    weight = float(heavy.sum())
    apart = scores - middles[codes]
    share = (sides / heavy[:, None])[codes]
    sums, size = _combined(rows, weights[:, None] * (apart / weight - share), centre)
    wide = (np.abs(scores) + 4.0 * np.abs(apart)) / weight + 4.0 * np.abs(share)
    off = UNIT_ROUNDOFF * np.sqrt(weights @ np.square(wide))
    lengths = _column_lengths(rows, weights, centre)
    # the middles are rounded too, alike for all rows of a class
    sizes = np.array([weights[codes == k] @ np.abs(scores[codes == k]) for k in range(count)]) / weight
    turned = 4.0 * UNIT_ROUNDOFF * np.abs(means - centre).T @ sizes
    return ExactResidual(sums, 4.0 * UNIT_ROUNDOFF * size + turned, off, lengths)
