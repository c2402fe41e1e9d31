"""What the engine in memory answers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import tables
import twins
from separatrix.core import lanes
from separatrix.core.sweeping import SweepState
from separatrix.engines import ChunkedEngine, MemoryEngine, block_of
from separatrix.kernels import _kernels
from separatrix.terms.combination import Combination
from separatrix.terms.firth import SquaredLengths
from separatrix.terms.logistic import CurvatureProduct, LogisticLoss, Scores
from separatrix.terms.perceptron import PerceptronRule

N, D = 400, 5


def problem():
    X = tables.values(N, D, "float64", 3)
    draw = np.random.default_rng(4)
    return X, draw.integers(0, 2, N).astype(np.int32), draw.random(N), draw.normal(size=D + 1)


@pytest.fixture(params=["memory", "chunked"])
def kind(request):
    return request.param


@pytest.fixture(params=["c", "fortran", "csr", "csc", "pandas", "polars-chunks", "arrow"])
def engine(request, kind):
    X, codes, weights, _ = problem()
    block = block_of(tables.LAYOUTS[request.param](X))
    if kind == "memory":
        return MemoryEngine(block, codes, 2, weights)
    return ChunkedEngine.cut(block, codes, 2, weights, [1, 97, 98, N // 2])


def test_total_equals_the_twin(engine):
    X, codes, weights, point = problem()
    total = engine.total(LogisticLoss(True, curvature=True), point[None])[0][0]
    header, gradient, hessian = twins.logistic(X, codes, point, weights)
    assert total.loss == pytest.approx(header[0], rel=1e-13)
    np.testing.assert_allclose(total.gradient, gradient, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(total.hessian, hessian, rtol=1e-11, atol=1e-11)


def test_totals_of_folds_add_up_to_the_total(engine):
    point = problem()[3]
    folds = (np.arange(N) % 3).astype(np.int32)
    parts = engine.total(LogisticLoss(True), point[None], engine.laid(folds))
    whole = engine.total(LogisticLoss(True), point[None])[0][0]
    assert len(parts) == 3
    np.testing.assert_allclose(sum(part[0].gradient for part in parts), whole.gradient, rtol=1e-10, atol=1e-10)
    assert sum(part[0].weight for part in parts) == pytest.approx(whole.weight)


def test_total_at_several_points_equals_one_at_a_time(engine):
    points = np.random.default_rng(5).normal(size=(4, D + 1))
    together = engine.total(LogisticLoss(True), points)[0]
    for point, total in zip(points, together, strict=True):
        alone = engine.total(LogisticLoss(True), point[None])[0][0]
        assert alone.loss == total.loss
        np.testing.assert_array_equal(alone.gradient, total.gradient)


def test_product_equals_the_hessian_times_the_direction(engine):
    X, codes, weights, point = problem()
    curvature = engine.room()
    engine.total(LogisticLoss(True, row_curvature=curvature), point[None])
    direction = np.arange(D + 1.0)
    got = engine.total(CurvatureProduct(True, curvature), direction[None])[0]
    np.testing.assert_allclose(got, twins.logistic(X, codes, point, weights)[2] @ direction, rtol=1e-10)


def test_map_gives_one_output_per_row(engine):
    X, _, _, point = problem()
    scores = twins.with_constant(X, True) @ point
    np.testing.assert_allclose(engine.map(Scores(True), point[None]).array()[:, 0], scores, atol=1e-12)
    np.testing.assert_allclose(
        engine.map(Scores(True, True), point[None]).array()[:, 1], 1 / (1 + np.exp(-scores)), rtol=1e-12
    )


def test_sample_keeps_the_proportion_of_the_classes_and_brings_labels_and_weights_along(engine):
    X, codes, weights, _ = problem()
    part = engine.sample(100, seed=1)
    assert abs(part.rows - 100) <= 1
    assert abs(part.codes.mean() - codes.mean()) < 0.02
    taken = part.take(np.arange(part.rows))
    rows = taken.toarray() if sp.issparse(taken) else taken
    for row, code, weight in zip(rows, part.codes, part.weights, strict=True):
        k = int(np.flatnonzero(weights == weight)[0])
        assert codes[k] == code
        np.testing.assert_array_equal(X[k], row)
    np.testing.assert_array_equal(engine.sample(100, seed=1).codes, part.codes)
    assert engine.sample(10**6, seed=0).rows == N


def test_every_third_row_brings_its_label_and_weight_and_is_copied_only_where_rows_are_not_one_array(engine):
    X, codes, weights, _ = problem()
    part = engine.thinned(3)
    taken = part.take(np.arange(part.rows))
    rows = taken.toarray() if sp.issparse(taken) else taken
    if engine.one_block and engine.block.layout == "dense":
        assert np.shares_memory(part.block.source, engine.block.source)
        np.testing.assert_array_equal(rows, X[::3])
        np.testing.assert_array_equal(part.codes, codes[::3])
        np.testing.assert_array_equal(part.weights, weights[::3])
    assert abs(part.rows - N / 3) <= 1
    for row, code, weight in zip(rows, part.codes, part.weights, strict=True):
        k = int(np.flatnonzero(weights == weight)[0])
        assert codes[k] == code
        np.testing.assert_array_equal(X[k], row)


def test_columns_gives_a_few_columns(engine):
    X = problem()[0]
    got = engine.columns(np.array([3, 1]))
    np.testing.assert_array_equal(got.toarray() if sp.issparse(got) else got, X[:, [3, 1]])


def test_sweep_visits_rows_in_order(engine):
    X, codes, weights, _ = problem()
    order = np.random.default_rng(8).permutation(N)
    signs = np.where(codes == 1, 1.0, -1.0)
    path, mistakes = twins.perceptron(X, signs, np.zeros(D + 1), order, np.ones(N), weights=weights)
    state = engine.sweep(PerceptronRule(), SweepState(np.zeros(D + 1)), order)
    np.testing.assert_allclose(state.point, path[-1], rtol=1e-12, atol=1e-12)
    assert state.mistakes == mistakes.sum()
    assert state.visits == N
    if engine.one_block and engine.block.layout == "csc":
        engine.sweep(PerceptronRule(), state)
        assert engine.copies == ["csc turned into csr for an ordered pass"]
    elif engine.one_block:
        assert engine.copies == []


def test_a_sweep_may_be_taken_in_pieces(engine):
    whole, pieces = SweepState(np.zeros(D + 1)), SweepState(np.zeros(D + 1))
    engine.sweep(PerceptronRule(), whole)
    for first in range(0, N, 37):
        engine.sweep(PerceptronRule(), pieces, None, first, min(first + 37, N))
    np.testing.assert_array_equal(whole.point, pieces.point)
    np.testing.assert_array_equal(whole.counters, pieces.counters)


def test_python_is_reached_within_a_long_sweep(engine, monkeypatch):
    calls = []
    real = _kernels.perceptron
    monkeypatch.setattr(lanes, "BLOCK_WORK", 1000)
    monkeypatch.setattr(_kernels, "perceptron", lambda *a: calls.append(a[-2:]) or real(*a))
    engine.sweep(PerceptronRule(), SweepState(np.zeros(D + 1)))
    assert len(calls) > 2
    assert calls[0][0] == 0
    assert calls[-1][1] == N


def test_wrong_counts_the_weight_on_the_wrong_side(engine):
    X, codes, weights, point = problem()
    predicted = twins.with_constant(X, True) @ point >= 0
    expected = weights[predicted != (codes == 1)].sum()
    got = PerceptronRule().wrong(engine, np.array([point, -point]))
    assert got[0] == pytest.approx(expected, rel=1e-12)
    assert got.sum() == pytest.approx(weights.sum(), rel=1e-12)


def test_the_engine_keeps_no_copy_of_the_rows():
    X = np.ones((1000, 8))
    engine = MemoryEngine(block_of(X), np.zeros(1000, np.int32))
    X[:, 0] = 5.0  # seen at once: the rows are read where they lie
    assert engine.map(Scores(False), np.eye(8)[:1]).array()[0, 0] == 5.0


@pytest.mark.parametrize("count", [3, 150, 267, 301, 399])
def test_a_sample_takes_no_row_twice(count):
    codes = (np.arange(N) % 3 == 0).astype(np.int32)
    engine = MemoryEngine(block_of(np.arange(N, dtype=float)[:, None]), codes)
    for seed in range(20):
        rows = engine.sample(count, seed).block.take(np.arange(count))[:, 0]
        assert len(np.unique(rows)) == len(rows)


def test_a_reweighted_engine_has_the_same_rows_and_other_weights(engine):
    X, codes, _, point = problem()
    weights = np.random.default_rng(6).random(N)
    total = engine.reweighted(engine.laid(weights)).total(LogisticLoss(True), point[None])[0][0]
    header, gradient, _ = twins.logistic(X, codes, point, weights)
    assert total.loss == pytest.approx(header[0], rel=1e-13)
    np.testing.assert_allclose(total.gradient, gradient, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("constant", [True, False])
def test_squared_lengths_equal_the_twin(engine, constant):
    X = twins.with_constant(problem()[0], constant)
    draw = np.random.default_rng(7)
    transform, shift = draw.normal(size=(11, D + constant)), draw.normal(size=D)
    moved = X.copy()
    moved[:, :D] -= shift * constant
    lengths = engine.map(SquaredLengths(constant, shift), transform).array()
    np.testing.assert_allclose(lengths[:, 0], np.square(moved @ transform.T).sum(axis=1), rtol=1e-11)


def test_a_combination_over_many_spans_is_as_exact_as_over_one(monkeypatch):
    """One large factor, many odd ones, and the large one taken back: merging spans must keep what it loses."""
    n = 4096
    factors = np.full((n, 1), 0.3)
    factors[0], factors[-1] = 1e16, -1e16
    exact = float(sum(map(Fraction, factors[:, 0].tolist())))
    engine = MemoryEngine(block_of(np.ones((n, 1))), np.zeros(n, dtype=np.int32))
    monkeypatch.setattr(lanes, "WORK_PER_NUMBER", 0)
    for block_work in (2**27, 512, 48):
        monkeypatch.setattr(lanes, "BLOCK_WORK", block_work)
        found = engine.total(Combination(engine.laid(factors), True), np.empty((1, 0)))[0, 0]
        assert found == pytest.approx(exact, rel=1e-11)  # a plain merge is off by about one in a thousand
