"""Generative against discriminative models, measured by the true posterior."""

import numpy as np
import pytest

from separatrix import LinearDiscriminantAnalysis, LogisticRegression, RidgeClassifier, simulate


def excess(model, truth, new):
    """Expected mistakes beyond those of the Bayes rule."""
    posterior = truth.posterior(new)
    chosen = np.searchsorted(model.classes_, model.predict(new))
    return float(np.mean(posterior.max(axis=1) - posterior[np.arange(len(new)), chosen]))


def test_both_meet_the_bayes_risk_when_the_gaussian_model_is_right():
    gaussian, logistic = [], []
    for seed in range(10):
        truth = simulate.gaussian_classes(0, columns=4, seed=seed).truth
        new = truth.rows(100_000, 110_000).X
        for rows in (300, 30_000):
            X, y, _ = truth.rows(0, rows)
            gaussian.append(excess(LinearDiscriminantAnalysis().fit(X, y), truth, new))
            logistic.append(excess(LogisticRegression(C=np.inf).fit(X, y), truth, new))
    few, many = np.array(gaussian)[::2], np.array(gaussian)[1::2]
    few_logistic, many_logistic = np.array(logistic)[::2], np.array(logistic)[1::2]
    assert many.mean() < 0.1 * few.mean()
    assert many_logistic.mean() < 0.1 * few_logistic.mean()
    assert max(many.max(), many_logistic.max()) < 5e-4
    assert few.mean() < few_logistic.mean()  # the right model needs fewer rows


@pytest.mark.parametrize("mean", [3.0, 5.0])
def test_logistic_regression_finds_an_exponential_tilt_and_the_gaussian_model_does_not(mean):
    y = np.arange(200_000) % 2
    x = np.random.default_rng(1).exponential(np.where(y == 1, mean, 1.0))[:, None]

    def risk(threshold):
        return 0.5 * np.exp(-threshold) + 0.5 * (1 - np.exp(-threshold / mean))

    best = risk(np.log(mean) / (1 - 1 / mean))
    logistic = LogisticRegression(C=np.inf).fit(x, y)
    assert logistic.coef_[0, 0] == pytest.approx(1 - 1 / mean, rel=0.03)
    assert logistic.intercept_[0] == pytest.approx(-np.log(mean), rel=0.03)
    gaussian = LinearDiscriminantAnalysis().fit(x, y)
    above = [risk(-m.intercept_[0] / m.coef_[0, 0]) - best for m in (logistic, gaussian)]
    assert above[0] < 1e-4
    assert above[1] > 2e-3


def test_far_correct_points_pull_least_squares_and_not_logistic_regression():
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(200, 2)), np.arange(200) % 2
    X[y == 1] += [3, -1]
    wide, labels = np.vstack([X, draw.normal((20, -25), 0.5, size=(20, 2))]), np.append(y, np.ones(20, int))

    def turned(model):
        before, after = model.fit(X, y).coef_[0].copy(), model.fit(wide, labels).coef_[0]
        return np.degrees(np.arccos(before @ after / np.linalg.norm(before) / np.linalg.norm(after)))

    assert turned(LogisticRegression()) < 1.0
    assert turned(RidgeClassifier()) > 15.0
