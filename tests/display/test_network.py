"""The picture of a network holds its weights and unit maps before it draws."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_iris, make_moons

from separatrix import InputError, MLPClassifier
from separatrix.display import BoundaryDisplay, NetworkDisplay, TraceDisplay

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def moons():
    return make_moons(100, noise=0.2, random_state=0)


@pytest.mark.parametrize("activation", ["tanh", "relu", "logistic"])
def test_maps_are_the_hidden_units_over_the_plane(moons, activation):
    X, y = moons
    model = MLPClassifier((5, 3), activation=activation, solver="lbfgs", max_iter=30).fit(X, y)
    display = NetworkDisplay.from_estimator(model, X, y, layer=2)
    across, up = display.grids
    place = np.array([across[7], up[30]])
    phi = {"tanh": np.tanh, "relu": lambda z: np.maximum(z, 0), "logistic": lambda z: 1 / (1 + np.exp(-z))}[activation]
    hidden = phi(phi(place @ model.coefs_[0] + model.intercepts_[0]) @ model.coefs_[1] + model.intercepts_[1])
    np.testing.assert_allclose(display.maps[30, 7], hidden, rtol=1e-12)
    display.plot_units()
    assert len(display.ax_) == 3


def test_a_line_per_weight_and_a_circle_per_unit(moons):
    X, y = moons
    model = MLPClassifier((4,), max_iter=3).fit(X, y)
    display = NetworkDisplay.from_estimator(model).plot()
    assert len(display.ax_.get_lines()) == 2 * 4 + 4
    assert [len(spots) for spots in display.positions()] == [2, 4, 1]
    with pytest.raises(InputError, match="no maps"):
        display.plot_units()


def test_large_layers_show_the_units_with_the_largest_weights():
    data = load_iris(as_frame=True)
    model = MLPClassifier((40,), max_iter=3).fit(data.data, data.target)
    display = NetworkDisplay.from_estimator(model, most_units=6).plot()
    size = (model.coefs_[0] ** 2).sum(axis=0) + (model.coefs_[1] ** 2).sum(axis=1)
    assert set(display.shown[1]) == set(np.argsort(-size)[:6])
    texts = [text.get_text() for text in display.ax_.texts]
    assert "petal width (cm)" in texts
    assert "p(2)" in texts
    assert any("6 of 40" in text for text in texts)


def test_a_layer_that_is_not_there_is_refused(moons):
    X, y = moons
    model = MLPClassifier((4,), max_iter=3).fit(X, y)
    with pytest.raises(InputError, match="count from 1"):
        NetworkDisplay.from_estimator(model, X, y, layer=2)


def test_the_pictures_of_other_models_serve_a_network_too(moons):
    X, y = moons
    model = MLPClassifier((8,), max_iter=20).fit(X, y)
    trace = TraceDisplay.from_estimator(model).plot()
    assert trace.tolerance is None
    assert trace.ax_[0].get_title() == "The objective"
    assert BoundaryDisplay.from_estimator(model, X, y).plot().probabilities.shape == (200, 200, 2)
