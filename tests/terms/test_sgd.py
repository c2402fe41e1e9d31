"""Rates against scikit-learn's formulas, orders as permutations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

from separatrix import InputError
from separatrix.core.sweeping import SweepState
from separatrix.engines import MemoryEngine, block_of
from separatrix.terms.sgd import WINDOW, DescentRule, Rates, epoch_order


@pytest.mark.parametrize("kind", ["constant", "optimal", "invscaling"])
def test_the_steps_are_scikit_learns(kind):
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(60, 4)), draw.integers(0, 2, 60).astype(np.int32)
    alpha, eta0 = 0.02, 0.3
    # for the intercept of sparse data scikit-learn takes shorter steps; these are dense
    peer = SGDClassifier(
        loss="log_loss", alpha=alpha, learning_rate=kind, eta0=eta0, power_t=0.4, shuffle=False, max_iter=2, tol=None
    ).fit(X, y)
    engine, state = MemoryEngine(block_of(X), y), SweepState(np.zeros(5))
    rule = DescentRule(Rates(kind, eta0, 0.4, alpha), shrink=alpha)
    engine.sweep(rule, state)
    engine.sweep(rule, state)
    np.testing.assert_allclose(state.point, np.append(peer.coef_[0], peer.intercept_), rtol=1e-9)


def test_an_adaptive_rate_falls_to_its_floor():
    rates, steps = Rates("adaptive", 1.0), 0
    while (slower := rates.slower()) is not None:
        rates, steps = slower, steps + 1
    assert steps == math.ceil(math.log(1e6, 5))
    assert Rates("constant", 1.0).slower() is None


def test_a_function_of_t_counts_from_one():
    seen = []
    Rates(lambda t: seen.append(t) or 0.5).rates(1, 3)
    assert seen == [1, 2, 3]
    for bad in (0.0, -1.0, math.nan, math.inf, "fast", None):
        with pytest.raises(InputError, match=r"learning_rate\(1\)"):
            Rates(lambda t, bad=bad: bad).rates(1, 1)


@settings(max_examples=50, deadline=None)
@given(rows=st.integers(1, 3000), block=st.integers(1, 20), seed=st.integers(0, 2**63), epoch=st.integers(0, 10**6))
def test_an_order_visits_every_row_once(rows, block, seed, epoch):
    order = epoch_order(rows, block, seed, epoch)
    np.testing.assert_array_equal(np.sort(order), np.arange(rows))
    np.testing.assert_array_equal(order, epoch_order(rows, block, seed, epoch))
    some = np.arange(0, rows, 3)
    np.testing.assert_array_equal(np.sort(epoch_order(rows, block, seed, epoch, some)), some)


def test_an_order_depends_on_seed_and_epoch_and_mixes_sorted_rows():
    orders = [epoch_order(10_000, 8, seed, epoch) for seed in (0, 1) for epoch in (0, 1)]
    assert len({order.tobytes() for order in orders}) == 4
    # rows sorted by class: after every window the classes are mixed
    upper = orders[0].reshape(-1, 500) >= 5000
    assert (np.abs(upper.mean(axis=1) - 0.5) < 0.25).all()
    # and neighbours in memory come within a window of each other
    place = np.argsort(orders[0])
    spread = place[: 8 * (10_000 // 8)].reshape(-1, 8)
    assert (spread.max(axis=1) - spread.min(axis=1) < 8 * WINDOW).all()
