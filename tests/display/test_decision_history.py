"""Histories of decisions hold what the fit kept."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_iris

from separatrix import ConvergenceWarning, InputError, LogisticRegression, SeparationWarning, SGDClassifier
from separatrix.display import DecisionHistoryDisplay, TraceDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def lecture():
    X, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    model = SGDClassifier(batch_size="all", penalty=None, eta0=0.1, max_iter=600, keep_epochs=(600, 1))
    with pytest.warns(SeparationWarning):
        model.fit(X, y)
    return model, X, y


def test_one_column_shows_decision_and_probability():
    model, X, y = lecture()
    display = DecisionHistoryDisplay.from_estimator(model, X, y).plot()
    assert display.epochs == [1, 600]
    curves = display.ax_[0].get_lines()
    np.testing.assert_array_equal(curves[1].get_ydata(), display.decision(600))
    np.testing.assert_allclose(display.decision(600), model.decision_function(display.grid()[:, None]))
    np.testing.assert_allclose(
        display.ax_[1].get_lines()[1].get_ydata(), model.predict_proba(display.grid()[:, None])[:, 1]
    )


def test_two_columns_show_boundaries():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, 2:], y[50:]
    model = SGDClassifier(batch_size="all", alpha=0.01, tol=0.9, certify_every=2, keep_epochs=(1, 2)).fit(X, y)
    display = DecisionHistoryDisplay.from_estimator(model, X, y).plot()
    coef, intercept = model.kept_[2]
    on_line = np.column_stack([display.grid(), display.boundary(2)])
    np.testing.assert_allclose(on_line @ coef[0] + intercept[0], 0.0, atol=1e-9)
    assert len(display.ax_.get_lines()) == 2


def test_what_cannot_be_drawn_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="kept no weights"):
        DecisionHistoryDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    model = SGDClassifier(batch_size="all", alpha=1 / 150, tol=0.9, certify_every=1, keep_epochs=(1,)).fit(X, y)
    with pytest.raises(InputError, match="3 classes and 4 columns"):
        DecisionHistoryDisplay.from_estimator(model, X, y)


def test_the_trace_of_separable_data_shows_the_loss_itself():
    model, _, _ = lecture()
    display = TraceDisplay.from_estimator(model).plot()
    np.testing.assert_array_equal(display.excess, model.trace_.objective)
    assert display.ax_[0].get_xscale() == "log"  # six hundred epochs
    assert display.ax_[0].get_xlabel() == "epoch"
    assert display.value == "objective"


def test_a_validation_score_has_its_panel():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        model = SGDClassifier(early_stopping=True).fit(X, y)
    display = TraceDisplay.from_estimator(model).plot()
    assert len(display.ax_) == 3
    assert (display.value, display.step) == ("mean loss met", "epoch")
    np.testing.assert_array_equal(display.ax_[2].get_lines()[0].get_ydata(), model.validation_scores_)
