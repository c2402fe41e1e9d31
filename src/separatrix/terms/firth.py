r"""Firth's penalised likelihood: maximum likelihood with its first-order bias removed.

With scores zᵢ = ⟨x̃ᵢ, β⟩, πᵢ = σ(zᵢ) and vᵢ = πᵢ(1−πᵢ), information I(β) = Σ aᵢvᵢx̃ᵢx̃ᵢᵀ, Firth (1993) maximises

    ℓ*(β) = Σ aᵢ log p(yᵢ | xᵢ) + ½ log det I(β),

the posterior mode under Jeffreys' prior. Its slope is the **modified score**

    U*(β) = Σ aᵢ [yᵢ − πᵢ + hᵢ(½ − πᵢ)] x̃ᵢ,     hᵢ = vᵢ x̃ᵢᵀ I⁻¹ x̃ᵢ,

because dvᵢ/dzᵢ = vᵢ(1 − 2πᵢ) and d log det I = tr(I⁻¹ dI). Σ aᵢhᵢ is the number of coefficients.

*Weights count rows.* a enters ℓ and I alike, and h is the leverage of one row of unit weight, so
a = 2 is exactly the row given twice. Unlike the maximum-likelihood fit, the result does change when all
weights are doubled: twice as many rows have half the bias.

*A finite maximum exists*, also where the classes are separated: as β grows in any direction some
rows' v vanish and log det I falls without end, faster than ℓ can rise (Kosmidis and Firth 2021). ℓ* need not
be concave.

Replacing X by XA with an invertible A adds a constant to log det I: the fit does not depend on the columns' scales
or on where they are centred. Here are the coordinates (w, b′) of ``PenalisedLoss``. Columns that depend on
others are not among ``keep``; their coefficients stay zero.

I(β) comes first; then, with its factor I = LLᵀ, the squared lengths of the L⁻¹x̃ᵢ, so that beside the data there is
room for d² numbers and a few for each row of a part.

*Steps.* With the leverages held fixed, −ℓ* has the curvature M = Σ aᵢ(1 + hᵢ)vᵢx̃ᵢx̃ᵢᵀ. Rows of weight 1 or more
have h ≤ 1, so I ≼ M ≼ 2I and I serves for the steps. A row of weight a ≪ 1 may have h up to 1/a: then M is formed.

**Rounding** (first order; an estimate, where the certificate of an optimum has a proof). The scores are off by at most
E, which moves U* by E√Σaᵢvᵢ in the metric of I⁻¹; the compensated sums by 8u·max|xⱼ|·Σ|aᵢ[…]| in coordinate j; the
leverages by a share θ = 4E + up·Σⱼ Iⱼⱼ(I⁻¹)ⱼⱼ of themselves, which moves U* by ½θ·Σ aᵢhᵢ‖x̃ᵢ‖ there.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import lapack
from scipy.special import expit

from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Positions, Vector
from separatrix.core.factor import Factor, factorise
from separatrix.core.protocols import LabelledBlock
from separatrix.terms.combination import Combination, combined
from separatrix.terms.penalised import PenalisedLoss

MOST_LEVERAGE = 2.0
"""Above it I is too poor a guide to the curvature of ℓ*."""


@dataclass(frozen=True, slots=True)
class SquaredLengths:
    """‖T(x − shift, 1)‖² of every row, with T in place of points."""

    constant: bool
    shift: Vector
    kernel: str = "mapped_lengths"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"constant": self.constant, "shift": self.shift if self.constant else None}

    def outputs(self, points: int) -> int:
        """One length, whatever T is."""
        return 1


@dataclass(frozen=True, slots=True)
class Standing:
    """−ℓ* at a point, with the factor of I there; None where I is singular in floats and −ℓ* infinite."""

    point: Vector
    value: float
    factor: Factor | None
    mistakes: float


@dataclass(frozen=True, slots=True)
class Slope:
    """−U* at a point and its length λ in I⁻¹: the step I⁻¹U* of Fisher scoring is λ standard errors long.

    ``solve`` applies the inverse of a curvature to step by; ``rounding`` estimates the error in λ.
    """

    gradient: Vector
    step: Vector
    solve: Callable[[Vector], Vector]
    decrement: float
    rounding: float


@dataclass(frozen=True, slots=True)
class FirthLoss:
    """−ℓ* over the rows of an unpenalised two-class loss, as a sum and not an average."""

    loss: PenalisedLoss
    keep: Positions | None = None

    def evaluate(self, point: Vector) -> Standing:
        """One pass: −ℓ* and the factor of I."""
        total = self.loss.evaluate(point, curvature=True)
        assert total.hessian is not None
        information = total.hessian * self.loss.weight
        factor = factorise(information, point, self.keep) if np.isfinite(information).all() else None
        if factor is None:
            return Standing(point, math.inf, None, total.mistakes)
        return Standing(point, total.loss_sum - _half_log_det(factor), factor, total.mistakes)

    def slope(self, standing: Standing) -> Slope:
        """The modified score where I has a factor: passes for the leverages and one for the sum."""
        factor = standing.factor
        assert factor is not None
        seen: list[tuple[float, float, float, float]] = []

        def residual_of(part: LabelledBlock) -> Matrix:
            z, weights, curvature, squares = self._rows(part, standing)
            sign = np.where(part.codes == 1, 1.0, -1.0)
            missing = sign * expit(-sign * z)  # y − π, each tail from its own score
            leverage = curvature * squares
            residual = weights * (missing - 0.5 * leverage * np.tanh(0.5 * z))  # ½ − π = −tanh(z/2)/2
            lean = float(np.sum(weights * leverage * np.sqrt(squares)))
            curving = float(np.sum(weights * curvature))
            seen.append((float(leverage.max()), curving, float(np.abs(residual).sum()), lean))
            return np.asarray(residual[:, None])

        gradient = -self._into_shifted(combined(self.loss.engine, residual_of)[0])
        step = -factor.solve(gradient)
        highest, *sums = zip(*seen, strict=True)
        solve = self._fixed_leverage(standing) if max(highest) > MOST_LEVERAGE else factor.solve
        decrement = math.sqrt(max(-float(gradient @ step), 0.0))
        rounding = self._rounding(standing.point, factor, *map(math.fsum, sums))
        return Slope(gradient, step, solve, decrement, rounding)

    def _rows(self, part: LabelledBlock, standing: Standing) -> tuple[Vector, Vector, Vector, Vector]:
        """Scores of some rows, their weights, the curvature of their losses, and x̃ᵢᵀ I⁻¹ x̃ᵢ."""
        assert standing.factor is not None
        loss = replace(self.loss, engine=part)
        z: Vector = loss.scores(standing.point).array()[:, 0]
        weights = np.ones(part.rows) if part.weights is None else part.weights
        # rows of no weight may lie anywhere
        squares = np.where(weights > 0, FirthLoss(loss, self.keep).squared_lengths(standing.factor), 0.0)
        return z, weights, expit(z) * expit(-z), squares

    def _fixed_leverage(self, standing: Standing) -> Callable[[Vector], Vector]:
        """M⁻¹ for M = Σ aᵢ(1 + hᵢ)vᵢ x̃ᵢx̃ᵢᵀ, formed by two passes when it is first asked for."""

        @cache
        def factor() -> Factor:
            def curve(part: LabelledBlock) -> Vector:
                _, weights, curvature, squares = self._rows(part, standing)
                # at zero a row's curvature is ¼ of its weight
                return np.asarray(4.0 * weights * (1.0 + curvature * squares) * curvature)

            heavy = replace(self.loss, engine=self.loss.engine.reweighted(self.loss.engine.collect(curve)))
            gram = heavy.evaluate(np.zeros(heavy.size), curvature=True).hessian
            assert gram is not None
            found = factorise(gram * heavy.weight, standing.point, self.keep)
            assert standing.factor is not None
            return standing.factor if found is None else found

        return lambda vector: factor().solve(vector)

    def value_error(self, standing: Standing) -> float:
        """How far −ℓ* may be off: its losses, their scores, and log det I by half the leverages' share of each."""
        factor = standing.factor
        assert factor is not None
        error = self._score_error(standing.point)
        rows, lengths = self.loss.engine.rows, factor.inverse_lengths
        share = 4.0 * error + (rows + 8) * UNIT_ROUNDOFF * len(lengths) * self._condition(factor)
        losses = abs(standing.value) + abs(_half_log_det(factor))
        return 4.0 * (rows + 64) * UNIT_ROUNDOFF * losses + 2.0 * error * self.loss.weight + 0.5 * share

    def squared_lengths(self, factor: Factor) -> Vector:
        """x̃ᵢᵀ I⁻¹ x̃ᵢ for every row; times vᵢ the leverage."""
        inverse, _ = lapack.dtrtri(np.tril(factor.lower), lower=1)
        transform = np.zeros((len(inverse), self.loss.size))
        transform[:, factor.keep if factor.keep is not None else slice(None)] = inverse
        lengths = SquaredLengths(self.loss.constant, self.loss.shift)
        squares: Vector = self.loss.engine.map(lengths, transform).array()[:, 0]
        return squares

    def _into_shifted(self, combined: Vector) -> Vector:
        """A sum over (x, 1) as one over (x − shift, 1), or over x where there is no constant."""
        if not self.loss.constant:
            return combined[:-1].copy()
        return np.append(combined[:-1] - self.loss.shift * combined[-1], combined[-1])

    def _rounding(self, point: Vector, factor: Factor, curvature: float, slope_size: float, lean: float) -> float:
        sizes, error = self._sizes(), self._score_error(point)
        lengths = factor.inverse_lengths
        share = 4.0 * error + UNIT_ROUNDOFF * len(lengths) * self._condition(factor)
        sums = Combination.ERROR * slope_size * float(factor.kept(sizes) @ lengths)
        return error * math.sqrt(curvature) + sums + 0.5 * share * lean

    def _sizes(self) -> Vector:
        ranges = self.loss.ranges
        assert ranges is not None
        sizes = np.maximum(np.abs(ranges.low), np.abs(ranges.high)) + np.abs(self.loss.shift)
        return np.append(sizes, 1.0) if self.loss.constant else sizes

    def _score_error(self, point: Vector) -> float:
        return 2.0 * (len(point) + 4) * UNIT_ROUNDOFF * float(self._sizes() @ np.abs(point))

    def _condition(self, factor: Factor) -> float:
        """Σⱼ Iⱼⱼ(I⁻¹)ⱼⱼ about zero, where sparse rows are worked with, up to 100 times that about the shift.

        So that a sparse copy of the data arrives at much the same error.
        """
        shifted = np.square(factor.inverse_lengths) * factor.diagonal
        if not self.loss.constant:
            return float(shifted.sum())
        away = np.abs(factor.kept(np.append(self.loss.shift, 0.0)))
        lengths = factor.inverse_lengths.copy()
        lengths[-1] += away @ lengths
        about_zero = np.square(lengths * (np.sqrt(factor.diagonal) + away * math.sqrt(factor.diagonal[-1])))
        return float(np.minimum(about_zero, 100.0 * shifted).sum())


def _half_log_det(factor: Factor) -> float:
    """½ log det I = Σ log Lⱼⱼ."""
    return float(np.log(factor.lower.diagonal()).sum())
