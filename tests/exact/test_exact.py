"""Exact arithmetic on floats, against fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact_simplex import exact_rank
from separatrix import kernels
from separatrix.exact.arithmetic import combination, null_space, parts_of, primes, rounded, scaled_integers
from separatrix.kernels import stretches
from tables import LAYOUTS

finite = st.floats(allow_nan=False, allow_infinity=False)


def exact(vectors, row):
    return sum(
        (Fraction(float(a)) * Fraction(float(b)) for v in vectors for a, b in zip(v, row, strict=True)), Fraction(0)
    )


@settings(max_examples=400, deadline=None)
@given(st.integers(1, 6).flatmap(lambda p: st.tuples(*(st.lists(finite, min_size=p, max_size=p) for _ in range(3)))))
def test_sums_of_products_are_rounded_once_whatever_their_size(numbers):
    row, first, second = (np.array(part) for part in numbers)
    (value,) = kernels.exact_products(kernels.dense_rows(row[None]), np.array([0]), np.array([[first, second]]), False)[
        0
    ]
    truth = exact([first, second], row)
    assert np.sign(value) == (truth > 0) - (truth < 0)
    if Fraction(1, 10**290) < abs(truth) < Fraction(10**300):
        assert abs(Fraction(float(value)) - truth) <= abs(truth) * Fraction(1, 2**51)


def test_cancellation_of_every_digit_is_zero_and_one_unit_is_not():
    X = np.array([[1e300, -1e300, 5e-324], [1e300, -1e300, 0.0]])
    out = kernels.exact_products(kernels.dense_rows(X), np.arange(2), np.array([[[1e-300, 1e-300, 1e-300]]]), False)
    assert out[0, 0] > 0
    assert out[1, 0] == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_and_brackets_agree_over_layouts(layout):
    draw = np.random.default_rng(3)
    X = np.round(draw.normal(size=(40, 5)), 3) * (draw.random((40, 5)) < 0.6)
    v = draw.normal(size=6)
    from separatrix.engines import block_of

    block = block_of(LAYOUTS[layout](X))
    out = kernels.exact_products(block.rows, np.arange(40), v[None, None], True)[:, 0]
    product, size = stretches.brackets(block.rows, v, True, 0, block.shape[0], block.entries_per_row)
    truth = np.array([float(exact([v], [*row, 1.0])) for row in X])
    np.testing.assert_allclose(out, truth, rtol=1e-15)
    assert (np.abs(product - truth) <= 8 * 2.0**-53 * size).all()
    np.testing.assert_allclose(size, np.abs(X) @ np.abs(v[:5]) + abs(v[5]), rtol=1e-14)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7), st.booleans())
def test_null_space_is_exact_and_complete(seed, m, p, decimals):
    draw = np.random.default_rng(seed)
    A = draw.integers(-3, 4, (m, p)) * (0.1 if decimals else 1.0)
    if p > 2:
        A[:, -1] = A[:, 0] + A[:, 1]
    found = null_space(A)
    assert found.rank == exact_rank(A) == exact_rank(A[found.rows])
    assert found.rank + len(found.vectors) == p
    for vector in found.vectors:
        for row in A:
            assert sum(Fraction(float(a)) * b for a, b in zip(row, vector, strict=True)) == 0


def test_null_vectors_of_a_thousand_bits():
    draw = np.random.default_rng(1)
    A = draw.normal(size=(25, 27))
    found = null_space(A)
    assert found.rank == 25
    for vector in found.vectors:
        assert max(abs(entry).bit_length() for entry in vector) > 1000
        for row in A:
            assert sum(Fraction(float(a)) * b for a, b in zip(row, vector, strict=True)) == 0


def test_primes_are_primes():
    assert [p for p, _ in zip(primes(), range(5), strict=False)] == [
        2147483647,
        2147483629,
        2147483587,
        2147483579,
        2147483563,
    ]
    for prime, _ in zip(primes(), range(20), strict=False):
        assert all(prime % k for k in range(2, math.isqrt(prime) + 1))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-(2**900), 2**900), min_size=1, max_size=5))
def test_parts_add_up_to_the_integers(vector):
    parts = parts_of(vector)
    assert [sum(int(part[j]) for part in parts) for j in range(len(vector))] == vector


def test_small_pieces():
    assert combination([[2, 0], [0, 2]], [1, 2]) == [1, 2]
    assert scaled_integers(np.array([0.0, 0.0]), 5) == [0, 0]
    assert rounded([0, 0]).tolist() == [0.0, 0.0]
    assert parts_of([2**1001]) is None
    assert np.isfinite(rounded([2**5000, -1])).all()
