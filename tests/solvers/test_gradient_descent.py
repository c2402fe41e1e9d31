"""Gradient descent against walks done by hand, closed forms and SciPy."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from separatrix.core.errors import ConvergenceWarning, InputError
from separatrix.optimize import Adam, Decaying, DescentStop, Momentum, Nesterov, gradient_descent

fractions = st.fractions(-20, 20, max_denominator=50)


def parabola(x):
    return x * x - 6 * x + 9


def slope(x):
    return 2 * x - 6


def two_minima(x):
    """x⁴ − 2x² + x/4: minima near −1.06 and 0.93."""
    return x**4 - 2 * x**2 + x / 4


def two_slopes(x):
    return 4 * x**3 - 4 * x + 0.25


@given(start=fractions, rate=st.fractions(Fraction(1, 100), Fraction(9, 10)), steps=st.integers(1, 8))
def test_every_iterate_of_the_lectures_parabola_is_exact(start, rate, steps):
    # x − 3 is multiplied by 1 − 2λ at every step
    walk = gradient_descent(slope, start, rate, max_steps=steps, keep_path=True, gradient_tol=0.0)
    expected = [3 + (start - 3) * (1 - 2 * rate) ** k for k in range(len(walk.path))]
    assert walk.path.points.tolist() == expected
    assert isinstance(walk.point, Fraction)
    assert walk.stop in (DescentStop.MAX_STEPS, DescentStop.GRADIENT)


def test_the_lectures_parabola_ends_at_three():
    walk = gradient_descent(slope, 0.0, 0.1, function=parabola)
    assert walk.stop is DescentStop.GRADIENT
    assert walk.stop.good
    assert walk.point == pytest.approx(3.0, abs=1e-8)
    assert walk.value == pytest.approx(0.0, abs=1e-14)  # 9 − 18 + 9 rounds
    assert walk.gradient_norm <= 1e-8
    assert "gradient_tol" in str(walk)


def test_two_starts_reach_two_minima():
    left = gradient_descent(two_slopes, -2.0, 0.02, function=two_minima)
    right = gradient_descent(two_slopes, 2.0, 0.02, function=two_minima)
    roots = np.sort(np.roots([4.0, 0.0, -4.0, 0.25]).real)
    assert left.point == pytest.approx(roots[0], abs=1e-7)
    assert right.point == pytest.approx(roots[2], abs=1e-7)
    assert left.value < right.value


@given(start=fractions, rate=st.fractions(Fraction(1, 20), Fraction(1, 2)), share=st.fractions(0, Fraction(9, 10)))
def test_momentum_and_nesterov_follow_their_recurrences_exactly(start, rate, share):
    for method in (Momentum(share), Nesterov(share)):
        walk = gradient_descent(slope, start, rate, method=method, max_steps=5, keep_path=True, gradient_tol=0.0)
        x, v, expected = start, Fraction(0), [start]
        for _ in range(len(walk.path) - 1):
            g = 2 * x - 6
            v = share * v - rate * g
            x += v if isinstance(method, Momentum) else share * v - rate * g
            expected.append(x)
        assert walk.path.points.tolist() == expected


def test_nesterovs_form_is_the_lookahead_one():
    # y = x + μv is where Nesterov's gradient is taken; our points are those y
    rate, share = 0.05, 0.8
    walk = gradient_descent(slope, 1.0, rate, method=Nesterov(share), max_steps=20, keep_path=True, gradient_tol=0.0)
    x, v = 1.0, 0.0
    for found in walk.path.points[1:]:
        v = share * v - rate * slope(x + share * v)
        x += v
        assert found == pytest.approx(x + share * v, rel=1e-12)


def test_adams_first_step_has_the_length_of_the_rate_whatever_the_gradient():
    for size in (1e-3, 1.0, 1e6):
        walk = gradient_descent(lambda x, size=size: size * x, np.array([5.0, -5.0]), 0.1, method="adam", max_steps=1)
        np.testing.assert_allclose(walk.point, [4.9, -4.9], rtol=1e-4)


def test_adam_by_hand_for_two_steps():
    walk = gradient_descent(lambda x: 2 * x, 1.0, 0.1, method=Adam(0.5, 0.25, 1e-8), max_steps=2, keep_path=True)
    x = 1.0 - 0.1 * 2.0 / (2.0 + 1e-8)
    m = 0.5 * (0.5 * 2.0) + 0.5 * 2 * x
    s = 0.25 * (0.75 * 4.0) + 0.75 * (2 * x) ** 2
    expected = x - 0.1 * (m / 0.75) / (np.sqrt(s / (1 - 0.0625)) + 1e-8)
    assert walk.path.points[-1] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("method", ["plain", "momentum", "nesterov", "adam"])
def test_every_method_finds_the_minimum_of_a_quadratic(method):
    draw = np.random.default_rng(0)
    A = draw.normal(size=(6, 4))
    H, b = A.T @ A + np.eye(4), draw.normal(size=4)
    rate = {"adam": Decaying(0.3, 0.5, 10)}.get(method, 0.05 if method == "plain" else 0.02)
    walk = gradient_descent(lambda x: H @ x - b, np.zeros(4), rate, method=method, max_steps=20000)
    np.testing.assert_allclose(walk.point, np.linalg.solve(H, b), atol=1e-6)


def test_a_line_search_needs_no_good_rate_and_never_climbs():
    walk = gradient_descent(
        scipy.optimize.rosen_der,
        np.array([-1.2, 1.0]),
        1.0,
        function=scipy.optimize.rosen,
        line_search=True,
        max_steps=50_000,
        gradient_tol=1e-5,
        keep_path=True,
    )
    assert walk.stop is DescentStop.GRADIENT
    np.testing.assert_allclose(walk.point, [1.0, 1.0], atol=1e-4)
    assert (np.diff(walk.path.values) < 0).all()


def test_a_gradient_of_the_wrong_sign_is_noticed_by_the_line_search():
    with pytest.warns(ConvergenceWarning, match="check the gradient"):
        walk = gradient_descent(lambda x: -slope(x), 0.0, 0.1, function=parabola, line_search=True)
    assert walk.stop is DescentStop.NO_DESCENT
    assert walk.point == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rate", [1.1, 5.0, 1e300])
@pytest.mark.parametrize("method", ["plain", "momentum", "nesterov"])
def test_a_rate_that_is_too_large_is_reported_and_the_point_stays_finite(rate, method):
    rate = rate if method == "plain" else 3 * min(rate, 1e299)
    with pytest.warns(ConvergenceWarning, match="lower the rate"):
        walk = gradient_descent(slope, 0.0, rate, method=method, keep_path=True, function=parabola)
    assert walk.stop is DescentStop.DIVERGED
    assert not walk.stop.good
    assert np.isfinite(walk.point)
    assert np.isfinite(walk.path.points).all()


def test_a_function_that_overflows_is_a_divergence_not_a_number():
    with pytest.warns(ConvergenceWarning, match="lower the rate"), np.errstate(over="ignore"):
        walk = gradient_descent(lambda x: -np.exp(x), 705.0, 1e-290)
    assert walk.stop is DescentStop.DIVERGED
    assert np.isfinite(walk.point)


def test_exact_points_that_run_away_are_noticed_too():
    with pytest.warns(ConvergenceWarning, match="lower the rate"):
        walk = gradient_descent(slope, Fraction(0), Fraction(10**200), max_steps=50)
    assert walk.stop is DescentStop.DIVERGED


def test_change_patience_and_steps_each_give_their_reason():
    by_change = gradient_descent(slope, 0.0, 0.1, change_tol=1e-3, gradient_tol=0.0)
    assert by_change.stop is DescentStop.CHANGE
    assert abs(slope(by_change.point)) * 0.1 <= 1e-3
    # at rate 1 the walk jumps between 0 and 6 for ever
    patient = gradient_descent(slope, 0.0, 1.0, function=parabola, patience=3)
    assert (patient.stop, patient.point, patient.value) == (DescentStop.PATIENCE, 0.0, 9.0)
    short = gradient_descent(slope, 0.0, 0.1, max_steps=2)
    assert (short.stop, short.steps) == (DescentStop.MAX_STEPS, 2)
    assert short.path is None


def test_the_start_may_be_the_minimum():
    walk = gradient_descent(slope, 3, 0.1, keep_path=True)
    assert (walk.steps, walk.point, len(walk.path)) == (0, 3.0, 1)


def test_rates_may_decay_or_be_any_function():
    walk = gradient_descent(slope, 0.0, Decaying(0.5), keep_path=True, max_steps=5)
    assert walk.point == pytest.approx(3.0)
    seen = []
    gradient_descent(slope, 0.0, lambda t: seen.append(t) or 0.1, max_steps=3, gradient_tol=0.0)
    assert seen == [0, 1, 2]


def test_arrays_keep_their_shape_and_the_users_function_cannot_move_them():
    def spoil(x):
        g = 2 * x
        x[...] = 100.0
        return g

    walk = gradient_descent(spoil, np.ones((2, 3)), 0.25, max_steps=1)
    np.testing.assert_array_equal(walk.point, np.full((2, 3), 0.5))


CASES = {
    "rate zero": ({"rate": 0}, "positive"),
    "rate negative": ({"rate": -0.1}, "positive"),
    "rate NaN": ({"rate": np.nan}, "positive"),
    "rate text": ({"rate": "0.1"}, "positive"),
    "rate of step 2": ({"rate": lambda t: 0.1 - 0.05 * t}, "rate at step 2"),
    "patience without function": ({"patience": 3}, "nothing to watch"),
    "patience zero": ({"patience": 0, "function": parabola}, "patience must be"),
    "no steps": ({"max_steps": 0}, "max_steps must be"),
    "tolerance": ({"gradient_tol": -1.0}, "gradient_tol must be"),
    "tolerance NaN": ({"change_tol": np.nan}, "change_tol must be"),
    "line search without function": ({"line_search": True}, "no function to search"),
    "line search with Adam": ({"line_search": True, "function": parabola, "method": "adam"}, "plain"),
    "method": ({"method": "magic"}, "choose one of"),
    "start NaN": ({"start": np.nan}, "finite"),
    "start empty": ({"start": []}, "non-empty"),
    "start text": ({"start": "a"}, "numbers"),
    "start complex": ({"start": 1j}, "numbers"),
    "Fractions and a float rate": ({"start": Fraction(1)}, "rate as a Fraction"),
    "Fractions and Adam": ({"start": Fraction(1), "method": "adam"}, "square roots"),
    "Fractions and a float gradient": (
        {"start": Fraction(1), "rate": Fraction(1, 2), "gradient": lambda x: 2.0 * float(x)},
        "gradient at step 0",
    ),
    "NaN gradient": ({"gradient": lambda x: 1.0 if x > -0.15 else np.nan}, "gradient at step 2 holds NaN"),
    "wrong shape": ({"gradient": lambda x: [1.0, 2.0]}, r"step 0 has shape \(2,\)"),
    "complex gradient": ({"gradient": lambda x: 1j}, "real numbers"),
    "NaN function": ({"function": lambda x: np.nan}, "function at step 0 is NaN"),
    "function of the wrong shape": ({"function": lambda x: [1.0, 2.0]}, "single number"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_and_names_the_step(case):
    options, says = CASES[case]
    options = {"gradient": slope, "start": 0.0, "rate": 0.1} | options
    with pytest.raises(InputError, match=says):
        gradient_descent(**options)


@pytest.mark.parametrize(
    "make", [lambda: Momentum(1.0), lambda: Nesterov(-0.1), lambda: Adam(beta_2=1.5), lambda: Decaying(0.0)]
)
def test_methods_and_rates_refuse_numbers_out_of_range(make):
    with pytest.raises(InputError, match="Hint"):
        make()
