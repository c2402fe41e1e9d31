r"""How far a smooth fit is from its minimum, proved from one gradient and one Hessian.

Let F be an average of logistic losses plus a quadratic penalty, g its gradient at
a point, and H ≼ ∇²F there, any lower bound. Write λ² = gᵀH⁻¹g, and let R be at
least ‖x̃ᵢ‖ in H⁻¹ for every row.

**Lemma.** If t = λR < 1, a minimiser exists and F − F* ≤ [t + (1−t)·ln(1−t)] / R².

*Proof.* Take a direction d of unit length in H and φ(s) = F(point + s d). The
logistic loss satisfies |ℓ‴| ≤ ℓ″, so |φ‴| ≤ maxᵢ|⟨x̃ᵢ, d⟩| φ″ ≤ R φ″, hence
φ″(s) ≥ φ″(0) e^{−Rs} ≥ e^{−Rs}, and integrating twice

    φ(s) ≥ φ(0) − λ s + (e^{−Rs} − 1 + Rs)/R².

The right side is least where e^{−Rs} = 1 − t, which exists as t < 1, and there it is
φ(0) − [t + (1−t)ln(1−t)]/R²; beyond it grows without end, so level sets are bounded. ∎

No strong convexity is used: a free intercept and no penalty at all are covered, and
the lemma then proves that the maximum of the likelihood exists. For small t the
bound is λ²/2, the same for every scaling of the columns.

**Rounding** is part of the bound, with u = 2⁻⁵³ and γ = (n + 2p + 64)·u:

* each sum of n products is off by at most γ times the sum of their sizes, so the
  gradient's error is at most γ Σⱼ Gⱼ‖eⱼ‖ in H⁻¹, where Gⱼ = max|xᵢⱼ| times the mean
  size of the slopes;
* scores are off by at most E = 2(p+4)u Σⱼ max|xᵢⱼ||wⱼ|, which moves the gradient by
  Σ aᵢhᵢηᵢx̃ᵢ with |ηᵢ| ≤ E e^E: of length at most E e^E √(Σaᵢhᵢ) in H⁻¹, since H is
  itself Σ aᵢhᵢx̃ᵢx̃ᵢᵀ or more;
* curvatures at scores that are off by E are off by a factor of e^{2E} at most;
* entries of H are off by at most γ√(Hⱼⱼ Hₖₖ), so H ≽ (1−θ)Ĥ with
  θ = 2pγ Σⱼ Ĥⱼⱼ(Ĥ⁻¹)ⱼⱼ; θ ≥ ½ proves nothing.

A Hessian taken at another point still serves: along the way it shrinks by at most
e^{−M}, M = maxᵢ|⟨x̃ᵢ, Δ⟩|.

**Softmax.** With K classes and a direction d, let uₖ = ⟨x̃, dₖ⟩. The second and third
derivatives of log Σ exp along d are the variance and the third central moment of u
under π, so |φ‴| ≤ (max u − min u)·φ″: the lemma holds with R ≥ the length of
(e_k − e_l) ⊗ x̃ᵢ in H⁻¹ for all pairs of classes, at most twice the largest of the lengths of
e_k ⊗ x̃ᵢ, and M twice the largest |⟨x̃ᵢ, Δₖ⟩|. Errors of the scores of at most E move the
gradient by at most E e^E, as the variance of numbers in [−E, E] is at most E².
"""

import math
from dataclasses import dataclass

import numpy as np

from separatrix.core.arrays import UNIT_ROUNDOFF, Vector
from separatrix.core.factor import Factor
from separatrix.core.protocols import Evaluation


def excess_bound(decrement: float, reach: float) -> float:
    """[t + (1−t)·ln(1−t)]/R² for t = λR, or infinity where t ≥ 1.

    With λ = ``decrement`` and R = ``reach``; as a series, because the closed form
    loses all digits for small t: Σ tᵏ/(k(k−1)), k = 2, 3, …, divided by R².

    >>> round(excess_bound(1e-9, 100.0) / 5e-19, 9)
    1.000000033
    >>> excess_bound(0.5, 2.0)
    inf
    """
    t = decrement * reach
    if not t < 1.0:
        return math.inf
    if t > 0.1:
        return (t + (1.0 - t) * math.log1p(-t)) / (reach * reach) * (1.0 + 1e-12)
    series = sum(t ** (k - 2) / (k * (k - 1)) for k in range(2, 19))
    return decrement * decrement * series * (1.0 + 1e-12)


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What the bound needs to know of the data, in the coordinates (w, b′) of the solver.

    ``sizes`` bounds |xⱼ|, ``spreads`` bounds |xⱼ − shiftⱼ| (1 for the constant);
    ``rows`` counts the rows summed; ``longest`` bounds ‖x‖ + ‖shift‖.
    """

    rows: int
    sizes: Vector
    spreads: Vector
    constant: bool
    outputs: int = 1
    longest: float = math.inf

    @classmethod
    def of(
        cls,
        rows: int,
        low: Vector,
        high: Vector,
        shift: Vector,
        constant: bool,
        outputs: int = 1,
        longest: float = math.inf,
    ) -> "Yardstick":
        """From the columns' least and greatest values."""
        sizes = np.maximum(np.abs(low), np.abs(high)) + np.abs(shift)
        spreads = np.maximum(high - shift, shift - low)
        if constant:
            sizes, spreads = np.append(sizes, 1.0), np.append(spreads, 1.0)
        if outputs > 1:
            sizes, spreads = np.tile(sizes, outputs), np.tile(spreads, outputs)
        return cls(rows, sizes, spreads, constant, outputs, longest)

    @property
    def gamma(self) -> float:
        """Relative error of a sum over the rows, at most."""
        return (self.rows + 2 * len(self.sizes) + 64) * UNIT_ROUNDOFF

    def score_error(self, point: Vector) -> float:
        """E: how far a computed score may be from the true one: rounding times Σⱼ|xⱼwⱼ|, which is at most ‖x‖‖w‖."""
        products = self.widest(self.sizes * np.abs(point), one=True)
        if math.isfinite(self.longest):
            rows = point.reshape(self.outputs, -1)
            weights = rows[:, : rows.shape[1] - self.constant]
            lengths = self.longest * np.sqrt(np.square(weights).sum(axis=1))
            lengths += np.abs(rows[:, -1]) if self.constant else 0.0
            products = min(products, float(lengths.max()) * (1.0 + 1e-9))
        return 2.0 * (len(point) + 4) * UNIT_ROUNDOFF * products

    def widest(self, products: Vector, one: bool = False) -> float:
        """Σⱼ products, of the only output; of K outputs twice the largest (``one``: once)."""
        if self.outputs == 1:
            return float(products.sum())
        return float(products.reshape(self.outputs, -1).sum(axis=1).max()) * (1.0 if one else 2.0)

    def wobble(self, evaluation: Evaluation) -> float:
        """√Σaᵢhᵢ: how much an error in the scores can move the gradient."""
        return math.sqrt(float(evaluation.scores_curvature[0, 0])) if self.outputs == 1 else 1.0

    def bound(self, evaluation: Evaluation, factor: Factor, allowance: float = 1.0) -> float:
        """F − F* at the evaluated point is at most this; infinity where nothing is proved.

        ``allowance`` ≥ 1 multiplies the rounding of the gradient and of the Hessian, so that whoever
        repeats the computation in another order arrives at no more than what was claimed.
        """
        decrement_squared = float(evaluation.gradient @ factor.solve(evaluation.gradient))
        # R is at least spread/√Hⱼⱼ for every column: if that rules t < 1 out, nothing more is computed
        least_reach_squared = float(np.max(np.square(factor.kept(self.spreads)) / factor.diagonal))
        if factor.share <= 0.0 or not decrement_squared * least_reach_squared < 1.0:
            return math.inf
        lengths = factor.inverse_lengths
        p, gamma = len(lengths), self.gamma
        theta = allowance * 2.0 * p * gamma * float(factor.diagonal @ np.square(lengths))
        moved = 0.0
        if evaluation.point is not factor.anchor:
            moved = self.widest(self.spreads * np.abs(evaluation.point - factor.anchor))
        error = self.score_error(evaluation.point)
        if not theta < 0.5 or not moved < 50.0 or not error < 0.3:
            return math.inf
        certain = math.sqrt(factor.share * (1.0 - theta) * math.exp(-moved - 2.0 * allowance * error))
        slopes = evaluation.slope_size + error
        rounding = gamma * slopes * float(factor.kept(self.sizes) @ lengths) / certain
        rounding += 1.5 * error * (self.wobble(evaluation) + error)
        decrement = math.sqrt(max(decrement_squared, 0.0) * (1.0 + 1e-9)) / certain + allowance * rounding
        if factor.keep is not None:
            every = np.zeros_like(self.spreads)
            every[factor.keep] = lengths
            lengths = every
        reach = self.widest(self.spreads * lengths) / certain * (1.0 + 1e-9)
        return excess_bound(decrement, reach) if math.isfinite(decrement) else math.inf
