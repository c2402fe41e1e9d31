"""The perceptron's batch rule: a step of gradient descent on the perceptron criterion; see ``terms.perceptron``."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.protocols import Engine, LabelledBlock
from separatrix.core.row_vector import RowVector
from separatrix.core.sweeping import SweepState
from separatrix.terms.combination import Combination
from separatrix.terms.logistic import Scores
from separatrix.terms.perceptron import PerceptronRule


@dataclass(frozen=True, slots=True)
class BatchRule(PerceptronRule):
    """The batch rule: one step per epoch, against the gradient of J_p at one w."""

    @property
    def skips(self) -> bool:
        """All rows count at once."""
        return False

    def epoch(self, engine: Engine, state: SweepState, order: Any) -> None:
        """One gradient step; visits and mistakes are counted per row."""
        counted = np.zeros(len(state.counters))

        def factors(block: LabelledBlock) -> Matrix:
            signs = np.where(block.codes == self.positive, 1.0, -1.0)
            weights = np.ones(block.rows) if block.weights is None else block.weights
            signed = block.numbers(Scores(self.constant), state.point[None])[:, 0]
            signed[signs < 0.0] *= -1.0
            wrong = ~(signed > self.margin) & (weights > 0)
            counted[0] += np.count_nonzero(weights > 0)
            counted[1] += np.count_nonzero(wrong)
            counted[2] += float(np.sum(weights[wrong] * (self.margin - signed[wrong])))
            counted[8] += float(np.sum(weights[np.where(signs > 0.0, signed < 0.0, ~(signed > 0.0))]))
            return np.where(wrong, signs * weights, 0.0)[:, None]

        mistakes = RowVector(tuple(np.ascontiguousarray(factors(block)) for block in engine.blocks()))
        combined: Matrix = engine.total(Combination(mistakes, True), np.empty((1, 0)))
        state.epochs += 1
        eta = self.schedule.rate(state.epochs)
        d = engine.columns_count
        weights_part = state.point[:d]
        weights_part *= max(0.0, 1.0 - eta * self.shrink)
        state.point += eta * combined[0, : len(state.point)]
        if self.truncate > 0.0:
            weights_part[...] = np.sign(weights_part) * np.maximum(np.abs(weights_part) - eta * self.truncate, 0.0)
        if state.total is not None and state.epochs > self.average_from >= 0:
            state.total += state.point
        state.counters += counted

    def average(self, state: SweepState) -> Vector:
        """The mean of the weights after each averaged epoch."""
        count = state.epochs - self.average_from
        if self.average_from < 0 or count <= 0 or state.total is None:
            return state.point.copy()
        return state.total / count
