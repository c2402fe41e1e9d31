"""Whether columns look independent, and which solver that leads to."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import LogisticRegression
from separatrix.engines import MemoryEngine, block_of
from separatrix.models.logistic import independence
from separatrix.models.logistic.independence import looks_independent
from separatrix.terms.penalised import PenalisedLoss

N, D = 12_000, 40


@pytest.fixture(autouse=True)
def few_columns(monkeypatch):
    monkeypatch.setattr(independence, "FEWEST", 20)


def table(kind):
    draw = np.random.default_rng(5)
    X = draw.normal(size=(N, D))
    if kind == "units and means":
        X = X * np.geomspace(1e-3, 1e3, D) + np.linspace(-5.0, 5.0, D)
    elif kind == "a common factor":
        X += 0.3 * draw.normal(size=(N, 1))
    elif kind == "a copy":
        X[:, 7] = X[:, 3] + 0.1 * X[:, 7]
    elif kind == "neighbours":
        X[:, 1:] += 0.5 * X[:, :-1]
    elif kind == "a constant":
        X[:, 4] = 2.0
    return X


def objective(X):
    y = np.arange(N, dtype=np.int32) % 2
    shift = np.zeros(D) if sp.issparse(X) else X.mean(axis=0)
    return PenalisedLoss(MemoryEngine(block_of(X), y), True, 1.0 / N, shift)


@pytest.mark.parametrize("kind", ["plain", "units and means"])
def test_independent_columns_look_so_for_any_seed(kind):
    assert all(looks_independent(objective(table(kind)), seed) for seed in range(20))


@pytest.mark.parametrize("kind", ["a common factor", "a copy", "neighbours", "a constant"])
def test_others_do_not(kind):
    assert not any(looks_independent(objective(table(kind)), seed) for seed in range(5))


def test_sparse_rows_few_rows_and_few_columns_are_not_looked_at(monkeypatch):
    assert not looks_independent(objective(sp.csr_array(table("plain"))), 0)
    monkeypatch.setattr(independence, "ROWS", N)
    assert not looks_independent(objective(table("plain")), 0)
    monkeypatch.setattr(independence, "ROWS", 2000)
    monkeypatch.setattr(independence, "FEWEST", D + 1)
    assert not looks_independent(objective(table("plain")), 0)


@pytest.mark.parametrize("kind", ["plain", "a common factor"])
def test_the_fit_is_the_same_whoever_leads_it(kind, monkeypatch):
    draw = np.random.default_rng(6)
    X = np.tile(table(kind), (10, 1)) + 0.1 * draw.normal(size=(10 * N, D))
    y = (X @ draw.normal(size=D) + 3.0 * draw.logistic(size=10 * N) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.met
    assert model.trace_.solver == ("quasi-newton" if kind == "plain" else "newton-subsample")
    assert ("columns look independent" in model.trace_.reason) == (kind == "plain")
    model.certificate_.verify(X, y)
    other = LogisticRegression(solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-3, atol=1e-4)


def test_rows_of_no_weight_do_not_hide_it():
    whole = objective(table("plain"))
    weights = np.where(np.arange(N) % 2, 0.0, 1.0)
    half = PenalisedLoss(whole.engine.reweighted(whole.engine.laid(weights)), True, 1.0 / N, whole.shift)
    assert all(looks_independent(half, seed) for seed in range(10))
