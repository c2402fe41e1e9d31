"""The loop of epochs, with steps that report what they are told to."""

import math

import numpy as np

from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.solvers.certified_epochs import EpochPatience, Met, walk


class Scripted:
    """Reports the losses given; the weights are the number of the epoch."""

    def __init__(self, losses, slower=0):
        self.losses, self.lower, self.done, self.slowed = losses, slower, 0, []

    def epoch(self, number):
        self.done = number + 1
        return Met(self.losses[number], 0.0)

    def weights(self):
        return np.array([float(self.done)])

    def slower(self):
        self.slowed.append(self.done)
        self.lower -= 1
        return self.lower >= 0


def run(losses, slower=0, **options):
    steps = Scripted(losses, slower)
    settings = {"tol": 1e-3, "max_epochs": len(losses), "idle": 2} | options
    return walk(steps, EpochPatience(**settings), lambda point: float(point[0]), Trace()), steps


def test_patience_counts_epochs_without_enough_progress():
    walked, _ = run([1.0, 0.5, 0.4999, 0.4998, 0.1])
    assert (walked.stop, walked.epochs) == (Stop.PATIENCE, 4)
    walked, _ = run([1.0, 0.5, 0.4999, 0.4998, 0.1], idle=None)
    assert (walked.stop, walked.epochs) == (Stop.EPOCHS, 5)


def test_small_losses_are_compared_by_share():
    walked, _ = run([1e-6, 9e-7, 8e-7, 7e-7, 6e-7])
    assert walked.stop is Stop.EPOCHS


def test_a_rate_is_lowered_before_giving_up():
    walked, steps = run([1.0] + [1.0] * 20, slower=2)
    assert steps.slowed == [3, 5, 7]
    assert (walked.stop, walked.epochs) == (Stop.PATIENCE, 7)


def test_the_best_score_chooses_the_weights():
    scores = iter([0.5, 0.9, 0.9, 0.7])
    walked, _ = run([1.0] * 6, validate=lambda point: next(scores))
    assert walked.stop is Stop.VALIDATION
    assert walked.point[0] == 2.0
    assert walked.scores == [0.5, 0.9, 0.9, 0.7]


def test_divergence_gives_the_weights_before_it():
    for bad in (math.inf, math.nan):
        walked, _ = run([1.0, 0.9, bad, 0.1])
        assert (walked.stop, walked.epochs, walked.point[0]) == (Stop.DIVERGED, 2, 2.0)


def test_a_proof_ends_it_and_epochs_are_kept():
    asked = []

    def prove(point):
        asked.append(point[0])
        return 0.5, 1e-9 if point[0] >= 4 else 1.0

    walked, _ = run([1.0, 0.9, 0.8, 0.7, 0.6], prove=prove, prove_every=2, keep=frozenset({1, 3, 5}))
    assert (walked.stop, walked.epochs) == (Stop.CERTIFIED, 4)
    assert asked == [2.0, 4.0]
    assert {epoch: point[0] for epoch, point in walked.kept.items()} == {1: 1.0, 3: 3.0}
