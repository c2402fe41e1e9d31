"""A network's objective over all rows, and an epoch of steps over batches of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import AnyArray, Codes, Matrix, Vector
from separatrix.kernels.network import NetworkPasses, StepRule, Visits
from separatrix.kernels.pool import run_lanes
from separatrix.terms.architecture import Architecture
from separatrix.terms.layers import Forward, lanes_for

BLOCK_ROWS = 1024
"""Rows whose values are held at once in a pass over all rows."""


class Source(Protocol):
    """Rows by number or in a row."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""

    @property
    def view(self) -> kernels.Rows:
        """The rows as the kernels read them one by one."""

    def buffer(self, rows: int) -> AnyArray | None:
        """Room for so many rows; None where they stay sparse."""

    def slice(self, first: int, last: int, out: AnyArray | None) -> Any:
        """Rows first … last−1."""


@dataclass(frozen=True)
class NetworkLoss:
    """F = (1/S)[Σ aᵢ·loss(xᵢ, yᵢ) + (α/2) Σ‖Wₖ‖²] over all rows, S = Σ aᵢ; constants are not penalised.

    Without hidden layers this is logistic regression's objective with C = 1/α.
    """

    architecture: Architecture
    source: Source
    codes: Codes
    weights: Vector | None
    alpha: float

    @cached_property
    def _passes(self) -> NetworkPasses:
        architecture, source = self.architecture, self.source
        return NetworkPasses(architecture.units, architecture.activation, np.float64, source.sparse, source.rows)

    @cached_property
    def _visits(self) -> Visits:
        return Visits(self.source.view, kernels.Labels(self.codes, self.weights))

    @property
    def weight(self) -> float:
        """S."""
        return float(self.source.rows if self.weights is None else self.weights.sum())

    def evaluate(self, point: AnyArray) -> tuple[float, Vector]:
        """F and its gradient, added up in float64 whatever the rows are stored in."""
        wide = point.astype(np.float64, copy=False)
        loss, gradient = self._passes.losses(self._visits, wide)
        end, scale = self.architecture.weights_end, 1.0 / self.weight
        gradient[:end] += self.alpha * wide[:end]
        gradient *= scale
        return (loss + 0.5 * self.alpha * float(wide[:end] @ wide[:end])) * scale, gradient


def scores(architecture: Architecture, weights: AnyArray, source: Source) -> Matrix:
    """The output's scores of every row (n × outputs), as float64."""
    rows = source.rows
    out = np.empty((rows, architecture.outputs))
    lanes = lanes_for(float(rows) * architecture.work, rows)

    def lane_scores(lane: int) -> None:
        first, last = rows * lane // lanes, rows * (lane + 1) // lanes
        most = min(BLOCK_ROWS, last - first)
        passing = Forward(architecture, weights, most)
        room = source.buffer(most)
        for begin in range(first, last, most):
            end = min(begin + most, last)
            inputs = source.slice(begin, end, None if room is None else room[: end - begin])
            out[begin:end] = passing.scores(inputs, end - begin)

    run_lanes(lane_scores, lanes)
    return out


class Epochs:
    """Steps over batches, compiled.

    The objective of an epoch is the mean over its batches as each was met, before its
    step, weighted by their numbers of rows; a batch's penalty is α/2‖W‖² over its own S.
    """

    def __init__(
        self,
        architecture: Architecture,
        weights: AnyArray,
        source: Source,
        labels: kernels.Labels,
        alpha: float,
        batch_size: int,
    ) -> None:
        self._weights, self._gradient = weights, np.empty_like(weights)
        self._view, self._labels, self._alpha, self._size = source.view, labels, alpha, batch_size
        self._passes = NetworkPasses(
            architecture.units, architecture.activation, weights.dtype, source.sparse, batch_size
        )

    def run(self, order: AnyArray | None, update: StepRule) -> tuple[float, float]:
        """Visit the rows of ``order``, all where it is None, batch by batch: the epoch's objective and its mistakes."""
        visits = Visits(self._view, self._labels, order)
        total, wrong = self._passes.steps(visits, self._weights, self._gradient, update, self._alpha, self._size)
        return total / visits.count, wrong
