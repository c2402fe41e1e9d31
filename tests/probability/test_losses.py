"""What the losses promise as functions of the margin."""

import math
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probability.ulps import PROMISE, magnitudes, neighbours, scores, worst
from separatrix.probability import (
    hinge_loss,
    log_loss,
    log_loss_curvature,
    log_loss_slope,
    log_sigmoid,
    perceptron_loss,
    sigmoid,
    sigmoid_slope,
    squared_loss,
    zero_one_loss,
)

LOSSES = [log_loss, perceptron_loss, hinge_loss, zero_one_loss, squared_loss]
FUNCTIONS = [*LOSSES, log_loss_slope, log_loss_curvature]

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e3, 1e3)


def exact_log_loss(m: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log1p(mpmath.exp(-m))


def exact_slope(m: mpmath.mpf) -> mpmath.mpf:
    return -1 / (1 + mpmath.exp(m))


def exact_curvature(m: mpmath.mpf) -> mpmath.mpf:
    e = mpmath.exp(-abs(m))
    return e / (1 + e) ** 2


def test_log_loss_is_within_4_ulp_of_mpmath():
    distance, place = worst(log_loss, exact_log_loss, scores(5))
    assert distance <= PROMISE, place


def test_log_loss_slope_is_within_4_ulp_of_mpmath():
    distance, place = worst(log_loss_slope, exact_slope, scores(6))
    assert distance <= PROMISE, place


def test_log_loss_curvature_is_within_4_ulp_of_mpmath():
    distance, place = worst(log_loss_curvature, exact_curvature, scores(7))
    assert distance <= PROMISE, place


@pytest.mark.parametrize(
    ("function", "exact"),
    [
        (perceptron_loss, lambda m: max(-m, mpmath.mpf(0))),
        (hinge_loss, lambda m: max(1 - m, mpmath.mpf(0))),
        (squared_loss, lambda m: (1 - m) ** 2),
    ],
)
def test_losses_made_of_arithmetic_are_within_4_ulp_of_mpmath(function, exact):
    rng = np.random.default_rng(8)
    largest = math.sqrt(sys.float_info.max)
    near_one = 1.0 + rng.choice([-1.0, 1.0], 500) * magnitudes(rng, 500, -53, 0)
    points = np.concatenate([scores(8), near_one, neighbours([1.0, largest, -largest])])
    distance, place = worst(function, exact, points)
    assert distance <= PROMISE, place


def test_log_loss_is_exact_at_the_largest_margins():
    assert log_loss(-1e308) == 1e308
    assert log_loss(-sys.float_info.max) == sys.float_info.max
    assert log_loss(1e308) == 0.0


@given(finite)
def test_log_loss_and_its_derivatives_are_the_sigmoid(m):
    assert log_loss(m) == -log_sigmoid(m)
    assert log_loss_slope(m) == -sigmoid(-m)
    assert log_loss_curvature(m) == sigmoid_slope(m)


@given(moderate)
def test_log_loss_of_opposite_margins_differs_by_the_margin(m):
    assert log_loss(-m) - log_loss(m) == pytest.approx(m, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("loss", LOSSES[:-1])
@given(small=finite, large=finite)
def test_a_larger_margin_never_costs_more(loss, small, large):
    low, high = loss(max(small, large)), loss(min(small, large))
    assert low - high <= 2 * PROMISE * math.ulp(high)
    assert low >= 0.0


@pytest.mark.parametrize("bound", [hinge_loss, squared_loss, lambda m: log_loss(m) / math.log(2.0)])
@given(m=moderate)
def test_the_count_of_mistakes_lies_below_its_convex_bounds(bound, m):
    assert zero_one_loss(m) <= bound(m)


@pytest.mark.parametrize("loss", [log_loss, perceptron_loss, hinge_loss, squared_loss])
@given(a=moderate, b=moderate)
def test_convex_losses_lie_below_their_chords(loss, a, b):
    chord = (loss(a) + loss(b)) / 2
    assert loss((a + b) / 2) <= chord + 1e-14 * (1.0 + chord)


@given(moderate, st.floats(1e-6, 1.0))
def test_log_loss_slope_and_curvature_are_the_derivatives(m, step):
    # the mean value theorem: a difference quotient lies between the slopes at its ends
    quotient = (log_loss(m + step) - log_loss(m)) / step
    slack = 8 * math.ulp(log_loss(m) + abs(m)) / step
    assert log_loss_slope(m) - slack <= quotient <= log_loss_slope(m + step) + slack
    rise = log_loss_slope(m + step) - log_loss_slope(m)
    assert -1e-15 <= rise <= 0.25 * step + 1e-15


def test_a_margin_of_zero_costs_what_the_docstrings_say():
    for zero in (0.0, -0.0):
        assert zero_one_loss(zero) == 0.0
        assert perceptron_loss(zero) == 0.0
        assert hinge_loss(zero) == 1.0
        assert squared_loss(zero) == 1.0
        assert log_loss(zero) == math.log(2.0)
        assert log_loss_slope(zero) == -0.5
        assert log_loss_curvature(zero) == 0.25


def test_the_smallest_mistake_counts_as_one():
    np.testing.assert_array_equal(zero_one_loss([-5e-324, 5e-324]), [1.0, 0.0])


@pytest.mark.parametrize("loss", LOSSES)
def test_no_loss_is_negative_zero(loss):
    assert not np.signbit(loss([-math.inf, -1.0, -0.0, 0.0, 1.0, 800.0, math.inf])).any()


@pytest.mark.parametrize(
    ("function", "at_minus_infinity", "at_infinity"),
    [
        (log_loss, math.inf, 0.0),
        (log_loss_slope, -1.0, 0.0),
        (log_loss_curvature, 0.0, 0.0),
        (perceptron_loss, math.inf, 0.0),
        (hinge_loss, math.inf, 0.0),
        (zero_one_loss, 1.0, 0.0),
        (squared_loss, math.inf, math.inf),
    ],
)
def test_infinities_give_the_limits(function, at_minus_infinity, at_infinity):
    with np.errstate(all="raise"):
        assert function(-math.inf) == at_minus_infinity
        assert function(math.inf) == at_infinity


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nan_gives_nan_and_leaves_its_neighbours_alone(function):
    with np.errstate(all="raise"):
        assert np.isnan(function(math.nan))
        mixed = function([math.nan, 0.5])
    assert np.isnan(mixed[0])
    assert mixed[1] == function(0.5)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.uint8, np.float16, np.float32, np.longdouble])
def test_any_numeric_dtype_is_read_as_float64(function, dtype):
    given_values = np.array([[0, 1, 100], [3, 0, 7]], dtype=dtype)
    before = given_values.copy()
    answer = function(given_values)
    assert answer.dtype == np.float64
    np.testing.assert_array_equal(answer, function(before.astype(np.float64)))
    np.testing.assert_array_equal(given_values, before)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("number", [0, -3, 0.25, np.float32(0.25), np.array(0.25)])
def test_a_number_gives_a_number(function, number):
    answer = function(number)
    assert type(answer) is np.float64
    assert answer == function([float(number)])[0]
