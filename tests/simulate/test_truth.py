"""The truth that comes with simulated data: moments, posterior, Bayes risk, margin."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad

from separatrix.simulate import bernoulli_classes, gaussian_classes, logistic, perceptron

COVARIANCE = np.array([[2.0, 0.6], [0.6, 1.0]])


def calibrated(sample, bins=12):
    """p-value of: within bins of the posterior, labels are as frequent as it says."""
    shares = sample.truth.posterior(sample.X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    statistic, freedom = 0.0, 0
    for k, label in enumerate(sample.truth.labels):
        edges = np.quantile(shares[:, k], np.linspace(0, 1, bins + 1)[1:-1])
        bin_ = np.searchsorted(edges, shares[:, k])
        for b in np.unique(bin_):
            mine = shares[bin_ == b, k]
            variance = (mine * (1 - mine)).sum()
            if variance > 5:
                statistic += ((sample.y[bin_ == b] == label).sum() - mine.sum()) ** 2 / variance
                freedom += 1
    # the classes' statistics depend on each other: the worst case counts one class only
    return stats.chi2.sf(statistic / len(sample.truth.labels), freedom / len(sample.truth.labels))


SAMPLES = {
    "logistic": lambda: logistic(60_000, 5, correlation=0.5, positive=0.2, seed=1),
    "noisy logistic": lambda: logistic(60_000, 2, strength=5.0, noise=0.1, seed=2),
    "noisy perceptron": lambda: perceptron(60_000, 3, noise=0.2, seed=3),
    "gaussian": lambda: gaussian_classes(60_000, 3, separation=1.5, correlation=0.3, priors=[0.7, 0.3], seed=4),
    "three gaussians": lambda: gaussian_classes(60_000, 2, classes=3, separation=1.0, noise=0.1, seed=5),
    "own covariances": lambda: gaussian_classes(60_000, covariances=[COVARIANCE, 0.2 * np.eye(2)], seed=6),
    "bernoulli": lambda: bernoulli_classes(60_000, 6, classes=3, priors=[0.5, 0.3, 0.2], seed=7),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_posterior_is_calibrated_and_the_risk_is_reached(name):
    sample = SAMPLES[name]()
    assert calibrated(sample) > 0.001
    best = sample.truth.labels[sample.truth.posterior(sample.X).argmax(axis=1)]
    risk = sample.truth.bayes_risk
    slack = 4 * np.sqrt(0.25 / len(best) + risk.standard_error**2)
    assert (best != sample.y).mean() == pytest.approx(risk.value, abs=slack)


def test_columns_have_the_covariance_asked_for():
    for given in (0.5, -0.3, COVARIANCE):
        X = logistic(200_000, 2, correlation=given, seed=1).X
        expected = given if np.ndim(given) == 2 else np.array([[1, given], [given, 1]])
        np.testing.assert_allclose(np.cov(X.T), expected, atol=0.03)
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.02)
    X = logistic(50_000, 6, correlation=-0.15, seed=1).X
    np.testing.assert_allclose(np.corrcoef(X.T), -0.15 + 1.15 * np.eye(6), atol=0.03)


@pytest.mark.parametrize("make", [logistic, perceptron])
@pytest.mark.parametrize("positive", [0.01, 0.3, 0.9])
def test_imbalance_is_what_was_asked_for(make, positive):
    y = make(200_000, 4, positive=positive, correlation=0.2, seed=2).y
    assert y.mean() == pytest.approx(positive, abs=4 * np.sqrt(positive * (1 - positive) / len(y)))


def test_class_moments():
    X, y, truth = gaussian_classes(200_000, means=[[0, 0], [3, -1]], covariances=[COVARIANCE, np.eye(2)], seed=8)
    for k, covariance in enumerate(truth.parameters["covariance"]):
        np.testing.assert_allclose(X[y == k].mean(axis=0), truth.parameters["means"][k], atol=0.03)
        np.testing.assert_allclose(np.cov(X[y == k].T), covariance, atol=0.04)
    X, y, truth = bernoulli_classes(200_000, 5, seed=9)
    for k in (0, 1):
        np.testing.assert_allclose(X[y == k].mean(axis=0), truth.parameters["probabilities"][k], atol=0.01)
    assert set(np.unique(X)) == {0.0, 1.0}


# the margin, in exact arithmetic


@pytest.mark.parametrize("margin", [1e-9, 0.1, 3.0, 1e6])
@pytest.mark.parametrize(("columns", "intercept"), [(1, 0.5), (2, 0.0), (30, -40.0)])
def test_the_margin_is_kept_exactly(margin, columns, intercept):
    X, y, truth = perceptron(2000, columns, margin=margin, intercept=intercept, seed=5)
    w, b = [Fraction(v) for v in truth.weights], Fraction(truth.intercept)
    least = Fraction(margin) ** 2 * sum(v * v for v in w)
    for row, label in zip(X, y, strict=True):
        score = (1 if label == 1 else -1) * (b + sum(v * Fraction(x) for v, x in zip(w, row, strict=True)))
        assert score > 0
        assert score**2 >= least


def test_the_margin_is_not_much_more_than_asked_for():
    X, y, truth = perceptron(100_000, 2, margin=0.5, seed=5)
    distance = np.where(y == 1, 1, -1) * truth.scores(X) / np.linalg.norm(truth.weights)
    assert distance.min() < 0.5 + 1e-3


# Bayes risks against other ways to them


def test_logistic_risk_against_two_dimensional_quadrature():
    truth = logistic(0, weights=[1.0, -2.0], intercept=0.7, correlation=0.3, noise=0.1).truth
    law = stats.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]])

    def integrand(b, a):
        p = 1 / (1 + np.exp(-(a - 2 * b + 0.7)))
        p = 0.9 * p + 0.1 * (1 - p)
        return law.pdf([a, b]) * min(p, 1 - p)

    expected = dblquad(integrand, -7, 7, -7, 7, epsabs=1e-6)[0]
    assert truth.bayes_risk.value == pytest.approx(expected, abs=1e-5)
    assert truth.bayes_risk.how == "quadrature"


@pytest.mark.parametrize("strength", [1e-3, 1.0, 1e3])
def test_logistic_risk_at_any_strength(strength):
    truth = logistic(0, weights=[strength], intercept=0.3 * strength).truth
    # f/strength is standard normal about 0.3: an even grid is accurate for smooth integrands
    z = np.linspace(-10, 10, 4_000_001)
    p = np.exp(-np.abs(strength * (z + 0.3)))
    expected = np.sum(stats.norm.pdf(z) * p / (1 + p)) * (z[1] - z[0])
    assert truth.bayes_risk.value == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_weights_of_any_size_are_no_trouble(size):
    truth = logistic(10, weights=[size, size]).truth
    assert truth.bayes_risk.value == pytest.approx(0.5 if size < 1 else 0.0)
    X, y, _ = perceptron(100, weights=[size, -size], margin=0.5)
    assert np.where(y == 1, 1, -1) @ (X[:, 0] - X[:, 1]) >= 100 * 0.5 * np.sqrt(2)


def test_gaussian_risk_against_two_dimensional_quadrature():
    truth = gaussian_classes(0, means=[[0, 0], [1, 1]], covariance=COVARIANCE, priors=[0.6, 0.4]).truth
    laws = [stats.multivariate_normal(mean, COVARIANCE) for mean in ([0, 0], [1, 1])]
    integrand = lambda b, a: min(0.6 * laws[0].pdf([a, b]), 0.4 * laws[1].pdf([a, b]))  # noqa: E731
    assert truth.bayes_risk.value == pytest.approx(dblquad(integrand, -10, 10, -8, 8, epsabs=1e-6)[0], abs=1e-5)
    assert truth.bayes_risk.how == "closed form"


@pytest.mark.parametrize(
    ("means", "deviations", "priors"),
    [([0, 1, 4], [1, 1, 1], [0.2, 0.5, 0.3]), ([0, 0, 3], [1, 3, 0.5], [0.3, 0.3, 0.4]), ([0, 0], [1, 2], [0.5, 0.5])],
)
def test_risk_of_classes_on_a_line_against_a_fine_grid(means, deviations, priors):
    variances = [[[s**2]] for s in deviations]
    truth = gaussian_classes(0, means=[[m] for m in means], covariances=variances, priors=priors).truth
    x = np.linspace(-40, 40, 2_000_001)
    best = np.max([w * stats.norm.pdf(x, m, s) for w, m, s in zip(priors, means, deviations, strict=True)], axis=0)
    assert truth.bayes_risk.value == pytest.approx(1 - best.sum() * (x[1] - x[0]), abs=1e-8)
    assert truth.bayes_risk.how == "quadrature"


def test_means_on_one_line_of_many_columns_are_no_harder():
    way = np.array([1.0, -1.0, 0.5])
    line = gaussian_classes(0, means=[0 * way, way, 3 * way], correlation=0.2, seed=1).truth
    assert line.bayes_risk.how == "quadrature"
    X, y, _ = line.draw(200_000)
    wrong = line.posterior(X).argmax(axis=1) != y
    assert wrong.mean() == pytest.approx(line.bayes_risk.value, abs=0.004)


def test_a_drawn_risk_says_so_with_its_error():
    truth = gaussian_classes(0, 2, classes=3, separation=1.0, seed=3).truth
    assert truth.bayes_risk.how.startswith("Monte Carlo")
    assert 0 < truth.bayes_risk.standard_error < 1e-3
    laws = [stats.multivariate_normal(mean) for mean in truth.parameters["means"]]
    x = np.linspace(-8, 8, 801)
    grid = np.dstack(np.meshgrid(x, x))
    expected = 1 - np.max([law.pdf(grid) for law in laws], axis=0).sum() * (x[1] - x[0]) ** 2 / 3
    assert truth.bayes_risk.value == pytest.approx(expected, abs=5 * truth.bayes_risk.standard_error)
    assert "±" in str(truth.bayes_risk)


def test_bernoulli_risk_by_enumeration_in_fractions():
    mu = [[0.25, 0.5, 0.75], [0.5, 0.125, 0.75], [1.0, 0.0, 0.5]]
    priors = [0.5, 0.25, 0.25]
    truth = bernoulli_classes(0, probabilities=mu, priors=priors).truth
    kept = Fraction(0)
    for row in product((0, 1), repeat=3):
        joint = []
        for prior, ones in zip(priors, mu, strict=True):
            p = Fraction(prior)
            for x, m in zip(row, ones, strict=True):
                p *= Fraction(m) if x else 1 - Fraction(m)
            joint.append(p)
        kept += max(joint)
    assert truth.bayes_risk.value == pytest.approx(float(1 - kept), abs=1e-15)
    assert truth.bayes_risk.how == "closed form"
    wide = bernoulli_classes(0, 60, seed=1).truth
    assert wide.bayes_risk.how.startswith("Monte Carlo")


def test_certain_columns_give_certain_posteriors():
    truth = bernoulli_classes(0, probabilities=[[1.0, 0.5], [0.0, 0.5]]).truth
    np.testing.assert_array_equal(truth.posterior([[1, 0], [0, 1]]), [[1, 0], [0, 1]])
    assert truth.bayes_risk.value == 0.0
    one = bernoulli_classes(0, probabilities=[[1.0], [1.0]]).truth
    with pytest.raises(ValueError, match="probability zero"):
        one.posterior([[0.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: logistic(-1), "rows is -1"),
        (lambda: logistic(2.5), "rows is 2.5"),
        (lambda: logistic(1, 0), "columns is 0"),
        (lambda: logistic(1, seed=-1), "seed is -1"),
        (lambda: logistic(1, weights=[0.0, 0.0]), "not all zero"),
        (lambda: logistic(1, 3, weights=[1.0, 2.0]), "leave one"),
        (lambda: logistic(1, intercept=1.0, positive=0.5), "Both"),
        (lambda: logistic(1, positive=1.0), "positive is 1"),
        (lambda: logistic(1, noise=0.5), "noise is 0.5"),
        (lambda: logistic(1, strength=0.0), "strength"),
        (lambda: logistic(1, labels=["a", "a"]), "different"),
        (lambda: logistic(1, 3, correlation=-0.5), "above -0.5"),
        (lambda: logistic(1, 2, correlation=np.ones((2, 2))), "not positive definite"),
        (lambda: perceptron(1, margin=-1.0), "margin is -1"),
        (lambda: gaussian_classes(1, means=[[0.0, 1.0]]), "two or more"),
        (lambda: gaussian_classes(1, classes=1), "classes is 1"),
        (lambda: gaussian_classes(1, priors=[0.5, 0.6]), "priors sums to 1.1"),
        (lambda: gaussian_classes(1, priors=[0.5, 0.3, 0.2]), "2 classes"),
        (lambda: gaussian_classes(1, covariances=[np.eye(2)]), "1 covariances"),
        (lambda: gaussian_classes(1, covariance=np.eye(2), covariances=[np.eye(2)] * 2), "Both"),
        (lambda: gaussian_classes(1, separation=-1.0), "separation"),
        (lambda: gaussian_classes(1, seed=-3), "seed is -3"),
        (lambda: bernoulli_classes(1, probabilities=[[0.5], [1.5]]), "outside"),
        (lambda: bernoulli_classes(1, probabilities=[0.5, 0.5]), "shape"),
        (lambda: bernoulli_classes(1, 2).truth.posterior([[0.5, 1.0]]), "row 0, column 0"),
        (lambda: logistic(1, 2).truth.posterior([[1.0]]), "2 columns"),
        (lambda: logistic(1, 2).truth.posterior([[1.0, np.nan]]), "NaN"),
        (lambda: logistic(1, 2).truth.blocks(5, 0), "size is 0"),
    ],
)
def test_bad_parameters_are_refused_with_a_hint(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n\nHint: " in str(caught.value)
