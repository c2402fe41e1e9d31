"""The same bound where the Hessian is too large to factorise.

Given v with image Hv and residual r = g + Hv, the decrement obeys

    λ² = gᵀH⁻¹g = vᵀHv − 2vᵀr + rᵀH⁻¹r.

Only the last term needs H⁻¹, and r is small. With the penalty κ > 0 on w and none
on the intercept, elimination of the intercept (h = Σaᵢhᵢ its curvature, x̄ the
curvature-weighted mean row, X ≥ ‖xᵢ‖ so that ‖x̄‖ ≤ X) gives

    rᵀH⁻¹r ≤ r₀²/h + (‖r_w‖ + |r₀| X)²/κ,     ‖x̃ᵢ‖² ≤ 1/h + (2X)²/κ in H⁻¹,

because the Schur complement of the intercept is κI plus a Gram matrix. Without an
intercept the terms with r₀ and h fall away and 2X becomes X.

Rounding moves r_w by at most γX(mean |slope| + √(h vᵀHv)), and the scores' error
enters as in ``self_concordance``.
"""

import math
from dataclasses import dataclass

import numpy as np

from separatrix.certificates.self_concordance import Yardstick, excess_bound
from separatrix.core.arrays import Vector
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
        error = self.plain.score_error(evaluation.point)
        h = evaluation.curvature_sum * math.exp(-error) if self.plain.constant else 1.0
        if h <= 0.0:
            return math.inf
        residual = evaluation.gradient + image
        energy = max(float(step @ image), 0.0)
        blur = self.plain.gamma * self.longest * (evaluation.slope_size + error + math.sqrt(h * energy))
        rounding = 1.5 * error * math.sqrt(evaluation.curvature_sum + error)
        if self.plain.constant:
            r0 = abs(float(residual[-1])) + self.plain.gamma * (evaluation.slope_size + math.sqrt(h * energy))
            rw = float(np.linalg.norm(residual[:-1])) + r0 * self.longest
            tail = math.sqrt(r0 * r0 / h + (rw + allowance * blur) ** 2 / self.strength)
            reach = math.sqrt(1.0 / h + (2.0 * self.longest) ** 2 / self.strength)
        else:
            tail = (float(np.linalg.norm(residual)) + allowance * blur) / math.sqrt(self.strength)
            reach = self.longest / math.sqrt(self.strength)
        squared = energy - 2.0 * float(step @ residual) + tail * tail
        slack = 1e-14 * (energy + 2.0 * float(np.abs(step) @ np.abs(residual)))
        decrement = math.sqrt(max(squared, 0.0) + slack) + allowance * rounding
        return excess_bound(decrement * (1.0 + 1e-9), reach * (1.0 + 1e-9))
