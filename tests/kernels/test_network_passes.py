"""A network's compiled passes against their NumPy twins; no cut of the work changes a bit."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import twins
from separatrix import kernels
from separatrix.engines import block_of
from separatrix.kernels import _kernels
from separatrix.kernels.network import NetworkPasses, Visits
from separatrix.solvers.network_updates import AdamUpdate, MomentumUpdate

TYPES = {np.float32: {"rtol": 2e-3, "atol": 2e-4}, np.float64: {"rtol": 1e-9, "atol": 1e-12}}


def case(units, rows, seed, dtype=np.float64):
    draw = np.random.default_rng(seed)
    X = np.where(draw.random((rows, units[0])) < 0.6, draw.normal(size=(rows, units[0])), 0.0).astype(dtype)
    codes = draw.integers(0, max(2, units[-1]), rows).astype(np.int32)
    size = sum((a + 1) * b for a, b in pairwise(units))
    return X, codes, draw.random(rows) + 0.5, (draw.normal(size=size) * 0.4).astype(dtype)


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns first": np.asfortranarray,
    "every other": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "sparse": lambda X: sp.csr_array(X.astype(np.float64)),
}


@settings(deadline=None, max_examples=60)
@given(
    inputs=st.integers(1, 40),
    hidden=st.lists(st.integers(1, 35), max_size=2),
    outputs=st.sampled_from([1, 3, 70]),
    activation=st.sampled_from(sorted(twins.ACTIVATIONS)),
    rows=st.integers(1, 700),
    batch=st.sampled_from([1, 7, 200, 600]),
    solver=st.sampled_from(["adam", "sgd", "nesterov"]),
    layout=st.sampled_from(sorted(LAYOUTS)),
    order=st.sampled_from([None, np.int32, np.int64]),
    dtype=st.sampled_from(sorted(TYPES, key=str)),
    weighted=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_an_epoch_is_its_twins(
    inputs, hidden, outputs, activation, rows, batch, solver, layout, order, dtype, weighted, seed
):
    units = (inputs, *hidden, outputs)
    X, codes, weights, flat = case(units, rows, seed, dtype)
    if not weighted:
        weights = np.ones(rows)
    if batch == 1:  # many steps would carry float32 far from its twin
        X, codes, weights = X[:40], codes[:40], weights[:40]
    which = np.random.default_rng(seed).permutation(len(X)) if order else np.arange(len(X))
    expected, m, v, steps = flat.astype(float), np.zeros(len(flat)), np.zeros(len(flat)), [0]

    def adam(w, g):
        steps[0] += 1
        m[:], v[:] = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        rate = 0.01 * np.sqrt(1 - 0.99 ** steps[0]) / (1 - 0.9 ** steps[0])
        w -= rate * m / (np.sqrt(v) + 1e-3)

    def momentum(w, g):
        m[:] = 0.9 * m - 0.01 * g
        w += 0.9 * m - 0.01 * g if solver == "nesterov" else m

    wanted = twins.network_epoch(
        units, activation, expected, X[which].astype(float), codes[which], weights[which], 0.3, batch,
        adam if solver == "adam" else momentum,
    )  # fmt: skip
    update = (
        AdamUpdate(len(flat), dtype, 0.01, 0.9, 0.99, 1e-3)
        if solver == "adam"
        else MomentumUpdate(len(flat), dtype, 0.01, "constant", 0.9, solver == "nesterov", 0.5)
    )
    block = block_of(LAYOUTS[layout](X))
    visits = Visits(
        block.rows, kernels.Labels(codes, weights if weighted else None), which.astype(order) if order else None
    )
    passes = NetworkPasses(units, activation, dtype, block.sparse, batch)
    found = passes.steps(visits, flat, np.empty_like(flat), update, 0.3, batch)
    np.testing.assert_allclose(flat, expected, **TYPES[dtype])
    assert found[0] == pytest.approx(wanted[0], rel=TYPES[dtype]["rtol"])
    if dtype is np.float64:
        assert found[1] == pytest.approx(wanted[1])
    if solver == "adam":
        assert update.steps == steps[0]


@settings(deadline=None, max_examples=30)
@given(
    inputs=st.integers(1, 60),
    hidden=st.lists(st.integers(1, 40), max_size=2),
    outputs=st.sampled_from([1, 4]),
    rows=st.integers(1, 900),
    layout=st.sampled_from(sorted(LAYOUTS)),
    seed=st.integers(0, 10**6),
)
def test_losses_are_their_twins(inputs, hidden, outputs, rows, layout, seed):
    units = (inputs, *hidden, outputs)
    X, codes, weights, flat = case(units, rows, seed)
    block = block_of(LAYOUTS[layout](X))
    passes = NetworkPasses(units, "tanh", np.float64, block.sparse, rows)
    loss, gradient = passes.losses(Visits(block.rows, kernels.Labels(codes, weights)), flat)
    expected, slopes, _ = twins.network_losses(units, "tanh", flat, X, codes, weights)
    assert loss == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-12)


def test_sums_of_more_numbers_than_a_panel_holds():
    units = (2500, 37, 3)
    X, codes, weights, flat = case(units, 50, 3)
    passes = NetworkPasses(units, "logistic", np.float64, False, 50)
    loss, gradient = passes.losses(Visits(block_of(X).rows, kernels.Labels(codes, weights)), flat)
    expected, slopes, _ = twins.network_losses(units, "logistic", flat, X, codes, weights)
    assert loss == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["FloatPassing", "DoublePassing"])
def test_pieces_calls_and_threads_change_no_bit(kind, sparse):
    dtype = np.float32 if kind == "FloatPassing" else np.float64
    units, batch, answers = [70, 45, 19, 3], 300, set()
    X, codes, weights, start = case(units, 1000, 1, dtype)
    block = block_of(sp.csr_array(X) if sparse else X)
    order = np.random.default_rng(0).permutation(1000).astype(np.int32)
    for rows, threads, pieces in [(8, 1, 1), (256, 1, 100), (64, 3, 1), (304, 2, 3), (16, 7, 2)]:
        passing = getattr(_kernels, kind)(units, 1, rows, sparse, threads)
        flat, gradient, mean, square = start.copy(), *np.zeros((3, len(start)), dtype)
        carried, at = np.zeros(4), 0
        while at < 1000:
            at = passing.steps(
                block.rows, order, None, codes, weights, flat, gradient, mean, square, 0.1, 0.9, 0.99, 1e-8, False,
                np.full(pieces, 0.01), batch, carried, at, pieces, threads,
            )  # fmt: skip
        total = np.zeros(len(start), dtype)
        passing.losses(block.rows, codes, weights, flat, total, carried, 0, 1000, threads)
        answers.add(b"".join(part.tobytes() for part in (flat, mean, square, carried, total)))
    assert len(answers) == 1


def test_what_would_index_beyond_an_array_is_refused():
    X, codes, weights, flat = case((3, 2, 1), 10, 0)
    rows, passing = block_of(X).rows, _kernels.DoublePassing([3, 2, 1], 1, 8, False, 1)

    def steps(rows=rows, narrow=None, wide=None, codes=codes, flat=flat, rates=1, first=0, carried=4, threads=1):
        room = np.zeros((3, len(flat)))
        return passing.steps(
            rows, narrow, wide, codes, weights, flat, *room, 0.1, 0.9, 0.99, 1e-8, False, np.zeros(rates), 4,
            np.zeros(carried), first, 1, threads,
        )  # fmt: skip

    assert steps() == 4
    for says, broken in [
        ("row numbers", {"narrow": np.array([0, 10], np.int32)}),
        ("row numbers", {"wide": np.array([-1, 0])}),
        ("codes must be classes", {"codes": np.full(10, 2, np.int32)}),
        ("one code", {"codes": codes[:9]}),
        ("as many columns", {"rows": block_of(X[:, :2]).rows}),
        ("compressed by rows", {"rows": block_of(sp.csr_array(X)).rows}),
        ("sizes must agree", {"flat": flat[:-1]}),
        ("a rate", {"rates": 2}),
        ("out of range", {"first": 11}),
        ("out of range", {"carried": 3}),
        ("more threads", {"threads": 2}),
    ]:
        with pytest.raises(ValueError, match=says):
            steps(**broken)
    for units, activation, size, threads in [([3], 1, 8, 1), ([3, 0], 1, 8, 1), ([3, 1], 4, 8, 1), ([3, 1], 1, 9, 1)]:
        with pytest.raises(ValueError, match=r"inputs and outputs|counts|activations|groups of eight"):
            _kernels.FloatPassing(units, activation, size, False, threads)
    with pytest.raises(ValueError, match="out of range"):
        passing.losses(rows, codes, weights, flat, flat.copy(), np.zeros(4), 0, 11, 1)
