"""Exact coordinates: nearly dependent columns are told apart, and nothing is rounded on the way."""

from fractions import Fraction

import numpy as np
import pytest

from separatrix.exact.arithmetic import many_products
from separatrix.exact.coordinates import Coordinates


def nearly_dependent(noise, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(80, 6))
    return np.column_stack([X, X @ draw.normal(size=6) + noise * draw.normal(size=80), X[:, 0] + noise * X[:, 1] ** 2])


@pytest.mark.parametrize("noise", [1e-3, 1e-8, 1e-14])
def test_rows_are_nearly_orthonormal_in_whitened_coordinates(noise):
    X = nearly_dependent(noise)
    coordinates = Coordinates.plain(X, np.arange(8))
    for _ in range(2):
        seen = coordinates.apply(X)
        coordinates = coordinates.whitened(X, seen)
    seen = coordinates.apply(X)
    assert Coordinates.conditioning(Coordinates.plain(X, np.arange(8)).apply(X)) < 100 * noise
    assert Coordinates.conditioning(seen) > 0.05


def test_a_direction_in_coordinates_is_the_one_over_the_columns():
    """⟨y, v⟩ from the integers of v, in fractions, is Σ factorₖ·seenₖ."""
    X = nearly_dependent(1e-9)
    coordinates = Coordinates.plain(X, np.arange(8))
    coordinates = coordinates.whitened(X, coordinates.apply(X))
    factors = np.random.default_rng(1).normal(size=8)
    vector = coordinates.direction(factors)
    exact = [float(sum(Fraction(float(a)) * b for a, b in zip(row, vector, strict=True))) for row in X[:10]]
    seen = coordinates.apply(X[:10]) @ factors
    ratio = np.array(exact) / seen
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


def test_products_with_long_integers_are_rounded_once():
    draw = np.random.default_rng(2)
    X = draw.normal(size=(5, 3))
    vectors = [[3, 0, -1], [2**70 + 1, -(2**69), 5], [2**1500 + 1, 1, -(2**1490)]]
    got = many_products(X, vectors)
    for i, row in enumerate(X):
        for k, vector in enumerate(vectors):
            true = sum(Fraction(float(a)) * b for a, b in zip(row, vector, strict=True))
            try:
                near = float(true)
            except OverflowError:
                near = np.inf if true > 0 else -np.inf
            assert got[i, k] == near or abs(got[i, k] - near) <= np.spacing(abs(near))
