"""Packed columns: the loss on them, the model's minimum, and that nothing depends on threads or on where calls end."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
import twins
from separatrix.engines.memory.blocks import block_of
from separatrix.kernels import Labels, _kernels
from separatrix.kernels.columns import ColumnProblem
from separatrix.terms.penalised import PenalisedLoss


def problem_of(table, codes, weights, constant, ridge):
    block = block_of(table)
    weight = float(len(codes) if weights is None else weights.sum())
    labels = Labels(codes.astype(np.int32), weights)
    return ColumnProblem(block.rows, labels, block.entries_per_row, weight, constant, ridge), block.sparse


def drawn(seed, n=40, d=9):
    draw = np.random.default_rng(seed)
    X = draw.integers(-3, 4, size=(n, d)) * (draw.random((n, d)) < 0.4)
    codes = draw.integers(0, 2, n)
    return draw, X.astype(np.float64), codes


def gathered(X, codes, weights, which, shift, constant, ridge, point):
    """Value, gradient and Hessian of the average loss on some columns, from dense ones in NumPy."""
    A = X[:, which] - shift
    A = np.column_stack([A, np.ones(len(A))]) if constant else A
    a = (np.ones(len(A)) if weights is None else weights) / (len(A) if weights is None else weights.sum())
    sign, score = 2.0 * codes - 1.0, A @ point
    pi = 1.0 / (1.0 + np.exp(-score))
    kept = np.ones(len(point)) if not constant else np.append(np.ones(len(which)), 0.0)
    value = a @ np.logaddexp(0.0, -sign * score) + 0.5 * ridge * (kept * point) @ point
    slope = a * (pi - codes)
    hessian = (A * (a * pi * (1.0 - pi))[:, None]).T @ A + ridge * np.diag(kept)
    return value, A.T @ slope + ridge * kept * point, hessian


@pytest.mark.parametrize("layout", tables.LAYOUTS)
@pytest.mark.parametrize("constant", [False, True])
def test_the_loss_on_packed_columns_of_every_layout(layout, constant):
    draw, X, codes = drawn(1)
    weights = draw.integers(0, 3, len(X)).astype(float)
    problem, sparse = problem_of(tables.LAYOUTS[layout](X), codes, weights, constant, 0.3)
    for which in (np.array([1, 4, 8]), np.arange(9), np.array([], dtype=np.int64), np.array([7])):
        shift = np.zeros(len(which)) if sparse else draw.normal(size=len(which))
        problem.choose(which, shift)
        point = draw.normal(size=len(which) + constant)
        value, gradient, _ = gathered(X, codes, weights, which, shift, constant, 0.3, point)
        here = problem.evaluate(point)
        assert here.value == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(here.gradient, gradient, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_a_step_ends_at_the_models_minimum(seed, sparse, constant):
    draw, X, codes = drawn(seed)
    ridge = float(draw.choice([0.0, 0.1]))
    problem, _ = problem_of(tables.LAYOUTS["csr" if sparse else "c"](X), codes, None, constant, ridge)
    which = np.sort(draw.choice(9, 6, replace=False))
    problem.choose(which, np.zeros(6))
    point = draw.normal(size=6 + constant) * draw.integers(0, 2, 6 + constant)
    penalty = np.append(draw.random(6) * 0.1, np.zeros(int(constant)))
    here = problem.evaluate(point)
    _, gradient, hessian = gathered(X, codes, None, which, np.zeros(6), constant, ridge, point)
    diagonal = problem.renew()
    if constant:  # the constant is at its best for every step
        centred = hessian - np.outer(hessian[-1], hessian[-1]) / hessian[-1, -1]
        np.testing.assert_allclose(diagonal[:-1], centred.diagonal()[:-1], atol=1e-14)
    step = problem.step(here, penalty, 1e-26, 1e5)
    slope, at = gradient + hessian @ step, point + step
    off = np.where(at != 0, np.abs(slope + penalty * np.sign(at)), np.maximum(np.abs(slope) - penalty, 0))
    assert off.max() <= 1e-8
    best = twins.quadratic(hessian, gradient, point, penalty, step)
    for _ in range(20):
        other = step + 0.1 * draw.normal(size=len(step))
        assert twins.quadratic(hessian, gradient, point, penalty, other) >= best - 1e-12


def test_columns_that_nearly_depend_on_each_other_do_not_stall_a_step():
    draw = np.random.default_rng(2)
    X = draw.normal(size=(200, 1)) + 1e-3 * draw.normal(size=(200, 8))
    codes = (X[:, 0] + draw.logistic(size=200) > 0).astype(np.int32)
    problem, _ = problem_of(X, codes, None, True, 1e-9)
    problem.choose(np.arange(8), X.mean(axis=0))
    here = problem.evaluate(np.zeros(9))
    problem.renew()
    step = problem.step(here, np.append(np.full(8, 1e-9), 0.0), 1e-22, 3000.0)
    _, gradient, hessian = gathered(X, codes, None, np.arange(8), X.mean(axis=0), True, 1e-9, np.zeros(9))
    assert np.abs(gradient + hessian @ step).max() <= 1e-8


@pytest.mark.parametrize("sparse", [False, True])
def test_a_step_in_many_calls_ends_where_one_call_does(sparse, monkeypatch):
    from separatrix.kernels import columns

    _draw, X, codes = drawn(3, 80, 30)
    found = []
    for work in (5e7, 150.0):
        monkeypatch.setattr(columns, "CALL_WORK", work)
        problem, _ = problem_of(tables.LAYOUTS["csr" if sparse else "c"](X), codes, None, True, 0.01)
        problem.choose(np.arange(30), np.zeros(30))
        here = problem.evaluate(np.zeros(31))
        problem.renew()
        found.append(problem.step(here, np.append(np.full(30, 0.01), 0.0), 1e-26, 1e5))
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


@pytest.mark.parametrize("sparse", [False, True])
def test_threads_change_no_bit_of_packed_columns(sparse, monkeypatch):
    from separatrix.kernels import columns

    _draw, X, codes = drawn(4, 300, 40)
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(columns, "thread_count", lambda threads=threads: threads)
        monkeypatch.setattr(columns, "THREAD_WORK", 0)
        problem, _ = problem_of(tables.LAYOUTS["csr" if sparse else "c"](X), codes, None, True, 0.01)
        problem.choose(np.arange(40), np.zeros(40))
        point = np.linspace(-1.0, 1.0, 41)
        found.append(np.concatenate([problem.evaluate(point).gradient, problem.renew()]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_what_is_asked_out_of_turn_is_refused():
    from separatrix.kernels import _kernels

    _, X, codes = drawn(5)
    rows = block_of(X).rows
    held = _kernels.ColumnProblem(codes.astype(np.int32), None, 40.0, True, 0.0)
    which, nowhere = np.arange(9), np.zeros(9)
    with pytest.raises(ValueError, match="count before"):
        held.choose(rows, which, nowhere)
    with pytest.raises(ValueError, match="follow each other"):
        held.count(rows, 3, 40)
    held.count(rows, 0, 40)
    with pytest.raises(ValueError, match="out of range"):
        held.choose(rows, which + 1, nowhere)
    held.choose(rows, which, nowhere)
    with pytest.raises(ValueError, match="coefficient"):
        held.evaluate(np.zeros(10), 1)
    with pytest.raises(ValueError, match="before you renew"):
        held.renew(1)
    with pytest.raises(ValueError, match="must be those"):
        held.copy(block_of(X[:, :8]).rows, 0, 40)
    held.copy(rows, 0, 40)
    held.evaluate(np.zeros(10), 1)
    with pytest.raises(ValueError, match="before you begin"):
        held.begin(np.zeros(10), np.zeros(10), np.zeros(10))
    held.renew(1)
    with pytest.raises(ValueError, match="before you descend"):
        held.descend(0.0, 1e6)


def test_the_objective_on_columns_is_that_of_the_rows():
    from separatrix.engines import MemoryEngine

    draw, X, codes = drawn(6)
    objective = PenalisedLoss(MemoryEngine(block_of(X), codes.astype(np.int32)), True, 0.2, X.mean(axis=0))
    which = np.array([0, 3, 5])
    problem, part = objective.on_columns(), objective.narrowed(which)
    problem.choose(which, objective.shift[which])
    point = draw.normal(size=4)
    here, there = problem.evaluate(point), part.evaluate(point)
    assert here.value == pytest.approx(there.value, rel=1e-14)
    np.testing.assert_allclose(here.gradient, there.gradient, atol=1e-15)
    assert here.slope_size == pytest.approx(there.slope_size, rel=1e-14)


def test_rows_that_were_not_counted_are_refused():
    """Before, they were written out of place."""
    n, d = 200, 7
    few, full = sp.csr_array(([1.0], ([0], [0])), shape=(n, d)), sp.csr_array(np.ones((n, d)))
    for first, second in ((few, full), (full, few), (few.tocsc(), full.tocsc()), (few, full.tocsc())):
        problem = _kernels.ColumnProblem(np.zeros(n, np.int32), None, 1.0, True, 0.1)
        problem.count(block_of(first).rows, 0, n)
        problem.choose(block_of(second).rows, np.arange(d), np.zeros(d))
        with pytest.raises(ValueError, match="not those that were counted"):
            problem.copy(block_of(second).rows, 0, n)
        with pytest.raises(ValueError, match="one coefficient per column"):
            problem.evaluate(np.zeros(d + 1), 1)


def test_a_model_of_no_columns_ends_and_nonsense_is_refused():
    rows = block_of(np.ones((20, 3))).rows
    problem = _kernels.ColumnProblem(np.zeros(20, np.int32), None, 20.0, True, 0.1)
    problem.count(rows, 0, 20)
    with pytest.raises(ValueError, match="chosen once"):
        problem.choose(rows, np.array([1, 1]), np.zeros(2))
    problem.choose(rows, np.empty(0, np.int64), np.empty(0))
    problem.copy(rows, 0, 20)
    problem.evaluate(np.zeros(1), 1)
    problem.renew(1)
    problem.begin(np.ones(1), np.zeros(1), np.zeros(1))
    for tol in (-1.0, np.nan):
        with pytest.raises(ValueError, match="tol"):
            problem.descend(tol, 1e9)
    assert problem.descend(0.0, 1e9)
