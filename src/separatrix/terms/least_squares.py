"""Least squares on targets ±1 as a sum over rows, with a ridge.

Minimise Σ aᵢ(yᵢ − ⟨w, xᵢ⟩ − b)² + α‖w‖². With m the weighted mean of the rows, the normal equations are

    (G + αI) w = r,   G = Σ aᵢ(xᵢ − m)(xᵢ − m)ᵀ,   r = Σ aᵢ(xᵢ − m)yᵢ,   b = ȳ − ⟨w, m⟩,

and both sides follow from the moments of the classes: G is the scatter within classes plus that of their means, and r
is Σₖ Wₖ(μₖ − m)yₖ. Without an intercept m = 0 and b = 0.

**Leave one out.** With h = 1/W + (x − m)ᵀ(G + αI)⁻¹(x − m) the fit without a row misses it by e/(1 − a·h), where e is
the residual of the fit with it (a rank-one downdate). A weight counts copies: one copy is left out, or the row if it
weighs less than one, so a = min(aᵢ, 1). Then a row of weight two is the row twice here too.

**One decomposition for all penalties.** With G = VΛVᵀ and t = Vᵀ(x − m): h(α) = 1/W + Σⱼ tⱼ²/(λⱼ + α) and
w(α) = V(Λ + αI)⁻¹Vᵀr. Where G would lose the small λ, √λ and V are taken from a triangle R with RᵀR = G that is found
without forming G.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eigh, qr

from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Positions, Vector
from separatrix.core.factor import independent
from separatrix.core.protocols import Engine, LabelledBlock
from separatrix.terms.combination import combined
from separatrix.terms.logistic import Scores
from separatrix.terms.moments import ClassMoments

BLOCK_NUMBERS = 2**19
"""Numbers of X brought to float64 at once."""

WORST = 1e-10
"""Reciprocal condition below which the Gram matrix is not trusted."""


def signs_of(classes: int) -> Matrix:
    """The target of each class (K × targets): −1 and +1 for two, one target per class for more.

    >>> signs_of(2).ravel(), signs_of(3)[0]
    (array([-1.,  1.]), array([ 1., -1., -1.]))
    """
    return np.array([[-1.0], [1.0]]) if classes == 2 else 2.0 * np.eye(classes) - 1.0


@dataclass(frozen=True, slots=True)
class NormalEquations:
    """G (d × d), r (d × targets), the centre m, the mean targets and the weight of all rows."""

    gram: Matrix
    side: Matrix
    centre: Vector
    target: Vector
    weight: float
    constant: bool
    lost: float = 1.0
    """By how much the rounding of the sums has grown in a diagonal entry of G."""

    @classmethod
    def of(cls, moments: ClassMoments, constant: bool) -> "NormalEquations":
        """From the moments of the classes."""
        signs = signs_of(len(moments.weights))
        weight = moments.weight
        centre = moments.mean if constant else np.zeros(moments.means.shape[1])
        apart = moments.means - centre
        gram = moments.scatter + (moments.weights[:, None] * apart).T @ apart
        side = apart.T @ (moments.weights[:, None] * signs)
        target = moments.weights @ signs / weight if constant else np.zeros(signs.shape[1])
        # relative to G, which is at least the scatter within classes
        lost = float(moments.lost(moments.weights, gram.diagonal()).max(initial=1.0))
        return cls(0.5 * (gram + gram.T), side, centre, target, weight, constant, lost)

    def intercept(self, coef: Matrix) -> Vector:
        """ȳ − ⟨w, m⟩."""
        return np.asarray(self.target - coef @ self.centre)


def independent_columns(equations: NormalEquations) -> Positions:
    """Columns that a fit without a penalty keeps: those that vary, and no combinations of others."""
    gram = equations.gram
    spread = np.sqrt(gram.diagonal() / equations.weight)
    constant = spread <= 8.0 * UNIT_ROUNDOFF * np.abs(equations.centre)
    return independent(np.where(constant[:, None] | constant[None, :], 0.0, gram), last_first=False)


def row_blocks(block: LabelledBlock, centre: Vector) -> Iterator[tuple[slice, Matrix]]:
    """Rows of a block about the centre, dense, a few at a time."""
    step = max(1, BLOCK_NUMBERS // block.columns_count)
    for first in range(0, block.rows, step):
        which = slice(first, min(first + step, block.rows))
        part = block.take(np.arange(which.start, which.stop))
        part = np.asarray(part.toarray(), dtype=np.float64) if block.sparse else part
        part -= centre  # a copy of ours
        yield which, part


def triangle(
    engine: Engine, equations: NormalEquations, alpha: float, keep: Positions, unit: Vector
) -> tuple[Matrix, Matrix]:
    """R (upper) and z with RᵀR = G + αI and Rᵀz = r on the kept columns, scaled; G is never formed."""
    k, targets = len(keep), len(equations.target)
    signs = signs_of(2 if targets == 1 else targets) - equations.target
    current = np.hstack([np.diag(np.sqrt(alpha) / unit[keep]), np.zeros((k, targets))])
    for block in engine.blocks():
        for which, part in row_blocks(block, equations.centre):
            rows = np.hstack([part[:, keep] / unit[keep], signs[block.codes[which]]])
            if block.weights is not None:
                rows *= np.sqrt(block.weights[which])[:, None]
            current = qr(np.vstack([current, rows]), mode="r", overwrite_a=True, check_finite=False)[0][: k + targets]
    upper = np.triu(current[:k])
    signs_of_rows = np.where(upper.diagonal() < 0, -1.0, 1.0)[:, None]
    return np.asarray(upper[:, :k] * signs_of_rows), np.asarray(upper[:, k:] * signs_of_rows)


class Centred(Protocol):
    """What a residual needs of its equations."""

    @property
    def centre(self) -> Vector:
        """The point m that rows are taken about."""

    def intercept(self, coef: Matrix) -> Vector:
        """ȳ − ⟨w, m⟩."""


def equation_residual(
    engine: Engine, equations: Centred, coef: Matrix, alpha: float, intercept: Vector | None = None
) -> tuple[Matrix, float]:
    """R − (G + αI)w from the rows themselves (d × targets), and Σ a|e|, which bounds its rounding."""
    offset = equations.intercept(coef) if intercept is None else intercept
    points = np.column_stack([coef, offset])
    signs = signs_of(2 if len(coef) == 1 else len(coef))
    misses = []

    def errors_of(part: LabelledBlock) -> Matrix:
        errors = signs[part.codes]
        errors -= part.numbers(Scores(True), points)
        if part.weights is not None:
            errors *= part.weights[:, None]
        misses.append(float(np.abs(errors).sum()))
        return errors

    sums = combined(engine, errors_of)
    centred = sums[:, :-1] - np.outer(sums[:, -1], equations.centre)
    return (centred - alpha * coef).T, math.fsum(misses)


@dataclass(frozen=True, slots=True)
class Spectrum:
    """√λ (r), V (d × r) and Vᵀr (r × targets): every penalty's weights and leverages follow."""

    roots: Vector
    axes: Matrix
    side: Matrix

    @classmethod
    def of(cls, engine: Engine, equations: NormalEquations, smallest: float) -> "Spectrum":
        """From G where that keeps the smallest λ + α, else from a triangle."""
        values, axes = eigh(equations.gram, check_finite=False)
        top = float(values[-1]) if len(values) else 0.0
        if top <= 0.0:
            return cls(np.zeros(0), np.zeros((len(equations.gram), 0)), np.zeros((0, equations.side.shape[1])))
        if max(float(values[0]), 0.0) + smallest > WORST * top:
            return cls(np.sqrt(np.maximum(values, 0.0)), axes, axes.T @ equations.side)
        d = len(equations.gram)
        upper, turned = triangle(engine, equations, 0.0, np.arange(d), np.ones(d))
        left, roots, across = np.linalg.svd(upper)
        # directions below the rounding of the rows hold nothing but rounding
        real = roots > 4.0 * d * UNIT_ROUNDOFF * roots[0]
        return cls(roots[real], across[real].T, roots[real, None] * (left.T @ turned)[real])

    def weights(self, alpha: float) -> Matrix:
        """w(α), (targets × d)."""
        return np.asarray((self.axes @ (self.side / (np.square(self.roots) + alpha)[:, None])).T)


def left_out(
    block: LabelledBlock, equations: NormalEquations, spectrum: Spectrum, alphas: Vector
) -> Iterator[tuple[slice, Any]]:
    """Y − f₋ᵢ(xᵢ) for a few rows of a block at a time, (rows × targets × penalties)."""
    squares = np.square(spectrum.roots)[:, None] + alphas
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(squares > 0, 1.0 / squares, 0.0)
    targets = spectrum.side.shape[1]
    weights = (spectrum.side[:, :, None] * inverse[:, None, :]).reshape(len(squares), targets * len(alphas))
    signs = signs_of(2 if targets == 1 else targets)
    base = 1.0 / equations.weight if equations.constant else 0.0
    for which, part in row_blocks(block, equations.centre):
        turned = part @ spectrum.axes
        fitted = (turned @ weights).reshape(len(turned), targets, len(alphas)) + equations.target[:, None]
        share = base + np.square(turned) @ inverse
        if block.weights is not None:
            share *= np.minimum(block.weights[which], 1.0)[:, None]
        errors = signs[block.codes[which]][:, :, None] - fitted
        yield which, downdated(errors, share[:, None, :])


def downdated(errors: Any, share: Any) -> Any:
    """e/(1 − h); NaN where the row alone determines a weight, so that nothing predicts it without it.

    >>> downdated(np.array([1.0, 0.0]), np.array([0.5, 1.0]))
    array([ 2., nan])
    """
    rest = 1.0 - share
    return np.divide(errors, rest, out=np.full(np.broadcast(errors, rest).shape, np.nan), where=rest > 1e-10)
