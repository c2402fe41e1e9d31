"""Separators and the bound on mistakes, re-checked in exact arithmetic; a false claim is found out."""

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
from separatrix import CertificateError, Perceptron
from separatrix.certificates.one_against_rest import OneAgainstRest
from separatrix.certificates.separator import SeparatorCertificate, UnprovedCertificate, mistake_bound

LECTURE = [[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]], [-1, -1, 1, 1]


def separable(seed, n=30, d=3, whole=True):
    """Rows of whole numbers that some direction separates strictly."""
    draw = np.random.default_rng(seed)
    w = draw.integers(-3, 4, d + 1)
    X = draw.integers(-5, 6, (n, d))
    scores = X @ w[:d] + w[d]
    X, scores = X[scores != 0], scores[scores != 0]
    return X.astype(float), np.where(scores > 0, 1, -1)


def exact_bound(certificate, X, y):
    """The theorem in rational arithmetic: does k satisfy ηkγ′ + ⟨w₀,u⟩ ≤ √(‖w₀‖² + k(η²R² + 2ηb))?"""
    w = [Fraction(float(v)) for v in certificate.direction]
    start = [Fraction(float(v)) for v in certificate.start]
    rows = [[Fraction(float(v)) for v in row] + ([Fraction(1)] if len(w) > len(row) else []) for row in X]
    gamma = min(int(s) * sum(a * b for a, b in zip(row, w, strict=True)) for row, s in zip(rows, y, strict=True))
    assert gamma > 0
    squared = max(sum(a * a for a in row) for row in rows)
    size, rate = sum(v * v for v in w), Fraction(float(certificate.rate))
    inner, first = sum(a * b for a, b in zip(start, w, strict=True)), sum(v * v for v in start)

    def allowed(k):
        # both sides times ‖w*‖: ηkγ + ⟨w₀,w*⟩ ≤ ‖w*‖·√(…)
        left = rate * k * gamma + inner
        right = size * (first + k * (rate**2 * squared + 2 * rate * Fraction(float(certificate.margin))))
        return left <= 0 or left**2 <= right

    return allowed, gamma, squared


@pytest.mark.parametrize("eta0", [0.125, 1.0, 3.0])
@pytest.mark.parametrize("margin", [0.0, 2.0])
@pytest.mark.parametrize("given_start", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_bound_is_never_violated_and_is_the_theorems(eta0, margin, given_start, fit_intercept):
    seen = 0
    for seed in range(150):
        X, y = separable(seed)
        if not fit_intercept:
            w = np.random.default_rng(seed).integers(-3, 4, X.shape[1])
            y, X = np.sign(X @ w)[X @ w != 0].astype(int), X[X @ w != 0]
        if len(np.unique(y)) < 2:
            continue
        model = Perceptron(
            eta0=eta0,
            margin=margin,
            fit_intercept=fit_intercept,
            verdict_after=None,
            max_iter=20_000,
            random_state=seed,
        )
        start = np.random.default_rng(seed + 1).normal(size=(1, X.shape[1])) if given_start else None
        model.fit(X, y, coef_init=start)
        certificate = model.certificate_
        assert isinstance(certificate, SeparatorCertificate)
        allowed, gamma, squared = exact_bound(certificate, X, y)
        assert allowed(model.mistakes_)
        assert model.mistakes_ <= certificate.bound
        assert allowed(int(certificate.bound * (1 - 1e-6)) - 1 if certificate.bound > 2 else 0)
        assert not allowed(int(certificate.bound * (1 + 1e-6)) + 1)
        assert Fraction(certificate.gamma) <= gamma
        assert Fraction(certificate.R) ** 2 >= squared
        assert certificate.verify(X, y) is certificate
        seen += 1
    assert seen > 80


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([1e-6, 1.0, 1e6]), st.integers(1, 8))
def test_rows_of_any_size_are_certified(seed, scale, d):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(25, d)) * scale
    w = draw.normal(size=d)
    score = X @ w
    keep = np.abs(score) > 0.05 * np.abs(score).max()
    X, y = X[keep], score[keep] > 0
    if len(np.unique(y)) < 2:
        return
    model = Perceptron(fit_intercept=False, verdict_after=None, max_iter=10**5).fit(X, y)
    assert model.certificate_.met
    model.certificate_.verify(X, y)


def test_zero_start_gives_novikoffs_number_whatever_the_rate():
    w, gamma, R = np.array([3.0, 4.0]), 2.0, 7.0
    for rate in (1e-3, 1.0, 1e3):
        bound = mistake_bound(np.zeros(2), w, gamma, R, rate, 0.0)
        assert bound == math.floor(R**2 * 25.0 / gamma**2)


def test_a_margin_asked_for_raises_the_bound_and_no_separator_has_none():
    w = np.array([1.0, 0.0])
    bounds = [mistake_bound(np.zeros(2), w, 0.5, 1.0, 1.0, margin) for margin in (0.0, 1.0, 10.0)]
    assert bounds == [4.0, 12.0, 84.0]
    assert mistake_bound(np.zeros(2), w, 0.0, 1.0, 1.0, 0.0) == math.inf
    assert mistake_bound(np.zeros(2), w, 1e-300, 1.0, 1.0, 0.0) == math.inf


@pytest.mark.parametrize("layout", ["c", "fortran", "csr", "csc", "pandas", "arrow"])
def test_a_certificate_holds_for_any_layout_and_order_of_the_rows(layout):
    X, y = separable(3)
    certificate = Perceptron(verdict_after=None).fit(X, y).certificate_
    certificate.verify(tables.LAYOUTS[layout](X), y)
    certificate.verify(X[::-1], y[::-1])
    pickle.loads(pickle.dumps(certificate)).verify(X, y)
    assert certificate.to_dict()["kind"] == "separator"


def test_a_tampered_certificate_fails():
    X, y = separable(3)
    good = Perceptron(verdict_after=None).fit(X, y).certificate_
    good.verify(X, y)
    flipped = y.copy()
    flipped[0] = -flipped[0]
    longer = X.copy()
    longer[0] *= 50
    for bad in (
        replace(good, gamma=good.gamma * 1.001),
        replace(good, gamma=-1.0),
        replace(good, R=good.R * 0.999),
        replace(good, bound=good.bound * 0.9 - 2),
        replace(good, bound=math.inf),
        replace(good, mistakes=int(good.bound) + 1),
        replace(good, mistakes=-1),
        replace(good, direction=-good.direction),
        replace(good, direction=good.direction * np.nan),
        replace(good, direction=good.direction[:-1]),
        replace(good, start=good.start + 100.0),
        replace(good, margin=-1.0),
        replace(good, margin=500.0),
        replace(good, rate=0.0),
        replace(good, rate=None),
        replace(good, kind="optimum"),
    ):
        with pytest.raises(CertificateError):
            bad.verify(X, y)
    for other in ((X, flipped), (longer, y), (X[:, ::-1] * 2, y), (X[y == 1], y[y == 1])):
        with pytest.raises(CertificateError):
            good.verify(*other)


def test_another_separator_may_bound_the_same_mistakes_tighter():
    X, y = separable(11, n=40)
    own = Perceptron(verdict_after=None).fit(X, y).certificate_
    from sklearn.svm import SVC

    machine = SVC(kernel="linear", C=1e9, tol=1e-6).fit(X, y)
    widest = np.append(machine.coef_[0], machine.intercept_[0])
    tighter = own.by(widest, X, y)
    assert own.mistakes == tighter.mistakes <= tighter.bound
    tighter.verify(X, y)
    with pytest.raises(CertificateError, match="does not separate"):
        own.by(-widest, X, y)
    with pytest.raises(CertificateError, match="finite numbers"):
        own.by(widest[:-1], X, y)


def test_scores_within_rounding_of_zero_are_decided_exactly():
    # ⟨w, x⟩ = 1 + 1e-17·1e0 … cancels to the last digit: floats alone cannot tell the side
    w = np.array([1e16, -1e16, 1.0])
    X = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, -1.0]])
    from separatrix.certificates.separator import clearance
    from separatrix.models.perceptron.separator_rows import OneSide

    rows = OneSide(False, np.array([0, 1])).restate(X, [1, 0], None)
    clear = clearance(rows, w)
    assert clear.gamma == 1.0
    assert clear.claim == clear.least == 1.0
    assert clearance(rows, np.array([1e16, -1e16, 0.0])).gamma == 0.0


def test_nothing_is_claimed_where_nothing_is_proved():
    nothing = UnprovedCertificate("epochs ran out", 7)
    assert not nothing.met
    assert "Nothing is proved" in str(nothing)
    with pytest.raises(CertificateError, match="claims nothing"):
        nothing.verify(*LECTURE)
    assert nothing.to_dict()["kind"] == "unproved"


def test_one_certificate_for_each_class():
    draw = np.random.default_rng(0)
    centres = np.array([[0.0, 10.0], [9.0, -5.0], [-9.0, -5.0]])
    y = np.repeat(["a", "b", "c"], 20)
    X = centres[np.repeat([0, 1, 2], 20)] + draw.normal(size=(60, 2))
    model = Perceptron().fit(X, y)
    certificate = model.certificate_
    assert isinstance(certificate, OneAgainstRest)
    assert len(certificate) == 3
    assert certificate.met
    assert certificate.mistakes == model.mistakes_
    assert "'b': Every row" in str(certificate)
    certificate.verify(X, y)
    certificate.verify(X, y, sample_weight=np.ones(60))
    assert certificate[1].verify(X, y == "b").met
    assert certificate.to_dict()["classes"] == ["a", "b", "c"]
    for bad in (np.roll(y, 5), np.where(y == "a", "b", y)):
        with pytest.raises(CertificateError):
            certificate.verify(X, bad)
