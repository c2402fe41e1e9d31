"""What a notebook shows of a fitted model: of two classes, of three, and of none to speak of."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

import separatrix as sx

X, KIND = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "model",
    [
        sx.LogisticRegression,
        sx.LinearDiscriminantAnalysis,
        sx.RidgeClassifier,
        sx.RidgeClassifierCV,
        sx.BernoulliNB,
        sx.Perceptron,
        sx.MLPClassifier,
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_page_of_a_fitted_model_is_drawn(model, classes):
    rows = classes > KIND
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model().fit(X[rows], KIND[rows])
    assert type(fitted).__name__ in fitted._repr_html_()
    if hasattr(fitted, "coef_"):
        assert hasattr(fitted, "origin_distance_") == (classes == 2 and bool(fitted.coef_.any()))


def test_a_boundary_that_is_not_there_says_so():
    model = sx.LogisticRegression().fit(X, KIND)
    with pytest.raises(AttributeError, match="no single boundary"):
        _ = model.origin_distance_
    with pytest.raises(sx.InputError, match="coef_\\[k\\]"):
        model.signed_distance(X)
    flat = sx.LogisticRegression().fit(np.zeros((4, 1)), [0, 0, 1, 1])
    assert "LogisticRegression" in flat._repr_html_()
