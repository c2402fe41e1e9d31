"""The bound by a direction: it holds, sees past decided rows and shifted columns, and dense and sparse rows agree."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import LogisticRegression
from separatrix.certificates.iterative import ScoresCurvature
from separatrix.engines import MemoryEngine, block_of
from separatrix.models.logistic.problem import LogisticProblem, yardsticks


def average(X, y, C, raw, classes):
    """F in extended precision, written down again; one weight vector for two classes."""
    rows = raw.astype(np.longdouble).reshape(1 if classes == 2 else classes, -1)
    z = X.astype(np.longdouble) @ rows[:, :-1].T + rows[:, -1]
    z = np.column_stack([np.zeros(len(X), np.longdouble), z]) if classes == 2 else z
    top = z.max(axis=1)
    loss = top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - z[np.arange(len(y)), y]
    return loss.mean() + (rows[:, :-1] ** 2).sum() / (2 * C * len(X))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_no_violation_whatever_the_direction(classes):
    draw = np.random.default_rng(classes)
    proved = 0
    for number in range(40):
        n, d = int(draw.integers(20, 80)), int(draw.integers(1, 6))
        X = draw.normal(size=(n, d)) * 10.0 ** draw.uniform(-1, 1, d) + draw.integers(-1, 2) * 20.0
        y = draw.integers(0, classes, n)
        y[:classes] = range(classes)
        if number % 2:
            X[np.arange(n), y % d] += 3.0  # most rows are decided
        C = float(10.0 ** draw.uniform(-2, 1))
        best = LogisticRegression(C=C, solver="newton-cholesky").fit(X, y).certificate_
        assert best.relative < 1e-12
        engine = MemoryEngine(block_of(X), y.astype(np.int32), classes)
        objective = LogisticProblem(C, True, np.arange(classes)).objective(engine)
        for size in (1e-9, 1e-6, 1e-4, 1e-2):
            away = size * draw.normal(size=objective.size)
            raw = objective.centred(best.point + away)
            here = objective.prepare_products(objective.shifted_point(raw))
            true = float(average(X, y, C, raw, classes) - average(X, y, C, best.point, classes))
            hessian = objective.evaluate(here.point, curvature=True).hessian
            newton = -np.linalg.solve(hessian, here.gradient)
            for rough in (0.0, 1e-3, 0.3):
                step = newton * (1 + rough * draw.normal(size=len(newton)))
                step = objective.shifted_point(objective.centred(objective.raw_point(step)))
                bound = yardsticks(objective)[1].bound(here, step, objective.product(step))
                assert true <= bound + 1e-17, (number, size, rough, true, bound)
                proved += math.isfinite(bound)
    assert proved > 100


def test_tau_bounds_what_the_intercepts_do_to_the_weights():
    """‖Σ aᵢ(Aᵢv) ⊗ xᵢ‖ ≤ Xτ for v = h⁻¹r₀, with rows that are decided and rows that are not."""
    draw = np.random.default_rng(0)
    for _ in range(300):
        k, n, d = int(draw.integers(2, 7)), int(draw.integers(5, 40)), int(draw.integers(1, 5))
        X = draw.normal(size=(n, d))
        pi = draw.dirichlet(10.0 ** draw.uniform(-2, 1, k), size=n)
        curvature = np.array([np.diag(p) - np.outer(p, p) for p in pi])
        h = curvature.mean(axis=0)
        inverse = np.linalg.pinv(h, rcond=1e-13)
        first = h @ draw.normal(size=k)
        v = inverse @ first
        moved = np.einsum("ikl,l,ij->kj", curvature, v, X) / n
        rho, tau = ScoresCurvature(h, inverse * (1 + 1e-3), 1e-8).of(first)
        assert np.linalg.norm(moved) <= np.linalg.norm(X, axis=1).max() * tau * (1 + 1e-6)
        assert float(first @ v) <= rho * (1 + 1e-9)


def shifted(n, d, classes, size, seed=0):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, classes, n)
    return draw.normal(size=(n, d)) + size * draw.normal(size=(classes, d))[y] + 100.0, y


def decided(n, d, classes, size, seed=0):
    X, y = shifted(n, d, classes, size, seed)
    return X - 100.0, y


def correlated(n, d, classes, size, seed=0):
    draw = np.random.default_rng(seed)
    X, y = decided(n, d, classes, size, seed)
    return 0.3 * X + draw.normal(size=(n, 1)), y


@pytest.mark.parametrize("table", [shifted, decided, correlated])
@pytest.mark.parametrize(
    ("n", "d", "classes", "size"), [(400, 60, 3, 0.7), (1500, 80, 8, 0.3), (1500, 80, 8, 1.5), (600, 20, 30, 0.7)]
)
def test_softmax_by_conjugate_gradients_is_proved(table, n, d, classes, size):
    """At C = 1, by a direction: neither columns far from zero nor decided rows make the bound infinite."""
    X, y = table(n, d, classes, size)
    certificate = LogisticRegression(solver="newton-cg").fit(X, y).certificate_
    assert certificate.met
    assert certificate._direction is not None
    certificate.verify(X, y)


@pytest.mark.parametrize("classes", [2, 4])
def test_dense_and_sparse_rows_verify_each_others_directions(classes):
    draw = np.random.default_rng(3)
    for seed in range(6):
        X, y = correlated(150, 6, classes, 0.5, seed)
        X = X * 10.0 ** draw.uniform(-2, 2, 6) + (0.0 if seed % 2 else 50.0)
        if seed % 3 == 0:
            X = np.where(draw.random(X.shape) < 0.6, 0.0, X)
        for one, other in ((X, sp.csr_array(X)), (sp.csr_array(X), X)):
            certificate = LogisticRegression(solver="newton-cg", C=0.1).fit(one, y).certificate_
            certificate.verify(one, y)
            certificate.verify(other, y)


@pytest.mark.parametrize("dtype", [">f8", ">f4", "f2", "f4", ">i4", "u1", "?"])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_proof_by_a_direction_verifies_in_any_type_of_array(dtype, intercept):
    draw = np.random.default_rng(0)
    X = np.round(4.0 * draw.random((40, 3))) * (draw.random((40, 3)) < 0.5)
    y = (X[:, 0] + draw.normal(size=40) > 1.0).astype(int)
    table = X.astype(dtype)
    model = LogisticRegression(solver="newton-cg", fit_intercept=intercept).fit(table, y)
    assert model.certificate_.met
    model.certificate_.verify(table, y)
