"""The penalised objective: value, gradient and Hessian against high-precision arithmetic."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
from separatrix.engines import MemoryEngine, block_of
from separatrix.terms.penalised import PenalisedLoss


def state(X, codes, weights, constant, strength, shift):
    engine = MemoryEngine(block_of(X), codes, 2, weights)
    return PenalisedLoss(engine, constant, strength, shift)


def exact_value(X, codes, weights, point, shift, strength, constant):
    """F in 60 digits, at (w, b′) with b′ = b + <shift, w>."""
    with mpmath.workdps(60):
        w = [mpmath.mpf(v) for v in point[: X.shape[1]]]
        b = mpmath.mpf(point[-1]) - sum((mpmath.mpf(c) * v for c, v in zip(shift, w, strict=True)), mpmath.mpf(0))
        total, loss = mpmath.mpf(0), mpmath.mpf(0)
        for i, row in enumerate(X):
            a = mpmath.mpf(1) if weights is None else mpmath.mpf(weights[i])
            z = sum((mpmath.mpf(float(v)) * c for v, c in zip(row, w, strict=True)), mpmath.mpf(0))
            z = z + b if constant else z
            loss += a * mpmath.log1p(mpmath.exp(-z if codes[i] == 1 else z))
            total += a
        return loss / total + mpmath.mpf(strength) / 2 * sum((v * v for v in w), mpmath.mpf(0))


@settings(max_examples=25, deadline=None)
@given(
    problem=tables.labelled(rows=(2, 12), columns=(1, 3)),
    constant=st.booleans(),
    strength=st.sampled_from([0.0, 0.1]),
    offset=st.sampled_from([0.0, 1000.0]),
)
def test_value_gradient_and_hessian_equal_high_precision_differences(problem, constant, strength, offset):
    X, codes, weights, point = problem
    X = X.astype(np.float64) + offset
    weights = None if weights is None else weights + 0.5
    point = np.clip(point, -2, 2)[: X.shape[1] + constant]
    shift = np.full(X.shape[1], offset) if constant else np.zeros(X.shape[1])
    objective = state(X, codes, weights, constant, strength, shift)
    here = objective.evaluate(point, curvature=True)

    def exact(at):
        return exact_value(X, codes, weights, at, shift, strength, constant)

    # a raw score X·w at 1000 loses three digits, as it must
    blur = 1e-13 * (1 + offset)
    assert here.value == pytest.approx(float(exact(point)), rel=blur, abs=blur)
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -15
        exact_point = [mpmath.mpf(v) for v in point]
        for j in range(len(point)):
            up, down = list(exact_point), list(exact_point)
            up[j] += h
            down[j] -= h
            slope = (exact(up) - exact(down)) / (2 * h)
            assert here.gradient[j] == pytest.approx(float(slope), rel=1e-9, abs=1e-10 + blur * (1 + np.abs(X).max()))
            curvature = (exact(up) - 2 * exact(exact_point) + exact(down)) / h**2
            assert here.hessian[j, j] == pytest.approx(float(curvature), rel=1e-9, abs=1e-9 + 10 * blur)
    kept = objective.prepare_products(point)
    np.testing.assert_allclose(kept.diagonal, np.diagonal(here.hessian), rtol=1e-9, atol=1e-12)
    direction = np.linspace(-1, 1, len(point))
    moved = objective.product(direction)
    np.testing.assert_allclose(
        moved, here.hessian @ direction, rtol=1e-6, atol=1e-10 + 1e-15 * np.square(X).max() * 100
    )


def test_raw_and_shifted_points_are_inverse_to_each_other():
    X = np.random.default_rng(0).normal(size=(10, 3)) + 5
    objective = state(X, np.zeros(10, np.int32), None, True, 0.0, X.mean(axis=0))
    raw = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(objective.raw_point(objective.shifted_point(raw)), raw)


def test_a_column_at_1e8_plus_minus_1_keeps_its_curvature():
    draw = np.random.default_rng(0)
    x = draw.normal(size=2000)
    X = np.column_stack([x + 1e8, draw.normal(size=2000)])
    codes = (draw.random(2000) < 0.5).astype(np.int32)
    moved = state(X, codes, None, True, 0.0, X[:200].mean(axis=0)).evaluate(np.zeros(3), curvature=True)
    plain = state(X - [1e8, 0], codes, None, True, 0.0, X[:200].mean(axis=0) - [1e8, 0])
    np.testing.assert_allclose(moved.hessian, plain.evaluate(np.zeros(3), curvature=True).hessian, rtol=1e-6, atol=1e-7)
