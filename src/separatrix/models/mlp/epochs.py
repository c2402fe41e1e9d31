"""An epoch of steps over batches of rows, compiled."""

import numpy as np

from separatrix.core.arrays import AnyArray
from separatrix.core.protocols import Engine
from separatrix.kernels.network import NetworkPasses, StepRule
from separatrix.terms.architecture import Architecture


class Epochs:
    """Steps over batches, compiled.

    The objective of an epoch is the mean over its batches as each was met, before its
    step, weighted by their numbers of rows; a batch's penalty is α/2‖W‖² over its own S.
    """

    def __init__(
        self, architecture: Architecture, weights: AnyArray, engine: Engine, alpha: float, batch_size: int
    ) -> None:
        self._weights, self._gradient = weights, np.empty_like(weights)
        self._engine, self._alpha, self._size = engine, alpha, batch_size
        self._passes = NetworkPasses(
            architecture.units, architecture.activation, weights.dtype, engine.sparse, batch_size
        )

    def run(self, order: AnyArray | None, update: StepRule) -> tuple[float, float]:
        """Visit the rows of ``order``, all where it is None, batch by batch: the epoch's objective and its mistakes."""
        total = wrong = 0.0
        for block, some in self._engine.visited(order, self._size):
            visits = block.visits(self._weights.dtype, some)
            met, missed = self._passes.steps(visits, self._weights, self._gradient, update, self._alpha, self._size)
            total, wrong = total + met, wrong + missed
        return total / (self._engine.rows if order is None else len(order)), wrong
