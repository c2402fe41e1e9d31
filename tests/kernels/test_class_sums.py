"""Moments, counts and spreads of the classes against their NumPy twins, on every layout and type."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
import twins
from separatrix.engines import block_of
from separatrix.kernels import _kernels

SPARSE = {"csr", "csr_matrix", "csc", "csc_matrix", "csr64", "csc64", "coo"}


@pytest.mark.parametrize("layout", tables.LAYOUTS)
@settings(max_examples=40, deadline=None)
@given(problem=tables.labelled(columns=(1, 14)), classes=st.integers(1, 4), lanes=st.integers(1, 5), each=st.booleans())
def test_moments_kernel_equals_its_twin(layout, problem, classes, lanes, each):
    X, codes, weights, _ = problem
    codes = ((codes + np.arange(len(codes))) % classes).astype(np.int32)
    n, d = X.shape
    shift = np.zeros((classes, d)) if layout in SPARSE else np.random.default_rng(n).normal(size=(classes, d))
    rows = block_of(tables.LAYOUTS[layout](X)).rows
    sums = _kernels.moments(rows, codes, classes, weights, shift, each, 0, n, lanes, 2)
    total, means, scatters = twins.moments(X, codes, classes, weights)
    scale = 1 + np.abs(twins.dense(X)).max() ** 2 * n
    np.testing.assert_allclose(sums[:classes], total, rtol=1e-13)
    offsets = sums[classes : classes * (1 + d)].reshape(classes, d)
    np.testing.assert_allclose(offsets, total[:, None] * (means - shift), rtol=1e-11, atol=1e-13 * scale)
    about = np.array([s + w * np.outer(m - c, m - c) for s, w, m, c in zip(scatters, total, means, shift, strict=True)])
    got = sums[classes * (1 + d) :].reshape(-1, d, d)
    np.testing.assert_allclose(got, about if each else about.sum(axis=0)[None], rtol=1e-10, atol=1e-12 * scale)


@pytest.mark.parametrize("layout", tables.LAYOUTS)
@settings(max_examples=40, deadline=None)
@given(problem=tables.labelled(), lanes=st.integers(1, 5), threshold=st.sampled_from([0.0, 0.5, 1.0, -1.0, 300.0]))
def test_counts_kernel_equals_its_twin(layout, problem, lanes, threshold):
    X, codes, weights, _ = problem
    n, d = X.shape
    rows = block_of(tables.LAYOUTS[layout](X)).rows
    sums = _kernels.counts(rows, codes, 2, weights, threshold, False, 0, n, lanes, 2)
    total, ones = twins.counts(X, codes, 2, threshold, weights)
    np.testing.assert_array_equal(sums[:2], total)
    np.testing.assert_array_equal(sums[2:-1].reshape(2, d), ones)
    assert sums[-1] == 0


@pytest.mark.parametrize("dtype", ["uint8", "bool"])
def test_byte_counters_do_not_overflow(dtype):
    X = np.ones((3000, 37), dtype=dtype)
    X[::3] = 0
    codes = (np.arange(3000) % 2).astype(np.int32)
    sums = _kernels.counts(block_of(X).rows, codes, 2, None, 0.0, True, 0, 3000, 1, 1)
    assert sums[:2].tolist() == [1500, 1500]
    assert set(sums[2:-1].tolist()) == {1000}
    assert sums[-1] == 0


def test_strange_values_are_counted():
    codes = np.zeros(3, dtype=np.int32)
    for X, binary, strange in [
        (np.array([[1.0], [np.nan], [np.inf]]), False, 2),
        (np.array([[1.0], [0.0], [0.5]]), True, 1),
        (np.array([[1], [0], [7]], dtype=np.uint8), True, 1),
    ]:
        assert _kernels.counts(block_of(X).rows, codes, 1, None, 0.5, binary, 0, 3, 1, 1)[-1] == strange


@pytest.mark.parametrize("layout", ["c", "fortran", "csr", "csc", "pandas"])
@settings(max_examples=30, deadline=None)
@given(problem=tables.labelled(), seed=st.integers(0, 1000))
def test_spreads_kernel_equals_its_twin(layout, problem, seed):
    X, codes, _, _ = problem
    draw = np.random.default_rng(seed)
    centre, scale = draw.normal(size=(2, X.shape[1])), draw.random((2, X.shape[1]))
    out = np.empty(len(X))
    _kernels.spreads(block_of(tables.LAYOUTS[layout](X)).rows, codes, centre, scale, None, out, 0, len(X), 2, 2)
    np.testing.assert_allclose(out, twins.spreads(X, codes, centre, scale), rtol=1e-10, atol=1e-9)


def test_labels_out_of_range_are_refused():
    rows = block_of(np.ones((2, 1))).rows
    with pytest.raises(ValueError, match="label"):
        _kernels.counts(rows, np.array([0, 2], np.int32), 2, None, 0.0, False, 0, 2, 1, 1)
    with pytest.raises(ValueError, match="label"):
        _kernels.moments(rows, np.array([0, -1], np.int32), 2, None, np.zeros((2, 1)), False, 0, 2, 1, 1)


@pytest.mark.parametrize("sparse", [False, True])
def test_class_sums_have_the_same_bits_for_any_number_of_threads(sparse):
    draw = np.random.default_rng(3)
    X = draw.normal(size=(5000, 15)) * (draw.random((5000, 15)) < 0.5)
    block = block_of(tables.LAYOUTS["csr"](X) if sparse else X)
    codes, weights = draw.integers(0, 3, 5000).astype(np.int32), draw.random(5000)
    shift = np.zeros((3, 15))
    for run in (
        lambda t: _kernels.moments(block.rows, codes, 3, weights, shift, True, 0, 5000, 37, t),
        lambda t: _kernels.counts(block.rows, codes, 3, weights, 0.1, False, 0, 5000, 37, t),
    ):
        first = run(1)
        for threads in (2, 3, 7, 16):
            np.testing.assert_array_equal(run(threads), first)
