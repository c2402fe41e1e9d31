"""Moments keep the spread of far columns, and merge to the same as one pass."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.engines import MemoryEngine, block_of
from separatrix.terms.moments import class_moments


def moments(X, codes, classes=2, weights=None, each=False):
    return class_moments(MemoryEngine(block_of(X), codes.astype(np.int32), classes, weights), classes, each)


def exact(X, codes, k):
    rows = [[Fraction(float(v)) for v in row] for row, code in zip(X, codes, strict=True) if code == k]
    n, d = len(rows), len(rows[0])
    mean = [sum(row[j] for row in rows) / n for j in range(d)]
    scatter = [[sum((r[i] - mean[i]) * (r[j] - mean[j]) for r in rows) for j in range(d)] for i in range(d)]
    return np.array(mean, dtype=float), np.array(scatter, dtype=float)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_column_at_1e9_keeps_its_variance(make):
    draw = np.random.default_rng(0)
    codes = np.arange(60) % 2
    X = np.column_stack([1e9 + draw.normal(size=60), -3e8 + draw.normal(size=60), draw.normal(size=60)])
    found = moments(make(X), codes, each=True)
    for k in (0, 1):
        mean, scatter = exact(X, codes, k)
        np.testing.assert_allclose(found.means[k], mean, rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(found.scatters[k], scatter, rtol=1e-12, atol=1e-11)


def test_classes_far_apart_keep_their_spread():
    draw = np.random.default_rng(1)
    codes = np.arange(50) % 2
    X = draw.normal(size=(50, 2)) + 1e9 * codes[:, None]
    found = moments(X, codes)
    expected = exact(X, codes, 0)[1] + exact(X, codes, 1)[1]
    np.testing.assert_allclose(found.scatter, expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), each=st.booleans(), offset=st.sampled_from([0.0, 1e8]))
def test_merged_moments_equal_those_of_all_rows(seed, each, offset):
    draw = np.random.default_rng(seed)
    X, codes = offset + draw.normal(size=(40, 3)), np.append([0, 1], draw.integers(0, 2, 38))
    weights = draw.random(40)
    cut = int(draw.integers(1, 39))
    whole = moments(X, codes, weights=weights, each=each)
    merged = moments(X[:cut], codes[:cut], weights=weights[:cut], each=each) + moments(
        X[cut:], codes[cut:], weights=weights[cut:], each=each
    )
    np.testing.assert_allclose(merged.weights, whole.weights, rtol=1e-14)
    np.testing.assert_allclose(merged.means, whole.means, rtol=1e-13, atol=1e-13)
    close = 1e-6 if offset else 1e-11
    np.testing.assert_allclose(merged.scatters, whole.scatters, rtol=close, atol=close)


def test_moments_of_many_classes_merge_without_a_matrix_for_each():
    """What 200 classes of 100 columns would take is 16 MB; their common scatter is 80 kB."""
    import tracemalloc

    from separatrix.terms.moments import ClassMoments

    draw = np.random.default_rng(0)
    one, two = (ClassMoments(draw.random(200) + 1.0, draw.normal(size=(200, 100)), np.eye(100)[None]) for _ in range(2))
    tracemalloc.start()
    both = one + two
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6
    apart = two.means - one.means
    share = one.weights * two.weights / (one.weights + two.weights)
    expected = 2.0 * np.eye(100) + np.einsum("k,ki,kj->ij", share, apart, apart)
    np.testing.assert_allclose(both.scatter, expected, rtol=1e-12, atol=1e-12)
