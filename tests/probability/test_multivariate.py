"""The multivariate normal against SciPy, and its closure under affine maps and conditioning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from separatrix.probability import MultivariateNormal, Normal, kl_divergence

seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int, d: int) -> MultivariateNormal:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d + 2))
    scale = 10.0 ** rng.uniform(-3, 3, d)
    return MultivariateNormal(rng.standard_normal(d), scale[:, None] * (root @ root.T) * scale)


@given(seeds, st.integers(1, 5))
def test_density_agrees_with_scipy(seed, d):
    law = drawn(seed, d)
    x = law.sample(4, seed=1)
    theirs = stats.multivariate_normal(law.mean, law.covariance, allow_singular=True)
    if theirs.cov_object.rank < d:  # SciPy judges rank in the units of the data
        return
    np.testing.assert_allclose(law.log_pdf(x), theirs.logpdf(x), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(law.pdf(x), theirs.pdf(x), rtol=1e-5)
    assert law.entropy() == pytest.approx(theirs.entropy(), abs=1e-6)


def test_density_at_the_mean_of_two_coordinates():
    law = MultivariateNormal([1.0, 2.0], [[3.0, 1.0], [1.0, 2.0]])
    assert law.pdf([1.0, 2.0]) == pytest.approx(1.0 / (2.0 * np.pi * np.sqrt(5.0)))


@given(seeds, st.integers(1, 5))
def test_precision_is_the_inverse(seed, d):
    law = drawn(seed, d)
    scale = np.sqrt(law.variance)
    product = law.precision @ law.covariance
    np.testing.assert_allclose(product * scale[:, None] / scale, np.eye(d), atol=1e-6)


@given(seeds, st.integers(2, 5))
def test_density_is_marginal_times_conditional(seed, d):
    law = drawn(seed, d)
    order = np.random.default_rng(seed).permutation(d)
    known, asked = sorted(order[: d // 2]), sorted(order[d // 2 :])
    x = law.sample(1, seed=3)[0]
    rest = law.conditional(asked, {k: x[k] for k in known})
    chained = law.marginal(known).log_pdf(x[known]) + rest.log_pdf(x[asked])
    assert law.log_pdf(x) == pytest.approx(chained, rel=1e-6, abs=1e-5)


def test_conditional_with_a_coordinate_summed_out_is_that_of_the_marginal():
    law = drawn(7, 4)
    a = law.conditional([0], {2: 0.5})
    b = law.marginal([0, 2]).conditional([0], {1: 0.5})
    np.testing.assert_allclose(a.mean, b.mean)
    np.testing.assert_allclose(a.covariance, b.covariance)
    np.testing.assert_allclose(law.conditional([1, 3], {}).covariance, law.marginal([1, 3]).covariance)


@given(seeds, st.integers(1, 4))
def test_density_of_an_invertible_affine_map_follows_the_change_of_variables(seed, d):
    law = drawn(seed, d)
    rng = np.random.default_rng(seed)
    B, c = rng.standard_normal((d, d)) + 3 * np.eye(d), rng.standard_normal(d)
    x = law.sample(1, seed=2)[0]
    image = law.affine(c, B)
    jacobian = np.linalg.slogdet(B)[1]
    assert image.log_pdf(c + B @ x) == pytest.approx(law.log_pdf(x) - jacobian, rel=1e-5, abs=1e-4)
    np.testing.assert_allclose(image.mean, c + B @ law.mean)


@given(seeds)
def test_divergence_does_not_change_under_affine_maps(seed):
    p, q = drawn(seed, 3), drawn(seed, 3)
    q = MultivariateNormal(q.mean + 0.1 * np.sqrt(q.variance), q.covariance * 1.5)
    B = np.random.default_rng(seed).standard_normal((3, 3)) + 3 * np.eye(3)
    before, after = kl_divergence(p, q), kl_divergence(p.affine([1, 2, 3], B), q.affine([1, 2, 3], B))
    assert after == pytest.approx(before, rel=1e-4)


def test_sum_of_coordinates_is_normal_with_the_sum_of_covariances():
    law = drawn(3, 3)
    total = law.affine([0.0], np.ones((1, 3)))
    assert total.covariance[0, 0] == pytest.approx(law.covariance.sum())
    line = Normal(total.mean[0], total.covariance[0, 0])
    assert line.log_pdf(2.0) == pytest.approx(total.log_pdf([2.0]))


def test_fit_is_the_most_likely_and_weights_count_rows():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 3)) + 1e6, rng.integers(0, 4, 40)
    law, repeated = MultivariateNormal.fit(x, weights=w), MultivariateNormal.fit(np.repeat(x, w, axis=0))
    np.testing.assert_allclose(law.mean, repeated.mean)
    np.testing.assert_allclose(law.covariance, repeated.covariance, rtol=1e-9)
    np.testing.assert_allclose(law.covariance, np.cov(x.T, ddof=0, fweights=w), rtol=1e-7)
    best = w @ law.log_pdf(x)
    for _ in range(200):
        nudge = 0.1 * rng.standard_normal((3, 3))
        root = np.linalg.cholesky(law.covariance) @ (np.eye(3) + nudge)
        other = MultivariateNormal(law.mean + 0.1 * rng.standard_normal(3), root @ root.T)
        assert w @ other.log_pdf(x) < best


def test_draws_have_the_laws_moments():
    law = MultivariateNormal([1.0, -1.0], [[2.0, -1.2], [-1.2, 1.0]])
    x = law.sample(300_000, seed=1)
    np.testing.assert_allclose(x.mean(axis=0), law.mean, atol=0.02)
    np.testing.assert_allclose(np.cov(x.T), law.covariance, atol=0.03)
    distances = law.mahalanobis(x) ** 2
    assert stats.kstest(distances[:20_000], stats.chi2(2).cdf).pvalue > 0.001


def test_units_do_not_make_a_covariance_singular():
    law = MultivariateNormal([0.0, 0.0], np.diag([1e-200, 1e200]))
    assert law.log_determinant == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultivariateNormal([0, 0], [[1, 1], [1, 1]]), "not positive definite"),
        (lambda: MultivariateNormal([0, 0], [[1, 2], [2, 1]]), "not positive definite"),
        (lambda: MultivariateNormal([0, 0], [[1, 0.5], [0, 1]]), "not symmetric"),
        (lambda: MultivariateNormal([0, 0], [[1, 0], [0, 0]]), "coordinate 1 is 0"),
        (lambda: MultivariateNormal([0, 0], np.eye(3)), "2 coordinates"),
        (lambda: MultivariateNormal(0.0, [[1]]), "shape"),
        (lambda: MultivariateNormal([0, np.nan], np.eye(2)), "NaN at position 1"),
        (lambda: MultivariateNormal.fit([[1, 2], [1, 3], [1, 5]]), "Column 0 of x is constant"),
        (lambda: MultivariateNormal.fit([[1, 2], [2, 4], [3, 6]]), "fewer than 2"),
        (lambda: MultivariateNormal.fit([[1, 1e200], [2, -1e200], [3, 0]]), "column 1 of x overflow"),
        (lambda: MultivariateNormal.fit([[1, 2, 5], [2, 4, 3]]), "fewer than 3"),
        (lambda: drawn(1, 2).affine([0, 0], [[1, 1], [2, 2]]), "rank 1"),
        (lambda: drawn(1, 2).affine([0, 0, 0], np.ones((3, 2))), "rank 1"),
        (lambda: drawn(1, 2).affine([0], [[0, 0]]), "rank 0"),
        (lambda: drawn(1, 2).affine([0], [[1, 0, 0]]), "2 columns"),
        (lambda: drawn(1, 2).affine([0, 1], [[1, 0]]), "1 rows"),
        (lambda: drawn(1, 2).marginal([2]), "no coordinate 2"),
        (lambda: drawn(1, 2).marginal(["a"]), "whole numbers"),
        (lambda: drawn(1, 2).marginal([0.5]), "whole numbers"),
        (lambda: drawn(1, 2).sample("many"), "n is 'many'"),
        (
            lambda: MultivariateNormal.fit([[1, 1e-200], [2, 2e-200], [5, 0]]),
            "Column 1 of x has squares that underflow",
        ),
        (lambda: drawn(1, 2).marginal([0, 0]), "only once"),
        (lambda: drawn(1, 2).conditional([0], {0: 1.0}), "asked for and given"),
        (lambda: drawn(1, 2).log_pdf([1.0, 2.0, 3.0]), "2 coordinates"),
    ],
)
def test_what_has_no_density_is_refused_with_a_hint(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n\nHint: " in str(caught.value)
