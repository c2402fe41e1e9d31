"""Certificates of stationary points: they verify from the data alone, and a tampered one does not."""

import json
import math
import pickle
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer

from separatrix import LogisticRegression
from separatrix.certificates.stationary import Stationarity, StationaryCertificate
from separatrix.core.errors import CertificateError

X, Y = load_breast_cancer(return_X_y=True)
X = X[:, :8]
WEIGHTS = np.random.default_rng(0).integers(0, 4, len(Y)).astype(float)

FITS = {
    "plain": ({}, {}),
    "flic": ({"flic": True}, {}),
    "weights": ({"flic": True}, {"sample_weight": WEIGHTS}),
    "class weights": ({"class_weight": "balanced"}, {"sample_weight": WEIGHTS}),
    "no intercept": ({"fit_intercept": False}, {}),
    "loose": ({"tol": 1e-2}, {}),
}


@pytest.fixture(params=FITS)
def fitted(request):
    parameters, extra = FITS[request.param]
    return LogisticRegression(C=np.inf, firth=True, **parameters).fit(X, Y, **extra).certificate_, extra


def test_a_certificate_verifies_from_the_data_in_any_order_and_layout(fitted):
    certificate, extra = fitted
    assert certificate.met
    assert certificate.verify(X, Y, **extra) is certificate
    order = np.random.default_rng(1).permutation(len(Y))
    certificate.verify(X[order], Y[order], **{key: value[order] for key, value in extra.items()})
    certificate.verify(np.asfortranarray(X), Y, **extra)
    certificate.verify(sp.csr_array(X), Y, **extra)
    pickle.loads(pickle.dumps(certificate)).verify(X, Y, **extra)


def test_it_reads_as_one_sentence_that_claims_no_more(fitted):
    certificate, _ = fitted
    assert str(certificate).startswith("Firth's modified score vanishes to ")
    assert "no more is claimed" in str(certificate)
    assert str(certificate).endswith(".")
    values = json.loads(json.dumps(certificate.to_dict()))
    assert values["kind"] == "stationary"
    assert values["bound"] == certificate.decrement**2 / 2


def test_no_coordinate_is_further_from_zero_than_the_whole(fitted):
    certificate, _ = fitted
    assert (certificate.scaled <= certificate.decrement * (1 + 1e-9)).all()


def test_a_smaller_decrement_is_refused(fitted):
    certificate, extra = fitted
    for smaller in (certificate.decrement / 1000, 0.0):
        with pytest.raises(CertificateError, match="states a decrement of"):
            replace(certificate, decrement=smaller).verify(X, Y, **extra)
    with pytest.raises(CertificateError, match="scaled"):
        replace(certificate, scaled=certificate.scaled / 1000).verify(X, Y, **extra)
    with pytest.raises(CertificateError, match="scaled"):
        replace(certificate, scaled=certificate.scaled[1:]).verify(X, Y, **extra)


def test_another_point_is_refused(fitted):
    certificate, extra = fitted
    for j in range(len(certificate.point)):
        point = certificate.point.copy()
        point[j] = point[j] * 1.01 + 1e-2
        with pytest.raises(CertificateError):
            replace(certificate, point=point, tol=1.0).verify(X, Y, **extra)
    for point in (certificate.point[1:], np.append(certificate.point, 0.0), certificate.point * np.nan):
        with pytest.raises(CertificateError):
            replace(certificate, point=point).verify(X, Y, **extra)


def test_another_objective_kind_or_decrement_is_refused(fitted):
    certificate, extra = fitted
    with pytest.raises(CertificateError, match=r"not .* as claimed"):
        replace(certificate, objective=certificate.objective * 0.9).verify(X, Y, **extra)
    with pytest.raises(CertificateError, match="kind"):
        replace(certificate, kind="optimum").verify(X, Y, **extra)
    for decrement in (-1.0, math.nan, math.inf):
        with pytest.raises(CertificateError):
            replace(certificate, decrement=decrement).verify(X, Y, **extra)


def test_other_data_is_refused(fitted):
    certificate, extra = fitted
    flipped = Y.copy()
    chosen = int(WEIGHTS.argmax())
    flipped[chosen] = 1 - flipped[chosen]
    with pytest.raises(CertificateError):
        certificate.verify(X, flipped, **extra)
    with pytest.raises(CertificateError):
        certificate.verify(X * 1.001, Y, **extra)


def test_columns_left_out_must_be_dependent_and_have_no_weight():
    certificate = LogisticRegression(C=np.inf, firth=True).fit(X[:, :2], Y).certificate_
    point = certificate.point * [1, 0, 1]
    for keep in ([0, 2], [2, 0], [0, 3], [0, 0, 2], [0], []):
        with pytest.raises(CertificateError):
            replace(certificate, keep=np.array(keep), point=point).verify(X[:, :2], Y)
    twice = np.column_stack([X[:, :2], X[:, 0]])
    model = LogisticRegression(C=np.inf, firth=True).fit(twice, Y)
    assert model.certificate_.aliased == ("column 2",)
    shared = model.certificate_.point + np.array([-1.0, 0, 1.0, 0])  # the same scores, but not weight 0
    with pytest.raises(CertificateError, match="weight 0"):
        replace(model.certificate_, point=shared).verify(twice, Y)


def test_a_large_decrement_is_honest_and_not_met():
    with pytest.warns(UserWarning, match="stopped early"):
        certificate = LogisticRegression(C=np.inf, firth=True, max_iter=1).fit(X, Y).certificate_
    assert not certificate.met
    assert certificate.proved
    certificate.verify(X, Y)


@dataclass(frozen=True)
class Bowl:
    """Any problem with a slope may use the certificate: here ‖point − mean of the rows‖²/2."""

    slope = "The gradient"
    unit = ""

    def stationarity(self, X, y, sample_weight, point, keep, stated):
        gradient = point - X.mean(axis=0)
        length = float(np.linalg.norm(gradient))
        return Stationarity(gradient @ gradient / 2, 1e-16, length, np.abs(gradient), 1e-15), ()

    def to_dict(self):
        return {}


def test_it_serves_any_slope():
    point = X.mean(axis=0) + 1e-6
    found, _ = Bowl().stationarity(X, Y, None, point, None, 0.0)
    decrement, scaled = found.claim()
    certificate = StationaryCertificate(decrement, 1e-8, found.value, scaled, point, Bowl())
    assert certificate.verify(X, Y).met
    assert str(certificate).startswith("The gradient vanishes to 2.8e-06 at")
    with pytest.raises(CertificateError):
        certificate.verify(X + 1e-3, Y)


def test_a_question_of_ones_own_must_not_pass_for_another():
    """What derives from the question of a fit may restate nothing of it, and says that it does."""
    certificate = LogisticRegression(C=np.inf, firth=True).fit(X, Y).certificate_
    honest = certificate.problem

    class Passing(type(honest)):
        def stationarity(self, X, y, sample_weight, point, keep, stated):
            return Stationarity(0.5, 1.0, 1e-30, np.zeros(len(point)), 1e-31), ()

    passing = Passing(**{each.name: getattr(honest, each.name) for each in fields(honest)})
    found, _ = passing.stationarity(X, Y, None, certificate.point, None, 0.0)
    decrement, scaled = found.claim()
    with pytest.raises(CertificateError, match="holds a Passing"):
        replace(certificate, problem=passing, decrement=decrement, scaled=scaled, objective=0.5).verify(X, Y)
    Passing.__module__, Passing.__qualname__ = type(honest).__module__, type(honest).__qualname__
    with pytest.raises(CertificateError, match="holds a"):
        replace(certificate, problem=passing, decrement=decrement, scaled=scaled, objective=0.5).verify(X, Y)
    Bowl.__module__, module = type(honest).__module__, Bowl.__module__
    try:
        with pytest.raises(CertificateError, match="holds a Bowl"):
            replace(certificate, problem=Bowl()).verify(X, Y)
    finally:
        Bowl.__module__ = module
