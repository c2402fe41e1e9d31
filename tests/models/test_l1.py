"""L1 and elastic net: the bound, the zeros, the hard cases."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
import sklearn.linear_model
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import twins
from separatrix import CertificateError, LogisticRegression
from separatrix.certificates.duality import balanced
from separatrix.core.row_vector import RowVector

X, Y = load_breast_cancer(return_X_y=True)
Z = StandardScaler().fit_transform(X)
SIGN = np.where(Y == 1, 1, -1)


def value(model, A, C, ratio, weights=None):
    w = model.coef_[0].astype(np.longdouble)
    smooth = twins.objective(A, SIGN, w, model.intercept_[0], np.inf, weights)
    total = len(Y) if weights is None else weights.sum()
    return float(smooth + (ratio * np.abs(w).sum() + (1 - ratio) / 2 * (w**2).sum()) / (C * total))


@pytest.mark.parametrize("ratio", [1.0, 0.7, 0.1])
@pytest.mark.parametrize("C", [0.01, 0.2])
def test_the_minimum_is_scikit_learns(ratio, C):
    A = Z[:, ::4]
    ours = LogisticRegression(C=C, l1_ratio=ratio).fit(A, Y)
    theirs = sklearn.linear_model.LogisticRegression(
        C=C, l1_ratio=ratio, solver="saga", tol=1e-9, max_iter=50_000, random_state=0
    ).fit(A, Y)
    assert value(ours, A, C, ratio) <= value(theirs, A, C, ratio) + 1e-13
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_array_equal(ours.coef_ == 0, np.abs(theirs.coef_) < 1e-8)
    assert ours.certificate_.met
    assert ours.certificate_.objective == pytest.approx(value(ours, A, C, ratio), rel=1e-12)
    ours.certificate_.verify(A, Y)


FITS = {
    "lasso": {"l1_ratio": 1.0},
    "elastic net": {"l1_ratio": 0.4},
    "no intercept": {"l1_ratio": 1.0, "fit_intercept": False},
    "balanced": {"l1_ratio": 0.9, "class_weight": "balanced"},
    "strong": {"l1_ratio": 1.0, "C": 1e-3},
}


@pytest.mark.parametrize("case", FITS)
def test_a_bound_verifies_and_a_tampered_one_does_not(case):
    certificate = LogisticRegression(**FITS[case]).fit(X, Y).certificate_
    assert certificate.kind == "subgradient"
    certificate.verify(X, Y)
    order = np.random.default_rng(0).permutation(len(Y))
    certificate.verify(np.asfortranarray(X[order]), Y[order])
    certificate.verify(sp.csr_array(X), Y)
    with pytest.raises(CertificateError):
        replace(certificate, bound=certificate.bound / 1000).verify(X, Y)
    point = certificate.point * 1.01 + 1e-3
    with pytest.raises(CertificateError):
        replace(certificate, point=point).verify(X, Y)
    with pytest.raises(CertificateError):
        replace(certificate, kind="optimum").verify(X, Y)
    with pytest.raises(CertificateError):
        certificate.verify(X, 1 - Y)
    assert "by a subgradient" in str(certificate)
    assert certificate.to_dict()["nonzero"] == certificate.nonzero


def exactly(A, b, weights, C, ratio, point):
    """The penalised objective to thirty digits; of two classes the first scores zero."""
    with mpmath.workdps(30):
        total, sizes = mpmath.mpf(float(weights.sum())), np.asarray(point).reshape(-1, A.shape[1] + 1).tolist()
        loss = mpmath.mpf(0)
        for row, label, weight in zip(A.tolist(), b.tolist(), weights.tolist(), strict=True):
            scores = [mpmath.fdot(row, each[:-1]) + each[-1] for each in sizes]
            scores = [mpmath.mpf(0), *scores] if len(sizes) == 1 else scores
            loss += weight * (mpmath.log(mpmath.fsum(map(mpmath.exp, scores))) - scores[label])
        w = [mpmath.mpf(value) for each in sizes for value in each[:-1]]
        penalty = ratio * mpmath.fsum(map(abs, w)) + (1 - mpmath.mpf(ratio)) / 2 * mpmath.fdot(w, w)
        return (loss + penalty / C) / total


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1.0), st.floats(-2, 2), st.integers(1, 8))
def test_the_bound_is_never_below_the_true_excess(seed, ratio, log_c, passes):
    """Stopped after any number of passes, the claim holds against the exact minimum."""
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(40, 4)) * 10.0 ** draw.uniform(-2, 2, 4)
    b = draw.integers(0, 3, 40) if seed % 2 else draw.integers(0, 2, 40)
    b[:3] = [0, 1, b.max()]
    weights = draw.integers(1, 4, 40).astype(float)
    C = 10.0**log_c
    best = LogisticRegression(C=C, l1_ratio=ratio).fit(A, b, sample_weight=weights).certificate_
    assert best.met
    least = exactly(A, b, weights, C, ratio, best.point)
    seen = []
    LogisticRegression(C=C, l1_ratio=ratio, on_pass=lambda entry: seen.append(entry) or len(seen) == passes).fit(
        A, b, sample_weight=weights
    )
    for entry in seen:
        there = exactly(A, b, weights, C, ratio, entry.point)
        assert entry.objective == pytest.approx(float(there), rel=1e-12)
        assert entry.bound >= 0
        assert there - least <= entry.bound
        assert least - there <= best.bound


def test_a_penalty_at_the_largest_useful_one_gives_zero_at_once():
    centred = Y - Y.mean()
    largest = np.abs(X.T @ centred).max()
    for factor in (1.0 + 1e-9, 2.0, 1e6):
        model = LogisticRegression(l1_ratio=1.0, C=1 / (factor * largest)).fit(X, Y)
        assert not model.coef_.any()
        assert model.n_iter_[0] <= 7
        assert model.certificate_.met
        assert model.predict_proba(X)[0, 1] == pytest.approx(Y.mean())
    just_below = LogisticRegression(l1_ratio=1.0, C=1 / (0.99 * largest)).fit(X, Y)
    assert np.count_nonzero(just_below.coef_) >= 1


def test_collinear_columns_under_l1():
    doubled = np.column_stack([Z, Z[:, :5], -Z[:, 5:10]])
    model = LogisticRegression(l1_ratio=1.0, C=0.5).fit(doubled, Y)
    plain = LogisticRegression(l1_ratio=1.0, C=0.5).fit(Z, Y)
    assert model.certificate_.met
    assert model.certificate_.objective == pytest.approx(plain.certificate_.objective, rel=1e-9)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_wide_data_by_working_sets(ratio):
    draw = np.random.default_rng(5)
    A = draw.normal(size=(500, 20_000)).astype(np.float32)
    b = (A[:, :5].sum(axis=1) + draw.logistic(size=500) > 0).astype(int)
    model = LogisticRegression(l1_ratio=ratio, C=0.05).fit(A, b)
    assert model.certificate_.met
    assert 0 < np.count_nonzero(model.coef_) < 1000
    model.certificate_.verify(A, b)


def test_wide_sparse_data_and_zero_weights():
    draw = np.random.default_rng(6)
    S = sp.random_array((400, 5000), density=0.01, rng=draw, format="csr")
    b = (S[:, :50].sum(axis=1) > 0.25).astype(int)
    weights = draw.integers(0, 3, 400).astype(float)
    model = LogisticRegression(l1_ratio=1.0).fit(S, b, sample_weight=weights)
    kept = weights > 0
    again = LogisticRegression(l1_ratio=1.0).fit(S[kept], b[kept], sample_weight=weights[kept])
    assert model.certificate_.met
    assert model.certificate_.objective == pytest.approx(again.certificate_.objective, rel=1e-7)
    model.certificate_.verify(S[kept], b[kept], sample_weight=weights[kept])


def test_float32_and_float64_agree():
    a = LogisticRegression(l1_ratio=1.0).fit(Z.astype(np.float32), Y)
    b = LogisticRegression(l1_ratio=1.0).fit(Z.astype(np.float32).astype(float), Y)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-9)


def test_softmax_with_l1_against_scikit_learn():
    A, b = load_iris(return_X_y=True)
    A = StandardScaler().fit_transform(A)
    ours = LogisticRegression(l1_ratio=1.0, C=0.5).fit(A, b)
    theirs = sklearn.linear_model.LogisticRegression(l1_ratio=1.0, C=0.5, solver="saga", tol=1e-10, max_iter=100_000)
    theirs.fit(A, b)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert (ours.coef_ == 0).any()
    ours.certificate_.verify(A, b)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_a_balanced_point_is_a_probability_and_balanced(seed, classes):
    draw = np.random.default_rng(seed)
    pi = draw.dirichlet(np.ones(classes), size=30)
    own = np.eye(classes)[draw.integers(0, classes, 30)]
    weights = draw.random(30) / 30
    u = balanced(RowVector((pi.T,), 1), RowVector((own.T,), 1), RowVector((weights,))).array().T
    assert (u >= 0).all()
    np.testing.assert_allclose(u.sum(axis=1), 1, rtol=1e-12)
    # two sums of thirty by eight lanes are off by 13 roundings each at most, what is moved between classes by 15
    most = 41 * 2.0**-53 * Fraction(float(weights.sum()))
    for have, want in zip(u.T.tolist(), own.T.tolist(), strict=True):
        parts = zip(weights.tolist(), have, want, strict=True)
        assert abs(sum(Fraction(a) * (Fraction(h) - Fraction(w)) for a, h, w in parts)) <= most


def test_a_path_of_penalties_costs_a_few_passes_each():
    model = LogisticRegression(l1_ratio=1.0, warm_start=True)
    passes = []
    for C in np.geomspace(0.01, 1.0, 20):
        passes.append(int(model.set_params(C=C).fit(Z, Y).n_iter_[0]))
        assert model.certificate_.met
    assert np.mean(passes[1:]) <= 14
    cold = LogisticRegression(l1_ratio=1.0, C=1.0).fit(Z, Y)
    np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-6)


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_the_fit_is_the_map_under_the_prior_that_c_means(ratio):
    """L2: w ~ Normal(0, C); L1: w ~ Laplace(0, 1/scale⁻¹ = C): the log-posterior is highest at the fit."""
    C = 0.3
    model = LogisticRegression(C=C, l1_ratio=ratio).fit(Z[:, :4], Y)
    prior = scipy.stats.norm(0, np.sqrt(C)) if ratio == 0.0 else scipy.stats.laplace(0, C)

    def log_posterior(w, b):
        margins = SIGN * (Z[:, :4] @ w + b)
        return -np.logaddexp(0, -margins).sum() + prior.logpdf(w).sum()

    at = log_posterior(model.coef_[0], model.intercept_[0])
    draw = np.random.default_rng(7)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            away = size * draw.normal(size=5)
            assert log_posterior(model.coef_[0] + away[:4], model.intercept_[0] + away[4]) < at


@pytest.mark.parametrize(("seed", "C"), [(5, 3.0), (0, 10.0), (2, 100.0), (8, 1.0)])
def test_columns_of_one_entry_in_the_same_row_are_no_obstacle(seed, C):
    """They are collinear, so that the model of the packed columns has no single minimum."""
    draw = np.random.default_rng(seed)
    X = sp.random(80, 5000, density=0.01, random_state=draw, data_rvs=draw.standard_normal, format="csr")
    y = draw.integers(0, 2, 80)
    model = LogisticRegression(C=C, l1_ratio=1.0).fit(X, y)
    assert model.certificate_.met
    model.certificate_.verify(X, y)
