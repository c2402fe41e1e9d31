"""Stochastic gradient descent against the lecture's update, least squares and gradient descent."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.core.errors import ConvergenceWarning, InputError
from separatrix.optimize import Decaying, DescentStop, epoch_order, gradient_descent, stochastic_gradient_descent

X = [Fraction(x) for x in (-2, -1, 0, 1, 2)]
Y = [Fraction(y) / 10 for y in (41, 21, 12, 0, 50)]
A, B = np.array(X, dtype=float), np.array(Y, dtype=float)


def exact_gradient(line, rows):
    """n/m times the batch's part of ∇ Σ (y − ax − b)²."""
    scale = -2 * Fraction(5, len(rows))
    left = [(X[i], Y[i] - line[0] * X[i] - line[1]) for i in rows]
    return [scale * sum(x * r for x, r in left), scale * sum(r for _, r in left)]


def float_gradient(line, rows):
    left = B[rows] - line[0] * A[rows] - line[1]
    return -10.0 * np.array([np.mean(A[rows] * left), np.mean(left)])


def loss(line):
    return float(np.sum((B - float(line[0]) * A - float(line[1])) ** 2))


@given(rate=st.fractions(Fraction(1, 1000), Fraction(1, 20)), seed=st.integers(0, 50))
def test_one_online_epoch_is_the_lectures_update_with_its_factor_ten(rate, seed):
    fit = stochastic_gradient_descent(
        exact_gradient, [Fraction(0), Fraction(0)], rate, 1, 1, rows=5, seed=seed, keep_path=True
    )
    a = b = Fraction(0)
    for i, found in zip(epoch_order(5, seed, 0), fit.path.points[1:], strict=True):
        left = Y[i] - a * X[i] - b
        a, b = a + 10 * rate * X[i] * left, b + 10 * rate * left
        assert found.tolist() == [a, b]


def test_the_lectures_line_is_least_squares_when_the_rate_decays():
    fit = stochastic_gradient_descent(float_gradient, [0.0, 0.0], Decaying(0.04, over=100), 1, 3000, rows=5, seed=1)
    np.testing.assert_allclose(fit.point, np.polyfit(A, B, 1), atol=5e-3)
    assert fit.steps == 15000
    assert fit.epochs == 3000


def test_a_step_may_raise_the_loss_and_gradient_descents_does_not():
    sgd = stochastic_gradient_descent(float_gradient, [0.0, 0.0], 0.02, 1, 10, rows=5, function=loss, keep_path=True)
    assert (np.diff(sgd.path.values) > 0).any()
    descent = gradient_descent(
        lambda line: float_gradient(line, np.arange(5)), [0.0, 0.0], 0.02, function=loss, keep_path=True
    )
    assert (np.diff(descent.path.values) <= 1e-13).all()


def test_its_noise_can_leave_a_local_minimum():
    # f = mean of f₁ and f₂; the shallow minimum of f near 0.93 is no minimum of either
    def slope(x, rows):
        kick = np.where(rows == 0, 3.0, -3.0).mean()
        return 4 * x**3 - 4 * x + 0.25 + kick

    start = 0.93
    stays = gradient_descent(lambda x: slope(x, np.arange(2)), start, 0.05)
    assert stays.point > 0.9
    ends = [
        stochastic_gradient_descent(slope, start, 0.15, 1, 300, rows=2, seed=seed, keep_path=True) for seed in range(5)
    ]
    assert any(walk.path.points.min() < -0.9 for walk in ends)


def test_all_rows_in_one_batch_is_gradient_descent():
    one = stochastic_gradient_descent(
        lambda line, rows: float_gradient(line, np.sort(rows)), [0.0, 0.0], 0.02, 5, 7, rows=5
    )
    other = gradient_descent(lambda line: float_gradient(line, np.arange(5)), [0.0, 0.0], 0.02, max_steps=7)
    np.testing.assert_array_equal(one.point, other.point)


@given(seed=st.integers(0, 2**64 - 1), epoch=st.integers(0, 1000), rows=st.integers(1, 60), size=st.integers(1, 60))
def test_every_epoch_visits_every_row_once_in_an_order_of_seed_and_epoch_alone(seed, epoch, rows, size):
    order = epoch_order(rows, seed, epoch)
    assert sorted(order) == list(range(rows))
    np.testing.assert_array_equal(order, epoch_order(rows, seed, epoch))
    seen = []
    stochastic_gradient_descent(
        lambda x, batch: seen.append(batch) or 0.5, 0.0, 0.1, min(size, rows), 2, rows=rows, seed=seed
    )
    np.testing.assert_array_equal(np.concatenate(seen), np.concatenate([epoch_order(rows, seed, e) for e in (0, 1)]))
    assert max(map(len, seen)) == min(size, rows)


def test_unshuffled_rows_come_in_order():
    seen = []
    stochastic_gradient_descent(lambda x, batch: seen.extend(batch) or 0.0, 0.0, 0.1, 2, 1, rows=5, shuffle=False)
    assert seen == [0, 1, 2, 3, 4]


def test_reasons_to_stop():
    def flat(x, rows):
        return 0.0

    assert stochastic_gradient_descent(flat, 0.0, 0.1, 1, 9, rows=3).stop is DescentStop.GRADIENT
    changed = stochastic_gradient_descent(lambda x, rows: 2 * x, 1.0, 0.1, 1, 99, rows=3, change_tol=1e-3)
    assert changed.stop is DescentStop.CHANGE
    patient = stochastic_gradient_descent(
        lambda x, rows: 2 * x - 6, 0.0, 1.0, 1, 99, rows=3, function=lambda x: (x - 3) ** 2, patience=2
    )
    assert patient.stop is DescentStop.PATIENCE
    assert patient.point == 0.0
    assert patient.epochs == 2
    ran_out = stochastic_gradient_descent(float_gradient, [0.0, 0.0], 0.01, 2, 3, rows=5)
    assert (ran_out.stop, ran_out.epochs, ran_out.steps) == (DescentStop.EPOCHS, 3, 9)
    assert "epochs asked for are done" in str(ran_out)


def test_divergence_is_reported_and_the_point_stays_finite():
    with pytest.warns(ConvergenceWarning, match="lower the rate"):
        fit = stochastic_gradient_descent(
            float_gradient, [0.0, 0.0], 10.0, 1, 1000, rows=5, function=loss, keep_path=True
        )
    assert fit.stop is DescentStop.DIVERGED
    assert np.isfinite(fit.point).all()
    assert np.isfinite(fit.path.points).all()
    assert fit.value == pytest.approx(loss(fit.point))


CASES = {
    "batch too large": ({"batch_size": 6}, "there are 5 rows"),
    "batch zero": ({"batch_size": 0}, "batch_size must be"),
    "batch fraction": ({"batch_size": 1.5}, "batch_size must be"),
    "no rows": ({"rows": 0}, "rows must be"),
    "no epochs": ({"epochs": 0}, "epochs must be"),
    "seed": ({"seed": -1}, "seed must be"),
    "seed too long": ({"seed": 2**64}, "64 bits"),
    "rate": ({"rate": np.inf}, "positive"),
    "patience": ({"patience": 2}, "nothing to watch"),
    "NaN": ({"gradient_of_batch": lambda x, rows: [0.0, np.nan]}, "step 0 holds NaN"),
    "shape": ({"gradient_of_batch": lambda x, rows: 1.0}, r"step 0 has shape \(\)"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused(case):
    options, says = CASES[case]
    good = {"gradient_of_batch": float_gradient, "start": [0.0, 0.0], "rate": 0.1, "batch_size": 1, "epochs": 1}
    with pytest.raises(InputError, match=says):
        stochastic_gradient_descent(**(good | {"rows": 5} | options))
