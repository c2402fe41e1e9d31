"""Epochs of descent until a proof, patience or ``max_epochs`` ends them, and at which weights.

After each epoch, in this order: the weights, or the objective, are not finite (they diverged: the weights before the
epoch are given); a bound, computed every so many epochs if asked for, is below tol·min(F, 1); a hook asks to stop;
patience: for ``idle`` epochs the objective has not fallen by more than tol·min(F, 1) below the best so far or, with
rows held out, their score has not risen by more than tol. Then a rate that adapts is lowered, any other ends the fit.
With rows held out the weights of the best score are given.

The objective of an epoch is what the steps report: of full steps F after the step, of batches the mean loss as it
was met on the way, each row's before its own step.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace


@dataclass(frozen=True, slots=True)
class Met:
    """What an epoch met: the average objective, and the weight of rows on the wrong side."""

    objective: float
    mistakes: float


class Steps(Protocol):
    """Epochs of steps that change weights in place."""

    def epoch(self, number: int) -> Met:
        """The epoch of this number, counted from 0."""

    def weights(self) -> Vector:
        """The weights to give now: the last ones or their average, as a new array."""

    def slower(self) -> bool:
        """Go on with a smaller rate; False if there is none."""


@dataclass(slots=True)
class EpochPatience:
    """When to stop, and whom to ask; ``idle`` None for no patience rule."""

    tol: float
    max_epochs: int
    idle: int | None
    validate: Callable[[Vector], float] | None = None
    prove: Callable[[Vector], tuple[float, float]] | None = None
    prove_every: int = 1
    keep: frozenset[int] = frozenset()


@dataclass(slots=True)
class Walked:
    """How it ended, where, validation scores, and weights kept by the number of the epoch, from 1."""

    stop: Stop
    point: Vector
    epochs: int
    scores: list[float] = field(default_factory=list)
    kept: dict[int, Vector] = field(default_factory=dict)


@dataclass(slots=True)
class _Progress:
    """The best value so far and how many epochs ago it was beaten by enough; small is good."""

    best: float = math.inf
    idle: int = 0

    def note(self, value: float, by: float) -> None:
        self.idle = 0 if value < self.best - by else self.idle + 1
        self.best = min(self.best, value)


def walk(steps: Steps, patience: EpochPatience, norm: Callable[[Vector], float], trace: Trace) -> Walked:
    """Run epochs; ``norm`` is the length of the weights without intercepts."""
    walked = Walked(Stop.MAX_ITER, steps.weights(), 0)
    progress, best_score = _Progress(), -math.inf
    for number in range(patience.max_epochs):
        met = steps.epoch(number)
        now = steps.weights()
        if not (math.isfinite(met.objective) and np.isfinite(now).all()):
            walked.stop = Stop.DIVERGED
            break
        walked.epochs = number + 1
        value, proved, bound = met.objective, math.inf, math.inf
        if patience.prove is not None and walked.epochs % patience.prove_every == 0:
            proved, bound = patience.prove(now)
        if walked.epochs in patience.keep:
            walked.kept[walked.epochs] = now.copy()
        if patience.validate is None:
            walked.point = now
            progress.note(value, patience.tol * min(abs(value), 1.0))
        else:
            score = patience.validate(now)
            walked.scores.append(score)
            if score > best_score:
                best_score, walked.point = score, now
            progress.note(-score, patience.tol)
        asked = trace.record(value, bound, norm(now), met.mistakes, now)
        if bound <= patience.tol * min(proved, 1.0):
            walked.stop, walked.point = Stop.CERTIFIED, now
        elif asked:
            walked.stop = Stop.ASKED
        elif patience.idle is not None and progress.idle >= patience.idle:
            if steps.slower():
                progress.idle = 0
                continue
            walked.stop = Stop.PATIENCE
        else:
            continue
        break
    return walked
