"""The compiled descent against its twin, and against the perceptron's kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
import twins
from separatrix.core.sweeping import SweepState
from separatrix.engines import MemoryEngine, block_of
from separatrix.kernels import _kernels
from separatrix.terms.perceptron import PerceptronRule, Schedule
from separatrix.terms.sgd import DescentRule, Rates

LAYOUTS = ["c", "fortran", "unaligned", "swapped", "pandas", "arrow", "csr", "csc", "csr64"]


def swept(engine, rule, start, order, average=False):
    state = SweepState(start.ravel().copy(), total=np.zeros(start.size) if average else None)
    engine.sweep(rule, state, order)
    return state


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 30),
    d=st.integers(1, 10),
    outputs=st.sampled_from([1, 3, 4]),
    batch=st.integers(1, 7),
    shrink=st.sampled_from([0.0, 0.3, 40.0]),
    truncate=st.sampled_from([0.0, 0.05, 3.0]),
    weighted=st.booleans(),
    constant=st.booleans(),
    average_from=st.integers(0, 5),
    seed=st.integers(0, 10**6),
)
def test_steps_are_those_of_the_formulas(
    layout, n, d, outputs, batch, shrink, truncate, weighted, constant, average_from, seed
):
    draw = np.random.default_rng(seed)
    X = np.where(draw.random((n, d)) < 0.6, draw.normal(size=(n, d)), 0.0)
    codes = draw.integers(0, max(outputs, 2), n).astype(np.int32)
    weights = draw.random(n) + 0.1 if weighted else None
    start = draw.normal(size=(outputs, d + constant))
    order = draw.permutation(n)
    schedule = Rates("invscaling", 0.7)
    path, met = twins.descent(X, codes, start, order, schedule.rates(1, n), batch, shrink, truncate, weights, constant)
    engine = MemoryEngine(block_of(tables.LAYOUTS[layout](X)), codes, max(outputs, 2), weights)
    mean = 1.0 if weights is None else float(weights.mean())
    rule = DescentRule(schedule, outputs, constant, batch, shrink, truncate, mean, average_from)
    state = swept(engine, rule, start, order, average=True)
    np.testing.assert_allclose(state.point.reshape(outputs, -1), path[-1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state.error, met, rtol=1e-9)
    assert (state.visits, state.steps) == (n, len(path))
    if len(path) > average_from:
        wanted = path[average_from:].mean(axis=0)
        np.testing.assert_allclose(rule.average(state).reshape(outputs, -1), wanted, rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_array_equal(rule.average(state), state.point)
    plain = swept(engine, rule, start, order)
    np.testing.assert_allclose(plain.point, state.point, rtol=1e-9, atol=1e-9)  # an average changes nothing


@settings(max_examples=60, deadline=None)
@given(problem=tables.labelled(), constant=st.booleans(), zero=st.booleans(), seed=st.integers(0, 99))
def test_with_the_most_probable_label_it_is_the_perceptron(problem, constant, zero, seed):
    X, codes, weights, point = problem
    start = point if constant else point[:-1]
    start = np.zeros_like(start) if zero else start  # all rows tie at the first visit
    order = np.random.default_rng(seed).integers(0, len(X), 3 * len(X))
    engine = MemoryEngine(block_of(X), codes, 2, weights)
    ours = SweepState(start.copy())
    theirs = SweepState(start.copy())
    online = DescentRule(Rates("constant", 0.3), constant=constant, hard=True)
    perceptron = PerceptronRule(1, constant, Schedule(0.3))
    for k in range(len(order)):
        engine.sweep(online, ours, order, k, k + 1)
        engine.sweep(perceptron, theirs, order, k, k + 1)
        np.testing.assert_array_equal(ours.point, theirs.point)


def test_hard_labels_of_many_classes():
    draw = np.random.default_rng(5)
    X, codes = draw.normal(size=(40, 4)), draw.integers(0, 3, 40).astype(np.int32)
    start, order = 0.01 * draw.normal(size=(3, 5)), np.arange(40)  # no ties
    path, _ = twins.descent(X, codes, start, order, np.full(40, 0.2), hard=True)
    engine = MemoryEngine(block_of(X), codes, 3)
    state = swept(engine, DescentRule(Rates("constant", 0.2), 3, hard=True), start, order)
    np.testing.assert_allclose(state.point.reshape(3, -1), path[-1], atol=1e-12)


def test_a_pass_cut_at_any_batch_has_the_same_bits():
    draw = np.random.default_rng(2)
    X, codes = draw.normal(size=(100, 5)), draw.integers(0, 2, 100).astype(np.int32)
    engine = MemoryEngine(block_of(X), codes)
    rule = DescentRule(Rates("auto", 0.3), batch=7)
    whole = swept(engine, rule, np.zeros((1, 6)), None)
    pieces = SweepState(np.zeros(6))
    for first in range(0, 100, 21):
        engine.sweep(rule, pieces, None, first, min(first + 21, 100))
    np.testing.assert_array_equal(whole.point, pieces.point)
    assert whole.steps == pieces.steps == 15


def test_bad_tasks_are_refused():
    rows = block_of(np.ones((3, 2))).rows
    codes, point, counters = np.zeros(3, np.int32), np.zeros(3), np.zeros(9)

    def call(**changes):
        arguments = {
            "rows": rows, "codes": codes, "weights": None, "order": None, "outputs": 1, "constant": True,
            "hard": False, "batch": 1, "mean_weight": 1.0, "rates": np.ones(3), "shrink": 0.0, "truncate": 0.0,
            "unaveraged": 0, "point": point, "counters": counters, "total": None, "first": 0, "last": 3,
        } | changes  # fmt: skip
        _kernels.descent(**arguments)

    call()
    for bad in (
        {"codes": np.full(3, 2, np.int32)},
        {"outputs": 2, "point": np.zeros(6)},
        {"batch": 0},
        {"rates": np.ones(2)},
        {"point": np.zeros(2)},
        {"total": np.zeros(2)},
        {"order": np.array([0, 3])},
        {"last": 4},
        {"weights": np.ones(2)},
    ):
        with pytest.raises(ValueError):
            call(**bad)
