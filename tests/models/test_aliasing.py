"""Columns that are combinations of others to the rounding of their decimals, against dependences that were planted."""

import numpy as np
import pytest
from scipy import sparse

from separatrix.models import aliasing as module
from separatrix.models.aliasing import aliasing, check
from separatrix.models.labels import Target, block_of, open_engine


def engine_of(table, weights=None):
    codes = (np.arange(table.shape[0]) % 2).astype(np.int32)
    return open_engine(block_of(table), Target(codes, np.array([0, 1])), weights)


def found_in(table, constant=True, weights=None):
    return aliasing(engine_of(table, weights), constant)


@pytest.fixture
def prices():
    return np.random.default_rng(3).integers(150, 250, (60, 3)) / 100.0


@pytest.fixture(params=["orthogonal", "gram"])
def way(request, monkeypatch):
    """Both ways of finding, whatever the size."""
    if request.param == "gram":
        monkeypatch.setattr(module, "SMALL_WORK", 0.0)


def test_a_difference_of_decimals_is_aliased_and_the_first_columns_stay(prices, way):
    table = np.column_stack([prices, prices[:, 0] - prices[:, 1], prices[:, 2] / 100.0, np.full(60, 0.1)])
    found = found_in(table)
    assert found.keep.tolist() == [0, 1, 2]
    assert found.dropped.tolist() == [3, 4, 5]
    assert found.involved.tolist() == [0, 1, 2, 3, 4, 5]
    with_constant = np.column_stack([table, np.ones(60)])
    assert np.abs(with_constant @ found.directions).max() < 1e-12
    assert found.directions[found.dropped].tolist() == np.eye(3).tolist()
    expected = [[-1, 1, 0], [0, 0, -0.01], [0, 0, 0]]
    assert pytest.approx(np.array(expected), abs=1e-10) == found.directions[:3].T


def test_what_was_float32_once_is_aliased_to_the_rounding_of_float32(prices, way):
    reading, writing = prices[:, 0].astype(np.float32) * np.float32(331.7), prices[:, 1].astype(np.float32)
    mean = ((reading + writing) / np.float32(2)).astype(np.float32)
    table = np.column_stack([reading, writing, mean]).astype(np.float64)
    assert np.linalg.matrix_rank(np.column_stack([table, np.ones(60)]), tol=1e-9) == 4  # not so to nine digits
    written = np.array([[float(f"{value:.15g}") for value in row] for row in table])
    for stored in (table, table.astype(np.float32), written):
        assert found_in(stored).dropped.tolist() == [2]
    # the same distance between columns that hold all their digits is a difference
    assert not len(found_in(table * (1.0 / 3.0)).dropped)


@pytest.mark.parametrize("size", [1e-6, 1e-7, 1e-8])
def test_a_column_that_differs_is_a_column_of_its_own(prices, way, size):
    noise = np.random.default_rng(5).standard_normal(60)
    table = np.column_stack([prices, prices[:, 0] + size * noise])
    assert not len(found_in(table).dropped)
    # and its exact difference from the other is none
    assert found_in(np.column_stack([table, table[:, 3] - table[:, 0]])).dropped.tolist() == [4]


def test_columns_far_from_zero_keep_their_own_spread(way):
    ticks = np.arange(40.0) % 3
    for origin in (1e7, 1e9, 1e12):
        table = np.column_stack([origin + ticks, np.arange(40.0) % 5])
        assert not len(found_in(table).dropped)
        assert not len(found_in(table.astype(np.int64)).dropped)


def test_rows_without_weight_do_not_count(prices):
    table = np.column_stack([prices, prices[:, 0] - prices[:, 1]])
    table[7, 3] += 1.0
    weights = np.ones(60)
    assert not len(found_in(table, weights=weights).dropped)
    weights[7] = 1e-12
    assert not len(found_in(table, weights=weights).dropped)
    weights[7] = 0.0
    assert found_in(table, weights=weights).dropped.tolist() == [3]


def test_without_a_constant_a_constant_column_is_a_column(prices):
    table = np.column_stack([prices, np.full(60, 2.5), prices[:, 0] + 1.0, np.zeros(60)])
    assert found_in(table, constant=False).dropped.tolist() == [4, 5]
    assert found_in(table, constant=True).dropped.tolist() == [3, 4, 5]


def test_sparse_rows_give_the_same(prices):
    dummies = np.eye(4)[np.arange(60) % 4]
    table = np.column_stack([prices + 1e5, dummies, prices[:, 0] - prices[:, 1]])
    dense, csr = found_in(table), found_in(sparse.csr_array(table))
    assert dense.dropped.tolist() == csr.dropped.tolist() == [6, 7]
    assert np.allclose(dense.directions, csr.directions, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_planted_dependences_are_found_and_no_others(seed, way):
    draw = np.random.default_rng(seed)
    n, free, planted = 80, int(draw.integers(1, 9)), int(draw.integers(1, 4))
    base = draw.standard_normal((n, free)) * 10.0 ** draw.integers(-4, 5, free) + draw.standard_normal(free)
    mix = np.round(draw.uniform(1, 9, (free, planted)), 1) / np.abs(base).max(axis=0)[:, None]
    table = np.column_stack([base, base @ mix + 0.25])
    found = found_in(table)
    assert found.keep.tolist() == list(range(free))
    assert np.allclose(found.directions[:free], -mix, rtol=1e-6, atol=1e-9 * np.abs(mix).max())


def test_a_list_of_kept_columns_is_proved_or_not(prices):
    table = np.column_stack([prices, prices[:, 0] - prices[:, 1]])
    engine = engine_of(table)
    for keep in ([0, 1, 2], [0, 2, 3], [1, 2, 3]):
        assert check(engine, True, np.array(keep)).keep.tolist() == keep
    for keep in ([0, 1], [0, 1, 3], []):
        assert check(engine, True, np.array(keep, dtype=np.int64)) is None
    assert check(engine, True, np.arange(4)).dropped.tolist() == []


def test_rows_in_many_chunks_give_the_same(prices, way, monkeypatch):
    table = np.column_stack([prices, prices[:, 0] - prices[:, 1]])
    whole = found_in(table)
    monkeypatch.setattr(module, "NUMBERS_AT_ONCE", 32)
    parts = found_in(table)
    assert parts.dropped.tolist() == whole.dropped.tolist() == [3]
    assert np.allclose(parts.directions, whole.directions, atol=1e-12)
