"""The same bound where the Hessian is too large to factorise.

Given v with image Hv and residual r = g + Hv, the decrement obeys

    λ² = gᵀH⁻¹g = vᵀHv − 2vᵀr + rᵀH⁻¹r.

Only the last term needs H⁻¹, and r is small. The penalty κ > 0 acts on w and not on the
intercepts, so these are eliminated. Let h be their block of H (the curvature of the
scores, averaged; the number Σaᵢhᵢ for two classes, a K × K matrix Σaᵢ(diag π − ππᵀ)
otherwise), X ≥ ‖xᵢ‖, and c = ¼ (½ for softmax) the largest curvature of one row. Then

    rᵀH⁻¹r ≤ ρ + (‖r_w‖ + X√(cρ))²/κ,     ρ = r₀ᵀh⁻¹r₀,

because the Schur complement of the intercepts is κI plus a Gram matrix, and
H_{w0}h⁻¹r₀ = Σ aᵢ(Aᵢh⁻¹r₀) ⊗ xᵢ with Aᵢ² ≼ cAᵢ has length at most X√(cρ). The same inequality
for a row itself, (e_k − e_l) ⊗ (x, 1), bounds the reach R. Without intercepts ρ = 0.

Rounding moves r_w by at most γX(Σ|slopes| + √(vᵀHv)), and the scores' error enters as in
``self_concordance``.
"""

import math
from dataclasses import dataclass

import numpy as np

from separatrix.certificates.self_concordance import Yardstick, excess_bound
from separatrix.core.arrays import Matrix, Vector
from separatrix.core.protocols import Evaluation


@dataclass(frozen=True, slots=True)
class IterativeYardstick:
    """What the bound needs beside ``Yardstick``: the penalty κ and the longest row X."""

    plain: Yardstick
    strength: float
    longest: float

    def bound(self, evaluation: Evaluation, step: Vector, image: Vector, allowance: float = 1.0) -> float:
        """F − F* at the evaluated point is at most this, given v = ``step`` and H v = ``image``."""
        if self.strength <= 0.0:
            return math.inf
        plain, outputs = self.plain, self.plain.outputs
        error = plain.score_error(evaluation.point)
        residual = evaluation.gradient + image
        energy = max(float(step @ image), 0.0)
        slopes = evaluation.slope_size + error + math.sqrt(energy)
        blur = plain.gamma * self.longest * slopes
        by_output = residual.reshape(outputs, -1)
        rho = rho_row = 0.0
        if plain.constant:
            inverse = self._inverse_scores_curvature(evaluation, error)
            if inverse is None:
                return math.inf
            r0 = by_output[:, -1] + np.sign(by_output[:, -1]) * allowance * plain.gamma * slopes
            rho = float(r0 @ inverse @ r0) + float(inverse.trace()) * (plain.gamma * slopes) ** 2
            rho_row = float(inverse[0, 0]) if outputs == 1 else 4.0 * float(inverse.diagonal().max())
            by_output = by_output[:, :-1]
        curve, spread = (0.25, 1.0) if outputs == 1 else (0.5, math.sqrt(2.0))
        rest = float(np.linalg.norm(by_output)) + allowance * blur + self.longest * math.sqrt(curve * rho)
        reach = rho_row + (self.longest * (spread + math.sqrt(curve * rho_row))) ** 2 / self.strength
        squared = energy - 2.0 * float(step @ residual) + rho + rest * rest / self.strength
        slack = 1e-14 * (energy + 2.0 * float(np.abs(step) @ np.abs(residual)))
        rounding = 1.5 * error * (plain.wobble(evaluation) + error)
        decrement = math.sqrt(max(squared, 0.0) + slack) + allowance * rounding
        return excess_bound(decrement * (1.0 + 1e-9), math.sqrt(reach) * (1.0 + 1e-9))

    def _inverse_scores_curvature(self, evaluation: Evaluation, error: float) -> Matrix | None:
        """h⁻¹, on sums over classes of zero where there are several; None if not positive."""
        h = evaluation.scores_curvature * math.exp(-2.0 * error) * (1.0 - 1e-9)
        k = self.plain.outputs
        held = h if k == 1 else h + np.full((k, k), h.trace() / (k * k))
        least = float(np.linalg.eigvalsh(held)[0])
        if not least > 1e-12 * float(held.trace()):
            return None
        inverse: Matrix = np.linalg.inv(held)
        return inverse * (1.0 + 1e-3)
