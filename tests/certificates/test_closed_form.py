"""A closed form's certificate holds, bounds the true error, and fails when anything in it is changed."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from separatrix import BernoulliNB, CertificateError, LinearDiscriminantAnalysis, RidgeClassifier

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


@pytest.mark.filterwarnings("ignore::separatrix.SeparationWarning")
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), ill=st.sampled_from([0.0, 2.0, 4.0]))
def test_the_bound_is_above_the_true_error(seed, ill):
    X, y, _ = draw_problem(seed, d=3)
    X[:, 2] = X[:, 0] + 10.0**-ill * X[:, 2]
    Z = X.astype(np.longdouble)
    means = np.array([Z[y == k].mean(axis=0) for k in (0, 1)])
    centred = Z - means[y]
    sigma = centred.T @ centred / len(y)
    w = _solve(sigma, means[1] - means[0])
    model = LinearDiscriminantAnalysis(tol=0.0).fit(X, y)
    assume(not model.dropped_)  # then the claim is about the columns kept
    scale = np.sqrt(np.diag(sigma))
    error = np.linalg.norm((model.coef_[0] - w) * scale) / np.linalg.norm(w * scale)
    assert error <= model.certificate_.bound
    total = Z - Z.mean(axis=0)
    signs = np.where(y == 1, 1.0, -1.0)
    matrix = total.T @ total + np.longdouble(0.01) * np.eye(3)
    w = _solve(matrix, total.T @ signs)
    model = RidgeClassifier(0.01).fit(X, y)
    scale = np.sqrt(np.diag(matrix))
    error = np.linalg.norm((model.coef_[0] - w) * scale) / np.linalg.norm(w * scale)
    assert error <= model.certificate_.bound


def _solve(matrix, side):
    """Gaussian elimination in extended precision."""
    rows = np.column_stack([matrix, side]).astype(np.longdouble)
    for k in range(len(rows)):
        pivot = k + int(np.argmax(np.abs(rows[k:, k])))
        rows[[k, pivot]] = rows[[pivot, k]]
        rows[k] /= rows[k, k]
        for i in range(len(rows)):
            if i != k:
                rows[i] -= rows[i, k] * rows[k]
    return rows[:, -1]
