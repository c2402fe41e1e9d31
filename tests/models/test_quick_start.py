"""The first steps in compiled code are Newton's and BFGS's, told pass by pass, and end where other solvers do."""

import numpy as np
import pytest
import scipy.sparse

from separatrix import LogisticRegression
from separatrix.engines import MemoryEngine, block_of
from separatrix.kernels import QuickWay
from separatrix.kernels.threads import thread_limit
from separatrix.models.logistic import quick_start
from separatrix.solvers.secants import Diagonal, Secants
from separatrix.terms.penalised import PenalisedLoss


def rows_of(n, d, correlated=False, seed=0):
    random = np.random.default_rng([seed, n, d])
    X = random.normal(size=(n, d))
    if correlated:
        for j in range(1, d):
            X[:, j] = 0.95 * X[:, j - 1] + 0.3 * X[:, j]
        X *= np.geomspace(0.01, 100.0, d)
    score = X @ (random.normal(size=d) / np.linalg.norm(X, axis=0)) * np.sqrt(n / d)
    return X, (random.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(np.int32)


def objective_of(X, y, strength=1e-3):
    return PenalisedLoss(MemoryEngine(block_of(X), y), True, strength, np.asarray(X.mean(axis=0)).ravel())


def test_newton_steps_are_those_of_numpy():
    X, y = rows_of(200, 4)
    objective = objective_of(X, y)
    found = objective.quick_start(np.zeros(5), QuickWay(True, 1e-18))
    design = np.column_stack([X - X.mean(axis=0), np.ones(200)])
    ridge, point = np.diag([1e-3] * 4 + [0.0]), np.zeros(5)
    for k, (at, value) in enumerate(zip(found.points, found.values, strict=True)):
        np.testing.assert_allclose(at, point, atol=1e-9, err_msg=f"pass {k}")
        score = design @ point
        assert value == pytest.approx(np.logaddexp(0, np.where(y, -score, score)).mean() + point @ ridge @ point / 2)
        share = 1.0 / (1.0 + np.exp(-score))
        gradient = design.T @ (share - y) / 200 + ridge @ point
        hessian = design.T @ (design * (share * (1.0 - share))[:, None]) / 200 + ridge
        point = point - np.linalg.solve(hessian, gradient)
    assert found.near
    assert len(found.values) > 3


def test_secant_steps_are_those_of_the_compact_form():
    X, y = rows_of(300, 12, True)
    objective = objective_of(X, y)
    found = objective.quick_start(np.zeros(13), QuickWay(False, 1e-12, most=12))
    secants = Secants(Diagonal(found.inverse), 13)
    before = objective.evaluate(found.points[0])
    for k in range(1, len(found.points)):
        step = -secants.solve(before.gradient)
        moved = found.points[k] - found.points[k - 1]
        length = float(moved @ step) / float(step @ step)
        assert np.log2(length) == pytest.approx(round(np.log2(length)), abs=1e-4)  # halved or not
        np.testing.assert_allclose(moved, length * step, rtol=1e-4, atol=1e-7 * np.abs(step).max())
        here = objective.evaluate(found.points[k])
        change = here.gradient - before.gradient
        secants.learn(moved, change, secants.base.solve(change))
        before = here
    assert len(found.steps) == len(found.points) - 1


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize(("n", "d"), [(50, 3), (80, 80), (40, 300), (2500, 60), (9000, 200)])
def test_where_it_ends_is_where_other_solvers_end(n, d, correlated, sparse, monkeypatch):
    X, y = rows_of(n, d, correlated)
    if sparse:
        X[np.random.default_rng(1).random(X.shape) < 0.8] = 0.0
        X = scipy.sparse.csr_array(X)
    quick = LogisticRegression().fit(X, y)
    monkeypatch.setattr(quick_start, "MOST_NUMBERS", 0)
    other = LogisticRegression().fit(X, y)
    assert quick.certificate_.met
    assert quick.certificate_.verify(X, y)
    far = max(quick.certificate_.bound, other.certificate_.bound)
    assert abs(quick.certificate_.objective - other.certificate_.objective) <= 2.0 * far + 1e-12
    assert "quick" in quick.trace_.reason
    assert "quick" not in other.trace_.reason


def test_columns_that_depend_on_each_other_are_led_by_a_hessian():
    X, y = rows_of(1000, 300, True)
    model = LogisticRegression().fit(X, y)
    assert "led by the Hessian" in model.trace_.reason
    assert model.certificate_.verify(X, y).met


def test_same_bits_for_any_number_of_threads():
    for shape in ((60_000, 8), (5000, 200), (300, 3000)):
        X, y = rows_of(*shape)
        several = LogisticRegression().fit(X, y)
        with thread_limit(1):
            alone = LogisticRegression().fit(X, y)
        assert several.coef_.tobytes() == alone.coef_.tobytes()
        assert several.certificate_ == alone.certificate_


def test_hooks_see_each_pass_and_may_end_the_fit_at_one():
    X, y = rows_of(300, 100)
    seen = []
    LogisticRegression(on_pass=lambda each: seen.append(each.point) or False).fit(X, y)
    assert len(seen) > 6
    model = LogisticRegression(on_pass=lambda each: each.number == 4).fit(X, y)
    np.testing.assert_array_equal(np.append(model.coef_[0], model.intercept_), seen[3])
    assert model.n_iter_[0] >= 4
    model.certificate_.verify(X, y)


def test_few_passes_are_few_passes():
    X, y = rows_of(300, 100)
    for most in (1, 2, 5):
        asked = LogisticRegression(max_iter=most, tol=1e-14)
        with pytest.warns(UserWarning, match="raise max_iter"):
            asked.fit(X, y)
        assert len(asked.trace_) <= most
        if np.isfinite(asked.certificate_.bound):
            asked.certificate_.verify(X, y)


def test_numbers_near_the_largest_are_named_as_ever():
    X, y = rows_of(60, 3)
    X[:, 1] *= 1e160
    with pytest.raises(ValueError, match="Column 1 reaches"):
        LogisticRegression().fit(X, y)
