"""A network's objective over all rows, and an epoch of steps over batches of them."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from separatrix.core.arrays import AnyArray, Codes, Matrix, Positions, Vector
from separatrix.core.pool import LanePool
from separatrix.terms.architecture import Architecture
from separatrix.terms.backprop import Backprop, lanes_for

BLOCK_ROWS = 1024
"""Rows whose values are held at once in a pass over all rows."""


class Source(Protocol):
    """Rows by number or in a row."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def buffer(self, rows: int) -> AnyArray | None:
        """Room for so many rows; None where they stay sparse."""

    def fetch(self, which: Positions, out: AnyArray | None) -> Any:
        """Rows by number."""

    def slice(self, first: int, last: int, out: AnyArray | None) -> Any:
        """Rows first … last−1."""


class Stepping(Protocol):
    """What moves the weights."""

    def begin(self) -> None:
        """A new step."""

    def step(self, first: int, last: int, gradient: AnyArray, weights: AnyArray, scale: float, decay: float) -> None:
        """Step a part of the weights by scale·gradient + decay·weights."""


@dataclass(frozen=True, slots=True)
class NetworkLoss:
    """F = (1/S)[Σ aᵢ·loss(xᵢ, yᵢ) + (α/2) Σ‖Wₖ‖²] over all rows, S = Σ aᵢ; constants are not penalised.

    Without hidden layers this is logistic regression's objective with C = 1/α.
    """

    architecture: Architecture
    source: Source
    codes: Codes
    weights: Vector | None
    alpha: float

    @property
    def weight(self) -> float:
        """S."""
        return float(self.source.rows if self.weights is None else self.weights.sum())

    def evaluate(self, point: AnyArray, pool: LanePool) -> tuple[float, Vector]:
        """F and its gradient, added up in float64 in lanes of rows that are merged in order."""
        rows = self.source.rows
        lanes = lanes_for(float(rows) * self.architecture.work, rows)

        def lane_sums(lane: int) -> tuple[float, Vector]:
            first, last = rows * lane // lanes, rows * (lane + 1) // lanes
            return self._sums(point, first, last)

        sums = pool.run(lane_sums, lanes)
        loss, gradient = sums[0]
        for more_loss, more in sums[1:]:
            loss += more_loss
            gradient += more
        end, scale = self.architecture.weights_end, 1.0 / self.weight
        matrices = point[:end].astype(np.float64)
        gradient[:end] += self.alpha * matrices
        gradient *= scale
        return (loss + 0.5 * self.alpha * float(matrices @ matrices)) * scale, gradient

    def _sums(self, point: AnyArray, first: int, last: int) -> tuple[float, Vector]:
        most = min(BLOCK_ROWS, last - first)
        passing = Backprop(self.architecture, point, most)
        room = self.source.buffer(most)
        parts = passing.parts(0, sparse=True)
        total, loss = np.zeros(self.architecture.parameters), 0.0
        for begin in range(first, last, most):
            end = min(begin + most, last)
            inputs = self.source.slice(begin, end, None if room is None else room[: end - begin])
            weights = None if self.weights is None else self.weights[begin:end]
            loss += passing.rows_pass(inputs, self.codes[begin:end], weights, 0, end - begin)[0]
            passing.inputs[0] = inputs
            for part in parts:
                passing.part_gradient(part, end - begin)
            total += passing.gradient
        return loss, total


def scores(architecture: Architecture, weights: AnyArray, source: Source, pool: LanePool) -> Matrix:
    """The output's scores of every row (n × outputs), as float64."""
    rows = source.rows
    out = np.empty((rows, architecture.outputs))
    lanes = lanes_for(float(rows) * architecture.work, rows)

    def lane_scores(lane: int) -> None:
        first, last = rows * lane // lanes, rows * (lane + 1) // lanes
        most = min(BLOCK_ROWS, last - first)
        passing = Backprop(architecture, weights, most, back=False)
        room = source.buffer(most)
        for begin in range(first, last, most):
            end = min(begin + most, last)
            inputs = source.slice(begin, end, None if room is None else room[: end - begin])
            out[begin:end] = passing.forward(inputs, 0, end - begin)

    pool.run(lane_scores, lanes)
    return out


class Epochs:
    """Steps over batches: each is a pass over lanes of rows, then over parts of the weights.

    The objective of an epoch is the mean over its batches as each was met, before its
    step, weighted by their numbers of rows; a batch's penalty is α/2‖W‖² over its own S.
    """

    def __init__(
        self,
        architecture: Architecture,
        weights: AnyArray,
        source: Source,
        codes: Codes,
        row_weights: Vector | None,
        alpha: float,
        batch_size: int,
    ) -> None:
        self._architecture, self._source, self._alpha = architecture, source, alpha
        self._codes, self._row_weights, self._size = codes, row_weights, batch_size
        self._passing = Backprop(architecture, weights, batch_size)
        self._room = source.buffer(batch_size)
        self._lanes = 1 if self._room is None else lanes_for(float(batch_size) * architecture.work, batch_size)
        self._parts = self._passing.parts(batch_size, sparse=self._room is None)
        self._spans = [self._passing.span(part) for part in self._parts]

    def run(self, order: Positions, update: Stepping, pool: LanePool) -> tuple[float, float]:
        """Visit all rows of ``order``, batch by batch: the epoch's objective and its mistakes."""
        total = wrong = 0.0
        codes = self._codes[order]
        row_weights = None if self._row_weights is None else self._row_weights[order]
        for begin in range(0, len(order), self._size):
            end = min(begin + self._size, len(order))
            weights = None if row_weights is None else row_weights[begin:end]
            objective, mistakes = self._step(order[begin:end], codes[begin:end], weights, update, pool)
            total += objective * (end - begin)
            wrong += mistakes
        return total / len(order), wrong

    def _step(
        self, which: Positions, codes: Codes, weights: Vector | None, update: Stepping, pool: LanePool
    ) -> tuple[float, float]:
        rows, lanes, passing = len(which), self._lanes, self._passing
        passing.inputs[0] = self._room

        def forth_and_back(lane: int) -> tuple[float, float]:
            first, last = rows * lane // lanes, rows * (lane + 1) // lanes
            inputs = self._source.fetch(which[first:last], None if self._room is None else self._room[first:last])
            if self._room is None:
                passing.inputs[0] = inputs
            part = None if weights is None else weights[first:last]
            return passing.rows_pass(inputs, codes[first:last], part, first, last)

        sums = pool.run(forth_and_back, lanes)
        scale = 1.0 / (rows if weights is None else float(weights.sum()))
        end = self._architecture.weights_end
        matrices = passing.weights[:end]
        objective = scale * (sum(loss for loss, _ in sums) + 0.5 * self._alpha * float(matrices @ matrices))
        update.begin()

        def step_part(k: int) -> None:
            first, last = self._spans[k]
            passing.part_gradient(self._parts[k], rows)
            decay = self._alpha * scale if first < end else 0.0
            update.step(first, last, passing.gradient, passing.weights, scale, decay)

        if lanes == 1:
            with np.errstate(all="ignore"):
                for k in range(len(self._parts)):
                    step_part(k)
        else:
            pool.run(step_part, len(self._parts))
        return objective, sum(mistakes for _, mistakes in sums)
