r"""How far a fit with an L1 penalty is from its minimum, by duality, row by row.

Let P(W, b) = Σᵢ aᵢ ℓ(zᵢ, yᵢ) + Ω(W) with Σaᵢ = 1, softmax losses ℓ of the scores zᵢ = W xᵢ + b
(two classes: scores (0, z), one weight vector) and Ω(w) = Σⱼ α|wⱼ| + β/2 wⱼ². For any
probabilities uᵢ over the classes, Fenchel and Young's inequality says

    ℓ(z, y) − ⟨u − e_y, z⟩ + ℓ*(u − e_y) = KL(u ‖ π(z)) ≥ 0,

and with v = −Σ aᵢ(uᵢ − e_{yᵢ})xᵢᵀ also Ω(W) + Ω*(v) − ⟨v, W⟩ ≥ 0. If u is **balanced**,
Σ aᵢuᵢ = Σ aᵢe_{yᵢ}, the intercepts drop out, and adding up

    P(W, b) − P* ≤ Σᵢ aᵢ KL(uᵢ ‖ πᵢ) + Σⱼ [Ω(wⱼ) + Ω*(vⱼ) − vⱼwⱼ].

Every bracket is non-negative: the gap is a sum of small terms and never a difference
of large ones. Ω*(v) = max(|v| − α, 0)²/(2β); for β = 0 it is infinite outside the box
|v| ≤ α, so u is drawn towards e_y until v lies inside.

**The dual point.** Start from u = π. Class k has δₖ = Σ aᵢ(πᵢₖ − [yᵢ = k]) too much. Take the share
δₖ/Σaᵢπᵢₖ of it from every row's πᵢₖ where δₖ > 0, and give it, in the same row, to the classes with
δ < 0 in proportion. Then u ← (1−τ)e_y + τu with the largest τ ≤ 1 for which v fits the box: both
steps keep u a probability, and the second keeps it balanced.

**Safe screening.** ℓ is ¼-smooth (½ for softmax) in its scores, so ℓ* is strongly convex and
Σ aᵢ‖uᵢ − uᵢ*‖² ≤ gap/2 (1·gap for softmax): |vⱼ*| ≤ |vⱼ| + √(Σaᵢxᵢⱼ²)·√(that). If this is below α,
wⱼ* = 0 and column j need not be looked at again.

**Rounding.** v is added up with compensation, so it is off by at most ηⱼ = 8u·max|xⱼ|·Σ aᵢ|uᵢ − e_y|, to
which what the balance is off by (it is measured) adds max|xⱼ| times itself: a balanced point lies that near.
The box is shrunk by η. Another order of the rows puts the balance off by something else, so that a claim takes it to be
off by ``UNBALANCED`` at least. ⟨v, W⟩ is added up over the rows as −Σ aᵢ⟨uᵢ − e_y, zᵢ − b⟩, whose error is that of the
scores times Σ aᵢ|uᵢ − e_y|.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import kl_div

from separatrix.certificates.self_concordance import Yardstick
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Vector
from separatrix.core.row_vector import RowVector
from separatrix.core.scores import softmax

UNBALANCED = 4.0 * UNIT_ROUNDOFF
"""What pairwise sums of shares that add up to one are off by, more or less."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The duality gap, the dual point's correlations v (outputs × columns), and their error."""

    value: float
    correlations: Matrix
    error: Vector
    shrink: float

    def zero_weights(self, sizes: Vector, alpha: float) -> AnyArray:
        """Weights (outputs × columns) that are zero in every minimiser; ``sizes`` are √Σaᵢxᵢⱼ²."""
        outputs = len(self.correlations)
        radius = np.sqrt(self.value * (0.5 if outputs == 1 else 1.0)) * (1.0 + 1e-9)
        return np.asarray(np.abs(self.correlations) + self.error + sizes * radius < alpha)


def probabilities(scores: Matrix) -> Matrix:
    """Softmax of the scores; one column of scores means (0, z)."""
    if scores.shape[1] == 1:
        return np.ascontiguousarray(class_probabilities(scores).T)
    return softmax(scores)


def class_probabilities(scores: Matrix) -> Matrix:
    """The same, classes by rows."""
    if scores.shape[1] > 1:
        return np.ascontiguousarray(probabilities(scores).T)
    z = scores[:, 0]
    small = np.exp(-np.abs(z))
    large = 1.0 / (1.0 + small)
    small *= large
    pi: Matrix = np.empty((2, len(z)))
    pi[0] = np.where(z >= 0, small, large)
    pi[1] = np.where(z >= 0, large, small)
    return pi


def balanced(pi: RowVector, wanted: RowVector, weights: RowVector) -> RowVector:
    """Probabilities near π whose weighted sums over the rows equal those of ``wanted``; classes by rows.

    >>> pi, wanted = RowVector((np.array([[0.5, 0.4], [0.5, 0.6]]),), 1), RowVector((np.eye(2),), 1)
    >>> balanced(pi, wanted, RowVector((np.array([0.5, 0.5]),))).array().sum(axis=1)
    array([1., 1.])
    """
    # rows side by side in memory: only then NumPy adds them up in pairs
    have, want = (
        table.sum(lambda part, a: (np.ascontiguousarray(part) * a).sum(axis=1), weights) for table in (pi, wanted)
    )
    too_much = have - want
    lack = np.maximum(-too_much, 0.0)
    if not lack.sum() > 0.0:
        return pi
    take = np.divide(np.maximum(too_much, 0.0), have, out=np.zeros_like(have), where=have > 0)

    def moved(part: Matrix) -> Matrix:
        taken = part * take[:, None]
        return np.asarray(part - taken + np.outer(lack / lack.sum(), taken.sum(axis=0)))

    return pi.each(moved, axis=1)


def duality_gap(
    scores: RowVector,
    codes: RowVector,
    weights: RowVector,
    combine: Callable[[RowVector], Matrix],
    coef: Matrix,
    intercept: Vector,
    alpha: float,
    beta: float,
    yardstick: Yardstick,
    point: Vector,
    allowances: Sequence[float] = (1.0,),
) -> list[Gap]:
    """The gap at ``coef`` (outputs × columns) with the scores of its rows, for each of several allowances for rounding.

    ``weights`` sum to one; ``combine`` adds up rows with factors (n × outputs → outputs ×
    columns + 1, the sum of the factors last); α and β are the penalties of Ω; ``point`` is
    what the scores came from.
    """
    pi = scores.each(class_probabilities, axis=1)
    classes, outputs = np.arange(len(pi.parts[0])), scores.width
    own = codes.each(lambda part: np.equal.outer(classes, part).astype(np.float64), axis=1)
    u = balanced(pi, own, weights) if yardstick.constant else pi
    apart = u.each(np.subtract, own, axis=1)
    away = apart.each(np.multiply, weights, axis=1)
    combined = -combine(away.each(lambda part: np.ascontiguousarray(part[-outputs:].T)))
    v, unbalanced = combined[:, :-1], float(np.abs(combined[:, -1]).max()) if yardstick.constant else 0.0
    size = float(away.sum(lambda part: np.abs(part).sum()))
    inner = -float(away.sum(lambda part, z: np.sum(part[-outputs:] * (z - intercept).T), scores))
    penalty = alpha * float(np.abs(coef).sum()) + 0.5 * beta * float(np.square(coef).sum())
    blur = yardstick.score_error(point)

    @cache
    def rows_at(shrink: float) -> tuple[float, float]:
        """Σ aᵢ KL of the rows, and Σ aᵢ|difference|, at the dual point drawn to ``shrink``."""

        def both(part: Matrix, mine: Matrix, off: Matrix, a: Vector) -> Vector:
            drawn = mine + shrink * off
            divergence = np.maximum(kl_div(drawn, part), 0.0) @ a
            return np.array([divergence.sum(), (np.abs(drawn - part) @ a).sum()])

        rows, distance = pi.sum(both, own, apart, weights).tolist()
        return rows, distance

    def gap_for(shrink: float, error: Vector, allowance: float) -> float:
        over = np.maximum(shrink * (np.abs(v) + error) - alpha, 0.0)
        conjugate = float(np.square(over).sum()) / (2.0 * beta) if beta > 0 else 0.0
        rows, distance = rows_at(shrink)
        slack = blur * (size + distance + blur) + 1e-15 * (size + penalty)
        total = rows + max(penalty - shrink * inner + conjugate, 0.0) + allowance * slack
        return total if np.isfinite(total) else np.inf

    gaps = []
    for allowance in allowances:
        off = max(unbalanced, UNBALANCED) if yardstick.constant and allowance > 1.0 else unbalanced
        error = allowance * yardstick.sizes[: coef.shape[1]] * (8 * UNIT_ROUNDOFF * size + off + 2.0**-62)
        # into the box for pure L1; with an L2 part the conjugate is finite outside it, and the better of both serves
        largest = float(np.max(np.abs(v) + error, initial=0.0))
        inside = min(1.0, alpha / largest) if largest > 0 else 1.0
        tried = {inside} if beta == 0.0 else {inside, 1.0}
        gap, shrink = min((gap_for(shrink, error, allowance), shrink) for shrink in tried)
        gaps.append(Gap(gap, shrink * v, shrink * error, shrink))
    return gaps
