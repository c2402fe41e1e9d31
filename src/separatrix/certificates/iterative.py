"""The same bound where the Hessian is too large to factorise.

Given v with image Hv and residual r = g + Hv, the decrement obeys

    λ² = gᵀH⁻¹g = vᵀHv − 2vᵀr + rᵀH⁻¹r.

Only the last term needs H⁻¹, and r is small. The penalty κ > 0 acts on w and not on the
intercepts, so these are eliminated. Let h be their block of H (the curvature of the
scores, averaged; the number Σaᵢhᵢ for two classes, a K × K matrix Σaᵢ(diag π − ππᵀ)
otherwise), X ≥ ‖xᵢ‖ in the solver's coordinates, and c = ¼ (½ for softmax) the largest curvature of one row. Then

    rᵀH⁻¹r ≤ ρ + (‖r_w‖ + Xτ)²/κ,     ρ = r₀ᵀh⁻¹r₀,

because the Schur complement of the intercepts is κI plus a Gram matrix, and with v = h⁻¹r₀ the vector
H_{w0}v = Σ aᵢ(Aᵢv) ⊗ xᵢ, Aᵢ = diag π − ππᵀ, has length at most Xτ. One τ is √(cρ), as Aᵢ² ≼ cAᵢ. Where most rows are
decided h is small and ρ large; then the other is better: (Aᵢv)ₖ = Σₗ πₖπₗ(vₖ − vₗ), and the off-diagonal of h holds the
averages of πₖπₗ, so τ = Σₖₗ |hₖₗ||vₖ − vₗ| serves (two classes: hv = r₀, and τ = |r₀|). The same inequality for a row
itself, (e_k − e_l) ⊗ (x, 1), bounds the reach R, for each pair of classes. Without intercepts ρ = 0.

Rounding moves the gradient by at most γΣ|slopes| per unit of row, as it lies in memory and not in the solver's
coordinates, and the image by γ√(vᵀHv), all classes together; both are added to λ as lengths in H⁻¹, and the scores'
error enters as in ``self_concordance``.
"""

import math
from dataclasses import dataclass

import numpy as np

from separatrix.certificates.self_concordance import Yardstick, excess_bound
from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Vector
from separatrix.core.protocols import Evaluation


@dataclass(frozen=True, slots=True)
class IterativeYardstick:
    """What the bound needs beside ``Yardstick``: the penalty κ and the longest row.

    ``longest`` is at least its length plus that of the shift; ``widest`` is X, in the solver's coordinates.
    """

    plain: Yardstick
    strength: float
    longest: float
    widest: float

    def bound(
        self,
        evaluation: Evaluation,
        step: Vector,
        image: Vector,
        allowance: float = 1.0,
        asked: float = math.inf,
    ) -> float:
        """F − F* at the evaluated point is at most this, given v = ``step`` and H v = ``image``.

        Infinite where nothing is proved, and where the bound would surely be above ``asked``.
        """
        if self.strength <= 0.0:
            return math.inf
        plain, outputs = self.plain, self.plain.outputs
        error = plain.score_error(evaluation.point)
        residual = evaluation.gradient + image
        energy = max(float(step @ image), 0.0)
        by_output = residual.reshape(outputs, -1)
        first = by_output[:, -1] if plain.constant else np.zeros(outputs)
        rest = float(np.linalg.norm(by_output[:, :-1] if plain.constant else by_output))
        row = self.widest * (1.0 if outputs == 1 else math.sqrt(2.0))
        least = energy - 2.0 * float(step @ residual) + rest * rest / self.strength
        if not error < 0.3 or least * row * row >= self.strength or 0.5 * least > asked:
            return math.inf  # λ is at least √least and the reach row/√κ: nothing more need be computed
        scores = self._scores(evaluation, error)
        if scores is None:
            return math.inf
        # rounding of the gradient and of the image, as lengths in H⁻¹
        slopes, moves = plain.gamma * (evaluation.slope_size + error), plain.gamma * math.sqrt(energy)
        of_gradient = allowance * self._length(slopes, scores, evaluation.point)
        of_image = allowance * self._length(moves, scores, step)
        of_image += allowance * 1.5 * plain.score_error(step) * (plain.wobble(evaluation) + error)
        tail = self._norm(*scores.of(first), rest)
        if allowance > 1.0:  # a residual below the gradient's rounding is rounding, and another in another layout
            tail = max(tail, of_gradient)
        tail += of_image
        slack = allowance * (len(step) + 4) * UNIT_ROUNDOFF
        slack *= float(np.abs(step) @ (np.abs(image) + 2.0 * np.abs(residual)))
        squared = energy - 2.0 * float(step @ residual) + of_image * math.sqrt(energy) + slack + tail * tail
        rounding = 1.5 * error * (plain.wobble(evaluation) + error)
        decrement = (math.sqrt(max(squared, 0.0)) + of_gradient + allowance * rounding) * math.exp(error)
        if not decrement * row < math.sqrt(self.strength) or 0.5 * decrement * decrement > asked:
            return math.inf
        reach = self._norm(*scores.of_rows(), row)
        return excess_bound(decrement * (1.0 + 1e-9), reach * math.exp(error) * (1.0 + 1e-9))

    def _norm(self, rho: float, moved: float, rest: float) -> float:
        """√(ρ + (‖r_w‖ + Xτ)²/κ)."""
        whole = rest + self.widest * moved
        return math.sqrt(rho + whole * whole / self.strength)

    def _length(self, size: float, scores: "ScoresCurvature", point: Vector) -> float:
        """The length of an error of ``size`` per unit of row, plus rounding of κ times a point."""
        rounded = 4.0 * UNIT_ROUNDOFF * self.strength * float(np.linalg.norm(point))
        return self._norm(*scores.at_most(size), size * self.longest + rounded)

    def _scores(self, evaluation: Evaluation, error: float) -> "ScoresCurvature | None":
        """The curvature of the scores, on sums over classes of zero where there are several; None if not positive."""
        k = self.plain.outputs
        if not self.plain.constant:
            return ScoresCurvature(np.zeros((k, k)), np.zeros((k, k)), 0.0)
        h = evaluation.scores_curvature * math.exp(-2.0 * error) * (1.0 - 1e-9)
        held = h if k == 1 else h + np.full((k, k), h.trace() / (k * k))
        least = float(np.linalg.eigvalsh(held)[0])
        if not least > 1e-12 * float(held.trace()):
            return None
        inverse: Matrix = np.linalg.inv(held)
        return ScoresCurvature(evaluation.scores_curvature, inverse * (1.0 + 1e-3), 3.0 * error + 1e-8)


@dataclass(frozen=True, slots=True)
class ScoresCurvature:
    """h of the intercepts, more than its inverse, and the share by which it may be off; zeros without any."""

    matrix: Matrix
    inverse: Matrix
    share: float

    def of(self, first: Vector) -> tuple[float, float]:
        """ρ and τ of a vector r₀."""
        v = self.inverse @ first
        rho = max(float(first @ v), 0.0)
        if len(v) == 1:
            crude, moved = math.sqrt(0.25 * rho), abs(float(first[0]))
        else:
            crude = math.sqrt(0.5 * rho)
            moved = float(np.sum(np.abs(self.matrix) * np.abs(v[:, None] - v)))
        return rho, min(crude, moved * (1.0 + 1e-3) + self.share * crude)

    def of_rows(self) -> tuple[float, float]:
        """The largest ρ and τ of a row's intercepts: 1, or e_k − e_l for any two classes.

        Of so many pairs τ = Σₖₗ |hₖₗ||vₖ − vₗ| ≤ 2Σₖ hₖₖ|vₖ| is taken: the rows of h sum to zero, and only hₖₖ is
        positive in each.
        """
        k = len(self.matrix)
        if k == 1:
            return self.of(np.ones(1)) if self.inverse.any() else (0.0, 0.0)
        own = self.inverse.diagonal()
        rho = own[:, None] + own - 2.0 * self.inverse
        tau = np.sqrt(0.5 * np.maximum(rho, 0.0))
        scaled = self.matrix.diagonal() * self.inverse
        moved = 2.0 * np.array([np.abs(scaled - each).sum(axis=1) for each in scaled])
        tau = np.minimum(tau, moved * (1.0 + 1e-3) + self.share * tau)
        return float(rho.max()), float(tau.max())

    def at_most(self, size: float) -> tuple[float, float]:
        """The largest ρ and τ of a vector whose entries' sizes add up to ``size``.

        Both are convex, and so at most what they are where one entry has all of it.
        """
        if len(self.matrix) == 1:
            rho = size * size * float(self.inverse[0, 0])
            return rho, math.sqrt(0.25 * rho)
        rho = size * size * float(self.inverse.diagonal().max())
        crude = math.sqrt(0.5 * rho)
        moved = 2.0 * size * float((self.matrix.diagonal() @ np.abs(self.inverse)).max())
        return rho, min(crude, moved * (1.0 + 1e-3) + self.share * crude)
