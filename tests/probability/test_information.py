"""Entropy, cross-entropy and KL: SciPy's answers, and the inequalities of the lectures."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import rel_entr

from separatrix.probability import (
    Bernoulli,
    Categorical,
    MultivariateNormal,
    Normal,
    cross_entropy,
    entropy,
    kl_divergence,
    self_information,
)

LINE = (-np.inf, np.inf)


@st.composite
def simplices(draw, count=1, most=6):
    n = draw(st.integers(1, most))
    laws = []
    for _ in range(count):
        raw = np.array(draw(st.lists(st.one_of(st.just(0.0), st.floats(1e-12, 1.0)), min_size=n, max_size=n)))
        laws.append(raw / raw.sum() if raw.sum() > 0 else np.eye(n)[0])
    return laws[0] if count == 1 else laws


@given(simplices())
def test_entropy_lies_between_zero_and_log_n(p):
    assert 0.0 <= entropy(p) <= math.log(len(p)) + 1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000])
def test_the_uniform_law_has_entropy_log_n(n):
    assert entropy(np.full(n, 1 / n)) == pytest.approx(math.log(n), abs=1e-12)


@given(simplices(2))
def test_gibbs_inequality(pair):
    p, q = pair
    assert kl_divergence(p, q) >= 0.0
    assert cross_entropy(p, q) >= entropy(p) - 1e-12
    assert kl_divergence(p, p) == 0.0


@given(simplices(2))
def test_divergence_agrees_with_scipy_and_is_cross_entropy_less_entropy(pair):
    p, q = pair
    ours = kl_divergence(p, q)
    assert ours == pytest.approx(max(0.0, rel_entr(p, q).sum()), rel=1e-9, abs=1e-12)
    assert (ours == np.inf) == bool(np.any((q == 0) & (p > 0)))
    if np.isfinite(ours):
        assert cross_entropy(p, q) - entropy(p) == pytest.approx(ours, rel=1e-9, abs=1e-9)
    else:
        assert cross_entropy(p, q) == np.inf


@pytest.mark.parametrize("step", [2.0**-20, 2.0**-30, 2.0**-40])
def test_divergence_of_close_laws_keeps_its_digits(step):
    """Laws that sum to one exactly: the terms are ±step and cancel to step²/(2p(1−p)).

    Differences are exact; the quotient, log1p and the product round each term by four roundings at most.
    """
    p = np.array([0.3125, 0.6875])
    q = p + np.array([step, -step])
    with mpmath.workdps(60):
        exact = sum(mpmath.mpf(a) * mpmath.log(mpmath.mpf(a) / mpmath.mpf(b)) for a, b in zip(p, q, strict=True))
    assert float(exact) == pytest.approx(step**2 / (2 * p[0] * p[1]), rel=4 * step)
    assert abs(kl_divergence(p, q) - float(exact)) < 2 * 4 * 2.0**-53 * step * (1 + 4 * step)


def test_the_tiniest_probabilities_neither_overflow_nor_vanish():
    assert kl_divergence([1.0 - 1e-12, 1e-12], [1e-320, 1.0]) == pytest.approx(736.8, rel=1e-3)
    assert self_information(5e-324) == pytest.approx(744.44, rel=1e-4)


@given(st.integers(0, 2))
def test_any_axis_serves(axis):
    p = np.random.default_rng(axis).dirichlet(np.ones(4), size=(2, 3))
    q = np.random.default_rng(axis + 9).dirichlet(np.ones(4), size=(2, 3))
    moved = [np.moveaxis(law, -1, axis) for law in (p, q)]
    np.testing.assert_allclose(entropy(moved[0], axis=axis), stats.entropy(p, axis=-1))
    np.testing.assert_allclose(kl_divergence(*moved, axis=axis), stats.entropy(p, q, axis=-1))
    np.testing.assert_allclose(kl_divergence(p, q[0, 0]), stats.entropy(p, q[0, 0], axis=-1))


# laws: closed forms against quadrature and sums

bernoulli = st.floats(0.0, 1.0).map(Bernoulli)
normal = st.builds(Normal, st.floats(-3, 3), st.floats(0.1, 10))


@given(bernoulli, bernoulli)
def test_bernoulli_closed_forms_are_those_of_two_probabilities(p, q):
    arrays = [np.array([1.0 - law.p, law.p]) for law in (p, q)]
    assert kl_divergence(p, q) == pytest.approx(kl_divergence(*arrays), abs=1e-12)
    assert cross_entropy(p, q) == pytest.approx(cross_entropy(*arrays), abs=1e-12)
    assert entropy(p) == pytest.approx(entropy(arrays[0]), abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(normal, normal)
def test_normal_closed_forms_agree_with_quadrature(p, q):
    functions = (p.log_pdf, q.log_pdf)
    assert kl_divergence(*functions, interval=LINE, log=True) == pytest.approx(kl_divergence(p, q), abs=1e-8)
    assert cross_entropy(*functions, interval=LINE, log=True) == pytest.approx(cross_entropy(p, q), abs=1e-7)
    assert entropy(p.pdf, interval=LINE) == pytest.approx(entropy(p), abs=1e-8)
    assert kl_divergence(p, q) >= 0


def test_one_coordinate_of_the_multivariate_normal_is_the_normal():
    a, b = MultivariateNormal([1.0], [[2.0]]), MultivariateNormal([-1.0], [[5.0]])
    assert kl_divergence(a, b) == pytest.approx(kl_divergence(Normal(1, 2), Normal(-1, 5)))
    assert cross_entropy(a, b) == pytest.approx(cross_entropy(Normal(1, 2), Normal(-1, 5)))


def test_multivariate_divergence_agrees_with_many_draws():
    p = MultivariateNormal([0.0, 1.0], [[2.0, 0.6], [0.6, 1.0]])
    q = MultivariateNormal([0.5, 0.5], [[1.0, -0.3], [-0.3, 2.0]])
    x = p.sample(400_000, seed=1)
    logs = p.log_pdf(x) - q.log_pdf(x)
    assert kl_divergence(p, q) == pytest.approx(logs.mean(), abs=5 * logs.std() / np.sqrt(len(x)))
    assert cross_entropy(p, q) == pytest.approx(kl_divergence(p, q) + entropy(p))


def test_states_are_matched_by_name():
    p, q = Categorical([0.9, 0.1], ["a", "b"]), Categorical([0.1, 0.9], ["b", "a"])
    assert kl_divergence(p, q) == 0.0


# densities


def test_differential_entropy_may_be_negative_and_matches_scipy():
    assert entropy(Normal(0, 1e-4)) < 0
    for law in (stats.norm(3, 2), stats.expon(), stats.beta(0.5, 2), stats.t(3), stats.cauchy(), stats.uniform(2, 0.1)):
        assert entropy(law) == pytest.approx(float(law.entropy()), abs=1e-6)


@pytest.mark.parametrize(
    "law",
    [
        stats.uniform(-1, 2),
        stats.laplace(),
        stats.logistic(),
        stats.expon(),
        stats.gamma(3),
        stats.t(5),
        stats.beta(2, 5),
    ],
)
def test_the_normal_has_the_greatest_entropy_for_its_mean_and_variance(law):
    assert entropy(law) < entropy(Normal(law.mean(), law.var()))


def test_divergence_is_infinite_where_q_has_no_mass_and_finite_where_p_has_none():
    half, whole = stats.uniform(0, 1), stats.uniform(0, 2)
    assert kl_divergence(half, whole) == pytest.approx(math.log(2))
    assert kl_divergence(whole, half) == np.inf
    assert kl_divergence(stats.norm(), stats.expon()) == np.inf
    assert kl_divergence(stats.expon(), Normal()) == pytest.approx(0.5 * math.log(2 * math.pi), abs=1e-7)


def test_an_interval_speaks_of_functions_and_a_law_knows_its_own():
    flat = lambda x: 1.0  # noqa: E731
    expected = 0.5 * math.log(2 * math.pi) + 1 / 6
    assert kl_divergence(flat, Normal(), interval=(0, 1)) == pytest.approx(expected)
    assert kl_divergence(flat, stats.norm(), interval=(0, 1)) == pytest.approx(expected)
    assert kl_divergence(Normal(), flat, interval=(0, 1)) == np.inf


def test_underflow_in_the_tail_is_not_taken_for_no_mass():
    p, q = (lambda x: float(stats.norm.pdf(x))), (lambda x: float(stats.norm.pdf(x, 1.0)))
    assert kl_divergence(p, q, interval=LINE) == pytest.approx(0.5, abs=1e-9)
    assert kl_divergence(stats.norm(0, 10), stats.norm(0, 0.1)) == pytest.approx(
        kl_divergence(Normal(0, 100), Normal(0, 0.01)), rel=1e-9
    )


def test_a_narrow_far_peak_is_found_when_its_place_is_told_and_refused_when_not():
    far = Normal(12_345.0, 1e-8)
    with pytest.raises(ValueError, match="narrow peak"):
        entropy(far.pdf, interval=LINE)
    near = [12_345.0 + k * 1e-3 for k in (-1, 0, 1)]
    assert entropy(far.log_pdf, interval=LINE, log=True, points=near) == pytest.approx(entropy(far), abs=1e-6)


def test_a_divergent_integral_is_refused():
    with pytest.raises(ValueError, match="may be infinite"):
        kl_divergence(stats.cauchy(), Normal())


# maximum likelihood, cross-entropy and divergence have one minimum


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(0, 10**6))
def test_maximum_likelihood_is_minimum_cross_entropy_is_minimum_divergence(x, seed):
    states = [0, 1, 2, 3]
    data = np.bincount(x, minlength=4) / len(x)
    fitted = Categorical.fit(x, states=states)
    rivals = np.random.default_rng(seed).dirichlet(np.ones(4), size=20)
    for q in rivals:
        likelihood = np.log(q)[x].sum()
        assert -likelihood / len(x) == pytest.approx(cross_entropy(data, q))
        assert fitted.log_pmf(x).sum() >= likelihood - 1e-9
        assert cross_entropy(data, fitted.probabilities) <= cross_entropy(data, q) + 1e-12
        assert kl_divergence(data, fitted.probabilities) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: entropy([0.5, 0.6]), "sums to 1.1"),
        (lambda: entropy([-0.5, 1.5]), "-0.5 at position 0"),
        (lambda: entropy([[0.5, 0.5], [0.5, 0.4]]), "position 1"),
        (lambda: entropy([]), "no probabilities"),
        (lambda: entropy([0.5, 0.5], axis=2), "axis is 2"),
        (lambda: entropy([np.nan, 1.0]), "NaN"),
        (lambda: entropy(["a", "b"]), "cannot be read"),
        (lambda: entropy(lambda x: 1.0), "without an interval"),
        (lambda: entropy(lambda x: 1.0, interval=(1, 0)), "interval is"),
        (lambda: entropy(lambda x: 1.0, interval=(0, 2)), "integrates to 2"),
        (lambda: entropy(lambda x: x, interval=(-1, 1)), "is -"),
        (lambda: entropy(lambda x: np.nan, interval=(0, 1)), "nan"),
        (lambda: kl_divergence([0.5, 0.5], [1.0]), "2 outcomes"),
        (lambda: kl_divergence(np.ones((2, 1)), np.ones((3, 1))), "shape"),
        (lambda: kl_divergence(Normal(), Bernoulli(0.5)), "compared with"),
        (lambda: kl_divergence(Normal(), [0.5, 0.5]), "type list"),
        (lambda: kl_divergence(Categorical([1.0], ["a"]), Categorical([1.0], ["b"])), "only one"),
        (lambda: kl_divergence(MultivariateNormal([0], [[1]]), MultivariateNormal([0, 0], np.eye(2))), "coordinates"),
        (lambda: self_information(1.5), "1.5"),
    ],
)
def test_what_is_no_probability_is_refused_with_a_hint(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n\nHint: " in str(caught.value)
