"""Firth's bias-reduced logistic regression against independent answers.

"brglm2" is R's package brglm2 0.9, glm(method = "brglmFit", type = "AS_mean"), iterated to 1e-13.
"""

import json
import pickle
import warnings
from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit
from sklearn.datasets import load_breast_cancer, load_iris

import tables
import twins
from separatrix import LogisticRegression
from separatrix.core.errors import CertificateError, ConvergenceWarning, InputError

# Heinze and Schemper's endometrial cancer data: neovasculation separates in part
NV = np.zeros(79)
NV[[21, 22, 23, 24, 25, 47, 48, 49, 50, 70, 74, 75, 77]] = 1
PI = [13, 16, 8, 34, 20, 5, 17, 10, 26, 17, 8, 7, 20, 10, 18, 16, 18, 8, 29, 12, 20, 38, 22, 7, 25, 15, 7, 28, 11, 19,
      10, 10, 18, 14, 21, 11, 17, 25, 16, 19, 15, 33, 24, 48, 12, 19, 2, 22, 40, 5, 0, 21, 15, 29, 15, 12, 3, 20, 23,
      12, 22, 42, 15, 13, 14, 19, 12, 13, 10, 12, 49, 6, 5, 17, 11, 21, 5, 19, 33]  # fmt: skip
EH = [1.64, 2.26, 3.14, 2.68, 1.28, 2.31, 1.8, 1.68, 1.56, 2.31, 2.01, 1.89, 3.15, 1.23, 1.27, 1.76, 2, 2.64, 0.88,
      1.27, 1.37, 0.97, 1.14, 0.88, 0.91, 0.58, 0.97, 1.5, 1.33, 2.37, 1.82, 3.13, 1.31, 1.92, 1.64, 2.01, 1.88, 1.93,
      2.11, 1.29, 1.72, 0.75, 1.92, 1.84, 1.11, 1.61, 1.18, 1.44, 1.18, 0.93, 1.17, 1.19, 1.06, 2.02, 2.29, 2.33, 2.9,
      1.7, 1.41, 2.25, 1.54, 1.97, 1.75, 2.16, 2.57, 1.37, 3.61, 2.04, 2.17, 1.69, 0.27, 1.84, 1.3, 0.96, 1.01, 0.98,
      0.35, 1.02, 0.85]  # fmt: skip
ENDOMETRIAL = np.column_stack([NV, PI, EH])
GRADE = np.array([0] * 17 + [1] * 10 + [0] * 16 + [1] * 10 + [0] * 16 + [1] * 10)

GPA = [2.66, 2.89, 3.28, 2.92, 4.0, 2.86, 2.76, 2.87, 3.03, 3.92, 2.63, 3.32, 3.57, 3.26, 3.53, 2.74,
       2.75, 2.83, 3.12, 3.16, 2.06, 3.62, 2.89, 3.51, 3.54, 2.83, 3.39, 2.67, 3.65, 4.0, 3.1, 2.39]  # fmt: skip
TUCE = [20, 22, 24, 12, 21, 17, 17, 21, 25, 29, 20, 23, 23, 25, 26, 19,
        25, 19, 23, 25, 22, 28, 14, 26, 24, 27, 17, 24, 21, 23, 21, 19]  # fmt: skip
SPECTOR = np.column_stack([GPA, TUCE, [0] * 18 + [1] * 14])
PASSED = np.array([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1])


def firth(**parameters):
    return LogisticRegression(C=np.inf, firth=True, **parameters)


def weights_of(model):
    return np.append(model.coef_[0], model.intercept_)


def problem(seed, n=60, d=3):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) * 3
    y = (X[:, 0] + draw.logistic(size=n) > 0).astype(int)
    y[:2] = 0, 1
    return X, y, draw


def test_the_endometrial_cancer_study():
    model = firth().fit(ENDOMETRIAL, GRADE)
    brglm2 = [2.9292733531971171, -0.0347517598704364, -2.6041639252936792, 3.7745597136471050]
    np.testing.assert_allclose(weights_of(model), brglm2, rtol=1e-9)
    np.testing.assert_allclose(weights_of(model), [2.929, -0.035, -2.604, 3.775], atol=5e-4)  # as published in 2002
    assert model.certificate_.met
    model.certificate_.verify(ENDOMETRIAL, GRADE)


def test_without_an_intercept():
    model = firth(fit_intercept=False).fit(ENDOMETRIAL, GRADE)
    np.testing.assert_allclose(model.coef_[0], [3.766100771362820, 0.024615995755336, -0.970695275143039], rtol=1e-9)
    assert model.intercept_ == 0
    model.certificate_.verify(ENDOMETRIAL, GRADE)


def test_greenes_grades_plain_and_weighted():
    brglm2 = [2.2844646121156091, 0.0705678161230125, 2.0066819001647751, -10.4332702171717724]
    np.testing.assert_allclose(weights_of(firth().fit(SPECTOR, PASSED)), brglm2, rtol=1e-9)
    weighted = firth().fit(SPECTOR, PASSED, sample_weight=np.tile([1, 2, 3, 1], 8))
    brglm2 = [2.821755793532357, 0.115040167003779, 2.111286485950554, -13.457101473343434]
    np.testing.assert_allclose(weights_of(weighted), brglm2, rtol=1e-9)


def test_raw_breast_cancer_columns():
    X, y = load_breast_cancer(return_X_y=True)
    brglm2 = [9.2532675967493461, -0.2309563445554436, -1.1178250413993900, -0.0327813235907248, -2.4394913279324624]
    np.testing.assert_allclose(weights_of(firth().fit(X[:, :4], y)), brglm2, rtol=1e-7)
    model = firth().fit(X, y)  # all thirty columns, where brglm2 runs off to 1e15
    assert model.certificate_.met
    assert model.n_iter_[0] < 60
    assert np.abs(model.decision_function(X)).max() < 100
    model.certificate_.verify(X, y)


def test_four_separated_points_have_a_finite_fit():
    x, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), [0, 0, 1, 1]
    model = firth().fit(x, y)
    np.testing.assert_allclose(weights_of(model), [1.00407642421659, 0.0], atol=1e-12)  # brglm2
    assert model.score(x, y) == 1.0


@pytest.mark.parametrize("cells", [(3, 5, 7, 2), (0, 5, 7, 2), (0, 9, 4, 0), (1, 0, 0, 1)])
def test_a_two_by_two_table_is_half_a_case_more_in_every_cell(cells):
    """A saturated model: log-odds of (count + ½), whatever is zero."""
    no0, yes0, no1, yes1 = cells
    x = np.repeat([0, 0, 1, 1], cells)[:, None]
    y = np.repeat([0, 1, 0, 1], cells)
    before, after = np.log((yes0 + 0.5) / (no0 + 0.5)), np.log((yes1 + 0.5) / (no1 + 0.5))
    model = firth().fit(x, y)
    np.testing.assert_allclose(weights_of(model), [after - before, before], rtol=1e-9, atol=1e-9)
    counted = firth().fit([[0], [0], [1], [1]], [0, 1, 0, 1], sample_weight=np.maximum(cells, 0))
    np.testing.assert_allclose(weights_of(counted), weights_of(model), rtol=1e-9, atol=1e-9)


def test_the_share_of_one_class_is_half_a_case_more_in_each():
    model = firth().fit(np.full((7, 1), 3.0), [1, 0, 0, 0, 0, 0, 0])
    assert model.coef_ == 0
    assert model.predict_proba([[3.0]])[0, 1] == pytest.approx(1.5 / 8)


def penalised(beta, Z, y, a, digits=40):
    """ℓ* from its definition."""
    with mpmath.workdps(digits):
        rows = [[mpmath.mpf(float(v)) for v in row] for row in Z]
        scores = [mpmath.fsum(v * b for v, b in zip(row, beta, strict=True)) for row in rows]
        pi = [1 / (1 + mpmath.exp(-z)) for z in scores]
        loss = mpmath.fsum(w * mpmath.log(p if k else 1 - p) for w, p, k in zip(a, pi, y, strict=True))
        size = len(beta)
        information = mpmath.matrix(size, size)
        for i in range(size):
            for j in range(size):
                information[i, j] = mpmath.fsum(
                    w * p * (1 - p) * r[i] * r[j] for w, p, r in zip(a, pi, rows, strict=True)
                )
        return loss + mpmath.log(mpmath.det(information)) / 2


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("separated", [False, True])
def test_the_slope_of_the_penalised_likelihood_vanishes_in_forty_digits(seed, separated):
    X, y, draw = problem(seed, n=15, d=2)
    y = (X[:, 0] > 0).astype(int) if separated else y
    y[:2] = (0, 1) if not separated else y[:2]
    weights = [1.0] * 15 if seed % 2 else (draw.random(15) + 0.2).tolist()
    if len(set(y)) < 2:
        pytest.skip("one class")
    model = firth().fit(X, y, sample_weight=weights)
    Z, beta = twins.with_constant(X, True), [mpmath.mpf(v) for v in weights_of(model)]
    best = penalised(beta, Z, y, weights)
    assert -float(best) / sum(weights) == pytest.approx(model.certificate_.objective, rel=1e-12)
    with mpmath.workdps(40):
        for j in range(3):
            slopes = []
            for sign in (1, -1):
                moved = list(beta)
                moved[j] += sign * mpmath.mpf(10) ** -12
                slopes.append(penalised(moved, Z, y, weights))
            assert abs(slopes[0] - slopes[1]) / 2e-12 < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_scipys_minimiser_finds_nothing_better(seed):
    X, y, _ = problem(seed, n=40)
    Z = twins.with_constant(X, True)

    def minus(beta):
        z = Z @ beta
        v = np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))) ** 2
        return np.logaddexp(0, np.where(y == 1, -z, z)).sum() - 0.5 * np.linalg.slogdet(Z.T @ (v[:, None] * Z))[1]

    model = firth().fit(X, y)
    found = scipy.optimize.minimize(minus, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    assert minus(weights_of(model)) <= found.fun + 1e-10
    np.testing.assert_allclose(weights_of(model), found.x, atol=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row(seed):
    X, y, draw = problem(seed)
    counts = draw.integers(0, 4, len(y))
    counts[:2] = 1
    a = firth(flic=True).fit(X, y, sample_weight=counts)
    b = firth(flic=True).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weights_of(a), weights_of(b), rtol=1e-6, atol=1e-8)
    a.certificate_.verify(np.repeat(X, counts, axis=0), np.repeat(y, counts))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_rows_in_any_order_columns_of_any_scale_and_labels_either_way(seed):
    X, y, draw = problem(seed)
    plain, order, scales = firth().fit(X, y), draw.permutation(len(y)), 10.0 ** draw.integers(-8, 9, 3)
    want = weights_of(plain)
    close = {"rtol": 1e-6, "atol": 1e-7}
    np.testing.assert_allclose(weights_of(firth().fit(X[order], y[order])), want, **close)
    np.testing.assert_allclose(weights_of(firth().fit(X * scales, y)) * np.append(scales, 1), want, **close)
    np.testing.assert_allclose(weights_of(firth().fit(X, 1 - y)), -want, **close)
    np.testing.assert_allclose(firth().fit(X + np.array([1e5, -7, 0]), y).coef_, plain.coef_, **close)
    plain.certificate_.verify(X[order], y[order])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 8))
def test_small_and_separated_data_end_at_a_stationary_point(seed, n, d):
    """Few rows, more columns than rows, ties: a finite fit that verifies."""
    draw = np.random.default_rng(seed)
    X = np.round(draw.normal(size=(n + 2, d)), int(draw.integers(0, 3)))
    y = draw.integers(0, 2, n + 2)
    y[:2] = 0, 1
    model = firth().fit(X, y)
    assert model.certificate_.met
    assert np.isfinite(weights_of(model)).all()
    model.certificate_.verify(X, y)


@pytest.mark.parametrize("layout", tables.LAYOUTS)
def test_every_layout_gives_the_same_model(layout):
    X = tables.values(200, 4, "float32", 1)
    y = (X[:, 0] + np.random.default_rng(2).logistic(size=200) > 0).astype(int)
    table = tables.LAYOUTS[layout](X)
    model, plain = firth(flic=True).fit(table, y), firth(flic=True).fit(X, y)
    np.testing.assert_allclose(weights_of(model), weights_of(plain), rtol=1e-8, atol=1e-10)
    model.certificate_.verify(table, y)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_weights_far_from_one_do_no_harm(seed):
    """A row of weight a may have a leverage of 1/a: steps by the information alone would overshoot."""
    X, y, draw = problem(seed, n=12)
    weights = 10.0 ** draw.uniform(-1.5, 1.5, 12)
    model = firth(max_iter=1000).fit(X, y, sample_weight=weights)
    assert model.certificate_.met
    model.certificate_.verify(X, y, weights)


def test_more_coefficients_than_are_taken_at_once():
    X, y, _ = problem(3, n=800, d=40)
    model = firth().fit(X, y)
    Z = twins.with_constant(X, True)
    pi = 1 / (1 + np.exp(-(Z @ weights_of(model))))
    root = np.sqrt(pi * (1 - pi))[:, None] * Z
    leverage = np.einsum("ij,ij->i", root @ np.linalg.inv(root.T @ root), root)
    score = Z.T @ (y - pi + leverage * (0.5 - pi))
    assert np.sqrt(score @ np.linalg.solve(root.T @ root, score)) < 1e-8


def test_the_bias_is_removed():
    """Over repeated samples the mean of Firth's weights is closer to the truth than that of maximum likelihood."""
    draw = np.random.default_rng(0)
    truth, plain, reduced = np.array([1.0, -1.0]), [], []
    for _ in range(300):
        X = draw.normal(size=(60, 2))
        y = (X @ truth + draw.logistic(size=60) > 0).astype(int)
        plain.append(LogisticRegression(C=np.inf).fit(X, y).coef_[0])
        reduced.append(firth().fit(X, y).coef_[0])
    assert np.abs(np.mean(reduced, axis=0) - truth).max() < 0.06 < np.abs(np.mean(plain, axis=0) - truth).min()


def test_flic_keeps_the_weights_and_matches_the_mean_outcome():
    weights = np.random.default_rng(0).random(79) * 3
    for extra in ({}, {"sample_weight": weights}):
        plain, flic = firth().fit(ENDOMETRIAL, GRADE, **extra), firth(flic=True).fit(ENDOMETRIAL, GRADE, **extra)
        np.testing.assert_array_equal(flic.coef_, plain.coef_)
        a = extra.get("sample_weight", np.ones(79))
        assert a @ flic.predict_proba(ENDOMETRIAL)[:, 1] == pytest.approx(a @ GRADE, rel=1e-13)
        assert abs(a @ plain.predict_proba(ENDOMETRIAL)[:, 1] - a @ GRADE) > 0.01
        flic.certificate_.verify(ENDOMETRIAL, GRADE, **extra)


def test_dependent_and_constant_columns_are_left_out_and_named():
    X, y, draw = problem(4)
    frame = pd.DataFrame({"a": X[:, 0], "five": 5.0, "b": X[:, 1], "sum": X[:, 0] + X[:, 1], "zero": 0.0})
    model = firth().fit(frame, y)
    assert model.certificate_.aliased == ("five", "sum", "zero")
    assert "five, sum, zero" in str(model.certificate_)
    plain = firth().fit(frame[["a", "b"]], y)
    np.testing.assert_allclose(model.coef_[0], [plain.coef_[0, 0], 0, plain.coef_[0, 1], 0, 0], rtol=1e-7)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-6, atol=1e-9)
    order = draw.permutation(len(y))
    model.certificate_.verify(frame.iloc[order], y[order])
    assert firth().fit(frame.to_numpy(), y).certificate_.aliased == ("column 1", "column 3", "column 4")


def test_a_row_of_no_weight_may_lie_anywhere():
    X, y, _ = problem(7)
    far = firth().fit(np.vstack([X, [1e150, -1e150, 0]]), np.append(y, 1), sample_weight=[1.0] * len(y) + [0.0])
    np.testing.assert_allclose(weights_of(far), weights_of(firth().fit(X, y)), rtol=1e-9)


def test_a_column_that_only_rows_of_no_weight_tell_apart_is_left_out():
    X, y, _ = problem(6)
    A, weights = np.column_stack([X, X[:, 0]]), np.ones(len(y))
    A[5:8, 3] += 1.0
    weights[5:8] = 0.0
    model = firth().fit(A, y, sample_weight=weights)
    assert model.certificate_.aliased == ("column 3",)
    model.certificate_.verify(A, y, sample_weight=weights)
    assert LogisticRegression(C=np.inf).fit(A, y, sample_weight=weights).certificate_.met


@pytest.mark.parametrize("size", [1e-5, 1e-7, 1e-8])
def test_nearly_dependent_columns_are_columns_of_their_own(size):
    X, y, draw = problem(5, n=300)
    noise = draw.normal(size=300)
    A = np.column_stack([X[:, 0], X[:, 0] + size * noise])
    model = firth().fit(A, y)
    assert model.certificate_.aliased == ()
    assert model.certificate_.met
    model.certificate_.verify(A, y)
    model.certificate_.verify(sp.csr_array(A), y)
    # the same columns as a basis of no such condition: ℓ* differs by the logarithm of the determinant between them
    apart = np.column_stack([X[:, 0], (A[:, 1] - A[:, 0]) / size])
    plain = firth().fit(apart, y)
    np.testing.assert_allclose(model.decision_function(A), plain.decision_function(apart), atol=1e-5)
    assert model.certificate_.objective - plain.certificate_.objective == pytest.approx(-np.log(size) / 300, abs=1e-8)


def exactly(X, y, point):
    """Minus the modified log-likelihood over the rows, to forty digits."""
    with mpmath.workdps(40):
        point = [mpmath.mpf(value) for value in point.tolist()]
        size = len(point)
        information, value = mpmath.zeros(size, size), mpmath.mpf(0)
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            row = [mpmath.mpf(entry) for entry in [*row, 1.0]]
            z = mpmath.fdot(row, point)
            value += mpmath.log1p(mpmath.exp(-z if label else z))
            curve = 1 / (2 + mpmath.exp(z) + mpmath.exp(-z))
            for j in range(size):
                for k in range(size):
                    information[j, k] += curve * row[j] * row[k]
        return (value - mpmath.log(mpmath.det(information)) / 2) / len(y)


def test_trace_hooks_and_warm_start():
    points = []
    model = firth(warm_start=True, on_pass=lambda entry: points.append(entry.point)).fit(ENDOMETRIAL, GRADE)
    assert len(model.trace_) == model.n_iter_[0] == len(points)
    exact = [exactly(ENDOMETRIAL, GRADE, point) for point in points]
    np.testing.assert_allclose(model.trace_.objective, np.array(exact, dtype=float), rtol=1e-13)
    # where the score vanishes to so many standard errors, no more than the square of that is left to fall
    assert all(later - earlier <= model.certificate_.decrement**2 for earlier, later in pairwise(exact))
    model.on_pass = None
    assert model.trace_.bound[-1] <= model.certificate_.bound
    assert model.n_parameters_ == 4
    assert model.trace_.mistakes[-1] == (model.predict(ENDOMETRIAL) != GRADE).sum()
    before = weights_of(model)
    assert model.fit(ENDOMETRIAL, GRADE).n_iter_[0] == 1
    np.testing.assert_allclose(weights_of(model), before)
    seen = []
    early = firth(on_pass=lambda entry: seen.append(entry.number) or len(seen) == 2).fit(ENDOMETRIAL, GRADE)
    assert seen == [1, 2]
    early.certificate_.verify(ENDOMETRIAL, GRADE)


def test_there_may_be_another_local_maximum():
    """Why the certificate claims no more than a slope of zero; docs/penalties.md states both values."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:60, :10], y[:60]
    Z, scale = (X - X.mean(axis=0)) / X.std(axis=0), float(np.log(X.std(axis=0)).sum())
    model = firth(warm_start=True).fit(Z, y)
    assert 60 * model.certificate_.objective - scale == pytest.approx(22.0677, abs=1e-4)
    model.coef_ = np.array([[-32.38, -1.33, 37.34, -4.14, -0.48, -4.27, -1.29, -0.4, 0.83, 0.43]])
    model.intercept_ = np.array([-2.46])
    assert model.fit(Z, y).certificate_.met
    assert 60 * model.certificate_.objective - scale == pytest.approx(22.1003, abs=1e-4)
    model.certificate_.verify(Z, y)


def test_passes_that_run_out_are_told_with_the_size_of_the_slope():
    with pytest.warns(ConvergenceWarning, match=r"ran out.*modified score vanishes only to(.|\n)*raise max_iter"):
        model = firth(max_iter=2).fit(ENDOMETRIAL, GRADE)
    assert not model.certificate_.met
    model.certificate_.verify(ENDOMETRIAL, GRADE)  # what it says is still true


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"C": 1.0}, "C=1.0"),
        ({"l1_ratio": 0.5}, "L1"),
        ({"firth": False, "flic": True}, "flic=True needs firth=True"),
        ({"flic": True, "fit_intercept": False}, "intercept"),
        ({"firth": "yes"}, "firth is 'yes'"),
        ({"flic": 1}, "flic is 1"),
    ],
)
def test_parameters_without_meaning_are_refused(parameters, text):
    with pytest.raises(InputError, match=text):
        LogisticRegression(**{"C": np.inf, "firth": True, **parameters}).fit(ENDOMETRIAL, GRADE)


def test_three_classes_and_empty_columns_are_refused():
    with pytest.raises(InputError, match="Only binary"):
        firth().fit(*load_iris(return_X_y=True))
    with pytest.raises(InputError, match="Every column is zero"):
        firth(fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    with pytest.raises(InputError, match="the most is"):
        firth().fit(sp.random_array((30, 5000), density=0.01, format="csr"), np.arange(30) % 2)
    broken = ENDOMETRIAL.copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        firth().fit(broken, GRADE)


def test_class_weight_pickle_and_plain_values():
    model = firth(class_weight="balanced", flic=True).fit(ENDOMETRIAL, GRADE)
    again = pickle.loads(pickle.dumps(model))
    again.certificate_.verify(ENDOMETRIAL, GRADE)
    assert json.loads(json.dumps(model.certificate_.to_dict()))["problem"]["flic"] is True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(again.predict_proba(ENDOMETRIAL), model.predict_proba(ENDOMETRIAL))


def test_dense_and_sparse_rows_with_columns_far_from_zero_say_the_same():
    """log det I of unshifted columns near 1e5 loses ten digits; the objective is known in multiple precision."""
    draw = np.random.default_rng(0)
    X = np.column_stack([1e5 + draw.normal(size=80), draw.normal(size=80), draw.integers(0, 2, 80)])
    y = (X[:, 1] + draw.logistic(size=80) > 0).astype(int)
    dense, sparse = firth().fit(X, y).certificate_, firth().fit(sp.csr_array(X), y).certificate_
    for certificate in (dense, sparse):
        assert certificate.met
        for rows in (X, sp.csr_array(X), sp.csc_array(X)):
            assert certificate.verify(rows, y) is certificate
        assert abs(float(exactly(X, y, certificate.point) - certificate.objective)) < 1e-13


@pytest.mark.parametrize("seed", [0, 11])
def test_a_long_bent_valley_is_walked_to_its_end(seed):
    """Body weights from grams to tons: the likelihood creeps along a valley over three orders of magnitude."""
    draw = np.random.default_rng(seed)
    weight = np.exp(draw.normal(3.0, 3.0, 107)).round(2)
    X = np.column_stack([weight, draw.uniform(2, 110, 107).round(0), draw.uniform(size=107) < 0.1]).astype(float)
    y = ((weight < 5) & (draw.uniform(size=107) < 0.35)).astype(int)
    model = firth().fit(X, y)
    assert model.certificate_.met
    model.certificate_.verify(X, y)

    def value(point):
        z = np.column_stack([X, np.ones(107)]) @ point
        rows = np.column_stack([X, np.ones(107)]) * np.sqrt(expit(z) * expit(-z))[:, None]
        return -log_expit(np.where(y, z, -z)).sum() - np.log(np.abs(np.linalg.qr(rows, mode="r").diagonal())).sum()

    here = value(weights_of(model))
    assert here / 107 == pytest.approx(model.certificate_.objective, rel=1e-9)
    scale = np.array([0.1, 0.01, 0.5, 0.5])
    around = scipy.optimize.minimize(lambda move: value(weights_of(model) + scale * move), np.zeros(4), method="Powell")
    assert around.fun >= here - 1e-7


def test_every_field_of_a_firth_certificate_is_derived_again():
    X, y, _ = problem(5, n=200)
    A = np.column_stack([X, X[:, 0] + X[:, 1]])
    certificate = firth(flic=True).fit(A, y).certificate_
    assert certificate.verify(A, y) is certificate
    for field, value in (
        ("decrement", certificate.decrement * 2),
        ("decrement", certificate.decrement / 2),
        ("scaled", certificate.scaled * 2),
        ("scaled", certificate.scaled / 2),
        ("scaled", certificate.scaled * np.nan),
        ("aliased", ()),
        ("aliased", ("column 0",)),
        ("keep", None),
        ("keep", np.arange(A.shape[1] + 1)),
        ("objective", certificate.objective * (1 + 1e-9)),
    ):
        with pytest.raises(CertificateError):
            replace(certificate, **{field: value}).verify(A, y)
