"""What the sigmoid, its slope, its logarithm and the logit promise."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probability.ulps import PROMISE, probabilities, scores, worst
from separatrix.probability import log_sigmoid, logit, sigmoid, sigmoid_slope

FUNCTIONS = [sigmoid, sigmoid_slope, log_sigmoid, logit]
EPS = 2.0**-52

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-50.0, 50.0)
proportion = st.floats(0.0, 1.0)


def exact_sigmoid(x: mpmath.mpf) -> mpmath.mpf:
    return 1 / (1 + mpmath.exp(-x))


def exact_slope(x: mpmath.mpf) -> mpmath.mpf:
    e = mpmath.exp(-abs(x))
    return e / (1 + e) ** 2


def exact_log_sigmoid(x: mpmath.mpf) -> mpmath.mpf:
    return -mpmath.log1p(mpmath.exp(-x))


def exact_logit(p: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(p / (1 - p))


def test_sigmoid_is_within_4_ulp_of_mpmath():
    distance, place = worst(sigmoid, exact_sigmoid, scores(1))
    assert distance <= PROMISE, place


def test_sigmoid_slope_is_within_4_ulp_of_mpmath():
    distance, place = worst(sigmoid_slope, exact_slope, scores(2))
    assert distance <= PROMISE, place


def test_log_sigmoid_is_within_4_ulp_of_mpmath():
    distance, place = worst(log_sigmoid, exact_log_sigmoid, scores(3))
    assert distance <= PROMISE, place


def test_logit_is_within_4_ulp_of_mpmath():
    distance, place = worst(logit, exact_logit, probabilities(4))
    assert distance <= PROMISE, place


@given(finite)
def test_opposite_scores_have_probabilities_that_sum_to_one(x):
    assert abs(sigmoid(x) + sigmoid(-x) - 1.0) <= 2 * EPS


@given(finite, finite)
def test_sigmoid_never_falls_by_more_than_its_rounding(x, y):
    low, high = sigmoid(min(x, y)), sigmoid(max(x, y))
    assert low - high <= 2 * PROMISE * math.ulp(high)
    assert 0.0 <= low <= 1.0


def test_sigmoid_is_monotone_across_its_two_formulas():
    x = -40.0 + np.arange(-300, 301) * np.spacing(40.0)
    assert (np.diff(sigmoid(x)) > 0.0).all()


@given(finite)
def test_sigmoid_slope_is_even_and_at_most_a_quarter(x):
    assert sigmoid_slope(x) == sigmoid_slope(-x)
    assert 0.0 <= sigmoid_slope(x) <= 0.25


def test_sigmoid_slope_beside_zero_does_not_round_above_a_quarter():
    k = np.arange(100_000)
    assert (sigmoid_slope(k * 2.0**-54) <= 0.25).all()
    assert (sigmoid_slope(k * 2.0**-40) <= 0.25).all()


@given(moderate)
def test_sigmoid_slope_is_the_product_of_both_probabilities(x):
    assert sigmoid_slope(x) == pytest.approx(sigmoid(x) * sigmoid(-x), rel=16 * EPS)


def test_sigmoid_slope_at_zero_is_exactly_a_quarter():
    assert sigmoid_slope(0.0) == 0.25
    assert sigmoid(0.0) == 0.5


@given(st.floats(-700.0, 700.0))
def test_log_sigmoid_is_the_logarithm_of_sigmoid(x):
    assert log_sigmoid(x) == pytest.approx(np.log(sigmoid(x)), rel=16 * EPS, abs=8 * EPS)


@given(st.floats(-700.0, 36.0))
def test_logit_undoes_sigmoid(x):
    # σ is off by a few ulps and cannot tell 1 − σ finer than that: an ulp of σ moves the logit by ulp/(σ(1 − σ))
    p = sigmoid(x)
    assert abs(logit(p) - x) <= 4 * math.ulp(p) / sigmoid_slope(x) + 4 * math.ulp(x)


@given(proportion)
def test_sigmoid_undoes_logit(p):
    # an ulp of the log-odds moves p by ulp·p·(1 − p)
    x = logit(p)
    slack = 4 * p * (1 - p) * (math.ulp(x) if math.isfinite(x) else 0.0)
    assert abs(sigmoid(x) - p) <= slack + 4 * math.ulp(p)


@given(st.integers(1, 2**52))
def test_logit_is_odd_about_one_half(k):
    away = k * 2.0**-53  # 1/2 ± away are both floats
    assert logit(0.5 + away) == -logit(0.5 - away)


def test_logit_keeps_its_digits_beside_one_half():
    assert logit(0.5 + 2.0**-53) == 2.0**-51
    assert logit(0.5) == 0.0


@pytest.mark.parametrize(
    ("function", "at_minus_infinity", "at_infinity"),
    [(sigmoid, 0.0, 1.0), (sigmoid_slope, 0.0, 0.0), (log_sigmoid, -math.inf, 0.0)],
)
def test_infinities_give_the_limits(function, at_minus_infinity, at_infinity):
    with np.errstate(all="raise"):
        assert function(-math.inf) == at_minus_infinity
        assert function(math.inf) == at_infinity


def test_logit_is_infinite_at_the_ends_and_silent():
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(logit([0.0, -0.0, 1.0]), [-np.inf, -np.inf, np.inf])


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
    given_values = np.array([[0, 1, 1], [1, 0, 0]], dtype=dtype)
    before = given_values.copy()
    answer = function(given_values)
    assert answer.dtype == np.float64
    np.testing.assert_array_equal(answer, function(before.astype(np.float64)))
    np.testing.assert_array_equal(given_values, before)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("number", [0, 1, 0.25, np.float32(0.25), np.array(0.25)])
def test_a_number_gives_a_number(function, number):
    answer = function(number)
    assert type(answer) is np.float64
    assert answer == function([float(number)])[0]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_empty_array_gives_an_empty_array(function):
    assert function(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("value", [-5e-324, 1.0 + EPS, -math.inf, math.inf])
def test_logit_refuses_what_is_no_probability_and_names_it(value):
    with pytest.raises(ValueError) as refusal:
        logit(value)
    fact, blank, hint = str(refusal.value).split("\n")
    assert repr(value) in fact
    assert blank == ""
    assert hint.startswith("Hint: ")


def test_logit_names_the_place_of_the_first_value_refused():
    with pytest.raises(ValueError, match=r"at position 1 is 1\.5\."):
        logit([0.5, 1.5, -2.0])
    with pytest.raises(ValueError, match=r"at position \(1, 0\) is -2\.0\."):
        logit([[0.5, math.nan], [-2.0, 7.0]])
