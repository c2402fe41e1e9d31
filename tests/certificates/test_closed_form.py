"""A closed form's certificate holds, bounds the true error, and fails when anything in it is changed."""

import dataclasses
import json
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from separatrix import (
    BernoulliNB,
    CertificateError,
    ConvergenceWarning,
    InputError,
    LinearDiscriminantAnalysis,
    RidgeClassifier,
)

MODELS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(covariance="average", shrinkage="auto", priors=[0.3, 0.7]),
    BernoulliNB(),
    BernoulliNB(alpha=0.0),
    RidgeClassifier(),
    RidgeClassifier(0.0),
]


def draw_problem(seed, n=60, d=4):
    draw = np.random.default_rng(seed)
    y = np.append([0, 0, 1, 1], draw.integers(0, 2, n - 4))
    return draw.normal(size=(n, d)) @ draw.normal(size=(d, d)) + draw.normal(size=(2, d))[y], y, draw


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_claim_holds_in_any_order_of_rows(model, seed):
    X, y, draw = draw_problem(seed)
    weights = draw.random(len(y)) + 0.1
    certificate = model.fit(X, y, sample_weight=weights).certificate_
    assert certificate.kind == "closed-form"
    order = draw.permutation(len(y))
    assert certificate.verify(np.asfortranarray(X[order]), y[order], weights[order]) is certificate
    json.dumps(certificate.to_dict())
    assert str(certificate).endswith(".")


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_changed_certificate_fails(model):
    X, y, _ = draw_problem(1)
    certificate = model.fit(X, y).certificate_.verify(X, y)
    for name, value in certificate.parameters.items():
        value = np.asarray(value)
        if name == "keep":
            changed = value[:-1]
        elif name == "places":
            changed = value + 1
        elif not value.size:
            changed = np.zeros((2, *value.shape[1:]))
        elif np.isfinite(value).all():
            changed = value + 1e-6 * np.abs(value).max()
        else:
            changed = np.where(np.isfinite(value), value + 1e-6, -1.0)
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, parameters={**certificate.parameters, name: changed}).verify(X, y)
    for change in (
        {"bound": certificate.bound / 10},
        {"bound": -1.0},
        {"bound": np.nan},
        {"residual": -1.0},
        {"condition": certificate.condition * 2},
        {"kind": "optimum"},
    ):
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, **change).verify(X, y)
    with pytest.raises(CertificateError):
        certificate.verify(X, 1 - y)
    with pytest.raises(CertificateError):
        certificate.verify(X[1:], y[1:])
    with pytest.raises(CertificateError):
        certificate.verify(X[:, :-1], y)
    with pytest.raises(CertificateError):
        certificate.verify(X, y, np.arange(len(y)) + 1.0)


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), ill=st.sampled_from([0.0, 2.0, 4.0]), far=st.sampled_from([0.0, 1.0, 1e3]))
def test_the_bound_is_above_the_true_error_and_close_to_it(seed, ill, far):
    X, y, _ = draw_problem(seed, d=3)
    X[:, 2] = X[:, 0] + 10.0**-ill * X[:, 2]
    X += far
    for model, matrix, side in (
        (LinearDiscriminantAnalysis(tol=0.0), *_within(X, y)),
        (RidgeClassifier(0.01), *_normal(X, y, Fraction(0.01))),
        (RidgeClassifier(0.0), *_normal(X, y, Fraction(0))),
    ):
        model.fit(X, y)
        assume(not model.dropped_)  # then the claim is about the columns kept
        w = _solve(matrix, side)
        scale = np.sqrt([float(matrix[j][j]) for j in range(3)])
        length = np.linalg.norm([float(value) for value in w] * scale)
        off = [float(Fraction(found) - true) for found, true in zip(model.coef_[0].tolist(), w, strict=True)]
        certificate = model.certificate_
        assert np.linalg.norm(off * scale) <= certificate.bound * length
        assert certificate.bound <= 1e-9 + 1e-13 * certificate.condition * (1.0 + far)


def _rows(X):
    return [[Fraction(value) for value in row] for row in X.tolist()]


def _means(rows):
    return [sum(row[j] for row in rows) / len(rows) for j in range(len(rows[0]))]


def _scatter(rows, mean):
    d = len(mean)
    return [[sum((r[i] - mean[i]) * (r[j] - mean[j]) for r in rows) for j in range(d)] for i in range(d)]


def _within(X, y):
    """Σ and μ₁ − μ₀, exactly."""
    parts = [_rows(X[y == k]) for k in (0, 1)]
    means = [_means(part) for part in parts]
    both = [_scatter(part, mean) for part, mean in zip(parts, means, strict=True)]
    d = len(means[0])
    sigma = [[(both[0][i][j] + both[1][i][j]) / len(y) for j in range(d)] for i in range(d)]
    return sigma, [b - a for a, b in zip(*means, strict=True)]


def _normal(X, y, alpha):
    """G + αI and r, exactly."""
    rows = _rows(X)
    mean = _means(rows)
    gram = _scatter(rows, mean)
    for j in range(len(mean)):
        gram[j][j] += alpha
    side = [sum((r[j] - mean[j]) * (2 * int(k) - 1) for r, k in zip(rows, y, strict=True)) for j in range(len(mean))]
    return gram, side


def _solve(matrix, side):
    """Gaussian elimination in fractions."""
    rows = [[*line, value] for line, value in zip(matrix, side, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


NAN = [LinearDiscriminantAnalysis(), BernoulliNB(), RidgeClassifier()]


@pytest.mark.parametrize("model", NAN, ids=str)
def test_a_parameter_that_is_not_a_number_is_noticed(model):
    """max(0.0, nan) is 0.0, and so NaN once held to 0.0 of its size."""
    X, y, _ = draw_problem(3)
    certificate = model.fit(X, y).certificate_
    for name, value in certificate.parameters.items():
        if value.dtype.kind == "f" and value.size:
            for changed in (
                np.full_like(value, np.nan),
                np.where(np.arange(value.size).reshape(value.shape), value, np.nan),
            ):
                with pytest.raises(CertificateError):
                    dataclasses.replace(certificate, parameters={**certificate.parameters, name: changed}).verify(X, y)


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(12))
def test_the_least_eigenvalue_is_no_better_than_the_gram_matrix(seed):
    """One heavy row: the sums about a far point lost eight digits, and the bound trusted all sixteen."""
    draw = np.random.default_rng(seed)
    n, close = 40, 10.0 ** draw.uniform(-6, -4.5)
    z = draw.normal(size=n)
    X, y = np.column_stack([z, z + close * draw.normal(size=n)]), (z + draw.normal(size=n) > 0).astype(int)
    weights = np.append(np.ones(n - 1), 1e8)
    model = RidgeClassifier(1e-300).fit(X, y, weights)
    certificate = model.certificate_.verify(X, y, weights)
    w, scale = _least_squares(X, y, weights)
    length = np.linalg.norm(w * scale)
    assert np.linalg.norm((model.coef_[0] - w) * scale) <= certificate.bound * length
    # weights that are wrong along the direction that hardly matters
    wrong = (w + length * np.array([1.0, -1.0]) / scale)[None]
    offset = np.array([weights @ (2 * y - 1) / weights.sum() - wrong[0] @ (weights @ X / weights.sum())])
    parameters = {**certificate.parameters, "coef": wrong, "intercept": offset}
    claim = certificate.problem.measure(X, y, weights, parameters, certificate.rounding)[0].claim()[1]
    assert np.linalg.norm((wrong[0] - w) * scale) <= claim * np.linalg.norm(wrong[0] * scale)


def _least_squares(X, y, weights):
    """Weights and √diag of the normal equations of two columns, in fractions."""
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    a, s = [Fraction(value) for value in weights.tolist()], [2 * int(label) - 1 for label in y]
    total = sum(a)
    m = [sum(c * row[j] for c, row in zip(a, rows, strict=True)) / total for j in (0, 1)]
    mean = sum(c * t for c, t in zip(a, s, strict=True)) / total
    gram = [
        [sum(c * (r[i] - m[i]) * (r[j] - m[j]) for c, r in zip(a, rows, strict=True)) for j in (0, 1)] for i in (0, 1)
    ]
    side = [sum(c * (r[i] - m[i]) * (t - mean) for c, r, t in zip(a, rows, s, strict=True)) for i in (0, 1)]
    by = gram[0][0] * gram[1][1] - gram[0][1] ** 2
    w = [(gram[1][1] * side[0] - gram[0][1] * side[1]) / by, (gram[0][0] * side[1] - gram[0][1] * side[0]) / by]
    return np.array([float(value) for value in w]), np.sqrt([float(gram[0][0]), float(gram[1][1])])


@pytest.mark.parametrize("sparse", [False, True])
def test_one_heavy_row_does_not_spoil_the_claim(sparse):
    """Of a hundred honest fits with one weight of 1e6, ninety-one failed their own verify."""
    for seed in range(100):
        X, y, draw = draw_problem(seed)
        weights = np.ones(len(y))
        weights[draw.integers(len(y))] = 1e6
        table = scipy.sparse.csr_array(X) if sparse else X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            LinearDiscriminantAnalysis().fit(table, y, weights).certificate_.verify(table, y, weights)
            RidgeClassifier().fit(table, y, weights).certificate_.verify(table, y, weights)


@pytest.mark.parametrize("weight", [1e308, 1e-322, 1e-308])
@pytest.mark.parametrize("model", [*NAN, BernoulliNB(alpha=0.0), RidgeClassifier(0.0)], ids=str)
def test_weights_at_the_ends_of_the_floats_are_refused_or_right(model, weight):
    """Sums of 1e308 overflow to NaN, products with 1e-322 lose all digits; both once verified."""
    X, y, _ = draw_problem(4)
    try:
        model.fit(X, y, np.full(len(y), weight))
    except InputError:
        return
    found, certificate = model.predict_proba(X) if hasattr(model, "predict_proba") else model.coef_, model.certificate_
    certificate.verify(X, y, np.full(len(y), weight))
    assert np.isfinite(found).all()
    if not isinstance(model, BernoulliNB) and getattr(model, "alpha", 0.0) == 0.0:
        model.fit(X, y)
        truth = model.predict_proba(X) if hasattr(model, "predict_proba") else model.coef_
        np.testing.assert_allclose(found, truth, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", [*NAN, BernoulliNB(alpha=0.0)], ids=str)
@pytest.mark.parametrize(
    "labels", [[b"no", b"yes"], np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]"), ["a", "b"], [True, False]]
)
def test_labels_of_any_kind_are_plain_values(model, labels):
    X, y, _ = draw_problem(5)
    names = np.asarray(labels)[y]
    certificate = model.fit(X, names).certificate_.verify(X, names)
    read = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert len(read["problem"]["classes"]) == 2
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(certificate, protocol=protocol)) == certificate


def test_names_of_columns_are_derived_again():
    X, y, _ = draw_problem(6)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    for model in (LinearDiscriminantAnalysis(), RidgeClassifier(0.0)):
        certificate = model.fit(X, y).certificate_.verify(X, y)
        assert certificate.aliased == ("column 4",)
        for names in ((), ("column 3",), ("income",), ["column 4"], ("column 4", "column 4")):
            with pytest.raises(CertificateError):
                dataclasses.replace(certificate, aliased=names).verify(X, y)


@pytest.mark.parametrize(
    ("model", "scale"),
    [(LinearDiscriminantAnalysis(tol=0.0, covariance="average"), 1e-4), (RidgeClassifier(1e-20), 1e-13)],
)
def test_what_is_not_met_is_said(model, scale):
    X, y, draw = draw_problem(7)
    X = np.column_stack([X, X[:, 0] + scale * draw.normal(size=len(y))])
    with pytest.warns(ConvergenceWarning, match=r"not as exact as 1e-06[\s\S]*Hint"):
        model.fit(X, y)
    assert not model.certificate_.met


@pytest.mark.parametrize("model", [*MODELS, RidgeClassifier(fit_intercept=False)], ids=str)
def test_the_claim_holds_in_every_layout(model):
    """Thousands of sparse rows are added one by one, and lose more digits than dense ones."""
    draw = np.random.default_rng(8)
    X = draw.normal(size=(5000, 4)) + np.array([0.0, 5.0, 0.0, 100.0])
    X[:, 2] *= draw.random(5000) < 0.1
    y = (X[:, 0] + draw.normal(size=5000) > 0).astype(int)
    tables = [X, np.asfortranarray(X), scipy.sparse.csr_array(X), scipy.sparse.csc_array(X)]
    for table in tables:
        certificate = model.fit(table, y).certificate_
        assert certificate.met
        for other in tables:
            certificate.verify(other, y)


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(7))
def test_claims_about_nearly_equal_columns_hold_in_any_order(seed):
    """Columns that differ by 1e-7 to 1e-13, and penalties down to 1e-22: the bound is true, and found again."""
    X, y, draw = draw_problem(seed, n=40, d=2)
    X = np.column_stack([X, X[:, 0] + 10.0 ** -(7 + seed) * draw.normal(size=40)])
    order = draw.permutation(40)
    for alpha in (1.0, 1e-8, 1e-14, 1e-18, 1e-22):
        model = RidgeClassifier(alpha).fit(X, y)
        matrix, side = _normal(X, y, Fraction(alpha))
        w = _solve(matrix, side)
        scale = np.sqrt([float(matrix[j][j]) for j in range(3)])
        off = [float(Fraction(found) - true) for found, true in zip(model.coef_[0].tolist(), w, strict=True)]
        length = np.linalg.norm([float(value) for value in w] * scale)
        assert np.linalg.norm(off * scale) <= model.certificate_.bound * length
        model.certificate_.verify(np.asfortranarray(X[order]), y[order])
