"""Quasi-Newton steps for softmax: the same minimum as Newton's, certified, with every guide."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import CertificateError, LogisticRegression
from separatrix.engines import MemoryEngine, block_of
from separatrix.models.logistic import many_classes
from separatrix.models.logistic.many_classes import Costs, chosen
from separatrix.models.logistic.problem import LogisticProblem


def table(n, d, classes, seed=0, correlated=False):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    if correlated:
        X = (X @ draw.normal(size=(d, d))) * np.geomspace(0.1, 10.0, d) + 5.0
    score = (X - X.mean(axis=0)) / X.std(axis=0) @ draw.normal(size=(d, classes)) * 0.5
    return X, np.argmax(score + draw.gumbel(size=score.shape), axis=1)


def objective_of(X, y, classes):
    engine = MemoryEngine(block_of(X), y.astype(np.int32), classes)
    return LogisticProblem(1.0, True, np.arange(classes)).objective(engine)


@pytest.mark.parametrize("guide", ["by class", "pooled", "diagonal"])
@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("form", ["dense", "float32", "csr"])
def test_every_guide_leads_to_newtons_minimum(monkeypatch, guide, correlated, form):
    X, y = table(900, 12, 5, correlated=correlated)
    A = {"dense": X, "float32": X.astype(np.float32), "csr": sp.csr_array(X)}[form]
    newton = LogisticRegression(solver="newton-cholesky").fit(A, y)
    monkeypatch.setattr(many_classes, "chosen", lambda objective: "led-steps")
    monkeypatch.setattr(Costs, "best_guide", guide)
    led = LogisticRegression(tol=1e-12).fit(A, y)
    assert led.certificate_.met
    assert led.certificate_.objective == pytest.approx(newton.certificate_.objective, rel=1e-11)
    np.testing.assert_allclose(led.predict_proba(A), newton.predict_proba(A), atol=1e-5)
    led.certificate_.verify(A, y)


def test_claims_of_a_gradient_alone_hold_in_any_order_and_layout_and_no_others():
    X, y = table(2000, 20, 8)
    assert chosen(objective_of(X, y, 8)) == "led-steps"
    certificate = LogisticRegression().fit(X, y).certificate_
    assert certificate.met
    order = np.random.default_rng(1).permutation(len(y))
    for A, b in ((X, y), (X[order], y[order]), (np.asfortranarray(X), y), (sp.csr_array(X), y)):
        assert certificate.verify(A, b) is certificate
    for share in (0.5, 0.01):
        with pytest.raises(CertificateError):
            replace(certificate, bound=certificate.bound * share).verify(X, y)
    moved = certificate.point.copy()
    moved[0] += 1e-2
    with pytest.raises(CertificateError):
        replace(certificate, point=moved).verify(X, y)
    other = y.copy()
    other[0] = (other[0] + 1) % 8
    with pytest.raises(CertificateError):
        certificate.verify(X, other)


def test_threads_change_no_bit():
    X, y = table(40_000, 20, 6, seed=3)
    one, two = (LogisticRegression(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.certificate_ == two.certificate_


def test_many_rows_begin_at_the_optimum_of_a_sample():
    X, y = table(60_000, 20, 8, seed=4)
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.met
    assert model.trace_.objective[0] < model.trace_.objective[-1] * 1.1  # at zero it is nearly twice as much
    model.certificate_.verify(X, y)


def test_the_solver_depends_on_the_shape():
    few = objective_of(*table(100, 3, 3), 3)
    many = objective_of(*table(3000, 50, 20), 20)
    assert (chosen(few), chosen(many)) == ("newton-cholesky", "led-steps")


def test_weights_and_a_warm_start_are_taken():
    X, y = table(1500, 25, 6, seed=5)
    weights = np.random.default_rng(6).integers(0, 3, len(y)).astype(float)
    model = LogisticRegression(warm_start=True).fit(X, y, sample_weight=weights)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    again = LogisticRegression().fit(X[repeated], y[repeated])
    assert model.certificate_.objective == pytest.approx(again.certificate_.objective, rel=1e-7)
    passes = len(model.trace_)
    assert len(model.fit(X, y, sample_weight=weights).trace_) < passes
    model.certificate_.verify(X, y, weights)


def test_nearly_separated_classes_are_certified():
    X, y = table(300, 200, 4, seed=7)
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.met
    model.certificate_.verify(X, y)


@pytest.mark.parametrize("form", ["dense", "float32"])
def test_where_rounding_forbids_a_proof_by_the_gradient_some_rows_prove_it(form):
    """Many rows and a weak penalty: the bound that rests on the penalty alone drowns."""
    X, y = table(40_000, 8, 4, seed=8)
    X = X.astype(np.float32) if form == "float32" else X
    model = LogisticRegression(C=1e4).fit(X, y)
    certificate = model.certificate_
    assert certificate.met
    assert "then by the Hessian of" in model.trace_.reason
    order = np.random.default_rng(1).permutation(len(y))
    for A, b in ((X, y), (X[order], y[order]), (np.asfortranarray(X), y), (X.astype(np.float64), y)):
        assert certificate.verify(A, b) is certificate
    with pytest.raises(CertificateError):
        replace(certificate, bound=certificate.bound * 1e-4).verify(X, y)
    moved = certificate.point.copy()
    moved[0] += 1e-3
    with pytest.raises(CertificateError):
        replace(certificate, point=moved).verify(X, y)
