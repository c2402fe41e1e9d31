"""A network's passes over rows in compiled code: steps over batches, and losses with their gradient.

Rows are visited in pieces that fit the cache, and a call brings many of them, about a tenth of a second of work at
most, with the interpreter free: between calls Python answers signals. No cut changes a bit
(``cpp/kernels/backprop.hpp``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.kernels import ACTIVATIONS, Labels, Rows, _kernels
from separatrix.kernels.team import Team
from separatrix.kernels.threads import thread_count

PIECE_ROWS, LEAST_ROWS, GROUP = 256, 64, 8
"""Most rows of a piece; what packing the weights is worth at least; the kernels keep so many together."""

PIECE_WORK = 2**32
"""Most multiply-adds of a piece, unless the least rows bring more."""

CALL_WORK = 2**27
"""Most multiply-adds of a call, unless one piece brings more."""

SUM_ROWS = 2**14
"""Rows whose gradients are added up before their sum is, so that rounding does not grow with the rows."""

TEAM_WORK = 2**22
"""Multiply-adds of a piece, per thread: the threads wait for each other twice."""

PER_UNIT, PER_WEIGHT = 24, 8
"""What a unit's activation costs per row, and a weight's step per batch, in multiply-adds."""


def piece_rows(rows: int, row_work: int) -> int:
    """Rows of a piece: equal shares of a batch, in whole groups.

    >>> piece_rows(200, 1000), piece_rows(300, 1000), piece_rows(200, 3 * 10**6), piece_rows(3, 10**9)
    (200, 152, 200, 8)
    """
    most = max(LEAST_ROWS, min(PIECE_ROWS, PIECE_WORK // row_work))
    share = -(-rows // -(-rows // most))
    return -(-share // GROUP) * GROUP


class StepRule(Protocol):
    """What moves the weights: Adam, or without ``square`` momentum (``solvers.network_updates.Update``)."""

    @property
    def mean(self) -> AnyArray:
        """The mean of the gradients, or the velocity."""

    @property
    def square(self) -> AnyArray | None:
        """The mean of their squares."""

    @property
    def shares(self) -> tuple[float, float]:
        """β₁ and β₂, or the momentum and 0."""

    @property
    def epsilon(self) -> float:
        """Added to a divisor."""

    @property
    def nesterov(self) -> bool:
        """Whether momentum looks ahead."""

    def rates(self, count: int) -> Vector:
        """The rates of the next steps."""

    def advance(self, count: int) -> None:
        """So many steps were taken."""


@dataclass(frozen=True, slots=True)
class Visits:
    """Rows with their labels, in an order of 32 or 64 bits; None for all as they lie."""

    rows: Rows
    labels: Labels
    order: AnyArray | None = None

    @property
    def count(self) -> int:
        """How many."""
        return int(self.rows.n) if self.order is None else len(self.order)


class NetworkPasses:
    """Buffers for pieces of at most ``most`` rows; used by one thread of Python at a time."""

    def __init__(self, units: Sequence[int], activation: str, dtype: Any, sparse: bool, most: int) -> None:
        weights = sum(a * b for a, b in pairwise(units))
        self._row_work = 3 * weights + PER_UNIT * sum(units)
        self._step_work = PER_WEIGHT * weights
        self._rows = piece_rows(most, self._row_work)
        threads = min(thread_count(), max(1, self._rows * self._row_work // TEAM_WORK))
        self._team = Team(threads)
        kind: Any = _kernels.FloatPassing if np.dtype(dtype) == np.float32 else _kernels.DoublePassing
        self._passing = kind(list(units), ACTIVATIONS.index(activation), self._rows, sparse, threads)

    def steps(
        self, visits: Visits, weights: AnyArray, gradient: AnyArray, rule: StepRule, alpha: float, batch: int
    ) -> tuple[float, float]:
        """A step after each batch: Σ rows·F over the batches, each as it was met, and the mistakes.

        F is the batch's average loss with the penalty (α/2)‖W‖² over its own weight. ``gradient`` is room.
        """
        wide = visits.order is not None and visits.order.dtype == np.int64
        end = visits.count
        per_batch = -(-min(batch, end) // self._rows)
        work = min(batch, self._rows) * self._row_work + self._step_work // per_batch
        pieces = min(max(1, CALL_WORK // work), -(-end // batch) * per_batch)
        carried, at = np.zeros(4), 0
        while at < end:
            size, start = self._team.size(), perf_counter()
            reached = self._passing.steps(
                visits.rows,
                None if wide else visits.order,
                visits.order if wide else None,
                visits.labels.codes,
                visits.labels.weights,
                weights,
                gradient,
                rule.mean,
                rule.square,
                alpha,
                *rule.shares,
                rule.epsilon,
                rule.nesterov,
                rule.rates(pieces),
                batch,
                carried,
                at,
                pieces,
                size,
            )
            self._team.note(size, (perf_counter() - start) / (reached - at))
            ended = -(-end // batch) if reached == end else reached // batch
            rule.advance(ended - at // batch)
            at = reached
        return float(carried[0]), float(carried[1])

    def losses(self, visits: Visits, weights: AnyArray) -> tuple[float, Vector]:
        """Σ a·loss over all rows as they lie, and its gradient."""
        rows, most = visits.count, max(1, CALL_WORK // (self._rows * self._row_work)) * self._rows
        carried, total, part = np.zeros(4), np.zeros(len(weights)), np.zeros_like(weights)
        last = 0
        while last < rows:
            first, end = last, min(rows, (last // SUM_ROWS + 1) * SUM_ROWS)
            last = min(end, first + most)
            size, start = self._team.size(), perf_counter()
            self._passing.losses(
                visits.rows, visits.labels.codes, visits.labels.weights, weights, part, carried, first, last, size
            )
            self._team.note(size, (perf_counter() - start) / (last - first))
            if last == end:
                total += part
                part[:] = 0.0
        return float(carried[2]), total
