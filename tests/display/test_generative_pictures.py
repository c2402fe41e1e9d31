"""Pictures of Gaussian classes, of risk and of far points hold the right numbers before they draw."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer, load_iris

from separatrix import BayesDecisionClassifier, InputError, LinearDiscriminantAnalysis, LogisticRegression
from separatrix.display import GaussianDisplay, OutlierDisplay, RiskDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def test_ellipses_are_where_the_mahalanobis_distance_is_the_radius():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    display = GaussianDisplay.from_estimator(model, X, y, columns=(1, 3)).plot()
    apart = display.ellipse(2, 1.5) - model.means_[2, [1, 3]]
    inverse = np.linalg.inv(model.covariance_[np.ix_([1, 3], [1, 3])])
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", apart, inverse, apart), 1.5**2, rtol=1e-12)
    # three classes with three ellipses and a mean each
    assert len(display.ax_.get_lines()) == 12
    with pytest.raises(InputError, match="no means"):
        GaussianDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)


def test_risk_at_every_threshold_is_the_mean_loss_of_its_decisions():
    X, y = load_breast_cancer(return_X_y=True)
    losses = np.array([[0.0, 3.0], [1.0, 0.25]])
    model = BayesDecisionClassifier(LinearDiscriminantAnalysis(), loss_matrix=losses).fit(X, y)
    weights = np.random.default_rng(0).random(len(y))
    display = RiskDisplay.from_estimator(model, X, y, sample_weight=weights).plot()
    shares = model.predict_proba(X)[:, 1]
    for threshold in (0.0, 0.2, 0.5, *display.thresholds[::80], 1.0):
        expected = np.average(losses[(shares >= threshold).astype(int), y], weights=weights)
        assert display.at(threshold) == pytest.approx(expected, rel=1e-12)
    assert display.prescribed == pytest.approx(model.threshold_.value)
    assert display.at(display.best) == display.risk.min()
    with pytest.raises(InputError, match="two classes"):
        RiskDisplay.from_predictions([0, 1], [0.1, 0.2], loss_matrix=np.ones((3, 2)))


def test_far_points_turn_least_squares_and_not_logistic_regression():
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(80, 2)), np.arange(80) % 2
    X[y == 1] += [3, -1]
    display = OutlierDisplay.from_data(X, y, draw.normal((8, -9), size=(12, 2)), np.ones(12, int)).plot()
    assert display.turned["least squares"] > 20
    assert display.turned["logistic"] < 0.1
    assert len(display.ax_) == 2
    with pytest.raises(InputError, match="two columns"):
        OutlierDisplay.from_data(np.ones((4, 3)), [0, 1, 0, 1], [[1.0, 2.0]], [1])
