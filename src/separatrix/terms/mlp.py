"""A network's objective over all rows, and its scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.kept import kept
from separatrix.core.protocols import Engine, Source
from separatrix.kernels.network import NetworkPasses
from separatrix.kernels.pool import run_lanes
from separatrix.terms.architecture import Architecture
from separatrix.terms.layers import Forward, lanes_for

BLOCK_ROWS = 1024
"""Rows whose values are held at once in a pass over all rows."""


@dataclass(frozen=True)
class NetworkLoss:
    """F = (1/S)[Σ aᵢ·loss(xᵢ, yᵢ) + (α/2) Σ‖Wₖ‖²] over all rows, S = Σ aᵢ; constants are not penalised.

    Without hidden layers this is logistic regression's objective with C = 1/α.
    """

    architecture: Architecture
    engine: Engine
    alpha: float
    dtype: Any = np.float64

    @kept
    def _passes(self) -> NetworkPasses:
        architecture, engine = self.architecture, self.engine
        return NetworkPasses(architecture.units, architecture.activation, np.float64, engine.sparse, engine.rows)

    @kept
    def _visits(self) -> list[Any]:
        return [block.visits(self.dtype, None) for block in self.engine.blocks()]

    @property
    def weight(self) -> float:
        """S."""
        return self.engine.weight

    def evaluate(self, point: AnyArray) -> tuple[float, Vector]:
        """F and its gradient, added up in float64 whatever the rows are stored in."""
        wide = point.astype(np.float64, copy=False)
        (loss, gradient), *others = (self._passes.losses(visits, wide) for visits in self._visits)
        for more, slopes in others:
            loss, gradient = loss + more, gradient + slopes
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
