"""Fits with an L1 part on tables as they come: proved where a gap proves nothing, and against any forger."""

import json
import math
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import CertificateError, LogisticRegression
from separatrix.certificates.gap import GapCertificate
from separatrix.certificates.subgradient import SubgradientCertificate
from separatrix.core.certificate import Certificate
from separatrix.core.plain_values import same


def raw_columns():
    """Years, dollars and shares: a gap is off by u times the dollars over α."""
    draw = np.random.default_rng(0)
    dollars = np.round(draw.lognormal(20, 1, 400))
    X = np.column_stack([draw.integers(1980, 2012, 400), dollars, draw.random(400), draw.normal(size=400)])
    return X, (X[:, 3] + np.log(dollars) - 20 + draw.logistic(size=400) > 0).astype(int)


def dummies():
    """A dummy for every level beside the constant, in a table with an income column."""
    draw = np.random.default_rng(1)
    level = draw.integers(0, 4, 500)
    income = np.round(draw.lognormal(21, 1, 500))
    X = np.column_stack([np.eye(4)[level], income, draw.normal(size=500)])
    return X, (X[:, 5] + np.log(income) - 21 + level - 1.5 + draw.logistic(size=500) > 0).astype(int)


def prices():
    """A difference of two prices, rounded to cents: dependent up to the rounding of decimals."""
    draw = np.random.default_rng(2)
    one, two = np.round(draw.uniform(1, 3, 300), 2), np.round(draw.uniform(1, 3, 300), 2)
    X = np.column_stack([one, two, np.round(one - two, 2), one / 100, 1e6 * two])
    return X, (one - two + 0.3 * draw.logistic(size=300) > 0).astype(int)


def near_copies():
    """Two columns that agree to ten digits, with dollars beside them."""
    draw = np.random.default_rng(3)
    x = draw.normal(size=300)
    X = np.column_stack([x, x + 1e-10 * draw.normal(size=300), np.round(draw.lognormal(18, 1, 300))])
    return X, (x + draw.logistic(size=300) > 0).astype(int)


def nearly_separated():
    """Hardly any row has curvature, and columns of 1e6 depend on each other."""
    draw = np.random.default_rng(4)
    a, b = np.round(1e6 * draw.random(200)), np.round(1e6 * draw.random(200))
    X = np.column_stack([a, b, a + b, draw.integers(1900, 2000, 200), draw.normal(size=200)])
    return X, (a + 2 * b > 1.5e6).astype(int)


def wide():
    draw = np.random.default_rng(5)
    X = draw.normal(size=(60, 400))
    X[:, 7] *= 1e7
    return X, (X[:, :3].sum(axis=1) + draw.logistic(size=60) > 0).astype(int)


TABLES = (raw_columns, dummies, prices, near_copies, nearly_separated, wide)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("table", TABLES)
def test_real_looking_tables_are_proved_in_few_passes(table, ratio):
    X, y = table()
    model = LogisticRegression(l1_ratio=ratio).fit(X, y)
    certificate = model.certificate_
    assert certificate.met
    assert model.n_iter_[0] < 60
    assert certificate.verify(X, y) is certificate
    assert certificate.verify(sp.csr_array(X), y) is certificate


@pytest.mark.parametrize("table", [raw_columns, dummies])
def test_where_a_gap_proves_nothing_a_subgradient_does(table):
    X, y = table()
    certificate = LogisticRegression(l1_ratio=1.0).fit(X, y).certificate_
    assert type(certificate) is SubgradientCertificate
    problem = certificate.problem.restate(X, y, None)
    assert problem.by_gap(certificate.point).claim > 1e-8 * certificate.objective
    assert certificate.relative < 1e-9


@pytest.mark.parametrize("table", TABLES)
def test_sparse_rows_and_dense_rows_verify_each_other(table):
    X, y = table()
    for ratio in (1.0, 0.5):
        certificate = LogisticRegression(l1_ratio=ratio).fit(sp.csr_array(X), y).certificate_
        assert certificate.met
        certificate.verify(X, y)
        certificate.verify(sp.csc_array(X), y)


def small(seed=0, classes=2):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(40, 3)).round(2)
    return X, draw.integers(0, classes, 40)


FITS = {
    "subgradient": (lambda seed: small(seed), {"C": 0.5, "l1_ratio": 1.0}),
    "elastic": (lambda seed: small(seed), {"C": 0.5, "l1_ratio": 0.5}),
    "three classes": (lambda seed: small(seed, 3), {"C": 0.5, "l1_ratio": 1.0}),
    "gap": (lambda seed: small(seed, 3), {"C": 100.0, "l1_ratio": 1.0, "max_iter": 2}),
}


def forgeries(value, other):
    yield from (None, "forged")
    if not isinstance(value, float) or not value / 2 < other < 2 * value:
        yield other  # the bounds of two fits may be nearly the same
    if isinstance(value, (int, float)):
        yield from (math.nan, math.inf, -math.inf, -1, 0, 2 * value, value / 2, 1000 * value)
    if isinstance(value, np.ndarray):
        yield from (value[::-1].copy(), np.roll(value, 1), 2 * value, value[:-1], 0 * value)
        for place in (0, -1):
            for filling in (math.nan, math.inf, -1.0, 0.0):
                forged = value.copy()
                forged[place] = filling
                yield forged


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITS)
def test_a_forger_is_rejected_or_changes_nothing(name):
    data, parameters = FITS[name]
    X, y = data(1)
    certificate = LogisticRegression(**parameters).fit(X, y).certificate_
    other = LogisticRegression(**parameters).fit(*data(2)).certificate_
    assert certificate.verify(X, y) is certificate
    assert type(certificate) is (GapCertificate if name == "gap" else SubgradientCertificate)
    public = [each.name for each in fields(certificate) if not each.name.startswith("_")]
    for field in public:
        if field in certificate.TOLD:
            continue
        honest = getattr(certificate, field)
        for value in forgeries(honest, getattr(other, field)):
            if same(value, honest):
                continue
            with pytest.raises(CertificateError):
                replace(certificate, **{field: value}).verify(X, y)
    for tol in (math.nan, math.inf, -1.0, None):
        with pytest.raises(CertificateError):
            replace(certificate, tol=tol).verify(X, y)
    with pytest.raises(CertificateError):
        other.verify(X, y)


def test_an_inflated_bound_does_not_excuse_a_false_objective():
    """The stated objective is compared up to rounding, never up to the stated bound."""
    X, y = small(1)
    certificate = LogisticRegression(l1_ratio=1.0).fit(X, y).certificate_
    for objective in (-5.0, certificate.objective * (1 + 1e-9)):
        with pytest.raises(CertificateError, match="objective"):
            replace(certificate, objective=objective, bound=10.0).verify(X, y)


def test_the_count_of_weights_is_derived_again():
    X, y = small(1)
    certificate = LogisticRegression(l1_ratio=1.0, C=0.2).fit(X, y).certificate_
    for wrong in (certificate.nonzero + 1, 0.5, True, -1):
        with pytest.raises(CertificateError, match="not zero"):
            replace(certificate, nonzero=wrong).verify(X, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FITS)
def test_they_follow_the_protocol(name):
    data, parameters = FITS[name]
    certificate = LogisticRegression(**parameters).fit(*data(1)).certificate_
    assert isinstance(certificate, Certificate)
    assert certificate.kind == type(certificate).KINDS[0]
    read = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert read["kind"] == certificate.kind
    assert read["nonzero"] == certificate.nonzero
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(certificate, protocol=protocol))
        assert copy == certificate
        assert copy.verify(*data(1)) is copy
    assert str(certificate).endswith("weights are not zero.")
