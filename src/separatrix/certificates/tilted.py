r"""How far a fit with an L1 penalty is from its minimum, by a bound that is quadratic in what is left of the slope.

Let P(w, b) = f(w, b) + α‖w‖₁ with f smooth (losses, and perhaps β/2·‖w‖²). A duality gap is linear in the residual,
so on raw columns it cannot see past rounding. But for **any** t with |tⱼ| ≤ α

    α‖w′‖₁ ≥ ⟨t, w′⟩,   so   P(w′, b′) ≥ G(w′, b′) = f(w′, b′) + ⟨t, w′⟩,

and G is f **tilted**: smooth, with the Hessian of f, as self-concordant as f. Hence

    P − P* ≤ Σⱼ(α|wⱼ| − tⱼwⱼ) + [the lemma of ``self_concordance`` for G at (w, b), slope ∇f + t].

With tⱼ = α·sign(wⱼ) where wⱼ ≠ 0 the first term is zero, and with tⱼ = −∂ⱼf, clipped to the box, elsewhere only the
residual on the support and what clipping left remain: half their square in H⁻¹. Both choices are exact in floats, so
the lemma's own rounding is all there is.

**Zero weights.** Those that safe screening (``duality``) proves to be zero in every minimiser, and that are zero here,
are left out: the minimum is the same without them. This serves where there are more columns than rows.

**Classes.** With K > 2 classes and no L2 part f does not change when the weights of all classes for one column move
together, so its Hessian is singular. Let d = w′ − w, and leave out one class o of such a column: f depends only on
eₖ = dₖ − d_o. If Σₖ tₖ = 0, also ⟨t, d⟩ = Σₖ tₖeₖ, and G is a function of the e alone. So t_o is set to minus the sum
of the others; where that leaves the box, all t of the column are shrunk, at the price of the first term. What Σtₖ is
off by through rounding, u|t_o|, costs that times |d_o|, and ‖d‖₁ ≤ ‖w‖₁ + P(w)/α, because only points with
P(w′) ≤ P(w) matter and those have α‖w′‖₁ ≤ P(w).

**Columns that depend on each other.** The same inequality makes any Hessian positive definite: for μ > 0

    G(w′) ≥ G(w′) + μ/2·‖d‖² − μ/2·D²,     D = ‖w‖₁ + P(w)/α ≥ ‖d‖₁ ≥ ‖d‖,

so a ridge of μ = 2ε/D², which has no slope at w, may be added at the price of ε, and ε = 1e-13·P is none. It takes
coordinates that stand a condition of 1e9 to profit from it: those of ``orthonormal``. There t is also chosen better
(``sharp_tilt``).
"""

import math
from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from separatrix.certificates.self_concordance import Yardstick
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Vector
from separatrix.core.factor import factorise
from separatrix.core.protocols import Evaluation


def tilt(gradient: Matrix, weights: Matrix, alpha: float) -> Matrix:
    """The slope t: α·sign(w) on the support, −∇f clipped to [−α, α] elsewhere.

    >>> tilt(np.array([0.3, -0.2, 7.0]), np.array([-1.0, 0.0, 0.0]), 0.5)
    array([-0.5,  0.2, -0.5])
    """
    return np.where(weights != 0.0, alpha * np.sign(weights), np.clip(-gradient, -alpha, alpha))


def sharp_tilt(gradient: Vector, sign: Vector, box: Vector, triangle: Matrix) -> Vector:
    """The slope t for H = RᵀR: where w is zero, −∂f as it will be after a Newton step on the support.

    Of all t that agree on the support this makes ∇f + t shortest in H⁻¹: it is then no longer than its part on the
    support in the inverse of H there, so columns beside the support that depend on it do no harm.
    ``sign`` is that of the weights; ``box`` is α of each coordinate, 0 of a constant.

    >>> triangle = np.array([[1.0, 0.5], [0.0, 1.0]])
    >>> sharp_tilt(np.array([0.5, 0.1]), np.array([-1.0, 0.0]), np.array([0.4, 0.4]), triangle)
    array([-0.4 , -0.05])
    """
    tilted = np.where(sign != 0.0, box * sign, np.clip(-gradient, -box, box))
    fixed = (sign != 0.0) | (np.abs(tilted) >= box)
    if fixed.all() or not fixed.any():
        return tilted
    left, corner = np.linalg.qr(triangle[:, fixed])
    if not (np.abs(corner.diagonal()) > 0.0).all():
        return tilted
    along = left @ solve_triangular(corner, gradient[fixed] + tilted[fixed], trans="T", check_finite=False)
    moved = np.clip(triangle[:, ~fixed].T @ along - gradient[~fixed], -box[~fixed], box[~fixed])
    tilted[~fixed] = moved
    return tilted


def box_slack(tilted: Matrix, weights: Matrix, alpha: float) -> float:
    """Σ(α|w| − t·w), every term of which is non-negative."""
    return float(np.sum(np.abs(weights) * np.maximum(alpha - tilted * np.sign(weights), 0.0))) * (1.0 + 1e-9)


def farthest(weights: Matrix, alpha: float, value: float) -> float:
    """D = ‖w‖₁ + P(w)/α: no point that is better than w is farther away, in ‖·‖₁."""
    return (float(np.abs(weights).sum()) + value / alpha) * (1.0 + 1e-9)


def without_common_moves(tilted: Matrix, weights: Matrix, looked: AnyArray, alpha: float) -> tuple[Matrix, AnyArray]:
    """One class left out of each column in which all are looked at, and t (K × columns) adding up to zero there."""
    tilted, looked = tilted.copy(), looked.copy()
    for j in np.flatnonzero(looked.all(axis=0)):
        # a weight that is zero has room in its box; of those the one with the most
        room = np.where(weights[:, j] == 0.0, alpha - np.abs(tilted[:, j]), -np.abs(weights[:, j]))
        out = int(room.argmax())
        others = np.arange(len(weights)) != out
        last = -math.fsum(tilted[others, j])  # rounded once
        while abs(last) > alpha:
            tilted[others, j] *= alpha / abs(last) * (1.0 - 4.0 * UNIT_ROUNDOFF)
            last = -math.fsum(tilted[others, j])
        tilted[out, j] = last
        looked[out, j] = False
    return tilted, looked


def tilted_bound(
    evaluation: Evaluation,
    yardstick: Yardstick,
    alpha: float,
    strength: float,
    zero: AnyArray | None = None,
    allowance: float = 1.0,
) -> float:
    """P − P* at the evaluated point (with its Hessian) is at most this; infinity where nothing is proved.

    ``zero`` (outputs × columns) marks weights that are zero in every minimiser; β = ``strength``.
    """
    outputs, constant = yardstick.outputs, int(yardstick.constant)
    width = len(evaluation.point) // outputs
    columns = width - constant
    weights = evaluation.point.reshape(outputs, width)[:, :columns]
    tilted = tilt(evaluation.gradient.reshape(outputs, width)[:, :columns], weights, alpha)
    looked = np.ones_like(weights, dtype=bool) if zero is None else ~(zero & (weights == 0.0))
    extra = 0.0
    if outputs > 1 and strength == 0.0:
        tilted, looked = without_common_moves(tilted, weights, looked, alpha)
        value = evaluation.value + alpha * float(np.abs(weights).sum())
        extra = box_slack(tilted, weights, alpha)
        extra += allowance * UNIT_ROUNDOFF * float(np.abs(tilted).max()) * farthest(weights, alpha, value)
    kept = np.ones((outputs, width), dtype=bool)
    kept[:, :columns] = looked
    keep = None if kept.all() else np.flatnonzero(kept.ravel()).astype(np.int64)
    if keep is not None and not len(keep):
        return extra  # every weight is zero in every minimiser, and here
    assert evaluation.hessian is not None
    factor = factorise(evaluation.hessian, evaluation.point, keep)
    if factor is None:
        return math.inf
    slope: Vector = np.zeros((outputs, width))
    slope[:, :columns] = tilted
    bent = replace(evaluation, gradient=evaluation.gradient + slope.ravel())
    return yardstick.bound(bent, factor, allowance) + extra
