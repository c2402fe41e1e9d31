"""Maximum likelihood on tables as they come: prices and their differences, float32 written down, near-copies."""

import math
import time
import warnings
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import separatrix
from separatrix import CertificateError, InputError, LogisticRegression
from separatrix.certificates.anchored import AnchoredCertificate
from separatrix.core.errors import ConvergenceWarning


def prices(rows=400):
    """A shop's prices, discounts and what follows from them, to the cent, and purchases."""
    draw = np.random.default_rng(11)
    listed = draw.integers(169, 230, (rows, 2)) / 100.0
    off = draw.choice([0.0, 0.1, 0.2, 0.3], (rows, 2))
    sale = np.round(listed - off, 2)
    frame = pd.DataFrame(
        {
            "PriceCH": listed[:, 0],
            "PriceMM": listed[:, 1],
            "DiscCH": off[:, 0],
            "DiscMM": off[:, 1],
            "SalePriceMM": sale[:, 1],
            "SalePriceCH": sale[:, 0],
            "PriceDiff": np.round(sale[:, 1] - sale[:, 0], 2),
            "Loyal": draw.uniform(size=rows),
        }
    )
    score = 4.0 * frame["Loyal"] + 2.0 * frame["PriceDiff"] - 2.0
    return frame, (score + draw.logistic(size=rows) > 0).astype(int).to_numpy()


def test_prices_and_their_differences_are_named_and_the_rest_is_proved():
    X, y = prices()
    assert np.linalg.matrix_rank(X - X.mean(), tol=1e-9) == 5
    assert (X["SalePriceMM"] - (X["PriceMM"] - X["DiscMM"])).abs().max() > 0.0  # by rounding, not exactly
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=np.inf).fit(X, y)
    certificate = model.certificate_
    assert certificate.met
    assert certificate.verify(X, y) is certificate
    assert certificate.aliased == tuple(X.columns[:7])
    assert "SalePriceMM, SalePriceCH, PriceDiff" in str(certificate)
    plain = LogisticRegression(C=np.inf).fit(X[["PriceCH", "PriceMM", "DiscCH", "DiscMM", "Loyal"]], y)
    assert certificate.objective == pytest.approx(plain.certificate_.objective, abs=1e-13)
    # least norm: no weights with the same scores are shorter
    centred = (X - X.mean()).to_numpy()
    inside = np.linalg.pinv(centred, rcond=1e-9) @ centred @ model.coef_[0]
    np.testing.assert_allclose(inside, model.coef_[0], atol=1e-8)


def shelf(seed, cents, rows=400):
    """List prices a few cents apart, and discounts also as shares of them: nearly, and not quite, multiples."""
    draw = np.random.default_rng(seed)
    listed = draw.integers(206, 206 + cents, (rows, 2)) / 100.0
    off = draw.choice([0.0, 0.1, 0.2, 0.3], (rows, 2))
    sale = np.round(listed - off, 2)
    columns = {
        "PriceCH": listed[:, 0],
        "PriceMM": listed[:, 1],
        "DiscCH": off[:, 0],
        "DiscMM": off[:, 1],
        "SalePriceMM": sale[:, 1],
        "SalePriceCH": sale[:, 0],
        "PriceDiff": sale[:, 1] - sale[:, 0],  # to the last digit, as shops store it
        "PctDiscMM": np.round(off[:, 1] / listed[:, 1], 6),
        "PctDiscCH": np.round(off[:, 0] / listed[:, 0], 6),
        "Loyal": draw.uniform(size=rows),
    }
    score = 4.0 * columns["Loyal"] + 2.0 * columns["PriceDiff"] - 2.0
    return pd.DataFrame(columns), (score + draw.logistic(size=rows) > 0).astype(int)


@pytest.mark.parametrize("cents", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_prices_are_set_aside_beside_columns_that_only_nearly_depend_on_them(seed, cents):
    X, y = shelf(seed, cents)
    for parameters, named in (({}, X.columns[:7]), ({"firth": True}, X.columns[4:7])):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            certificate = LogisticRegression(C=np.inf, **parameters).fit(X, y).certificate_
        assert certificate.met
        assert certificate.aliased == tuple(named)
        assert certificate.verify(X, y) is certificate
    kept = X[["PriceCH", "PriceMM", "DiscCH", "DiscMM", "PctDiscMM", "PctDiscCH", "Loyal"]]
    plain = LogisticRegression(C=np.inf).fit(kept, y).certificate_
    model = LogisticRegression(C=np.inf).fit(X, y).certificate_
    assert abs(model.objective - plain.objective) < 1e-12


def test_names_that_the_data_does_not_have_are_refused():
    X, y = prices()
    certificate = LogisticRegression(C=np.inf).fit(X, y).certificate_
    for forged in ((), certificate.aliased[:-1], (*certificate.aliased[:-1], "Loyal"), certificate.aliased[::-1]):
        with pytest.raises(CertificateError):
            replace(certificate, aliased=forged).verify(X, y)
    with pytest.raises(CertificateError, match="with its names"):
        certificate.verify(X.to_numpy(), y)


def test_what_was_float32_once_is_set_aside_and_the_rest_proved():
    draw = np.random.default_rng(2)
    reading, maths = (draw.normal(650, 20, 300).astype(np.float32) for _ in range(2))
    mean = ((reading + maths) / np.float32(2)).astype(np.float32)
    X = np.column_stack([mean, draw.normal(size=300), reading, maths]).astype(np.float64)
    y = ((reading - 650) / 20 + draw.logistic(size=300) > 0).astype(int)
    certificate = LogisticRegression(C=np.inf).fit(X, y).certificate_
    assert certificate.met
    assert certificate.aliased == ("column 0", "column 2", "column 3")
    assert certificate.verify(X, y) is certificate
    assert certificate.verify(sp.csr_array(X), y) is certificate
    plain = LogisticRegression(C=np.inf).fit(X[:, :3], y).certificate_
    # weights of least norm use all three columns, which agree to the rounding of float32 only
    assert certificate.objective == pytest.approx(plain.objective, abs=1e-8)


def test_a_nearly_dependent_fit_is_as_good_as_it_says():
    """The true distance in multiple precision, at a condition that squares to 1e16."""
    draw = np.random.default_rng(4)
    a, noise = draw.normal(size=(2, 40))
    X = np.column_stack([a, a + 1e-8 * noise])
    y = (a + 2.0 * draw.logistic(size=40) > 0).astype(int)
    model = LogisticRegression(C=np.inf).fit(X, y)
    certificate = model.certificate_
    assert certificate.met
    rows = [[mpmath.mpf(float(v)) for v in row] + [mpmath.mpf(1)] for row in X]
    signs = [1 if label else -1 for label in y]
    with mpmath.workdps(60):
        here = [mpmath.mpf(float(v)) for v in certificate.point]
        value = average_loss(rows, signs, here)
        best = average_loss(rows, signs, minimiser(rows, signs, here))
        assert 0 <= value - best <= certificate.bound
        assert abs(value - mpmath.mpf(certificate.objective)) < 1e-15


def average_loss(rows, signs, point):
    losses = (mpmath.log1p(mpmath.exp(-s * mpmath.fdot(row, point))) for row, s in zip(rows, signs, strict=True))
    return mpmath.fsum(losses) / len(rows)


def minimiser(rows, signs, point):
    p = len(point)
    for _ in range(8):
        gradient, hessian = mpmath.zeros(p, 1), mpmath.zeros(p, p)
        for row, s in zip(rows, signs, strict=True):
            share = 1 / (1 + mpmath.exp(s * mpmath.fdot(row, point)))
            for j in range(p):
                gradient[j] -= s * share * row[j]
                for k in range(p):
                    hessian[j, k] += share * (1 - share) * row[j] * row[k]
        step = mpmath.lu_solve(hessian, gradient)
        point = [at - move for at, move in zip(point, step, strict=True)]
    return point


def test_columns_kept_must_be_the_same_for_every_class():
    """Class 0 keeps what it may, class 1 sets an independent column aside: a false optimum."""
    draw = np.random.default_rng(8)
    A = draw.normal(size=(200, 2))
    y = (A[:, :1] + 2.0 * draw.normal(size=(200, 3))).argmax(axis=1)
    X = np.column_stack([A, A[:, 0]])
    certificate = LogisticRegression(C=np.inf).fit(X, y).certificate_
    assert certificate.verify(X, y) is certificate
    keep = certificate.keep
    for forged in (
        keep[keep != 5],
        keep[keep != 7],
        keep[:3],
        np.arange(12),
        np.arange(11),
        keep[::-1],
        keep.astype(float),
    ):
        with pytest.raises(CertificateError):
            replace(certificate, keep=forged).verify(X, y)
    binary = LogisticRegression(C=np.inf).fit(X, y == 1).certificate_
    for forged in (np.arange(4), np.arange(3), np.array([0, 3]), np.array([3])):
        with pytest.raises(CertificateError):
            replace(binary, keep=forged).verify(X, y == 1)


def test_a_loose_bound_does_not_excuse_a_false_objective():
    X, y = prices()
    optimum = LogisticRegression().fit(X, y)
    firth = LogisticRegression(C=np.inf, firth=True).fit(X, y)
    with pytest.raises(CertificateError, match="objective"):
        replace(optimum.certificate_, objective=-5.0, bound=10.0).verify(X, y)
    with pytest.raises(CertificateError, match="objective"):
        replace(optimum.certificate_, objective=optimum.certificate_.objective + 1e-6, bound=10.0).verify(X, y)
    with pytest.raises(CertificateError, match="objective"):
        replace(firth.certificate_, objective=-5.0, decrement=10.0).verify(X, y)
    moved = firth.certificate_.objective + 1e-6
    with pytest.raises(CertificateError, match="objective"):
        replace(firth.certificate_, objective=moved, decrement=10.0).verify(X, y)


def test_an_anchored_bound_contains_the_rounding_of_scores():
    """A column at 1e8: plain scores are off by 1e-8, and the truth is known from fractions."""
    draw = np.random.default_rng(3)
    column = 1e8 + draw.integers(0, 4, 60)
    y = (column - 1e8 + draw.logistic(size=60) > 1.5).astype(int)
    X = column[:, None]
    best = LogisticRegression(C=1e3).fit(X, y).certificate_
    accepted = 0
    for seed in range(60):
        away = np.random.default_rng(seed).normal()  # far enough off that the anchor stands for the optimum
        slope = 3e-4 * (away + np.sign(away) * 0.1)
        point = best.point + np.array([slope, -slope * (1e8 + 1.5)])
        with mpmath.workdps(50):
            there = penalised(column, y, point)
            truth = float(there - penalised(column, y, best.point))
        claim = AnchoredCertificate(
            truth, 1e-8, float(there), point, best.problem, None, best._shift, None, (), anchor=best.point
        )
        for share in (0.9, 0.98, 0.999):
            with pytest.raises(CertificateError):
                replace(claim, bound=share * truth).verify(X, y)
        accepted += replace(claim, bound=truth * (1 + 1e-6) + 1e-13).verify(X, y) is not None
    assert accepted == 60


def penalised(column, y, point):
    total = mpmath.mpf(0)
    for value, label in zip(column, y, strict=True):
        z = Fraction(float(point[0])) * Fraction(float(value)) + Fraction(float(point[1]))
        score = mpmath.mpf(z.numerator) / z.denominator
        total += mpmath.log1p(mpmath.exp(-score if label else score))
    return (total + mpmath.mpf(float(point[0])) ** 2 / 2 / 1000) / len(y)


def test_weights_that_underflow_are_refused():
    X, y = prices()
    for weights in (np.full(len(y), 1e-322), np.full(len(y), 1e-200)):
        with pytest.raises(InputError, match="weight"):
            LogisticRegression(C=np.inf).fit(X, y, sample_weight=weights)
    with pytest.raises(InputError, match="class weight"):
        LogisticRegression(C=np.inf, class_weight={0: 1e-322, 1: 1e-322}).fit(X, y)


def test_no_fit_waits_long_for_a_verdict(monkeypatch):
    asked = []
    decide = separatrix.separability

    def undecided(X, y, fit_intercept, budget, **_):
        asked.append(budget)
        return replace(decide(X, y, budget=0.0), kind="undecided")

    monkeypatch.setattr("separatrix.models.separability.question.separability", undecided)
    draw = np.random.default_rng(0)
    X = draw.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    began = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="not decided") as told:
        LogisticRegression(C=np.inf, max_iter=3).fit(X, y)
    assert "separatrix.separability(X, y, budget=" in str(told[0].message)
    assert len(asked) == 1
    assert asked[0] <= max(2.0, time.monotonic() - began)
    assert math.isfinite(asked[0])


def test_many_rows_with_dependent_columns_are_proved_too():
    """So many rows that a sub-sample would serve, if no column depended on others."""
    draw = np.random.default_rng(6)
    A = draw.normal(size=(130_000, 2)).round(3)
    y = (A[:, 0] + draw.logistic(size=130_000) > 0).astype(int)
    X = np.column_stack([A, A[:, 0] - A[:, 1]])
    certificate = LogisticRegression(C=np.inf).fit(X, y).certificate_
    assert certificate.met
    assert certificate.aliased == ("column 0", "column 1", "column 2")
    assert certificate.verify(X, y) is certificate


def test_where_nothing_sharp_helps_near_dependence_is_said():
    """Three classes have no sharp proof: nothing is claimed, and the warning says why."""
    draw = np.random.default_rng(7)
    a = draw.normal(size=300)
    X = np.column_stack([a, a + 1e-8 * draw.normal(size=300)])
    y = (a[:, None] + 2.0 * draw.normal(size=(300, 3))).argmax(axis=1)
    with pytest.warns(ConvergenceWarning, match="nearly, but not quite"):
        certificate = LogisticRegression(C=np.inf).fit(X, y).certificate_
    assert not certificate.proved
    assert certificate.aliased == ()
