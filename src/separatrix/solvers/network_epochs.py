"""Epochs until nothing improves: when a network's training stops, and at which weights."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.solvers.network_updates import Update


@dataclass(frozen=True, slots=True)
class Epoch:
    """Sums of one pass: the averaged objective as it was met, mistakes, rows."""

    objective: float
    mistakes: float
    rows: int


@dataclass(slots=True)
class History:
    """What training remembers: losses, scores, the best of each, and how long ago."""

    losses: list[float] = field(default_factory=list)
    scores: list[float] | None = None
    best_loss: float | None = math.inf
    best_score: float | None = None
    best_weights: AnyArray | None = None
    stale: int = 0
    epochs: int = 0
    seen: int = 0

    @classmethod
    def fresh(cls, validating: bool) -> "History":
        """Nothing seen yet."""
        return cls(scores=[], best_loss=None, best_score=-math.inf) if validating else cls()

    def judge(self, loss: float, score: float | None, tol: float, weights: AnyArray) -> None:
        """Count an epoch that did not improve by ``tol``; remember the best."""
        self.losses.append(loss)
        if score is None:
            assert self.best_loss is not None
            self.stale = self.stale + 1 if loss > self.best_loss - tol else 0
            self.best_loss = min(self.best_loss, loss)
            return
        assert self.scores is not None
        assert self.best_score is not None
        self.scores.append(score)
        self.stale = self.stale + 1 if score < self.best_score + tol else 0
        if score > self.best_score:
            self.best_score, self.best_weights = score, weights.copy()


class Runaway(ArithmeticError):
    """The loss is no longer a number."""


def run_epochs(
    epoch: Callable[[int], Epoch],
    validate: Callable[[], float] | None,
    update: Update,
    weights: AnyArray,
    weights_end: int,
    history: History,
    trace: Trace,
    *,
    max_epochs: int,
    tol: float,
    patience: float,
) -> Stop:
    """Run epochs in place until patience or epochs run out, or a hook asks to stop.

    The order of an epoch depends on its number, which goes on from fit to fit: ten
    calls of one epoch are one call of ten.
    """
    for _ in range(max_epochs):
        done = epoch(history.epochs)
        if not math.isfinite(done.objective):
            raise Runaway(history.epochs)
        history.epochs += 1
        history.seen += done.rows
        history.judge(done.objective, None if validate is None else validate(), tol, weights)
        update.epoch_ends(history.seen)
        norm = float(np.linalg.norm(weights[:weights_end]))
        point: Any = weights.copy() if trace.hooks else weights
        asked = trace.record(done.objective, math.inf, norm, done.mistakes, point)
        if history.stale > patience:
            if update.give_up():
                return Stop.PATIENCE if validate is None else Stop.VALIDATION
            history.stale = 0
        if asked:
            return Stop.ASKED
    return Stop.MAX_ITER
