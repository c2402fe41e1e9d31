"""Bernoulli, categorical, normal: against SciPy, and what maximum likelihood promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from separatrix.probability import Bernoulli, Categorical, Normal

shares = st.floats(0.0, 1.0)
means = st.floats(-1e3, 1e3)
variances = st.floats(1e-6, 1e6)


@given(shares)
def test_bernoulli_agrees_with_scipy(p):
    ours, theirs = Bernoulli(p), stats.bernoulli(p)
    x = np.array([0, 1, 2, -1])
    np.testing.assert_allclose(ours.pmf(x), theirs.pmf(x), rtol=1e-12)
    np.testing.assert_allclose(np.exp(ours.log_pmf(x)), theirs.pmf(x), rtol=1e-12)
    assert ours.mean == p
    assert ours.variance == pytest.approx(theirs.var(), abs=1e-15)
    assert ours.entropy() == pytest.approx(theirs.entropy(), abs=1e-12)


def test_log_probability_of_a_rare_no_keeps_its_digits():
    assert Bernoulli(1e-20).log_pmf(0) == -1e-20


@given(means, variances, st.floats(-30, 30))
def test_normal_agrees_with_scipy(mean, variance, z):
    ours, theirs = Normal(mean, variance), stats.norm(mean, np.sqrt(variance))
    x = mean + z * np.sqrt(variance)
    assert ours.log_pdf(x) == pytest.approx(theirs.logpdf(x), rel=1e-7)
    assert ours.pdf(x) == pytest.approx(theirs.pdf(x), rel=1e-6)
    assert ours.cdf(x) == pytest.approx(theirs.cdf(x), rel=1e-6)
    assert ours.log_cdf(x) == pytest.approx(theirs.logcdf(x), rel=1e-7)
    assert ours.entropy() == pytest.approx(theirs.entropy(), abs=1e-12)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=8))
def test_categorical_moments_are_those_of_its_indicator(raw):
    p = np.array(raw) / np.sum(raw)
    law = Categorical(p)
    np.testing.assert_allclose(law.mean, p)
    np.testing.assert_allclose(law.covariance, stats.multinomial(1, p).cov(), atol=1e-15)
    np.testing.assert_allclose(law.variance, np.diag(law.covariance), atol=1e-15)
    assert law.entropy() == pytest.approx(stats.entropy(p), abs=1e-12)


def test_categorical_names_its_states():
    law = Categorical([0.2, 0.5, 0.3], ["low", "mid", "high"])
    assert law.pmf("mid") == 0.5
    np.testing.assert_array_equal(law.pmf(["high", "none"]), [0.3, 0.0])
    assert law.log_pmf("none") == -np.inf
    assert set(law.sample(100, seed=1)) == {"low", "mid", "high"}


def test_states_of_several_types_stay_what_they_are():
    law = Categorical.fit([1, "a", 1, (2, 3)][:3])
    assert law.states == (1, "a")
    assert law.pmf(1) == pytest.approx(2 / 3)
    np.testing.assert_allclose(law.pmf([1, "a", "1"]), [2 / 3, 1 / 3, 0.0])
    pairs = Categorical([0.5, 0.5], [(0, 1), (1, 0)])
    assert pairs.pmf((0, 1)) == 0.5
    assert pairs.sample(1, seed=0)[0] in [(0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("law", "mean", "variance"),
    [(Bernoulli(0.3), 0.3, 0.21), (Normal(-2.0, 9.0), -2.0, 9.0)],
)
def test_draws_have_the_laws_moments_and_a_seed_repeats_them(law, mean, variance):
    x = law.sample(200_000, seed=4)
    assert x.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / len(x)))
    assert x.var() == pytest.approx(variance, rel=0.02)
    np.testing.assert_array_equal(x, law.sample(200_000, seed=4))
    assert (x != law.sample(200_000, seed=5)).any()


def test_categorical_draws_have_the_laws_frequencies_and_nothing_impossible():
    law = Categorical([0.0, 0.2, 0.5, 0.3, 0.0])
    counts = np.bincount(law.sample(100_000, seed=2), minlength=5)
    assert counts[[0, 4]].tolist() == [0, 0]
    assert stats.chisquare(counts[1:4], 100_000 * law.probabilities[1:4]).pvalue > 0.001


# maximum likelihood: no other parameters are more likely, and a weight counts rows


samples = st.lists(st.floats(-50, 50), min_size=3, max_size=12).filter(lambda x: np.ptp(x) > 1e-3)


@given(samples, st.floats(-0.5, 0.5), st.floats(0.5, 2.0))
def test_no_normal_is_more_likely_than_the_fit(x, shift, factor):
    law = Normal.fit(x)
    other = Normal(law.mean + shift * law.standard_deviation, law.variance * factor)
    assert law.log_pdf(x).sum() >= other.log_pdf(x).sum() - 1e-9
    assert law.mean == pytest.approx(np.mean(x), abs=1e-9)
    assert law.variance == pytest.approx(np.var(x), rel=1e-9)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=20), shares)
def test_no_bernoulli_is_more_likely_than_the_fit(x, other):
    assert Bernoulli.fit(x).log_pmf(x).sum() >= Bernoulli(other).log_pmf(x).sum() - 1e-9


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=10))
def test_weights_count_how_often_an_observation_occurs(pairs):
    x, w = np.array(pairs).T
    if w.sum() == 0:
        return
    repeated = np.repeat(x, w)
    ours = Categorical.fit(x, weights=w, states=[0, 1, 2])
    np.testing.assert_allclose(ours.probabilities, Categorical.fit(repeated, states=[0, 1, 2]).probabilities)
    if np.ptp(repeated) > 0:
        assert Normal.fit(x, weights=w).variance == pytest.approx(Normal.fit(repeated).variance)
    assert Bernoulli.fit(x > 0, weights=w).p == pytest.approx(Bernoulli.fit(repeated > 0).p)


def test_a_far_away_sample_keeps_its_spread():
    assert Normal.fit(1e9 + np.array([0.0, 1.0, 2.0])).variance == pytest.approx(2 / 3, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(1.5), "p is 1.5"),
        (lambda: Bernoulli(np.nan), "p has a NaN"),
        (lambda: Bernoulli([0.5]), "shape"),
        (lambda: Normal([0.0, 1.0]), "shape"),
        (lambda: Normal.fit([1e200, -1e200]), "overflow"),
        (lambda: Bernoulli("often"), "cannot be read as numbers"),
        (lambda: Bernoulli.fit([0, 1, 2]), "x is 2 at position 2"),
        (lambda: Bernoulli.fit([]), "sample is empty"),
        (lambda: Normal(0.0, 0.0), "must be positive"),
        (lambda: Normal(np.inf, 1.0), "infinity"),
        (lambda: Normal.fit([2.0, 2.0]), "All observations are 2"),
        (lambda: Normal.fit([1.0, np.nan]), "NaN at position 1"),
        (lambda: Normal.fit([1.0, 2.0], weights=[1.0, -1.0]), "negative at position 1"),
        (lambda: Normal.fit([1.0, 2.0], weights=[0.0, 0.0]), "All weights are zero"),
        (lambda: Normal.fit([1.0, 2.0], weights=[1.0]), r"shape \(1,\)"),
        (lambda: Normal.fit([1e-200, 2e-200]), "underflow"),
        (lambda: Normal().sample(-1), "n is -1"),
        (lambda: Bernoulli(0.5).sample(2.5), "n is 2.5"),
        (lambda: Categorical([0.5, 0.5], [[1], [2]]), "cannot be looked up"),
        (lambda: Categorical([0.5, 0.4]), "sums to 0.9"),
        (lambda: Categorical([1.5, -0.5]), "-0.5 at position 1"),
        (lambda: Categorical([0.5, 0.5], ["a"]), "1 states"),
        (lambda: Categorical([0.5, 0.5], ["a", "a"]), "named twice"),
        (lambda: Categorical.fit(["a", "c"], states=["a", "b"]), "'c'"),
        (lambda: Categorical.fit([1.0, np.nan]), "missing"),
    ],
)
def test_what_is_no_law_is_refused_with_a_hint(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n\nHint: " in str(caught.value)
