"""The forger's law: whatever takes the place of a field, ``verify`` rejects or nothing that is stated has changed."""

import importlib
import inspect
import json
import pickle
import pkgutil
import warnings
from collections import Counter
from dataclasses import fields, is_dataclass
from functools import cache, partial

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.base import clone

import separatrix.certificates
from forging import gets_past
from separatrix import (
    BernoulliNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MLPClassifier,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
    separability,
)
from separatrix.certificates.anchored import AnchoredCertificate
from separatrix.certificates.closed_form import ClosedFormCertificate
from separatrix.certificates.gap import GapCertificate
from separatrix.certificates.margin import MarginCertificate
from separatrix.certificates.mlp import NetworkCertificate
from separatrix.certificates.one_against_rest import OneAgainstRest
from separatrix.certificates.optimum import OptimumCertificate
from separatrix.certificates.separability import Separability
from separatrix.certificates.separator import SeparatorCertificate, UnprovedCertificate
from separatrix.certificates.stationary import StationaryCertificate
from separatrix.certificates.subgradient import SubgradientCertificate
from separatrix.core.certificate import Certificate, Claim


def table(seed, n=40, d=3, classes=2):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)).round(2)
    y = (X[:, 0] + 1.2 * draw.normal(size=n) > 0).astype(int) if classes == 2 else draw.integers(0, classes, n)
    return X, y, draw


def weighted(seed, classes=2):
    X, y, draw = table(seed, classes=classes)
    return X, np.array(["no", "yes", "perhaps"])[y], draw.integers(0, 4, len(y)) + (y == 0) * 1.0


def dependent(seed, classes=2):
    X, y, _ = table(seed, classes=classes)
    return np.column_stack([X[:, 0], X[:, 1], X[:, 0] + 2 * X[:, 1], X[:, 2]]), y


def named(seed):
    """Dependent columns with names."""
    X, y = dependent(seed)
    return pandas.DataFrame(X, columns=["price", "rebate", "difference", "loyalty"]), y


def dated(seed):
    X, y, _ = table(seed)
    return X, np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]")[y]


def in_bytes(seed):
    X, y, _ = table(seed)
    return X, np.array([b"no", b"yes"])[y]


def in_pieces(untrained):
    def certify(data):
        X, y = data
        model = clone(untrained)
        for part in np.array_split(np.arange(len(y)), 3):
            model.partial_fit(X[part], y[part], classes=np.unique(y))
        return model.certificate_

    return certify


def complete(seed):
    X, _, _ = table(seed)
    y = (X[:, 0] - 0.5 * X[:, 1] > 0.1).astype(int)
    return X, y


def quasi(seed):
    X, y, _ = table(seed)
    X[:, 2] = (np.arange(len(y)) % 9 == 0) & (y == 1)
    return X, y


def binary(seed):
    X, y, draw = table(seed)
    X = (X > 0).astype(float)
    X[y == 0, 2] = 0.0
    return X, y, draw.integers(1, 4, len(y)) * 1.0


def no_spread(seed):
    """Dummies that add up to the class."""
    X, y, draw = table(seed)
    kind = np.where(y == 1, 0, draw.integers(1, 3, len(y)))
    return np.column_stack([X[:, :2], kind == 1, kind == 2]), y


def fit(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = {"sample_weight": data[2]} if len(data) > 2 else {}
        return model.fit(*data[:2], **weights).certificate_


def by_duality(model):
    """The gap at the weights of a fit, as fits without a Hessian state it."""

    def certify(data):
        found = fit(model, data)
        standing = found.problem.restate(*data, *[None] * (4 - len(data))).by_gap(found.point)
        return GapCertificate(
            standing.claim, found.tol, standing.value, found.point, found.problem, nonzero=found.nonzero
        )

    return certify


def by_products(model):
    """The certificate of more columns than a Gram matrix could have, at the weights of a fit to few."""

    def certify(data):
        with pytest.MonkeyPatch.context() as patch:
            wide(patch)
            return fit(model, data)

    return certify


def wide(patch):
    """Take three columns for too many."""
    for module in ("ridge.estimator", "ridge.problem"):
        patch.setattr(f"separatrix.models.{module}.LARGEST_HESSIAN", 2)


def plain_cases():
    """name: (class, seed -> data, data -> certificate)."""
    two, three = (lambda s: table(s)[:2]), (lambda s: table(s, classes=3)[:2])
    sparse = lambda s: (scipy.sparse.csr_array(table(s)[0]), table(s)[1])  # noqa: E731
    model = lambda made: lambda data: fit(made, data)  # noqa: E731
    logistic = LogisticRegression
    descent = partial(SGDClassifier, batch_size="all", alpha=1 / 40, max_iter=2)
    free = np.inf
    optimum, anchored, stationary = OptimumCertificate, AnchoredCertificate, StationaryCertificate
    gap, subgradient = GapCertificate, SubgradientCertificate
    return {
        "optimum": (optimum, two, model(logistic())),
        "optimum, weights and strings": (optimum, weighted, model(logistic(class_weight="balanced"))),
        "optimum, sparse": (optimum, sparse, model(logistic())),
        "optimum without a penalty": (optimum, two, model(logistic(C=free))),
        "optimum, dependent columns": (optimum, dependent, model(logistic(C=free))),
        "optimum, named columns": (optimum, named, model(logistic(C=free))),
        "optimum, dates": (optimum, dated, model(logistic())),
        "firth, named columns": (stationary, named, model(logistic(C=free, firth=True))),
        "overlap, named columns": (Separability, named, lambda d: separability(*d)),
        "overlap, bytes": (Separability, in_bytes, lambda d: separability(*d)),
        "subgradient, bytes": (subgradient, in_bytes, model(logistic(l1_ratio=1.0))),
        "one against rest, strings": (OneAgainstRest, lambda s: weighted(s, 3), model(Perceptron(max_iter=20))),
        "network, dates": (NetworkCertificate, dated, model(MLPClassifier((), solver="lbfgs", max_iter=50))),
        "optimum by direction": (optimum, two, model(logistic(solver="newton-cg"))),
        "optimum, three classes": (optimum, three, model(logistic())),
        "optimum, three classes by direction": (optimum, three, model(logistic(solver="newton-cg"))),
        "optimum, three classes, dependent columns": (
            optimum, lambda s: dependent(s, 3), model(logistic(C=free))),
        "optimum by descent": (optimum, two, model(descent(alpha=0.1, tol=1e-6, certify_every=5, max_iter=1000))),
        "separator by descent": (SeparatorCertificate, complete, model(SGDClassifier("perceptron", penalty=None))),
        "anchored": (anchored, two, model(descent())),
        "anchored, three classes": (anchored, three, model(descent())),
        "anchored, dependent columns": (anchored, dependent, model(descent(penalty=None))),
        "subgradient": (subgradient, two, model(logistic(C=0.3, l1_ratio=1.0))),
        "subgradient, elastic": (subgradient, weighted, model(logistic(C=0.3, l1_ratio=0.5))),
        "subgradient, three classes": (subgradient, three, model(logistic(C=0.3, l1_ratio=1.0))),
        "subgradient, far": (subgradient, two, model(descent(penalty="l1", alpha=1 / 12))),
        "gap": (gap, two, by_duality(logistic(C=0.3, l1_ratio=1.0))),
        "gap, three classes": (gap, three, by_duality(descent(penalty="l1", alpha=1 / 12))),
        "firth": (stationary, two, model(logistic(C=free, firth=True))),
        "firth, dependent columns": (stationary, dependent, model(logistic(C=free, firth=True))),
        "firth, flic and weights": (stationary, weighted, model(logistic(C=free, firth=True, flic=True))),
        "complete": (Separability, complete, lambda d: separability(*d)),
        "quasi": (Separability, quasi, lambda d: separability(*d)),
        "overlap": (Separability, two, lambda d: separability(*d)),
        "overlap, weights": (Separability, weighted, lambda d: separability(*d[:2], sample_weight=d[2])),
        "overlap, dependent columns": (Separability, dependent, lambda d: separability(*d)),
        "many classes": (Separability, three, lambda d: separability(*d)),
        "many classes, weights": (
            Separability, lambda s: weighted(s, 3), lambda d: separability(*d[:2], sample_weight=d[2])),
        "no maximum": (Separability, quasi, model(logistic(C=free))),
        "margin": (MarginCertificate, complete, lambda d: separability(*d).max_margin()),
        "separator": (SeparatorCertificate, complete, model(Perceptron(max_iter=2000))),
        "separator without a theorem": (
            SeparatorCertificate, complete, model(Perceptron(max_iter=2000, penalty="l2", alpha=1e-9))),
        "perceptron that overlaps": (Separability, two, model(Perceptron(max_iter=20))),
        "one against rest": (OneAgainstRest, three, model(Perceptron(max_iter=20))),
        "unproved": (UnprovedCertificate, None, lambda d: UnprovedCertificate("epochs ran out", 3)),
        "network": (
            NetworkCertificate, two, model(MLPClassifier((3,), solver="lbfgs", activation="tanh", random_state=0))),
        "network in float32": (
            NetworkCertificate, lambda s: (table(s)[0].astype(np.float32), table(s)[1]),
            model(MLPClassifier((3,), max_iter=20, random_state=0))),
        **closed_forms(two, three, sparse, model),
    }  # fmt: skip


def closed_forms(two, three, sparse, model):
    lda, ridge, closed = LinearDiscriminantAnalysis, RidgeClassifier, ClosedFormCertificate
    return {
        "lda": (closed, two, model(lda())),
        "lda, weights": (closed, lambda s: weighted(s, 3), model(lda())),
        "lda, sparse": (closed, sparse, model(lda())),
        "lda, average and shrunk": (closed, two, model(lda(covariance="average", shrinkage="auto", priors=[0.3, 0.7]))),
        "lda, dependent columns": (closed, dependent, model(lda())),
        "lda, named columns": (closed, named, model(lda())),
        "lda, dates": (closed, dated, model(lda(shrinkage=0.2))),
        "lda in pieces": (closed, two, in_pieces(lda())),
        "bernoulli in pieces": (closed, two, in_pieces(BernoulliNB())),
        "ridge, named columns": (closed, named, model(ridge(0.0))),
        "ridge, bytes": (closed, in_bytes, model(ridge())),
        "ridge, wide": (closed, two, by_products(ridge())),
        "lda, no spread": (closed, no_spread, model(lda())),
        "bernoulli": (closed, binary, model(BernoulliNB())),
        "bernoulli, impossible": (closed, binary, model(BernoulliNB(alpha=0.0))),
        "bernoulli, three classes": (closed, three, model(BernoulliNB(class_prior=[0.2, 0.3, 0.5]))),
        "ridge": (closed, weighted, model(ridge(class_weight="balanced"))),
        "ridge, sparse": (closed, sparse, model(ridge())),
        "ridge, dependent columns": (closed, dependent, model(ridge(0.0))),
        "ridge, three classes": (closed, three, model(ridge(fit_intercept=False))),
        "ridge, best of many": (closed, two, model(RidgeClassifierCV())),
    }


CASES = plain_cases()


@cache
def made(name, seed=1):
    _, data, certify = CASES[name]
    rows = None if data is None else data(seed)
    return certify(rows), rows


def classes():
    """Every class of the package that can verify something."""
    found = set()
    for module in pkgutil.iter_modules(separatrix.certificates.__path__):
        for _, one in inspect.getmembers(importlib.import_module(f"separatrix.certificates.{module.name}")):
            if inspect.isclass(one) and is_dataclass(one) and callable(getattr(one, "verify", None)):
                found.add(one)
    return found


PARTS = [
    pytest.param(name, each.name, id=f"{name}: {each.name}")
    for name, (kind, _, _) in CASES.items()
    for each in fields(kind)
]


@pytest.mark.parametrize(("name", "field"), PARTS)
def test_a_forged_field_is_rejected_or_changes_nothing(name, field, monkeypatch):
    if "wide" in name:
        wide(monkeypatch)
    certificate, data = made(name)
    other = made(name, seed=2)[0]
    past = gets_past(certificate, field, data if data is not None else (None, None), other)
    assert not past, "\n".join(past)


@pytest.mark.parametrize("name", CASES)
def test_an_honest_certificate_follows_the_protocol(name, monkeypatch):
    if "wide" in name:
        wide(monkeypatch)
    certificate, data = made(name)
    assert type(certificate) is CASES[name][0]
    assert isinstance(certificate, Certificate)
    assert isinstance(certificate, Claim)
    assert isinstance(certificate.kind, str)
    assert isinstance(certificate.met, bool)
    assert float(certificate.bound) >= 0.0
    assert str(certificate).endswith((".", "overlap", "complete", "quasi"))
    if data is not None:
        assert certificate.verify(*data) is certificate
    read = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert read["kind"] == certificate.kind
    text = str(certificate)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(certificate, protocol=protocol))
        assert copy == certificate
        assert hash(copy) == hash(certificate)
        assert str(copy) == text
    if data is not None:
        assert copy.verify(*data) is copy
        assert made(name, seed=2)[0] != certificate


def test_every_class_has_a_case():
    assert {kind for kind, _, _ in CASES.values()} == classes()


def test_no_two_classes_share_a_kind():
    every = classes()
    kinds = Counter(kind for one in every for kind in one.KINDS)
    assert [kind for kind, count in kinds.items() if count > 1] == []
    for one in every:
        assert one.KINDS
        assert set(one.TOLD) <= {each.name for each in fields(one)}


def test_another_fits_certificate_is_rejected():
    """The whole certificate of other data of the same shape."""
    for name, (_, data, _) in CASES.items():
        if data is None:
            continue
        with pytest.raises(separatrix.CertificateError):
            made(name, seed=2)[0].verify(*made(name)[1])
