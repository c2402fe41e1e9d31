"""When training stops, and what each solver does with its rate."""

import math

import numpy as np
import pytest

from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.solvers.network_epochs import Epoch, History, Runaway, run_epochs
from separatrix.solvers.network_updates import SLOWEST, AdamUpdate, MomentumUpdate


def train(losses, scores=None, update=None, tol=0.1, patience=2, history=None):
    weights = np.zeros(2)
    feed, judged = iter(losses), iter(scores or [])

    def epoch(number):
        weights[0] = number
        return Epoch(next(feed), 0.0, 10)

    history = history or History.fresh(scores is not None)
    stop = run_epochs(
        epoch, (lambda: next(judged)) if scores else None, update or AdamUpdate(2, float, 0.1, 0.9, 0.99, 1e-8),
        weights, 1, history, Trace(), max_epochs=len(losses), tol=tol, patience=patience,
    )  # fmt: skip
    return stop, history


def test_patience_counts_epochs_that_do_not_improve_by_tol():
    stop, history = train([1.0, 0.95, 0.94, 0.93, 0.92, 0.91])
    assert stop is Stop.PATIENCE
    assert stop.good
    assert history.losses == [1.0, 0.95, 0.94, 0.93]
    assert history.best_loss == 0.93


def test_an_improvement_starts_the_count_anew():
    stop, history = train([1.0, 0.95, 0.94, 0.5, 0.49, 0.48])
    assert stop is Stop.MAX_ITER
    assert history.stale == 2


def test_the_best_validation_score_keeps_its_weights():
    stop, history = train([1.0] * 6, [0.5, 0.9, 0.9, 0.8, 0.8, 0.8], tol=0.01)
    assert stop is Stop.VALIDATION
    assert history.best_weights[0] == 1
    assert history.best_score == 0.9
    assert history.best_loss is None


def test_an_adaptive_rate_is_divided_by_five_until_it_is_too_small():
    update = MomentumUpdate(2, float, 1.0, "adaptive", 0.9, True, 0.5)
    stop, history = train([1.0] * 100, update=update, patience=1)
    assert stop is Stop.PATIENCE
    assert update.now <= SLOWEST < 5 * update.now
    assert len(history.losses) == 1 + 2 * (1 + math.ceil(math.log(1e6, 5)))


def test_rates_fall_with_the_rows_seen():
    update = MomentumUpdate(2, float, 1.0, "invscaling", 0.9, True, 0.5)
    train([1.0, 0.5, 0.2], update=update)
    assert update.now == pytest.approx(1.0 / math.sqrt(31))


def test_a_loss_that_is_no_number_ends_training():
    with pytest.raises(Runaway):
        train([1.0, math.nan])


def test_epochs_go_on_counting():
    _, history = train([1.0, 0.5])
    train([0.2], history=history)
    assert (history.epochs, history.seen, len(history.losses)) == (3, 30, 3)
