"""The sharp bound against minima computed with sixty digits."""

import math

import mpmath
import numpy as np
import pytest

from separatrix.certificates.orthonormal import orthonormal
from separatrix.models.labels import block_of, encode, open_engine
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.models.logistic.sharp import SharpGround, is_small


def problem(X, y, C=np.inf, weights=None):
    target = encode(y, len(y))
    return LogisticProblem(C, True, target.classes).objective(open_engine(block_of(X), target, weights))


def exact_value(X, y, weights, C, point, digits=60):
    """Φ/S at a raw point, in long arithmetic."""
    with mpmath.workdps(digits):
        rows = [[mpmath.mpf(float(v)) for v in row] for row in X]
        total = mpmath.mpf(0)
        for row, label, a in zip(rows, y, weights, strict=True):
            score = mpmath.fdot(row, point[:-1]) + point[-1]
            margin = score if label else -score
            total += mpmath.mpf(float(a)) * mpmath.log1p(mpmath.exp(-margin))
        penalty = mpmath.fdot(point[:-1], point[:-1]) / (2 * mpmath.mpf(C)) if math.isfinite(C) else 0
        return (total + penalty) / mpmath.fsum([mpmath.mpf(float(a)) for a in weights])


def exact_minimum(X, y, weights, C, start, digits=60):
    """F* by Newton's method in long arithmetic, from a point that is near."""
    with mpmath.workdps(digits):
        p = X.shape[1] + 1
        rows = [[*(mpmath.mpf(float(v)) for v in row), mpmath.mpf(1)] for row in X]
        point = [mpmath.mpf(float(v)) for v in start]
        ridge = 1 / mpmath.mpf(C) if math.isfinite(C) else mpmath.mpf(0)
        for _ in range(12):
            gradient, hessian = mpmath.zeros(p, 1), mpmath.zeros(p, p)
            for row, label, a in zip(rows, y, weights, strict=True):
                share = 1 / (1 + mpmath.exp(-mpmath.fdot(row, point)))
                for j in range(p):
                    gradient[j] += float(a) * (share - int(label)) * row[j]
                    for k in range(p):
                        hessian[j, k] += float(a) * share * (1 - share) * row[j] * row[k]
            for j in range(p - 1):
                gradient[j] += ridge * point[j]
                hessian[j, j] += ridge
            step = mpmath.lu_solve(hessian, gradient)
            point = [v - d for v, d in zip(point, step, strict=True)]
            if max(abs(d) for d in step) < mpmath.mpf(10) ** (-digits // 2):
                break
        return exact_value(X, y, weights, C, point, digits)


def drawn(seed, n=40, p=3, near=1.0):
    """Overlapping classes; the second column is the first times two, to ``near`` of itself."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + 10.0 * rng.normal(size=p)
    X[:, 1] = 2.0 * X[:, 0] * (1.0 + near * rng.normal(size=n))
    y = rng.integers(0, 2, n)
    weights = rng.integers(1, 4, n).astype(float)
    return X, y, weights


@pytest.mark.parametrize("near", [1.0, 1e-5, 1e-8, 1e-10])
@pytest.mark.parametrize("C", [np.inf, 1e4, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_point_is_further_from_the_minimum_than_its_bound_says(near, C, seed):
    X, y, weights = drawn(seed, near=near)
    ground = SharpGround.of(problem(X, y, C, weights))
    end = ground.descend(np.zeros(X.shape[1] + 1), 1e-8)
    assert end.bound <= 1e-8 * min(end.average, 1.0)
    least = exact_minimum(X, y, weights, C, end.point)
    rng = np.random.default_rng(seed)
    claims = 0
    for size in (0.0, 1e-9, 1e-6, 1e-3, 1e-2, 0.1, 0.3):
        away = rng.normal(size=len(end.point)) * size
        point = ground.moved(end.point, np.linalg.solve(end.frame.triangle, away))
        standing = ground.stand(point)
        with mpmath.workdps(60):
            excess = exact_value(X, y, weights, C, [mpmath.mpf(float(v)) for v in point]) - least
            assert excess >= 0
            assert excess <= mpmath.mpf(standing.proved())
            assert standing.proved() <= standing.bound
        claims += math.isfinite(standing.bound)
        if 1e-6 <= size <= 1e-3:  # far above rounding and still near the minimum: the bound is nearly exact
            assert standing.proved() <= 1.01 * float(excess)
    assert claims >= 4


def test_dependent_columns_prove_nothing():
    X, y, _ = drawn(0)
    X[:, 1] = 3.0 * X[:, 0]
    standing = SharpGround.of(problem(X, y)).stand(np.zeros(4))
    assert standing.bound == math.inf


@pytest.mark.parametrize("condition", [1e3, 1e7, 1e10])
def test_the_triangle_is_below_the_hessian(condition):
    """(√(1−δ) − ε)²RᵀR ≼ H, by exact arithmetic on the stored rows."""
    rng = np.random.default_rng(3)
    left, right = (np.linalg.qr(rng.normal(size=shape))[0] for shape in ((60, 4), (4, 4)))
    rows = left * np.geomspace(1.0, 1.0 / condition, 4) @ right.T
    curvature = rng.random(60) + 0.1
    found = orthonormal(rows, curvature, np.zeros(4))
    assert found is not None
    assert found.usable
    with mpmath.workdps(60):
        exact = mpmath.matrix(rows.tolist())
        hessian = exact.T * mpmath.diag([mpmath.mpf(c) for c in curvature.tolist()]) * exact
        triangle = mpmath.matrix(found.triangle.tolist())
        share = (mpmath.sqrt(1 - mpmath.mpf(found.off)) - found.error) ** 2
        assert min(mpmath.eigsy(hessian - share * triangle.T * triangle, eigvals_only=True)) >= 0


def test_columns_of_any_size_give_the_same_bound():
    X, y, weights = drawn(1)
    plain = SharpGround.of(problem(X, y, np.inf, weights)).descend(np.zeros(4), 1e-8)
    scale = np.array([2.0**400, 2.0**-400, 1.0])
    huge = SharpGround.of(problem(X * scale, y, np.inf, weights)).stand(plain.point / np.append(scale, 1.0))
    assert huge.proved() == pytest.approx(plain.proved(), rel=0.5)
    assert huge.value == pytest.approx(plain.value, rel=1e-12)


def test_sparse_rows_and_rows_of_no_weight():
    import scipy.sparse

    X, y, weights = drawn(2)
    weights[:5] = 0.0
    point = np.array([0.1, -0.05, 0.2, 0.3])
    dense = SharpGround.of(problem(X, y, 1.0, weights)).stand(point)
    sparse = SharpGround.of(problem(scipy.sparse.csr_array(X), y, 1.0, weights)).stand(point)
    fewer = SharpGround.of(problem(X[5:], y[5:], 1.0, weights[5:])).stand(point)
    assert dense.value == sparse.value == fewer.value
    np.testing.assert_array_equal(dense.gradient, fewer.gradient)


def test_a_large_table_is_not_small():
    X = np.broadcast_to(np.zeros((1, 2000)), (3000, 2000))
    y = np.arange(3000) % 2
    assert not is_small(problem(X, y))
    assert is_small(problem(X[:, :50], y))
