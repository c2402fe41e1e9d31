"""What is left of a closed form's equations, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from separatrix.engines import MemoryEngine, block_of
from separatrix.terms.exact_residual import gaussian_residual, least_squares_residual
from separatrix.terms.least_squares import signs_of


def table(seed, classes, sparse=False):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(25, 3)) * [1.0, 1e3, 1e-2] + [0.0, 1e6, 5.0]
    codes = np.append(np.arange(classes), draw.integers(0, classes, 25 - classes)).astype(np.int32)
    weights = draw.integers(1, 9, 25) * 0.3 if seed % 2 else None
    return (
        MemoryEngine(block_of(scipy.sparse.csr_array(X) if sparse else X), codes, classes, weights),
        X,
        codes,
        weights,
    )


def exactly(values):
    return [[Fraction(value) for value in row] for row in np.atleast_2d(values).tolist()]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_least_squares(seed, classes, sparse):
    engine, X, codes, weights = table(seed, classes, sparse)
    draw = np.random.default_rng(seed + 100)
    targets = 1 if classes == 2 else classes
    coef, offset = draw.normal(size=(targets, 3)) / [1.0, 1e3, 1e-2], draw.normal(size=targets)
    centre = X.mean(axis=0)
    found = least_squares_residual(engine, signs_of(classes), centre, coef, offset, 0.25)
    rows, w, a = exactly(X), exactly(coef), exactly(np.ones(25) if weights is None else weights)[0]
    m, b, s = exactly(centre)[0], exactly(offset)[0], exactly(signs_of(classes))
    for t in range(targets):
        e = [
            s[k][t] - sum(p * q for p, q in zip(w[t], row, strict=True)) - b[t]
            for k, row in zip(codes, rows, strict=True)
        ]
        for j in range(3):
            true = sum(c * d * (row[j] - m[j]) for c, d, row in zip(a, e, rows, strict=True)) - w[t][j] / 4
            assert abs(Fraction(found.values[j, t]) - true) <= Fraction(found.errors[j, t])
            assert found.errors[j, t] <= 1e-12 * float(sum(abs(c * d) for c, d in zip(a, e, strict=True))) * 1e4


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_gaussian_classes(seed, classes):
    engine, X, codes, weights = table(seed, classes)
    draw = np.random.default_rng(seed + 200)
    targets = 1 if classes == 2 else classes
    coef = draw.normal(size=(targets, 3)) / [1.0, 1e3, 1e-2]
    sides = np.array([[-1.0], [1.0]]) if classes == 2 else np.eye(3) - np.array([0.25, 0.25, 0.5])[:, None]
    means = np.array([X[codes == k].mean(axis=0) for k in range(classes)])
    found = gaussian_residual(engine, means, coef, sides)
    rows, w, a = exactly(X), exactly(coef), exactly(np.ones(25) if weights is None else weights)[0]
    c, total = exactly(sides), sum(a)
    heavy = [sum(q for q, k in zip(a, codes, strict=True) if k == each) for each in range(classes)]
    mu = [
        [sum(q * row[j] for q, row, k in zip(a, rows, codes, strict=True) if k == each) / heavy[each] for j in range(3)]
        for each in range(classes)
    ]
    for t in range(targets):
        for i in range(3):
            spread = sum(
                q * (row[i] - mu[k][i]) * sum(w[t][j] * (row[j] - mu[k][j]) for j in range(3))
                for q, row, k in zip(a, rows, codes, strict=True)
            )
            true = spread / total - sum(c[k][t] * mu[k][i] for k in range(classes))
            assert abs(Fraction(found.values[i, t]) - true) <= Fraction(found.errors[i, t])
