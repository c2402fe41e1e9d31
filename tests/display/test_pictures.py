"""Pictures hold the right numbers before they draw, and draw without complaint."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from separatrix import InputError, LogisticRegression, Perceptron, SeparationWarning
from separatrix.display import BasisDisplay, BoundaryDisplay, LossDisplay, SigmoidDisplay, TraceDisplay

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    return load_breast_cancer(as_frame=True)


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def test_trace_holds_what_the_fit_recorded(data):
    model = LogisticRegression().fit(data.data, data.target)
    display = TraceDisplay.from_estimator(model).plot()
    np.testing.assert_array_equal(display.objective, model.trace_.objective)
    np.testing.assert_array_equal(display.passes, np.arange(1, model.n_iter_[0] + 1))
    assert not display.excess[-1] > 1e-14
    assert display.excess[0] == pytest.approx(np.log(2) - model.trace_.objective.min())
    lines = display.ax_[0].get_lines()
    np.testing.assert_array_equal(lines[0].get_ydata(), display.excess)
    assert display.tolerance == pytest.approx(1e-8 * model.certificate_.objective)


def test_sigmoid_passes_one_half_at_the_boundary_and_equals_the_model(data):
    x = data.data[["mean radius"]]
    model = LogisticRegression().fit(x, data.target)
    display = SigmoidDisplay.from_estimator(model, x, data.target).plot()
    grid, height = display.curve()
    on_grid = model.predict_proba(x.iloc[:1].reindex(range(400)).assign(**{"mean radius": grid}))
    np.testing.assert_allclose(height, on_grid[:, 1], rtol=1e-12)
    assert model.coef_[0, 0] * display.boundary + model.intercept_[0] == pytest.approx(0.0, abs=1e-12)
    assert display.ax_.get_xlabel() == "mean radius"
    assert display.positive.sum() == data.target.sum()


def test_sigmoid_of_several_columns_is_refused(data):
    model = LogisticRegression().fit(data.data, data.target)
    with pytest.raises(InputError, match="one column"):
        SigmoidDisplay.from_estimator(model, data.data, data.target)


def test_losses_at_the_margins_of_the_lectures():
    display = LossDisplay.from_margins(np.array([-2.0, 0.0, 1.0, 3.0])).plot()
    at = dict(zip(("zero-one", "perceptron", "logistic", "squares"), display.losses.values(), strict=True))
    assert at["perceptron"].tolist() == [2, 0, 0, 0]
    assert at["squares"].tolist() == [9, 1, 0, 4]
    assert at["logistic"][1] == pytest.approx(1.0)
    assert at["zero-one"][[0, 2, 3]].tolist() == [1, 0, 0]
    assert len(display.ax_.get_legend().get_texts()) == 4


def test_axes_may_be_given_and_are_counted(data):
    figure, axes = pyplot.subplots(1, 2)
    model = LogisticRegression().fit(data.data, data.target)
    assert TraceDisplay.from_estimator(model).plot(axes).figure_ is figure
    with pytest.raises(ValueError, match="2 panels"):
        TraceDisplay.from_estimator(model).plot(axes[0])
    _, alone = pyplot.subplots()
    assert LossDisplay.from_margins().plot(alone).ax_ is alone


def test_regions_are_the_models_predictions(data):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X[:, 2:], y)
    display = BoundaryDisplay.from_estimator(model, X[:, 2:], y).plot()
    corner = np.array([[display.x[3], display.y[150]]])
    assert display.regions[150, 3] == model.predict(corner)[0]
    np.testing.assert_allclose(display.probabilities[150, 3], model.predict_proba(corner)[0])
    np.testing.assert_allclose(display.probabilities.sum(axis=2), 1.0)
    assert len(display.ax_.collections) >= 3


def test_other_columns_are_held_at_their_mean(data):
    model = LogisticRegression().fit(data.data, data.target)
    display = BoundaryDisplay.from_estimator(model, data.data, data.target, columns=(0, 1)).plot()
    assert display.names == ("mean radius", "mean texture")
    assert "28 other columns" in display.ax_.get_title()
    row = data.data.mean().to_frame().T
    row["mean radius"], row["mean texture"] = display.x[10], display.y[20]
    np.testing.assert_allclose(display.probabilities[20, 10], model.predict_proba(row)[0], rtol=1e-9)


def test_two_columns_must_be_chosen_and_many_classes_have_colours():
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="choose two"):
        BoundaryDisplay.from_estimator(model, X, y)
    display = BoundaryDisplay.from_estimator(model, X, y, columns=(20, 43)).plot()
    assert display.colours().shape == (10, 3)


def test_the_perceptron_has_a_trace():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100, :2], y[:100]
    model = Perceptron(max_iter=3000).fit(X, y)
    display = TraceDisplay.from_estimator(model).plot()
    np.testing.assert_array_equal(display.objective, model.trace_.objective)
    assert display.tolerance is None


@pytest.mark.parametrize("flip", [False, True])
def test_the_sigmoid_of_separated_data_is_a_step(flip):
    x, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    y = 1 - y if flip else y
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit(x, y)
    display = SigmoidDisplay.from_estimator(model, x, y).plot()
    assert display.certain
    assert display.boundary == 0.0
    grid, height = display.curve()
    off = grid != 0.0
    np.testing.assert_array_equal(height[off], model.predict_proba(grid[off, None])[:, 1])
    assert (np.diff(grid) >= 0).all()
    assert display.ax_.texts[0].get_text() == "boundary 0"
    assert "step" in display.ax_.get_title()


def test_the_sigmoid_keeps_the_probability_on_the_boundary():
    """Of three rows at 1 two are positive: the limit gives them 2/3, and certainty to all others."""
    x, y = np.array([[0.0], [1.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1, 1])
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit(x, y)
    display = SigmoidDisplay.from_estimator(model, x, y).plot()
    assert display.boundary == pytest.approx(1.0)
    assert display.on_boundary == pytest.approx(2.0 / 3.0)


def test_a_boundary_at_zero_is_written_as_zero():
    x, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), [0, 0, 1, 1]
    display = SigmoidDisplay.from_estimator(LogisticRegression().fit(x, y), x, y).plot()
    assert display.ax_.texts[0].get_text() == "boundary 0"
    display.intercept = -4.2e-17
    assert display.plot().ax_.texts[0].get_text() == "boundary 0"


def test_the_line_between_separated_classes_is_that_of_the_direction():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [1.0, 3.0]]), [0, 0, 1, 1]
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.distance, [-1.5, -1.5, 1.5, 1.5], rtol=1e-9)
    np.testing.assert_allclose(display.distance, model.signed_distance(X), rtol=1e-12)


def test_the_curved_boundary_of_separated_classes_is_that_of_the_direction():
    """An inner interval against both outer ones: in (x, x²) they are separated, halfway between the nearest rows."""
    x, y = np.array([[-3.0], [-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1, 1, 0, 0])
    pipeline = make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression(C=np.inf))
    with pytest.warns(SeparationWarning):
        pipeline.fit(x, y)
    display = BasisDisplay.from_estimator(pipeline, x, y).plot()
    np.testing.assert_allclose(np.abs(display.crossings()), np.sqrt(2.5), rtol=1e-3)  # read off a grid
