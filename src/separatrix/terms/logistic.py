"""The logistic loss as a sum over rows.

For a row x with label s ∈ {−1, +1}, weight a and score z = ⟨x, w⟩ + b, the loss is
a·log(1 + exp(−s z)), the negative log-likelihood of a Bernoulli variable whose
log-odds are z. Its slope in z is a·(σ(z) − [s = +1]) and its curvature a·σ(z)σ(−z),
so with x̃ = (x, 1)

    gradient = Σ aᵢ (σ(zᵢ) − yᵢ) x̃ᵢ,    Hessian = Σ aᵢ σ(zᵢ)σ(−zᵢ) x̃ᵢ x̃ᵢᵀ.

The Hessian is taken about ``shift``: of x̃ = (x − shift, 1). A column such as
1e8 ± 1 then keeps its spread, which products of raw values would lose.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.row_vector import RowVector
from separatrix.core.total import Total
from separatrix.terms.losses import LossTotal, Ranges

ROW_WORK = 60.0
"""An exponential and a logarithm, in multiply-adds."""

HEADER = 5
"""Numbers before the gradient: loss, weight, curvature, mistakes, size of the slopes."""


@dataclass(frozen=True, slots=True)
class LogisticLoss:
    """The logistic loss, its gradient, and on request its Hessian and the columns' ranges.

    ``diagonal`` asks for the Hessian's diagonal only; ``row_curvature`` is room for
    one number per row, filled in passing.
    """

    constant: bool
    shift: Vector | None = None
    curvature: bool = False
    diagonal: bool = False
    ranges: bool = False
    row_curvature: RowVector | None = None
    kernel: str = "logistic"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {
            "shift": self.shift,
            "constant": self.constant,
            "curvature": self.curvature,
            "diagonal": self.diagonal,
            "ranges": self.ranges,
            "row_curvature": self.row_curvature,
        }

    def width(self, columns: int) -> int:
        """Header, gradient, and the Hessian if asked for."""
        p = columns + self.constant
        return HEADER + p + (p * p if self.curvature else p * self.diagonal)

    def work(self, entries_per_row: float, columns: int) -> float:
        """One read for the scores, one for the gradient, half a square for the Hessian; and the loss itself."""
        pairs = entries_per_row * entries_per_row / 2 if self.curvature else 0.0
        return ROW_WORK + entries_per_row + pairs

    def read(self, total: Total) -> list[list[LossTotal]]:
        """Totals by fold, then by point."""
        return [[self._read_one(sums, total.maxima) for sums in fold] for fold in total.sums]

    def _read_one(self, sums: Vector, maxima: Vector) -> LossTotal:
        p = len(sums) - HEADER
        if self.curvature:
            p = int((((1 + 4 * p) ** 0.5) - 1) / 2 + 0.5)  # p + p² numbers follow the header
        elif self.diagonal:
            p //= 2
        after = sums[HEADER + p :]
        loss, weight, curvature, mistakes, slope_size = sums[:HEADER].tolist()
        return LossTotal(
            loss,
            weight,
            mistakes,
            slope_size,
            np.array([[curvature]]),
            sums[HEADER : HEADER + p],
            after if self.diagonal and not self.curvature else None,
            after.reshape(p, p) if self.curvature else None,
            Ranges.of(maxima) if self.ranges else None,
        )


@dataclass(frozen=True, slots=True)
class CurvatureProduct:
    """Σ cᵢ x̃ᵢ ⟨x̃ᵢ, v⟩ for each direction v: the Hessian times v without the Hessian; cᵢ = 1 by default."""

    constant: bool
    row_weights: RowVector | None
    kernel: str = "product"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"constant": self.constant, "row_weights": self.row_weights}

    def width(self, columns: int) -> int:
        """One number per coefficient."""
        return columns + self.constant

    def work(self, entries_per_row: float, columns: int) -> float:
        """One read of the row."""
        return entries_per_row

    def read(self, total: Total) -> Matrix:
        """One product per direction."""
        products: Matrix = total.sums[0]
        return products


@dataclass(frozen=True, slots=True)
class Scores:
    """⟨x, w⟩ + b of every row, or the probabilities of both classes."""

    constant: bool
    probabilities: bool = False
    kernel: str = "score"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"constant": self.constant, "probabilities": self.probabilities}

    def outputs(self, points: int) -> int:
        """Two probabilities, or one score per point."""
        return 2 if self.probabilities else points
