"""Least squares as a classifier against fractions, scikit-learn and fits that really leave a row out."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import RidgeClassifier as Peer
from sklearn.linear_model import RidgeClassifierCV as PeerCV

import tables
from separatrix import CertificateError, InputError, RidgeClassifier, RidgeClassifierCV
from twins import solve_exactly

seeds = st.integers(0, 2**32 - 1)


def draw_problem(seed, n=40, d=3, classes=2):
    draw = np.random.default_rng(seed)
    y = np.append(np.repeat(np.arange(classes), 2), draw.integers(0, classes, n - 2 * classes))
    X = draw.normal(size=(n, d)) * 10.0 ** draw.uniform(-1, 1, d) + draw.normal(size=(classes, d))[y]
    return X, y, draw


@pytest.mark.parametrize("alpha", [0, Fraction(1, 3)])
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_equal_the_normal_equations_in_fractions(alpha, intercept):
    draw = np.random.default_rng(4)
    X, y = draw.integers(-5, 6, (15, 2)), np.append([0, 1], draw.integers(0, 2, 13))
    rows = [[Fraction(int(v)) for v in row] + ([Fraction(1)] if intercept else []) for row in X]
    signs = [Fraction(2 * int(label) - 1) for label in y]
    p = len(rows[0])
    gram = [[sum(r[i] * r[j] for r in rows) + (alpha if i == j and i < 2 else 0) for j in range(p)] for i in range(p)]
    exact = solve_exactly(gram, [sum(r[i] * s for r, s in zip(rows, signs, strict=True)) for i in range(p)])
    model = RidgeClassifier(alpha=float(alpha), fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], [float(v) for v in exact[:2]], rtol=1e-13)
    assert model.intercept_[0] == pytest.approx(float(exact[2]) if intercept else 0.0, rel=1e-12)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_equals_scikit_learn(load, alpha, weight):
    X, y = load(return_X_y=True)
    ours = RidgeClassifier(alpha, class_weight=weight).fit(X, y)
    theirs = Peer(alpha, class_weight=weight, solver="svd").fit(X, y)
    size = np.abs(theirs.coef_).max()
    varies = X.std(axis=0) > 0  # its SVD leaves rounding in the weights of columns that are zero; ours are 0
    np.testing.assert_allclose(
        ours.coef_[:, varies], np.atleast_2d(theirs.coef_)[:, varies], rtol=1e-7, atol=1e-10 * size
    )
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)
    assert ours.certificate_.met
    ours.certificate_.verify(X, y)
    ours.certificate_.verify(sp.csr_array(X), y)


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from([0.0, 1e-3, 1.0, 50.0]), st.booleans(), st.sampled_from([2, 3]))
def test_left_out_residuals_equal_fits_without_the_row(seed, alpha, intercept, classes):
    X, y, draw = draw_problem(seed, classes=classes)
    weights = draw.integers(1, 4, len(y))
    model = RidgeClassifier(alpha, fit_intercept=intercept).fit(X, y, sample_weight=weights)
    signs = np.where(y[:, None] == (np.array([1]) if classes == 2 else np.arange(classes)), 1.0, -1.0)
    for i in (0, 7, len(y) - 1):
        fewer = weights - (np.arange(len(y)) == i)  # one copy is left out
        refit = RidgeClassifier(alpha, fit_intercept=intercept).fit(X, y, sample_weight=fewer)
        missed = signs[i] - refit.decision_function(X[i : i + 1]).ravel()
        np.testing.assert_allclose(model.loo_residuals_[i], missed, rtol=1e-8, atol=1e-9)
    light = RidgeClassifier(alpha, fit_intercept=intercept).fit(X, y, sample_weight=0.5 * np.ones(len(y)))
    without = RidgeClassifier(alpha, fit_intercept=intercept).fit(X[1:], y[1:], sample_weight=0.5 * np.ones(len(y) - 1))
    missed = signs[0] - without.decision_function(X[:1]).ravel()
    np.testing.assert_allclose(light.loo_residuals_[0], missed, rtol=1e-8, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from([2, 3]))
def test_weight_two_equals_the_row_twice(seed, classes):
    X, y, draw = draw_problem(seed, classes=classes)
    counts = draw.integers(0, 4, len(y))
    counts[: 2 * classes] = 1
    twice, labels = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    for make in (RidgeClassifier(0.0), RidgeClassifier(0.5), RidgeClassifierCV(alphas=[1e-3, 0.1, 10.0])):
        weighted = make.fit(X, y, sample_weight=counts)
        coef, score = weighted.coef_, getattr(weighted, "best_score_", 0.0)
        weighted.certificate_.verify(twice, labels)
        repeated = make.fit(twice, labels)
        np.testing.assert_allclose(coef, repeated.coef_, rtol=1e-7, atol=1e-9)
        assert score == pytest.approx(getattr(repeated, "best_score_", 0.0), rel=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_choice_of_the_penalty_equals_scikit_learn(load):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    alphas = np.logspace(-3, 4, 8)
    ours = RidgeClassifierCV(alphas, store_cv_results=True).fit(X, y)
    theirs = PeerCV(alphas, store_cv_results=True).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-9)
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-7, atol=1e-10)
    searched, search = RidgeClassifierCV(alphas, cv=4).fit(X, y), PeerCV(alphas, cv=4).fit(X, y)
    assert (searched.alpha_, searched.best_score_) == pytest.approx((search.alpha_, search.best_score_))


def test_a_scorer_judges_the_left_out_scores():
    X, y = load_iris(return_X_y=True)
    model = RidgeClassifierCV([0.1, 10.0], scoring="accuracy", store_cv_results=True).fit(X, y)
    left_out = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        left_out.append(Peer(model.alpha_).fit(X[rest], y[rest]).predict(X[i : i + 1])[0])
    assert model.best_score_ == pytest.approx(np.mean(left_out == y))


@pytest.mark.parametrize("alpha", [1e-10, 1e-6, 1e-2])
@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
def test_tiny_penalties_on_nearly_dependent_columns_are_safe(alpha):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(80, 3))
    X = np.column_stack([X, X[:, 0] + 1e-7 * draw.normal(size=80)])
    y = (X[:, 0] + draw.normal(size=80) > 0).astype(int)
    signs = 2.0 * y - 1
    model = RidgeClassifierCV([alpha], store_cv_results=True).fit(X, y)
    for i in (0, 11, 79):
        rest = np.arange(80) != i
        centre, target = X[rest].mean(axis=0), signs[rest].mean()
        # the same problem as plain least squares with rows √α·I added, solved by SVD
        padded = np.vstack([X[rest] - centre, np.sqrt(alpha) * np.eye(4)])
        w = np.linalg.lstsq(padded, np.append(signs[rest] - target, np.zeros(4)), rcond=None)[0]
        missed = signs[i] - ((X[i] - centre) @ w + target)
        assert model.cv_results_[i, 0, 0] == pytest.approx(missed**2, rel=1e-5)
    centre = X.mean(axis=0)
    padded = np.vstack([X - centre, np.sqrt(alpha) * np.eye(4)])
    w = np.linalg.lstsq(padded, np.append(signs - signs.mean(), np.zeros(4)), rcond=None)[0]
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-6, atol=1e-7 * np.abs(w).max())


def test_plain_least_squares_names_the_columns_it_leaves_out():
    X, y, _ = draw_problem(2)
    wide = np.column_stack([X, X[:, 0] - X[:, 1], np.full(len(y), 0.3)])
    model = RidgeClassifier(0.0).fit(wide, y)
    assert model.dropped_ == ["column 3", "column 4"]
    np.testing.assert_allclose(model.decision_function(wide), RidgeClassifier(0.0).fit(X, y).decision_function(X))
    model.certificate_.verify(wide, y)


def test_more_columns_than_rows_need_a_penalty_and_leverage_one_is_said():
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(6, 20)), np.arange(6) % 2
    ours, theirs = RidgeClassifier(0.1).fit(X, y), Peer(0.1).fit(X, y)
    np.testing.assert_allclose(ours.coef_[0], np.ravel(theirs.coef_), rtol=1e-9)
    assert np.isnan(RidgeClassifier(0.0).fit(X, y).loo_residuals_).all()


@pytest.mark.parametrize("layout", tables.LAYOUTS)
def test_every_layout_gives_the_same_model(layout):
    X = tables.values(300, 4, "float32", 1)
    y = np.arange(300) % 3
    table = tables.LAYOUTS[layout](X)
    for make in (RidgeClassifier, RidgeClassifierCV):
        model, plain = make().fit(table, y), make().fit(X, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
        model.certificate_.verify(table, y)
        model.certificate_.verify(X, y)
    loo = RidgeClassifier().fit(table, y).loo_residuals_
    np.testing.assert_allclose(loo, RidgeClassifier().fit(X, y).loo_residuals_, rtol=1e-8)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (RidgeClassifier(-1.0), "at least 0"),
        (RidgeClassifier(np.nan), "at least 0"),
        (RidgeClassifier("1"), "at least 0"),
        (RidgeClassifier(solver="magic"), "same answer"),
        (RidgeClassifier(positive=True), "not supported"),
        (RidgeClassifierCV(alphas=[]), "at least one"),
        (RidgeClassifierCV(alphas=[1.0, -1.0]), "at least 0"),
        (RidgeClassifierCV(cv=3, store_cv_results=True), "incompatible"),
    ],
)
def test_bad_parameters_are_refused(model, says):
    X, y, _ = draw_problem(1)
    with pytest.raises(InputError, match=says):
        model.fit(X, y)


def test_every_parameter_of_scikit_learn_is_accepted():
    assert set(Peer().get_params()) <= set(RidgeClassifier().get_params())
    assert set(PeerCV().get_params()) <= set(RidgeClassifierCV().get_params())


def test_the_geometry_of_linear_models_is_there():
    X, y, _ = draw_problem(5)
    model = RidgeClassifier().fit(X, y)
    np.testing.assert_allclose(model.decision_function(model.project(X)), 0.0, atol=1e-10)
    assert model.origin_distance_ == pytest.approx(abs(model.intercept_[0]) / np.linalg.norm(model.coef_))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_many_sparse_columns_equal_the_dual_solution(classes, intercept):
    draw = np.random.default_rng(0)
    X = sp.random_array((120, 4500), density=0.02, rng=draw, format="csr")
    y, weights = np.arange(120) % classes, draw.random(120) + 0.5
    model = RidgeClassifier(0.3, fit_intercept=intercept).fit(X, y, sample_weight=weights)
    dense = X.toarray()
    signs = np.where(y[:, None] == (np.array([1]) if classes == 2 else np.arange(classes)), 1.0, -1.0)
    centre = np.average(dense, axis=0, weights=weights) if intercept else 0.0
    target = np.average(signs, axis=0, weights=weights) if intercept else np.zeros(signs.shape[1])
    rows, sides = np.sqrt(weights)[:, None] * (dense - centre), np.sqrt(weights)[:, None] * (signs - target)
    w = (rows.T @ np.linalg.solve(rows @ rows.T + 0.3 * np.eye(120), sides)).T
    np.testing.assert_allclose(model.coef_, w, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, target - w @ (centre * np.ones(4500)), rtol=1e-8, atol=1e-10)
    assert np.linalg.norm(model.coef_ - w) <= model.certificate_.bound * np.linalg.norm(w) + 1e-12
    assert model.certificate_.met
    model.certificate_.verify(X.tocsc(), y, weights)
    tampered = {**model.certificate_.parameters, "coef": model.coef_ * (1 + 1e-6)}
    with pytest.raises(CertificateError):
        dataclasses.replace(model.certificate_, parameters=tampered).verify(X, y, weights)
    with pytest.raises(InputError, match="4500 columns"):
        RidgeClassifier(0.0).fit(X, y)
