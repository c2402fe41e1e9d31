"""Epochs of descent until a proof, patience or ``max_epochs`` ends them, and at which weights.

After each epoch, in this order: the weights, or the objective, are not finite (they diverged: the weights before the
epoch are given); a bound, computed every so many epochs if asked for, is below tol·min(F, 1); a hook asks to stop;
patience, as below. Then a rate that adapts is lowered, any other ends the fit. With rows held out the weights of the
best score are given.

The objective of an epoch is what the steps report: of full steps F after the step, of batches the mean loss as it
was met on the way, each row's before its own step.

**Patience.** Of full steps, and of a score on rows held out: for ``idle`` epochs no improvement by more than
tol·min(F, 1) over the best so far (of a score: by more than tol). Batches are noisy: five epochs that happen to be
worse than the best one are nothing unusual on the way down. So (``noisy``) their objectives are averaged: w epochs,
the last quarter of all but at least 2·``idle``, are compared with the w before them, and patience ends when ``idle``
times in a row the later mean is not lower by more than tol·min(F, 1). While rates fall like t^−¾ the objective does
too, and its noise like the square root of that; the mean over a window that grows with t falls faster than its noise,
so that chance does not end a descent that still gains.
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
    noisy: bool = False


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


@dataclass(slots=True)
class _Means:
    """Objectives, compared by means over windows that grow with their number."""

    patience: int
    values: list[float] = field(default_factory=list)
    idle: int = 0

    def note(self, value: float, tol: float) -> None:
        """Count the epochs in a row whose last window has a mean no lower than the one before."""
        self.values.append(value)
        width = max(2 * self.patience, len(self.values) // 4)
        if len(self.values) < 2 * width:
            return
        late, early = (sum(part) / width for part in (self.values[-width:], self.values[-2 * width : -width]))
        self.idle = 0 if late < early - tol * min(abs(late), 1.0) else self.idle + 1


def walk(steps: Steps, patience: EpochPatience, norm: Callable[[Vector], float], trace: Trace) -> Walked:
    """Run epochs; ``norm`` is the length of the weights without intercepts."""
    walked = Walked(Stop.EPOCHS, steps.weights(), 0)
    progress, best_score = _Progress(), -math.inf
    means = _Means(patience.idle) if patience.noisy and patience.validate is None and patience.idle else None
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
            if means is not None:
                means.note(value, patience.tol)
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
        elif patience.idle is not None and (means or progress).idle >= patience.idle:
            if steps.slower():
                progress.idle = 0
                continue
            walked.stop = Stop.PATIENCE if patience.validate is None else Stop.VALIDATION
        else:
            continue
        break
    return walked
