"""Certificates of fits: they verify from the data alone, and a tampered one does not."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer

from separatrix import LogisticRegression
from separatrix.core.errors import CertificateError

X, Y = load_breast_cancer(return_X_y=True)
WEIGHTS = np.random.default_rng(0).integers(0, 4, len(Y)).astype(float)

FITS = {
    "plain": ({}, {}),
    "weights": ({}, {"sample_weight": WEIGHTS}),
    "class weights": ({"class_weight": "balanced"}, {"sample_weight": WEIGHTS}),
    "no intercept": ({"fit_intercept": False}, {}),
    "strong penalty": ({"C": 1e-6}, {}),
    "weak penalty": ({"C": 1e6}, {}),
    "subsample": ({"solver": "newton-subsample"}, {}),
    "conjugate gradients": ({"solver": "newton-cg"}, {}),
    "conjugate gradients, no intercept": ({"solver": "newton-cg", "fit_intercept": False}, {}),
    "loose": ({"tol": 1e-3}, {}),
}


@pytest.fixture(params=FITS)
def fitted(request):
    parameters, extra = FITS[request.param]
    return LogisticRegression(**parameters).fit(X, Y, **extra).certificate_, extra


def test_a_certificate_verifies_from_the_data(fitted):
    certificate, extra = fitted
    assert certificate.met
    assert certificate.verify(X, Y, **extra) is certificate


def test_it_verifies_for_permuted_rows_other_layouts_and_sparse(fitted):
    certificate, extra = fitted
    order = np.random.default_rng(1).permutation(len(Y))
    moved = {key: value[order] for key, value in extra.items()}
    certificate.verify(X[order], Y[order], **moved)
    certificate.verify(np.asfortranarray(X), Y, **extra)
    certificate.verify(sp.csr_array(X), Y, **extra)


def test_it_verifies_after_pickling(fitted):
    certificate, extra = fitted
    pickle.loads(pickle.dumps(certificate)).verify(X, Y, **extra)


def test_it_reads_as_one_sentence_and_as_plain_values(fitted):
    certificate, _ = fitted
    assert str(certificate).endswith(".")
    assert "within" in str(certificate)
    assert json.loads(json.dumps(certificate.to_dict()))["kind"] == "optimum"


def test_a_smaller_bound_is_refused(fitted):
    certificate, extra = fitted
    with pytest.raises(CertificateError, match="states a bound of"):
        replace(certificate, bound=certificate.bound / 1000).verify(X, Y, **extra)


def test_other_weights_are_refused(fitted):
    certificate, extra = fitted
    for j in (0, len(certificate.point) - 1):
        point = certificate.point.copy()
        point[j] = point[j] * 1.01 + 1e-3
        with pytest.raises(CertificateError):
            replace(certificate, point=point).verify(X, Y, **extra)


def test_another_objective_or_kind_or_bound_is_refused(fitted):
    certificate, extra = fitted
    with pytest.raises(CertificateError, match=r"not .* as claimed"):
        replace(certificate, objective=certificate.objective * 0.9).verify(X, Y, **extra)
    with pytest.raises(CertificateError, match="kind"):
        replace(certificate, kind="overlap").verify(X, Y, **extra)
    for bound in (-1.0, math.nan, math.inf):
        with pytest.raises(CertificateError):
            replace(certificate, bound=bound).verify(X, Y, **extra)


def test_other_data_is_refused(fitted):
    certificate, extra = fitted
    flipped = Y.copy()
    chosen = int(WEIGHTS.argmax())
    flipped[chosen] = 1 - flipped[chosen]
    with pytest.raises(CertificateError):
        certificate.verify(X, flipped, **extra)
    with pytest.raises(CertificateError):
        certificate.verify(X * 1.001, Y, **extra)


def test_a_tampered_direction_is_refused():
    certificate = LogisticRegression(solver="newton-cg").fit(X, Y).certificate_
    with pytest.raises(CertificateError):
        replace(certificate, _direction=certificate._direction + 1.0).verify(X, Y)


def test_a_fit_that_stopped_early_claims_what_it_knows_and_no_more():
    with pytest.warns(UserWarning, match="nothing is proved"):
        model = LogisticRegression(max_iter=2).fit(X, Y)
    assert not model.certificate_.proved
    assert not model.certificate_.met
    assert "Nothing is proved" in str(model.certificate_)
    with pytest.raises(CertificateError, match="claims nothing"):
        model.certificate_.verify(X, Y)


def test_the_maximum_likelihood_certificate_proves_that_the_maximum_exists():
    draw = np.random.default_rng(0)
    A = draw.normal(size=(200, 3)) * [1e-8, 1.0, 1e8]
    b = (draw.random(200) < 0.5).astype(int)
    certificate = LogisticRegression(C=np.inf).fit(A, b).certificate_
    assert certificate.met
    assert "a minimiser exists" in str(certificate)
    certificate.verify(A, b)
