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

Rounding moves the gradient by at most γΣ|slopes| per unit of row and the image by γ√(vᵀHv); both are
added to λ as lengths in H⁻¹, and the scores' error enters as in ``self_concordance``.
"""

import math
from dataclasses import dataclass

import numpy as np

from separatrix.certificates.self_concordance import Yardstick, excess_bound
from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Vector
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
        inverse = self._inverse_scores_curvature(evaluation, error) if plain.constant else np.zeros((outputs, outputs))
        if not error < 0.3 or inverse is None:
            return math.inf
        residual = evaluation.gradient + image
        energy = max(float(step @ image), 0.0)
        by_output = residual.reshape(outputs, -1)
        first = by_output[:, -1] if plain.constant else np.zeros(outputs)
        rest = float(np.linalg.norm(by_output[:, :-1] if plain.constant else by_output))
        rho = float(first @ inverse @ first)
        # rounding of the gradient and of the image, as lengths in H⁻¹
        slopes, moves = plain.gamma * (evaluation.slope_size + error), plain.gamma * math.sqrt(energy)
        of_gradient = allowance * self._length(slopes, inverse, evaluation.point)
        of_image = allowance * self._length(moves, inverse, step)
        of_image += allowance * 1.5 * plain.score_error(step) * (plain.wobble(evaluation) + error)
        tail = self._norm(rho, rest) + of_image
        slack = allowance * (len(step) + 4) * UNIT_ROUNDOFF
        slack *= float(np.abs(step) @ (np.abs(image) + 2.0 * np.abs(residual)))
        squared = energy - 2.0 * float(step @ residual) + of_image * math.sqrt(energy) + slack + tail * tail
        rounding = 1.5 * error * (plain.wobble(evaluation) + error)
        decrement = (math.sqrt(max(squared, 0.0)) + of_gradient + allowance * rounding) * math.exp(error)
        rho_row = 0.0
        if plain.constant:
            rho_row = float(inverse[0, 0]) if outputs == 1 else 4.0 * float(inverse.diagonal().max())
        reach = self._norm(rho_row, self.longest * (1.0 if outputs == 1 else math.sqrt(2.0)))
        return excess_bound(decrement * (1.0 + 1e-9), reach * math.exp(error) * (1.0 + 1e-9))

    def _norm(self, rho: float, rest: float) -> float:
        """√(ρ + (‖r_w‖ + X√(cρ))²/κ)."""
        curve = 0.25 if self.plain.outputs == 1 else 0.5
        whole = rest + self.longest * math.sqrt(curve * rho)
        return math.sqrt(rho + whole * whole / self.strength)

    def _length(self, size: float, inverse: Matrix, point: Vector) -> float:
        """The length of an error of ``size`` per unit of row, plus rounding of κ times a point."""
        rho = size * size * float(inverse.trace()) * self.plain.outputs if self.plain.constant else 0.0
        rounded = 4.0 * UNIT_ROUNDOFF * self.strength * float(np.linalg.norm(point))
        return self._norm(rho, size * self.longest + rounded)

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
