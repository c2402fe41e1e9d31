"""Rows in parts: what is made for every row is made of some at a time, and comes out the same."""

import numpy as np
import pytest

import tables
from separatrix import LogisticRegression, Perceptron, RidgeClassifier
from separatrix.engines import MemoryEngine, block_of
from separatrix.engines.memory import engine as memory
from separatrix.kernels import stretches
from separatrix.terms.combination import combined
from separatrix.terms.logistic import Scores

N, D, PART = 400, 5, 97

LAYOUTS = ["c", "fortran", "csr", "csc", "pandas", "polars-chunks", "arrow"]


def problem(layout):
    draw = np.random.default_rng(12)
    X = tables.values(N, D, "float64", 3)
    codes = (X[:, 0] + draw.normal(size=N) > 0).astype(np.int32)
    return tables.LAYOUTS[layout](X), X, codes, draw.random(N)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(memory, "PART", PART)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_are_the_rows_in_order(layout, short):
    given, _, codes, weights = problem(layout)
    engine = MemoryEngine(block_of(given), codes, 2, weights)
    found = list(engine.parts())
    assert len(found) == (1 if layout == "csc" else 5)
    point = np.arange(1.0, D + 2)[None]
    end = 0
    for which, part in found:
        assert which.start == end
        end = which.stop
        np.testing.assert_array_equal(part.numbers(Scores(True), point), engine.numbers(Scores(True), point)[which])
        np.testing.assert_array_equal(part.codes, codes[which])
        np.testing.assert_array_equal(part.weights, weights[which])
        assert part.block.stored == part.rows * D or part.sparse
    assert end == N


@pytest.mark.parametrize("layout", ["c", "fortran", "csr"])
def test_parts_are_views(layout, short):
    given, _, codes, _ = problem(layout)
    engine = MemoryEngine(block_of(given), codes)
    for _, part in engine.parts():
        if layout == "csr":
            assert np.shares_memory(part.block.source.data, given.data)
            assert np.shares_memory(part.block.source.indices, given.indices)
        else:
            assert np.shares_memory(part.block.source, given)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_over_parts_keep_the_last_digits(layout, short):
    given, X, codes, weights = problem(layout)
    engine = MemoryEngine(block_of(given), codes, 2, weights)
    factors = np.random.default_rng(1).normal(size=(N, 2))
    begun = [0]

    def of(part):
        which = slice(begun[0], begun[0] + part.rows)
        begun[0] += part.rows
        return factors[which]

    sums = combined(engine, of)
    truth = factors.T.astype(np.longdouble) @ np.column_stack([X, np.ones(N)]).astype(np.longdouble)
    size = np.abs(factors.T) @ np.abs(np.column_stack([X, np.ones(N)]))
    assert (np.abs(sums - truth) <= 8 * 2.0**-53 * size).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_in_parts_are_fits(layout, weighted, monkeypatch):
    given, _, codes, weights = problem(layout)
    weights = weights if weighted else None
    models = [LogisticRegression(C=np.inf, firth=True), RidgeClassifier(), RidgeClassifier(fit_intercept=False)]
    whole = [model.fit(given, codes, weights) for model in models]
    whole = [(model.coef_.copy(), model.intercept_.copy(), getattr(model, "loo_residuals_", None)) for model in whole]
    monkeypatch.setattr(memory, "PART", PART)
    for model, (coef, intercept, residuals) in zip(models, whole, strict=True):
        model.fit(given, codes, weights)
        np.testing.assert_allclose(model.coef_, coef, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-8, atol=1e-10)
        if residuals is not None:
            np.testing.assert_allclose(model.loo_residuals_, residuals, rtol=1e-8, atol=1e-10)
        model.certificate_.verify(given, codes, weights)
        monkeypatch.setattr(memory, "PART", 2**20)
        model.certificate_.verify(given, codes, weights)  # a proof in parts holds for all rows at once
        monkeypatch.setattr(memory, "PART", PART)


def test_a_row_that_is_all_leverage_is_found_in_its_part(short):
    """A weight of 1e-4 makes leverages above one: the curvature with fixed leverages is formed, in parts too."""
    _, X, codes, _ = problem("c")
    X = X.copy()
    X[250] *= 100.0
    weights = np.ones(N)
    weights[250] = 1e-4
    model = LogisticRegression(C=np.inf, firth=True).fit(X, codes, weights)
    assert model.certificate_.met
    model.certificate_.verify(X, codes, weights)


def test_a_perceptron_in_stretches_is_proved_in_every_layout(monkeypatch):
    """Lengths are taken by rows, scores by columns: both in the same stretches."""
    monkeypatch.setattr(stretches, "STRETCH", 50)
    draw = np.random.default_rng(0)
    X = draw.normal(size=(437, 3))
    X[:, 0] += 0.3 * np.sign(X[:, 0])
    y = (X[:, 0] > 0).astype(int)
    known = Perceptron().fit(X, y)
    for layout in LAYOUTS:
        table = tables.LAYOUTS[layout](X)
        model = Perceptron().fit(table, y)
        np.testing.assert_allclose(model.coef_, known.coef_, rtol=1e-10)
        model.certificate_.verify(table, y)
        known.certificate_.verify(table, y)
