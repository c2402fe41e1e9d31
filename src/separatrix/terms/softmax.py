"""The softmax loss as a sum over rows, for K classes.

A row x has a score zₖ = ⟨x, wₖ⟩ + bₖ for each class and probabilities
πₖ = exp(zₖ)/Σ exp(z_l). With label y and weight a the loss is a·(log Σ exp(zₖ) − z_y),
the negative log-likelihood of a categorical variable; its slopes in the scores are
a·(π − e_y) and its curvature a·(diag π − ππᵀ), so

    gradientₖ = Σ aᵢ(πᵢₖ − [yᵢ = k]) x̃ᵢ,    Hessianₖₗ = Σ aᵢ πᵢₖ([k = l] − πᵢₗ) x̃ᵢx̃ᵢᵀ.

Adding the same vector to all classes changes no probability: the Hessian is zero
along such directions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.row_vector import RowVector
from separatrix.core.total import Total
from separatrix.terms.losses import LossTotal, Ranges

HEADER = 4
"""Numbers before the curvature of the scores: loss, weight, mistakes, size of the slopes."""


TILE = 12
"""Blocks of the Hessian are padded to a multiple of this while dense rows are added."""


@dataclass(frozen=True, slots=True)
class SoftmaxLoss:
    """The softmax loss, its gradient, and on request its Hessian and the columns' ranges.

    A point is (classes × p), flat. ``blocks`` asks for the Hessian's blocks of one class (``classes``), for their sum
    (1) or for none, ``weighted_rows`` for Σ aᵢπᵢₖ(1 − πᵢₖ)x̃ᵢ of each class, and ``scores`` for the curvature of the
    scores, which is zero otherwise: with many classes and few columns it costs more than all the rest.
    ``row_probabilities`` is room for as many numbers per row, filled in passing.
    """

    classes: int
    constant: bool
    shift: Vector | None = None
    curvature: bool = False
    diagonal: bool = False
    ranges: bool = False
    blocks: int = 0
    weighted_rows: bool = False
    scores: bool = True
    row_probabilities: RowVector | None = None
    kernel: str = "softmax"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {
            "classes": self.classes,
            "shift": self.shift,
            "constant": self.constant,
            "curvature": self.curvature,
            "blocks": self.blocks,
            "weighted_rows": self.weighted_rows,
            "scores": self.scores,
            "diagonal": self.diagonal,
            "ranges": self.ranges,
            "row_probabilities": self.row_probabilities,
        }

    def width(self, columns: int) -> int:
        """Header, curvature of the scores, gradient; the Hessian as a padded block per pair of classes, or fewer."""
        k, p = self.classes, columns + self.constant
        side = -(-p // TILE) * TILE
        blocks = k * (k + 1) // 2 if self.curvature else self.blocks
        after = (blocks * side * side if blocks else k * p * self.diagonal) + k * p * self.weighted_rows
        return HEADER + k * k + k * p + after

    def work(self, entries_per_row: float, columns: int) -> float:
        """Products of panels, whose multiply-adds take less than half the usual time, and an exponential a class."""
        k = self.classes
        blocks = k * (k + 1) / 2 if self.curvature else self.blocks
        pairs = 0.2 * k * k * self.scores
        passes = 0.4 + 0.2 * self.weighted_rows + (0.2 if self.weighted_rows else 1.0) * self.diagonal
        return k * (passes * entries_per_row + 8.0) + pairs + 0.25 * blocks * entries_per_row * entries_per_row

    def read(self, total: Total) -> list[list[LossTotal]]:
        """The total of the only fold at the only point."""
        sums, k = total.sums[0, 0], self.classes
        loss, weight, mistakes, slope_size = sums[:HEADER].tolist()
        begin = HEADER + k * k
        q = len(sums) - begin
        if self.curvature:
            q = int((((1 + 4 * q) ** 0.5) - 1) / 2 + 0.5)
        elif self.blocks:  # blocks·p² + k·p numbers, and as many for the rows
            times = k * (1 + self.weighted_rows)
            q = k * int(((times * times + 4 * self.blocks * q) ** 0.5 - times) / (2 * self.blocks) + 0.5)
        else:
            q //= 1 + self.diagonal + self.weighted_rows
        after, rows = sums[begin + q :], None
        if self.weighted_rows:
            after, rows = after[:-q], after[-q:].reshape(k, -1)
        plain = not self.curvature and not self.blocks
        found = LossTotal(
            loss,
            weight,
            mistakes,
            slope_size,
            sums[HEADER:begin].reshape(k, k),
            sums[begin : begin + q],
            after if self.diagonal and plain else None,
            after.reshape(q, q) if self.curvature else None,
            Ranges.of(total.maxima) if self.ranges else None,
            after.reshape(self.blocks, q // k, q // k) if self.blocks and not self.curvature else None,
            rows,
        )
        return [[found]]


@dataclass(frozen=True, slots=True)
class SoftmaxProduct:
    """The Hessian at kept probabilities times a direction (classes × p, flat)."""

    classes: int
    constant: bool
    row_probabilities: RowVector
    kernel: str = "softmax_product"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"classes": self.classes, "constant": self.constant, "row_probabilities": self.row_probabilities}

    def width(self, columns: int) -> int:
        """One number per coefficient."""
        return self.classes * (columns + self.constant)

    def work(self, entries_per_row: float, columns: int) -> float:
        """One read of the row per class."""
        return self.classes * (entries_per_row + 2.0)

    def read(self, total: Total) -> Matrix:
        """The product, as a row."""
        products: Matrix = total.sums[0]
        return products
