"""The compiled sweep against its twin: the same mistakes and the same bits, rows skipped or not."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
import twins
from separatrix import kernels
from separatrix.core.sweeping import SweepState
from separatrix.engines import MemoryEngine, block_of
from separatrix.kernels import _kernels
from separatrix.terms.perceptron import Lengths, PerceptronRule, Schedule

DENSE = [
    "c",
    "fortran",
    "strided",
    "backwards",
    "unaligned",
    "read-only",
    "swapped",
    "pandas",
    "polars-chunks",
    "arrow",
]
SPARSE = ["csr", "csc", "csr64", "coo", "csr_matrix"]


def engine_of(X, codes, weights=None):
    return MemoryEngine(block_of(X), codes, 2, weights)


def with_leeway(state, engine, rule):
    """Let the state skip rows, by a reference at its own weights."""
    engine.refer(rule, state)
    return state


@pytest.mark.parametrize("layout", DENSE)
@settings(max_examples=25, deadline=None)
@given(problem=tables.labelled(), constant=st.booleans(), margin=st.sampled_from([0.0, 1.5]), seed=st.integers(0, 99))
def test_every_visit_has_the_twins_bits(layout, problem, constant, margin, seed):
    X, codes, weights, point = problem
    start = point if constant else point[:-1]
    order = np.random.default_rng(seed).integers(0, len(X), 3 * len(X))
    rule = PerceptronRule(1, constant, Schedule(0.3, "invscaling"), margin)
    engine = engine_of(tables.LAYOUTS[layout](X), codes, weights)
    state = SweepState(start.copy())
    rates = rule.rates(1, len(order))
    signs = np.where(codes == 1, 1.0, -1.0)
    path, mistakes = twins.perceptron(X, signs, start, order, rates, margin, weights, constant)
    for k in range(len(order)):
        engine.sweep(rule, state, order, k, k + 1)
        np.testing.assert_array_equal(state.point, path[k])
    assert state.mistakes == mistakes.sum()
    assert state.visits == len(order)
    again = SweepState(start.copy())
    engine.sweep(rule, again, order)
    np.testing.assert_array_equal(again.point, path[-1])


@pytest.mark.parametrize("layout", SPARSE)
@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 40), d=st.integers(1, 9), seed=st.integers(0, 10**6))
def test_sparse_rows_make_the_same_mistakes(layout, n, d, seed):
    # whole numbers: every order of addition gives the same bits
    X = tables.values(n, d, "int32", seed).astype(float)
    codes = np.random.default_rng(seed).integers(0, 2, n).astype(np.int32)
    order = np.tile(np.arange(n), 3)
    path, mistakes = twins.perceptron(X, np.where(codes == 1, 1.0, -1.0), np.zeros(d + 1), order, np.ones(3 * n))
    state = SweepState(np.zeros(d + 1))
    engine = engine_of(tables.LAYOUTS[layout](X), codes)
    for _ in range(3):
        engine.sweep(PerceptronRule(), state)
    np.testing.assert_array_equal(state.point, path[-1])
    assert state.mistakes == mistakes.sum()


@settings(max_examples=300, deadline=None)
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 20),
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-170, 1e-150, 1e-8, 1.0, 1e8, 1e140]),
    flat=st.booleans(),
    margin=st.sampled_from([0.0, 2.0]),
    layout=st.sampled_from(["c", "csr", "fortran", "float32", "unaligned"]),
)
def test_skipping_changes_no_bit(n, d, seed, scale, flat, margin, layout):
    """Columns of very different size, rows near the boundary, underflow: the skipped rows are never mistakes."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) * (scale ** draw.random(d) if flat else scale)
    w = draw.normal(size=d)
    codes = (X / scale @ w > 0).astype(np.int32)
    codes[draw.random(n) < 0.05] ^= 1
    rule = PerceptronRule(margin=margin)
    if layout == "float32":
        X = np.clip(X, -1e38, 1e38).astype(np.float32)
    engine = engine_of(X if layout == "float32" else tables.LAYOUTS[layout](X), codes)
    plain, quick = SweepState(np.zeros(d + 1)), SweepState(np.zeros(d + 1))
    for epoch in range(12):
        order = draw.permutation(n)
        if epoch % 4 == 2:
            with_leeway(quick, engine, rule)
        if epoch == 5:
            quick.sketch = engine.sketch()
            assert (quick.sketch is None) == (layout == "csr")
        engine.sweep(rule, plain, order)
        engine.sweep(rule, quick, order)
        assert plain.mistakes == quick.mistakes
        np.testing.assert_array_equal(plain.point, quick.point)


@settings(max_examples=100, deadline=None)
@given(
    n=st.integers(1, 30), d=st.integers(1, 40), seed=st.integers(0, 10**6),
    scale=st.sampled_from([0.0, 1e-300, 1e-20, 1.0, 1e20, 1e300, np.inf, np.nan]),
)  # fmt: skip
def test_a_sketch_is_as_far_off_as_it_says(n, d, seed, scale):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[0] = X[0] * scale
    sketch = engine_of(X, np.zeros(n, np.int32)).sketch()
    begin = -sketch.ctypes.data % 64
    numbers = -(-d // 16) * 16
    records = sketch[begin : begin + n * (numbers + 16)].reshape(n, numbers + 16)
    step, error, length, _ = records[:, numbers:].copy().view(np.float32).T.astype(np.float64)
    assert (records[:, d:numbers] == 0).all()
    known = np.isfinite(error)
    assert known[1:].all()
    off = X[known] - step[known, None] * records[known, :d]
    assert (np.linalg.norm(off, axis=1) <= error[known]).all()
    assert (np.linalg.norm(X[known], axis=1) <= length[known]).all()
    assert (error[1:] <= 0.006 * np.sqrt(d) * np.abs(X[1:]).max(axis=1) + 1e-12).all()
    assert known[0] == (scale in (0.0, 1e-20, 1.0, 1e20))


def test_a_sketch_settles_most_visits_and_changes_none():
    draw = np.random.default_rng(2)
    X = draw.normal(size=(3000, 20))
    codes = (X @ draw.normal(size=20) > 0).astype(np.int32)
    engine, rule = engine_of(X, codes), PerceptronRule()
    plain, quick = SweepState(np.zeros(21)), SweepState(np.zeros(21), sketch=engine.sketch())
    for epoch in range(6):
        order = draw.permutation(3000).astype(np.int32 if epoch % 2 else np.int64)
        with_leeway(quick, engine, rule)
        engine.sweep(rule, plain, order)
        engine.sweep(rule, quick, order)
        np.testing.assert_array_equal(plain.point, quick.point)
        assert plain.mistakes == quick.mistakes
    assert quick.skipped > 3 * 3000
    with pytest.raises(ValueError):
        engine.sweep(rule, SweepState(np.zeros(21), sketch=quick.sketch))
    assert engine_of(np.ones((5, 2), np.int16), np.zeros(5, np.int32)).sketch() is None


def test_rows_are_skipped_where_it_pays():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(3000, 10))
    codes = (X[:, 0] > 0).astype(np.int32)
    X[:, 0] += np.sign(X[:, 0])
    engine, rule, state = engine_of(X, codes), PerceptronRule(), SweepState(np.zeros(11))
    for _ in range(3):
        engine.sweep(rule, state)
    with_leeway(state, engine, rule)
    engine.sweep(rule, state)
    assert state.skipped > 2900


@settings(max_examples=100, deadline=None)
@given(
    d=st.integers(1, 12), seed=st.integers(0, 10**6), scale=st.sampled_from([1e-300, 1e-160, 1.0, 1e160, 1e300]),
    constant=st.booleans(),
)  # fmt: skip
def test_lengths_are_never_too_short(d, seed, scale, constant):
    X = np.random.default_rng(seed).normal(size=(5, d)) * scale
    for table in (X, tables.LAYOUTS["csr"](X)):
        lengths = engine_of(table, np.zeros(5, np.int32)).map(Lengths(constant), np.empty((1, 0))).array()[:, 0]
        for row, length in zip(X, lengths, strict=True):
            exact = sum(Fraction(float(x)) ** 2 for x in row) + constant
            assert Fraction(float(length)) ** 2 >= exact
            if 1e-100 < scale < 1e100:
                assert float(length) ** 2 <= float(exact) * (1 + 1e-13)


def test_a_length_shows_what_is_not_finite():
    X = np.ones((3, 2))
    X[1, 1] = np.nan
    X[2, 0] = np.inf
    lengths = engine_of(X, np.zeros(3, np.int32)).map(Lengths(True), np.empty((1, 0))).array()[:, 0]
    np.testing.assert_array_equal(np.isfinite(lengths), [True, False, False])


@pytest.mark.parametrize("start", [0, 1, 7, 100])
def test_the_average_is_the_mean_of_the_weights_after_each_visit(start):
    X = tables.values(30, 4, "float64", 1)
    codes = np.random.default_rng(2).integers(0, 2, 30).astype(np.int32)
    order = np.tile(np.arange(30), 2)
    path, _ = twins.perceptron(X, np.where(codes == 1, 1.0, -1.0), np.zeros(5), order, np.ones(60))
    for shrink in (0.0, 1e-12):  # a penalty too small to matter takes the other way
        rule = PerceptronRule(average_from=start, shrink=shrink)
        state = SweepState(np.zeros(5), total=np.zeros(5))
        engine = engine_of(X, codes)
        engine.sweep(rule, state, order)
        expected = path[start:].mean(axis=0) if start < 60 else path[-1]
        np.testing.assert_allclose(rule.average(state), expected, rtol=1e-9)


def test_the_longest_run_and_its_weights():
    X = tables.values(50, 3, "float64", 5)
    codes = np.random.default_rng(6).integers(0, 2, 50).astype(np.int32)
    order = np.tile(np.arange(50), 4)
    path, mistakes = twins.perceptron(X, np.where(codes == 1, 1.0, -1.0), np.zeros(4), order, np.ones(200))
    ends = np.flatnonzero(mistakes)
    runs = np.diff(np.concatenate([[-1], ends])) - 1
    state = SweepState(np.zeros(4), run_point=np.zeros(4))
    engine_of(X, codes).sweep(PerceptronRule(), state, order)
    assert state.longest_run == runs.max()
    np.testing.assert_array_equal(state.run_point, path[ends[runs.argmax()] - 1])


def test_a_shuffle_is_a_permutation_that_its_seed_decides():
    orders = []
    for seed in range(2000):
        order = np.arange(5, dtype=np.int64)
        kernels.shuffle(order, seed)
        assert sorted(order) == [0, 1, 2, 3, 4]
        orders.append(tuple(order))
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 120
    assert counts.max() < 45  # 16.7 expected in each of 120
    again = np.arange(5, dtype=np.int64)
    kernels.shuffle(again, 7)
    assert tuple(again) == orders[7]


def test_the_kernel_refuses_what_does_not_fit():
    rows = block_of(np.ones((3, 2))).rows
    codes = np.zeros(3, np.int32)

    def sweep(order=None, point=3, counters=9, last=3, rates=None):
        _kernels.perceptron(
            rows, codes, 1, None, order, True, 1.0, rates, 0.0, 0.0, 0.0, -1, np.zeros(point), np.zeros(counters),
            None, None, None, None, None, None, None, 0, last,
        )  # fmt: skip

    sweep()
    for wrong in (
        {"order": np.array([0, 3, 1])}, {"order": np.array([0, -1, 1])}, {"point": 2}, {"counters": 8}, {"last": 4},
        {"rates": np.ones(2)},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            sweep(**wrong)
    csc = block_of(tables.LAYOUTS["csc"](np.ones((3, 2)))).rows
    with pytest.raises(ValueError):
        _kernels.row_lengths(csc, True, np.empty(3), 0, 3, 1, 1)
    with pytest.raises(LookupError):
        kernels.sweep_kernel("perceptron", "csc")


def test_the_same_bits_for_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(4000, 7))
    rows = block_of(X).rows
    results = []
    for threads in (1, 2, 5):
        out = np.empty(4000)
        _kernels.row_lengths(rows, True, out, 0, 4000, 9, threads)
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
