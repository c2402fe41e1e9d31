"""The central limit theorem, with the rate that Berry and Esseen give."""

import numpy as np
import pytest
from scipy import stats

from separatrix.probability import Bernoulli, Categorical, Normal, standardised_means


@pytest.mark.parametrize(("p", "n"), [(0.5, 400), (0.1, 1000), (0.5, 4)])
def test_standardised_means_are_as_near_to_normal_as_the_theorem_says(p, n):
    draws = 20_000
    z = standardised_means(Bernoulli(p), n, draws, seed=1)
    assert abs(z.mean()) < 5 / np.sqrt(draws)
    assert z.var() == pytest.approx(1.0, abs=0.06)
    third = p * (1 - p) * ((1 - p) ** 2 + p**2) / (p * (1 - p)) ** 1.5
    distance = stats.kstest(z, stats.norm.cdf).statistic
    assert distance <= 0.4748 * third / np.sqrt(n) + 2.0 / np.sqrt(draws)


def test_the_exact_law_of_the_mean_is_binomial():
    z = standardised_means(Bernoulli(0.3), 10, 50_000, seed=2)
    counts = np.bincount(np.rint(10 * 0.3 + z * np.sqrt(10 * 0.21)).astype(int), minlength=11)
    kept = slice(0, 9)
    expected = 50_000 * stats.binom(10, 0.3).pmf(np.arange(11))
    assert stats.chisquare(counts[kept], expected[kept] * counts[kept].sum() / expected[kept].sum()).pvalue > 0.001


def test_without_standardising_the_mean_has_no_spread_left():
    z = standardised_means(Normal(5.0, 4.0), 10_000, 200, seed=3)
    assert (5.0 + z * 2.0 / 100).std() < 0.03
    assert z.std() == pytest.approx(1.0, abs=0.2)


def test_what_has_no_line_or_no_spread_is_refused():
    with pytest.raises(ValueError, match="positive variance"):
        standardised_means(Bernoulli(1.0), 5, 5)
    with pytest.raises(ValueError, match="line"):
        standardised_means(Categorical([0.5, 0.5]), 5, 5)
    with pytest.raises(ValueError, match="rv_"):
        standardised_means(stats.norm(), 5, 5)
    with pytest.raises(ValueError, match="n is 0"):
        standardised_means(Normal(), 0, 5)
