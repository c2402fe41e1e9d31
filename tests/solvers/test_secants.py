"""BFGS in compact form against the recursion that defines it."""

import numpy as np
import pytest

from separatrix.solvers.secants import Diagonal, Secants


def recursion(pairs, scale, inverse, vector):
    """The two-loop recursion of BFGS, pair by pair."""
    q = vector.copy()
    lengths = []
    for step, change in reversed(pairs):
        lengths.append(step @ q / (step @ change))
        q -= lengths[-1] * change
    r = scale * inverse * q
    for (step, change), length in zip(pairs, reversed(lengths), strict=True):
        r += (length - change @ r / (step @ change)) * step
    return r


@pytest.mark.parametrize("taught", [1, 4, 5, 9])
def test_the_compact_form_is_the_recursion_over_the_last_pairs(taught):
    random = np.random.default_rng(taught)
    root = random.normal(size=(12, 12))
    hessian = root @ root.T + np.eye(12)
    inverse = 1.0 / hessian.diagonal()
    secants = Secants(Diagonal(inverse), 12, most=5)
    pairs = []
    for step in random.normal(size=(taught, 12)):
        change = hessian @ step
        secants.learn(step, change, inverse * change)
        pairs.append((step, change))
    vector = random.normal(size=12)
    expected = recursion(pairs[-5:], secants.scale, inverse, vector)
    np.testing.assert_allclose(secants.solve(vector), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(secants.solve(vector, inverse * vector), expected, rtol=1e-9, atol=1e-12)


def test_the_last_secant_holds_exactly():
    random = np.random.default_rng(3)
    secants = Secants(Diagonal(np.ones(6)), 6)
    for _ in range(3):
        step = random.normal(size=6)
        change = np.arange(1.0, 7.0) * step
        secants.learn(step, change, change)
    np.testing.assert_allclose(secants.solve(change), step, rtol=1e-12)


def test_a_pair_without_curvature_is_not_learnt():
    secants = Secants(Diagonal(np.ones(2)), 2)
    secants.learn(np.array([1.0, 0.0]), np.array([-1.0, 0.0]), np.array([-1.0, 0.0]))
    secants.learn(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert secants.count == 0
    np.testing.assert_array_equal(secants.solve(np.array([3.0, 4.0])), [3.0, 4.0])
