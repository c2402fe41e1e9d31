"""Factors of Hessians: steps, lengths, dependent columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.core.factor import factorise, independent, nudged

seeds = st.integers(0, 2**32 - 1)


def gram(draw, p, scales):
    A = draw.normal(size=(3 * p + 2, p)) * scales
    return A.T @ A


@given(seeds, st.integers(1, 12), st.floats(0, 12))
def test_solve_and_lengths_equal_numpys_inverse_whatever_the_scales(seed, p, decades):
    draw = np.random.default_rng(seed)
    scales = 10.0 ** draw.uniform(-decades, decades, p)
    H = gram(draw, p, scales)
    factor = factorise(H, np.zeros(p))
    assert factor is not None
    g = draw.normal(size=p)
    unit = np.diag(1 / scales)
    inverse = unit @ np.linalg.inv(unit @ H @ unit) @ unit
    np.testing.assert_allclose(factor.solve(g) * scales, (inverse @ g) * scales, rtol=1e-8, atol=1e-8 * abs(g).max())
    np.testing.assert_allclose(factor.inverse_lengths, np.sqrt(np.diagonal(inverse)), rtol=1e-8)


@given(seeds, st.integers(2, 8), st.integers(1, 4))
def test_independent_finds_the_rank(seed, p, extra):
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(40, p))
    X = np.column_stack([A, A @ draw.normal(size=(p, extra))])[:, draw.permutation(p + extra)]
    X = X * 10.0 ** draw.uniform(-6, 6, p + extra)
    keep = independent(X.T @ X, last_first=False)
    assert len(keep) == p
    assert np.linalg.matrix_rank(X[:, keep] / np.linalg.norm(X[:, keep], axis=0)) == p


def test_of_two_equal_columns_the_first_is_kept_and_the_constant_before_all():
    x = np.random.default_rng(0).normal(size=30)
    X = np.column_stack([x, x, np.full(30, 5.0), np.ones(30)])
    assert independent(X.T @ X, last_first=True).tolist() == [0, 3]
    assert independent(X.T @ X, last_first=False).tolist() == [0, 2]


def test_a_zero_column_is_dependent():
    X = np.column_stack([np.zeros(5), np.arange(5.0)])
    assert independent(X.T @ X, last_first=False).tolist() == [1]


def test_a_singular_matrix_is_not_factorised_but_nudged():
    H = np.ones((2, 2))
    assert factorise(H, np.zeros(2)) is None
    assert nudged(H, np.zeros(2)).share == 0.0
    with pytest.raises(FloatingPointError, match="not finite"):
        nudged(np.full((2, 2), np.nan), np.zeros(2))


@settings(max_examples=20)
@given(seeds)
def test_coordinates_that_are_not_kept_do_not_move(seed):
    draw = np.random.default_rng(seed)
    H = gram(draw, 4, np.ones(4))
    factor = factorise(H, np.zeros(4), keep=np.array([0, 2]))
    step = factor.solve(np.ones(4))
    assert step[[1, 3]].tolist() == [0, 0]
    np.testing.assert_allclose(H[np.ix_([0, 2], [0, 2])] @ step[[0, 2]], 1.0)
