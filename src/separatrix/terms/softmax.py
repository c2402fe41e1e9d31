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
from typing import Any, ClassVar

from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Vector
from separatrix.core.total import Total
from separatrix.terms.losses import LossTotal, Ranges

HEADER = 4
"""Numbers before the curvature of the scores: loss, weight, mistakes, size of the slopes."""


TILE = 12
"""Blocks of the Hessian are padded to a multiple of this while dense rows are added."""


@dataclass(frozen=True, slots=True)
class SoftmaxLoss:
    """The softmax loss, its gradient, and on request its Hessian and the columns' ranges.

    A point is (classes × p), flat. ``row_probabilities`` is a buffer (n × classes),
    filled in passing.
    """

    classes: int
    constant: bool
    shift: Vector | None = None
    curvature: bool = False
    diagonal: bool = False
    ranges: bool = False
    row_probabilities: Matrix | None = None
    kernel: str = "softmax"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {
            "classes": self.classes,
            "shift": self.shift,
            "constant": self.constant,
            "curvature": self.curvature,
            "diagonal": self.diagonal,
            "ranges": self.ranges,
            "row_probabilities": self.row_probabilities,
        }

    def width(self, columns: int) -> int:
        """Header, curvature of the scores, gradient; the Hessian as a padded block per pair of classes."""
        k, p = self.classes, columns + self.constant
        side = -(-p // TILE) * TILE
        after = k * (k + 1) // 2 * side * side if self.curvature else k * p * self.diagonal
        return HEADER + k * k + k * p + after

    def work(self, entries_per_row: float, columns: int) -> float:
        """Each class costs as much as a logistic loss; each pair of classes half a square."""
        k = self.classes
        pairs = k * (k + 1) / 4 * entries_per_row * entries_per_row if self.curvature else 0.0
        return k * (entries_per_row + k + 8.0) + pairs

    def read(self, total: Total) -> list[list[LossTotal]]:
        """The total of the only fold at the only point."""
        sums, k = total.sums[0, 0], self.classes
        loss, weight, mistakes, slope_size = sums[:HEADER].tolist()
        begin = HEADER + k * k
        q = len(sums) - begin
        if self.curvature:
            q = int((((1 + 4 * q) ** 0.5) - 1) / 2 + 0.5)
        elif self.diagonal:
            q //= 2
        after = sums[begin + q :]
        found = LossTotal(
            loss,
            weight,
            mistakes,
            slope_size,
            sums[HEADER:begin].reshape(k, k),
            sums[begin : begin + q],
            after if self.diagonal and not self.curvature else None,
            after.reshape(q, q) if self.curvature else None,
            Ranges.of(total.maxima) if self.ranges else None,
        )
        return [[found]]


@dataclass(frozen=True, slots=True)
class SoftmaxProduct:
    """The Hessian at kept probabilities times a direction (classes × p, flat)."""

    classes: int
    constant: bool
    row_probabilities: Matrix
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


@dataclass(frozen=True, slots=True)
class Combination:
    """Σ rᵢₖ x̃ᵢ for each column k of the factors r (n × count), to the last few digits.

    What additions lose is added up beside the sums, so the error does not grow with the
    number of rows: it is at most ``ERROR`` times the sum of the terms' sizes.
    """

    ERROR: ClassVar[float] = 8 * UNIT_ROUNDOFF

    factors: Matrix
    constant: bool
    kernel: str = "combine"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"factors": self.factors, "constant": self.constant}

    def width(self, columns: int) -> int:
        """One combination per column of factors."""
        return 2 * int(self.factors.shape[1]) * (columns + self.constant)

    def work(self, entries_per_row: float, columns: int) -> float:
        """Half as much again as a plain sum per column of factors."""
        return 1.5 * float(self.factors.shape[1]) * entries_per_row

    def read(self, total: Total) -> Matrix:
        """Combinations (count × p)."""
        high, lost = total.sums[0]
        combinations: Matrix = (high + lost).reshape(self.factors.shape[1], -1)
        return combinations
