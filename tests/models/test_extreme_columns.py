"""Columns at either end of the range of floats: refused with a reason, or fitted and proved."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.errors import InputError


def drawn(n=32, d=3):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, d))
    return X, (X[:, 0] + draw.normal(size=n) > 0).astype(int)


def test_discriminants_prove_what_they_keep_beside_a_column_whose_squares_vanish():
    X, y = drawn()
    X[:, 2] *= 1e-300
    certificate = sx.LinearDiscriminantAnalysis().fit(X, y).certificate_
    assert 0.0 < certificate.residual < 1e-9
    assert certificate.aliased == ("column 2",)
    certificate.verify(X, y)
    weights = np.random.default_rng(1).uniform(1e-9, 1e-8, len(y))  # products with the column have few digits left
    sx.LinearDiscriminantAnalysis().fit(X, y, sample_weight=weights).certificate_.verify(X, y, weights)


@pytest.mark.filterwarnings("ignore::separatrix.core.errors.ConvergenceWarning")
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_an_l1_part_too_weak_to_square_the_distance_it_allows(ratio):
    X, y = drawn()
    X[:, 2] = X[:, 1]  # a curvature that vanishes along the difference
    with np.errstate(all="ignore"):
        certificate = sx.LogisticRegression(C=1e300, l1_ratio=ratio).fit(X, y).certificate_
    assert certificate.proved
    certificate.verify(X, y)


@pytest.mark.parametrize("size", [1e200, 1e300])
def test_a_perceptron_whose_scores_overflow_is_refused_and_stays_as_it_was(size):
    X, y = drawn()
    X[:, 1] *= size
    for model in (sx.Perceptron(max_iter=5), sx.Perceptron(max_iter=5, fit_intercept=False)):
        for learn in (lambda m: m.fit(X, y), lambda m: m.partial_fit(X, y, [0, 1])):
            with pytest.raises(InputError, match="overflow"):
                learn(model)
            assert not hasattr(model, "coef_")
            assert not hasattr(model, "n_features_in_")


def test_a_separator_whose_least_score_overflows_is_a_separator():
    from separatrix.certificates.separator import SeparatorCertificate
    from separatrix.models.perceptron.separator_rows import OneSide

    X, y, side = np.array([[1e200], [-1e200]]), np.array([1, 0]), OneSide(False, np.array([0, 1]))
    with np.errstate(all="ignore"):
        made = SeparatorCertificate.of(side.restate(X, y, None), side, np.array([1e200]), 1, np.zeros(1), None, 0.0)
    assert made is not None
    assert made.gamma == np.finfo(float).max


@pytest.mark.parametrize("model", [sx.RidgeClassifier(), sx.RidgeClassifier(alpha=0.0), sx.RidgeClassifierCV()])
def test_least_squares_on_one_row_of_each_class_whose_square_overflows(model):
    for intercept in (True, False):
        with pytest.raises(InputError, match="overflow"), np.errstate(all="ignore"):
            model.set_params(fit_intercept=intercept).fit([[1e300, 1.0], [-5e299, 2.0]], [0, 1])
