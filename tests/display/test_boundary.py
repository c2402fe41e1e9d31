"""The geometry of a linear boundary: its line, normal, margins and distances are the model's."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.naive_bayes import GaussianNB

from separatrix import InputError, LogisticRegression, Perceptron
from separatrix.display import BoundaryDisplay


@pytest.fixture
def clouds():
    draw = np.random.default_rng(3)
    X = np.concatenate([draw.normal([-1.5, 0.0], 1.0, (30, 2)), draw.normal([1.5, 1.0], 1.0, (30, 2))])
    return X, np.repeat([0, 1], 30)


@pytest.mark.parametrize("kind", [Perceptron, TheirPerceptron])
@pytest.mark.parametrize("classes", [2, 3])
def test_without_probabilities_regions_are_the_predictions(kind, classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes][:, 2:], y[y < classes]
    model = kind().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot()
    across, up = np.meshgrid(display.x, display.y)
    predicted = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    np.testing.assert_array_equal(display.regions, predicted)
    np.testing.assert_array_equal(display.probabilities.sum(axis=2), 1.0)
    assert display.ax_.get_title() == "Regions"


def test_distances_and_feet_are_the_models(clouds):
    X, y = clouds
    model = LogisticRegression().fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y).plot(margins=True, distances=True)
    np.testing.assert_allclose(display.distance, model.signed_distance(X), rtol=1e-12)
    np.testing.assert_allclose(display.feet, model.project(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(display.wrong, model.predict(X) != y)
    assert display.margins[0] == -model.signed_distance(X)[y == 0].max()
    assert display.margins[1] == model.signed_distance(X)[y == 1].min()
    assert max(display.margins) < 0  # the classes overlap
    assert f"misclassified: {int((model.predict(X) != y).sum())}" in texts(display)
    assert display.ax_.get_aspect() == 1.0


def test_margins_of_a_separator_are_positive_and_touch_a_row(clouds):
    X, y = clouds
    X = X + np.where(y == 1, 3.0, -3.0)[:, None]
    display = BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X, y).plot(margins=True)
    assert min(display.margins) > 0
    for k, sign in enumerate((-1.0, 1.0)):
        touched = display.line.moved(sign * display.margins[k]).distances(X[y == k])
        assert np.abs(touched).min() == pytest.approx(0.0, abs=1e-12)
    assert not display.wrong.any()
    assert not any("misclassified" in text for text in texts(display))


def test_line_of_two_shown_columns_is_where_the_score_is_zero():
    data = load_breast_cancer()
    model = LogisticRegression().fit(data.data, data.target)
    display = BoundaryDisplay.from_estimator(model, data.data, data.target, columns=(0, 1)).plot()
    row = data.data.mean(axis=0)
    row[[0, 1]] = display.line.feet(row[None, [0, 1]])[0]
    assert model.decision_function(row[None])[0] == pytest.approx(0.0, abs=1e-9)
    assert display.distance is None
    with pytest.raises(InputError, match="28 other columns"):
        display.plot(distances=True)


def test_curved_and_many_boundaries_have_no_normal(clouds):
    display = BoundaryDisplay.from_estimator(GaussianNB().fit(*clouds), *clouds).plot()
    assert display.line is None
    with pytest.raises(InputError, match="no single line"):
        display.plot(normal=True)
    with pytest.raises(InputError, match="no distance"):
        _ = display.margins


def test_columns_of_different_scale_are_not_forced_to_one(clouds):
    X, y = clouds[0] * [1.0, 1000.0], clouds[1]
    display = BoundaryDisplay.from_estimator(LogisticRegression().fit(X, y), X, y).plot()
    assert not display.comparable
    assert display.ax_.get_aspect() == "auto"


def texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]
