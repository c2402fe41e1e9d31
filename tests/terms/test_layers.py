"""The network's objective and gradient against a complex step through an independent forward pass, and mpmath."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.engines import block_of, open_rows
from separatrix.engines.memory.typed_rows import RowSource
from separatrix.terms.architecture import Architecture
from separatrix.terms.layers import lanes_for
from separatrix.terms.mlp import NetworkLoss, scores

ACTIVATIONS = {
    "relu": lambda z: np.where(z.real > 0, z, 0.0),
    "tanh": np.tanh,
    "logistic": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "identity": lambda z: z,
}


def twin(architecture, flat, X, codes, weights, alpha):
    """F from the definition; flat may be complex."""
    h, at, penalty = X.astype(complex), 0, 0.0
    matrices = []
    for a, b in zip(architecture.units[:-1], architecture.units[1:], strict=True):
        matrices.append(flat[at : at + a * b].reshape(a, b))
        at += a * b
    for k, W in enumerate(matrices):
        z = h @ W + flat[at : at + W.shape[1]]
        at += W.shape[1]
        penalty = penalty + 0.5 * alpha * np.sum(W * W)
        h = z if k == len(matrices) - 1 else ACTIVATIONS[architecture.activation](z)
    if h.shape[1] == 1:
        h = np.hstack([np.zeros_like(h), h])
    top = h.real.max(axis=1, keepdims=True)
    loss = (top[:, 0] + np.log(np.exp(h - top).sum(axis=1))) - h[np.arange(len(X)), codes]
    return (np.sum(weights * loss) + penalty) / np.sum(weights)


def case(units, activation, seed, rows=23):
    draw = np.random.default_rng(seed)
    architecture = Architecture(units, activation)
    X = draw.normal(size=(rows, units[0]))
    codes = draw.integers(0, max(2, units[-1]), rows).astype(np.int32)
    return architecture, X, codes, draw.random(rows) + 0.1, draw.normal(size=architecture.parameters) * 0.7


def evaluate(architecture, X, codes, weights, alpha, flat):
    loss = NetworkLoss(architecture, open_rows(block_of(X), codes, 2, weights), alpha)
    return loss.evaluate(flat)


@settings(max_examples=40, deadline=None)
@given(
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    inputs=st.integers(1, 4),
    hidden=st.lists(st.integers(1, 5), max_size=3),
    outputs=st.sampled_from([1, 3, 4]),
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.0, 0.3]),
)
def test_objective_and_gradient_against_a_complex_step(activation, inputs, hidden, outputs, seed, alpha):
    architecture, X, codes, weights, flat = case((inputs, *hidden, outputs), activation, seed)
    value, gradient = evaluate(architecture, X, codes, weights, alpha, flat)
    assert value == pytest.approx(twin(architecture, flat, X, codes, weights, alpha).real, rel=1e-12)
    step = 1e-30
    for j in range(architecture.parameters):
        moved = flat.astype(complex)
        moved[j] += 1j * step
        slope = twin(architecture, moved, X, codes, weights, alpha).imag / step
        assert gradient[j] == pytest.approx(slope, rel=1e-10, abs=1e-13)


@mpmath.workdps(50)
def test_a_slope_against_mpmath_with_fifty_digits():
    architecture, X, codes, weights, flat = case((2, 3, 1), "tanh", 5, rows=4)
    _, gradient = evaluate(architecture, X, codes, weights, 0.1, flat)

    def objective(j, change):
        w = [mpmath.mpf(float(v)) for v in flat]
        w[j] += change
        total = mpmath.mpf(0)
        for x, code, a in zip(X, codes, weights, strict=True):
            hidden = [
                mpmath.tanh(sum(mpmath.mpf(float(x[i])) * w[3 * i + u] for i in range(2)) + w[9 + u]) for u in range(3)
            ]
            z = sum(h * w[6 + u] for u, h in enumerate(hidden)) + w[12]
            total += mpmath.mpf(float(a)) * mpmath.log(1 + mpmath.exp(-z if code == 1 else z))
        total += mpmath.mpf("0.05") * 2 / 2 * sum(v * v for v in w[:9])
        return total / sum(mpmath.mpf(float(a)) for a in weights)

    h = mpmath.mpf(10) ** -15
    for j in range(len(flat)):
        slope = (objective(j, h) - objective(j, -h)) / (2 * h)
        assert gradient[j] == pytest.approx(float(slope), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("kind", ["csr", "csc", "fortran", "float32", "int", "frame"])
def test_any_layout_has_the_same_objective(kind):
    import pandas as pd

    draw = np.random.default_rng(0)
    X = draw.integers(-3, 4, (50, 6)) * (draw.random((50, 6)) < 0.5)
    architecture, _, codes, weights, flat = case((6, 5, 3), "relu", 1, rows=50)
    plain = evaluate(architecture, X.astype(float), codes, weights, 0.1, flat)
    other = {
        "csr": lambda: sp.csr_array(X.astype(float)),
        "csc": lambda: sp.csc_matrix(X),
        "fortran": lambda: np.asfortranarray(X.astype(float)),
        "float32": lambda: X.astype(np.float32),
        "int": lambda: X.astype(np.int16),
        "frame": lambda: pd.DataFrame(X),
    }[kind]()
    value, gradient = evaluate(architecture, other, codes, weights, 0.1, flat)
    assert value == pytest.approx(plain[0], rel=1e-14)
    np.testing.assert_allclose(gradient, plain[1], rtol=1e-12, atol=1e-15)


def test_blocks_and_lanes_do_not_change_the_sum_beyond_rounding():
    architecture, X, codes, weights, flat = case((40, 60, 3), "relu", 2, rows=5000)
    assert lanes_for(5000.0 * architecture.work, 5000) > 1
    value, gradient = evaluate(architecture, X, codes, weights, 0.1, flat)
    assert value == pytest.approx(twin(architecture, flat, X, codes, weights, 0.1).real, rel=1e-12)
    halves = [evaluate(architecture, X[k::2], codes[k::2], weights[k::2], 0.1, flat) for k in (0, 1)]
    shares = np.array([weights[k::2].sum() for k in (0, 1)])
    end = architecture.weights_end
    merged = sum(share * half[1] for share, half in zip(shares, halves, strict=True))
    merged[:end] -= 0.1 * flat[:end]  # the penalty was counted twice
    np.testing.assert_allclose(gradient, merged / shares.sum(), rtol=1e-9, atol=1e-13)


def test_scores_are_those_of_the_definition():
    architecture, X, _, _, flat = case((7, 5, 4, 3), "logistic", 3, rows=2100)
    found = scores(architecture, flat, RowSource(block_of(X), np.float64))
    h = X
    for k, (W, b) in enumerate(zip(architecture.matrices(flat), architecture.constants(flat), strict=True)):
        h = h @ W + b
        h = 1 / (1 + np.exp(-h)) if k < 2 else h
    np.testing.assert_allclose(found, h, rtol=1e-12, atol=1e-12)


def test_weights_stay_where_they_are_in_the_vector():
    architecture = Architecture((3, 4, 2), "relu")
    flat = np.arange(architecture.parameters, dtype=float)
    packed = architecture.packed(architecture.matrices(flat), architecture.constants(flat))
    np.testing.assert_array_equal(packed, flat)
    assert architecture.weights_end == 20
    architecture.constants(flat)[1][0] = -1.0
    assert flat[24] == -1.0
