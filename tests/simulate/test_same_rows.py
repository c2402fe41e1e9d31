"""Row i depends on the model and the seed alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.simulate import bernoulli_classes, gaussian_classes, logistic, perceptron
from separatrix.simulate.streams import block_rows

COVARIANCE = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.4], [0.0, -0.4, 0.5]])
MODELS = {
    "perceptron": lambda seed: perceptron(0, 3, margin=0.1, noise=0.1, correlation=COVARIANCE, seed=seed).truth,
    "logistic": lambda seed: logistic(0, 3, correlation=0.4, positive=0.2, noise=0.05, seed=seed).truth,
    "gaussian": lambda seed: gaussian_classes(0, 3, classes=4, correlation=-0.3, noise=0.1, seed=seed).truth,
    "own covariances": lambda seed: gaussian_classes(0, covariances=[COVARIANCE, np.eye(3)], seed=seed).truth,
    "bernoulli": lambda seed: bernoulli_classes(0, 700, priors=[0.3, 0.7], noise=0.2, seed=seed).truth,
}


@pytest.fixture(params=MODELS, scope="module")
def whole(request):
    return MODELS[request.param](11).draw(10_000)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_blocks_together_are_the_one_draw_to_the_bit(whole, data):
    rows = data.draw(st.integers(0, 10_000))
    size = data.draw(st.integers(max(1, rows // 20), 10_001))
    parts = list(whole.truth.blocks(rows, size))
    assert [len(part.y) for part in parts] == [min(size, rows - k) for k in range(0, rows, size)]
    if parts:
        assert np.concatenate([part.X for part in parts]).tobytes() == whole.X[:rows].tobytes()
        assert np.concatenate([part.y for part in parts]).tobytes() == whole.y[:rows].tobytes()


@settings(max_examples=15, deadline=None)
@given(start=st.integers(0, 10_000), count=st.integers(0, 300))
def test_any_rows_can_be_drawn_without_those_before(whole, start, count):
    stop = min(start + count, 10_000)
    part = whole.truth.rows(start, stop)
    assert part.X.tobytes() == whole.X[start:stop].tobytes()
    assert part.y.tobytes() == whole.y[start:stop].tobytes()


@pytest.mark.parametrize("name", MODELS)
def test_a_seed_repeats_and_another_does_not(name):
    first, again, other = (MODELS[name](seed).draw(5000) for seed in (3, 3, 4))
    assert first.X.tobytes() == again.X.tobytes()
    assert first.y.tobytes() == again.y.tobytes()
    assert (first.X != other.X).any()


def test_rows_far_out_are_reached_directly():
    truth = logistic(0, 2, seed=1).truth
    far = truth.rows(10**12, 10**12 + 5)
    assert far.X.tobytes() == truth.rows(10**12 - 3, 10**12 + 2).X[3:].tobytes() + far.X[2:].tobytes()


def test_noise_and_labels_do_not_move_the_columns():
    plain, noisy = (logistic(3000, 4, noise=noise, seed=6) for noise in (0.0, 0.3))
    named = logistic(3000, 4, labels=["no", "yes"], seed=6)
    assert plain.X.tobytes() == noisy.X.tobytes() == named.X.tobytes()
    assert ((named.y == "yes") == (plain.y == 1)).all()
    assert (noisy.y != plain.y).mean() == pytest.approx(0.3, abs=0.04)


def test_blocks_stay_small_whatever_the_width():
    assert block_rows(1) == 4096
    assert block_rows(10**6) == 1
    for columns in (2, 50, 64, 65, 1000):
        assert block_rows(columns) * columns <= 2**18
