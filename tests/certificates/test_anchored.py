"""Bounds far from the optimum, by an anchor near it: true, nearly exact, and refused when tampered with."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from separatrix import LogisticRegression, SGDClassifier
from separatrix.core.errors import CertificateError
from separatrix.core.stop import Stop
from separatrix.models.labels import block_of, encode, open_engine
from separatrix.models.logistic.given_weights import NEAR, certified
from separatrix.models.logistic.problem import LogisticProblem


def problem_of(X, y, C):
    target = encode(y, len(X))
    return LogisticProblem(C, True, target.classes).objective(open_engine(block_of(X), target, None))


@settings(max_examples=40, deadline=None)
@example(seed=42138, C=0.001, size=0.1)  # the lemma at the point itself, with t = λR near one
@given(seed=st.integers(0, 10**6), C=st.sampled_from([1e-3, 1.0, 50.0, np.inf]), size=st.sampled_from([0.1, 1.0, 10.0]))
def test_the_bound_holds_at_any_weights_and_is_nearly_exact(seed, C, size):
    """By an anchor the bound is the excess and the anchor's own bound, at most a share ``NEAR`` of F.

    At the point itself it is [t + (1−t)·ln(1−t)]/R². As |φ‴| ≤ Rφ″ also gives φ″(s) ≤ φ″(0)·e^{Rs}, the excess is at
    least [(1+t)·ln(1+t) − t]/R²; the quotient of the two grows with t, to 1/(2·ln 2 − 1) = 2.59 at t = 1.
    """
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(200, 3))
    y = (X @ draw.normal(size=3) + 2 * draw.logistic(size=200) > 0).astype(int)
    raw = size * draw.normal(size=4)
    optimum = LogisticRegression(C=C).fit(X, y).certificate_
    assert optimum.met
    solved = certified(problem_of(X, y, C), 0.0, raw, 1e-8, Stop.MAX_ITER)
    value, bound = solved.outcome.evaluation.value, solved.outcome.bound
    excess = value - optimum.objective
    assert excess <= bound
    loosest = (
        1.0 / (2.0 * np.log(2.0) - 1.0) * (excess + optimum.bound) if solved.anchor is None else excess + NEAR * value
    )
    assert bound <= loosest * (1 + 1e-6) + 1e-12


@pytest.fixture
def fitted():
    X, y = load_iris(return_X_y=True)
    model = SGDClassifier(batch_size="all", alpha=1 / 150, max_iter=3, tol=10.0).fit(X, y)
    assert model.certificate_.kind == "anchored"
    return model.certificate_, X, y


def test_it_verifies_and_says_what_it_claims(fitted):
    certificate, X, y = fitted
    assert certificate.verify(X, y) is certificate
    assert "within" in str(certificate)
    assert len(certificate.to_dict()["anchor"]) == len(certificate.point)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: {"bound": 0.9 * c.bound},
        lambda c: {"bound": -1.0},
        lambda c: {"anchor": c.point},
        lambda c: {"anchor": c.anchor[:-1]},
        lambda c: {"anchor": c.anchor * np.nan},
        lambda c: {"anchor": 0.5 * c.anchor},
        lambda c: {"point": 2.0 * c.point},
        lambda c: {"objective": 3.0 * c.objective + 10.0},
        lambda c: {"kind": "optimum"},
        lambda c: {"keep": np.arange(3)},
    ],
)
def test_a_tampered_certificate_fails(fitted, change):
    certificate, X, y = fitted
    with pytest.raises(CertificateError):
        replace(certificate, **change(certificate)).verify(X, y)


def test_other_data_fail(fitted):
    certificate, X, y = fitted
    with pytest.raises(CertificateError):
        certificate.verify(X, y[::-1])
