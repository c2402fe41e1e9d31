r"""Firth's penalised likelihood of a table that is not large, in coordinates that forgive nearly dependent columns.

The same function as in ``terms.firth``: −ℓ* = Σ aᵢ log(1 + exp(−mᵢ)) − ½ log det I. There the information I is formed
and factorised, which squares the condition κ of the columns. Here the rows √(aᵢvᵢ)·x̃ᵢ = QR are made orthogonal:

* ½ log det I = Σ log|Rⱼⱼ|, and aᵢhᵢ = aᵢvᵢ‖R⁻ᵀx̃ᵢ‖², the squared length of row i of Q: both lose u·κ and not u·κ²;
* scores and the sums of the modified score are exact, rounded once (``terms.sharp``);
* rows are looked at about the columns' means, whatever the layout they came in, so a sparse copy gives the same.

A point is an offset in scaled, shifted coordinates from a raw point ``base``, so that small steps keep their digits.

**Rounding** (first order; an estimate). In the metric of I⁻¹ the slopes of the loss are off by ``slope_error``, the
sums by one rounding of each coordinate, and leverages by a share θ = 4pu·κ of themselves, κ that of R with columns of
one length; this moves U* by at most ½θ·Σ aᵢhᵢ‖R⁻ᵀx̃ᵢ‖, and by ½θ·√(Σ aᵢhᵢ²tanh²(zᵢ/2)/vᵢ). ½ log det I is off by pθ/4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit, log_expit

from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Vector
from separatrix.terms.firth import MOST_LEVERAGE, Slope
from separatrix.terms.sharp import SharpLoss

WRONG = -5.0
"""Rows with margins below this have so little curvature that their errors are added up one by one."""


@dataclass(frozen=True, slots=True)
class SharpStanding:
    """−ℓ* at an offset from the base; ``upper`` is R, None where I is singular in floats."""

    point: Vector
    raw: Vector
    value: float
    value_error: float
    mistakes: float
    scores: Vector
    upper: Matrix | None
    blur: float


@dataclass(slots=True)
class SharpFirth:
    """−ℓ* over the rows of a sharp loss without penalty, as a sum; ``base`` is a raw point."""

    loss: SharpLoss
    base: Vector

    def evaluate(self, point: Vector) -> SharpStanding:
        """−ℓ* and R at an offset from the base."""
        loss = self.loss
        raw = loss.moved(self.base, point)
        z = loss.scores(raw)
        margins = np.where(loss.positive, z, -z)
        losses = -loss.weights * log_expit(margins)
        mistakes = float(np.sum(loss.weights * (margins < 0.0)))
        roots = np.sqrt(loss.weights) * np.sqrt(expit(z)) * np.sqrt(expit(-z))
        p = loss.size
        singular = SharpStanding(point, raw, math.inf, math.inf, mistakes, z, None, math.inf)
        if len(z) < p or not np.isfinite(losses).all():
            return singular
        upper = np.asarray(np.linalg.qr(roots[:, None] * loss.spread, mode="r"))
        sizes, diagonal = np.linalg.norm(upper, axis=0), np.abs(upper.diagonal())
        if not np.isfinite(sizes).all() or not (diagonal > p * UNIT_ROUNDOFF * sizes).all():
            return singular
        singulars = np.linalg.svd(upper / sizes, compute_uv=False)
        blur = 4.0 * p * UNIT_ROUNDOFF * float(singulars[0] / singulars[-1])
        value = float(losses.sum()) - float(np.log(diagonal).sum()) + float(np.log(loss.scale).sum())
        off = (32.0 + math.log2(len(z)) + 2.0 * float(np.abs(z).max(initial=0.0))) * UNIT_ROUNDOFF
        logs = float(np.abs(np.log(diagonal)).sum() + np.abs(np.log(loss.scale)).sum())
        error = off * float(losses.sum()) + 8.0 * UNIT_ROUNDOFF * logs + 0.25 * p * blur
        return SharpStanding(point, raw, value, error, mistakes, z, upper, blur)

    def steps(self, standing: SharpStanding, slope: Slope) -> Vector:
        """The next step of each coefficient in its own standard errors, |(I⁻¹U*)ⱼ|/√(I⁻¹)ⱼⱼ, in raw coordinates."""
        assert standing.upper is not None
        directions = np.eye(self.loss.size)
        if self.loss.constant:  # b = b′ − ⟨shift, w⟩ has another standard error than b′
            directions[:-1, -1] = -self.loss.shift * self.loss.scale[:-1]
        errors = np.linalg.norm(solve_triangular(standing.upper, directions, trans="T"), axis=0)
        return np.asarray(np.abs(directions.T @ slope.step) / errors)

    def slope(self, standing: SharpStanding) -> Slope:
        """The modified score, its length, and how far rounding may move that."""
        loss, z, upper = self.loss, standing.scores, standing.upper
        assert upper is not None
        sign = np.where(loss.positive, 1.0, -1.0)
        missing = sign * expit(-sign * z)
        curvature = expit(z) * expit(-z)
        # lengths by substitution: each row has its own digits, while rows of Q share those of the largest
        lengths = np.linalg.norm(solve_triangular(upper, loss.spread.T, trans="T"), axis=0)
        mass = loss.weights * curvature * np.square(lengths)  # aᵢhᵢ: a row's share of the p coefficients
        bent = np.tanh(0.5 * z)
        residual = loss.weights * missing - 0.5 * mass * bent
        total, size = loss.combined(residual)
        step = solve_triangular(upper, solve_triangular(upper, total, trans="T"))
        decrement = float(np.linalg.norm(solve_triangular(upper, total, trans="T")))
        leverage = mass / loss.weights
        solve = _by_triangle(upper)
        if float(leverage.max()) > MOST_LEVERAGE:
            roots = np.sqrt(loss.weights * (1.0 + leverage) * curvature)
            heavy = np.asarray(np.linalg.qr(roots[:, None] * loss.spread, mode="r"))
            solve = _by_triangle(heavy)
        axes = np.linalg.norm(solve_triangular(upper, np.eye(loss.size)), axis=1)
        rounding = float(4.0 * UNIT_ROUNDOFF * size @ axes) + self._slopes_error(lengths, z, sign * z)
        far = float(np.sum(mass * lengths))
        close = math.sqrt(float(np.sum(mass * np.square(lengths * bent))))
        rounding += 0.5 * standing.blur * min(far, close)
        return Slope(-total, step, solve, decrement, rounding)

    def _slopes_error(self, lengths: Vector, z: Vector, margins: Vector) -> float:
        """How far the errors of the rows' slopes may move the score, in the metric of I⁻¹."""
        off = (16.0 + 2.0 * np.abs(z)) * UNIT_ROUNDOFF
        wrong = margins < WRONG
        near = np.where(wrong, 0.0, np.exp(-np.maximum(margins, WRONG)) * np.square(off))
        moved = math.sqrt(float(np.sum(self.loss.weights * near)))
        return moved + float(np.sum((self.loss.weights * off * lengths)[wrong]))


def _by_triangle(upper: Matrix) -> Callable[[Vector], Vector]:
    def solve(vector: Vector) -> Vector:
        return np.asarray(solve_triangular(upper, solve_triangular(upper, vector, trans="T")))

    return solve
