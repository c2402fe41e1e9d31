"""What verdicts, margins and separators state: proved whatever the labels and weights, told apart from what is told."""

import datetime
import gc
import json
import math
import pickle
import warnings
import weakref
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris

import separatrix.models.perceptron.lesson as learning
from separatrix import CertificateError, LogisticRegression, Perceptron, separability
from separatrix.certificates.separator import _root_above
from separatrix.core.errors import ConvergenceWarning, OutOfTime
from separatrix.exact.arithmetic import null_space

IRIS, SPECIES = load_iris(return_X_y=True)


def test_gamma_is_that_of_the_row_that_attains_it():
    """A row of length 1e12 lent its rounding to all others: γ × 1000 passed."""
    X, y = np.array([[-1.0, 0.0], [-2.0, 1e12], [1.0, 0.0], [3.0, 1.0]]), np.array([0, 0, 1, 1])
    model = Perceptron(max_iter=1, fit_intercept=False).fit(X[[0, 2]], y[[0, 2]])
    certificate = model.certificate_.by([1.0, 0.0], X, y)
    assert certificate.gamma == 1.0
    certificate.verify(X, y)
    for factor in (1000.0, 1.001, 0.5):
        with pytest.raises(CertificateError, match="least signed score"):
            replace(certificate, gamma=certificate.gamma * factor).verify(X, y)


def test_an_infinite_bound_says_why():
    X, y = np.array([[-1.0, 0.0], [1.0, 0.0], [1e20, 1e20]]), np.array([0, 1, 1])
    narrow = Perceptron(fit_intercept=False).fit(X[:2], y[:2]).certificate_.by([1.0, 0.0], X, y)
    assert math.isinf(narrow.bound)
    assert "rounding leaves no bound" in str(narrow)
    other = Perceptron(penalty="l2", alpha=1e-9).fit(X[:2], y[:2]).certificate_
    assert "no theorem" in str(other)


def test_the_longest_row_is_rounded_up_once():
    certificate = Perceptron().fit([[2.0, 2.0], [-2.0, -2.0]], [0, 1]).certificate_
    assert certificate.R == 3.0
    for square in (Fraction(2), Fraction(1, 3), Fraction(10) ** 40 + 1, Fraction(1, 7**50)):
        root = _root_above(square)
        assert Fraction(math.nextafter(root, 0.0)) ** 2 < square <= Fraction(root) ** 2


def test_what_only_tells_of_the_run_is_marked():
    certificate = Perceptron().fit(IRIS, SPECIES == 0).certificate_
    assert set(certificate.told) == {"mistakes", "start", "rate", "margin"}
    assert "as told" in str(certificate)
    assert certificate.to_dict()["told"]["mistakes"] == certificate.mistakes


def test_a_many_class_verdict_with_an_undecided_pair_verifies():
    verdict = separability(IRIS, SPECIES)
    late = separability(IRIS[:100], SPECIES[:100], budget=0.0)
    assert late.kind == "undecided"
    members = np.flatnonzero(SPECIES < 2)
    undecided = replace(late, members=members, problem=verdict.pairs[0, 1].problem)
    mixed = replace(verdict, pairs={**verdict.pairs, (0, 1): undecided})
    assert "0 against 1: undecided" in str(mixed.verify(IRIS, SPECIES))
    with pytest.raises(CertificateError):
        replace(verdict, pairs={(0, 1): verdict.pairs[0, 1]}).verify(IRIS, SPECIES)


def test_rows_without_weight_are_counted_alike_by_every_class():
    weights = np.ones(150)
    weights[[3, 77, 149]] = 0.0
    model = Perceptron(max_iter=30).fit(IRIS, SPECIES, sample_weight=weights)
    assert {part.kind for part in model.certificate_.parts} == {"separator", "overlap"}
    model.certificate_.verify(IRIS, SPECIES, weights)
    with pytest.raises(CertificateError):
        model.certificate_.verify(IRIS, SPECIES)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([b"no", b"yes", b"maybe"]),
        np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="M8[ns]"),
        np.array([datetime.date(2020, 1, k) for k in (1, 2, 3)], dtype=object),
    ],
)
def test_labels_of_any_kind_make_plain_values(labels):
    y = labels[SPECIES]
    for rows in (slice(None), slice(0, 100)):
        verdict = separability(IRIS[rows], y[rows])
        json.dumps(verdict.to_dict(), allow_nan=False)
        verdict.verify(IRIS[rows], y[rows])
        assert pickle.loads(pickle.dumps(verdict, protocol=0)) == verdict


def test_verdicts_with_numbers_too_long_to_print_are_stored():
    verdict = separability([[0.0], [1.0], [2.0]], [0, 1, 0])
    exact = replace(verdict, balance=replace(verdict.balance, integers=(7**9000, 2 * 7**9000, 7**9000)))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(exact, protocol=protocol)) == exact
    json.dumps(exact.to_dict(), allow_nan=False)


def test_fitted_models_do_not_hold_the_data():
    for model, y in ((Perceptron(max_iter=20), SPECIES == 1), (LogisticRegression(C=np.inf), SPECIES == 0)):
        X = IRIS.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        watch = weakref.ref(X)
        del X
        gc.collect()
        assert watch() is None
        model.certificate_.verify(IRIS, y)


def test_a_perceptron_does_not_wait_for_a_verdict(monkeypatch):
    monkeypatch.setattr(learning, "LEAST_BUDGET", 0.0)
    monkeypatch.setattr(learning, "SHARE", 0.0)
    with pytest.warns(ConvergenceWarning, match="neither a separator nor"):
        certificate = Perceptron(max_iter=12).fit(IRIS, SPECIES == 1).certificate_
    assert certificate.kind == "unproved"
    assert "not decided" in str(certificate)
    assert "separability(X, y) decides" in str(certificate)


def test_texts_count_what_there_is():
    softmax = separability(IRIS, SPECIES, others=False)
    assert "200 of 300 pairs of a row and a wrong class" in str(softmax)
    alone = separability([[1.0, 7.0], [2.0, 9.0]], [1, 1])
    assert str(alone) == "Completely separable: there is one class only, and the constant decides."
    assert alone.direction.tolist() == [0.0, 0.0, 0.5]
    alone.verify([[1.0, 7.0], [2.0, 9.0]], [1, 1])
    json.dumps(alone.to_dict(), allow_nan=False)


def test_more_columns_than_rows_are_decided_at_once_and_contradictions_found():
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(60, 200)), draw.integers(0, 2, 60)
    verdict = separability(X, y)
    assert (verdict.kind, verdict.rank) == ("complete", 60)
    verdict.verify(X, y)
    X[:5], y[:5], y[5:10] = X[5:10], 0, 1
    verdict = separability(X, y)
    assert (verdict.kind, verdict.rank, verdict.overlapping_rows.tolist()) == ("quasi", 55, list(range(10)))
    verdict.verify(X, y)
    with pytest.raises(CertificateError, match="different rows"):
        replace(verdict, rank=54, basis=verdict.basis[:-1]).verify(X, y)


@pytest.mark.real_time
def test_exact_elimination_looks_at_the_clock():
    draw = np.random.default_rng(1)
    with pytest.raises(OutOfTime):
        null_space(draw.normal(size=(20, 30)), -math.inf)
    assert separability(draw.normal(size=(300, 100)), draw.integers(0, 2, 300), budget=0.0).kind == "undecided"
