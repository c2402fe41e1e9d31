"""The tilted bound holds: no violation over thousands of points, against minima over all faces, in long doubles."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from separatrix import LogisticRegression
from separatrix.certificates.tilted import farthest, sharp_tilt, tilt, tilted_bound, without_common_moves
from separatrix.core.certificate import ALLOWANCE
from separatrix.engines import MemoryEngine, block_of
from separatrix.models.logistic.l1_bounds import RIDGES, SparseJudge
from separatrix.models.logistic.problem import LogisticProblem, yardsticks

WAYS = range(2 + len(RIDGES))


def penalised(X, y, weights, alpha, beta, w, b):
    """P in extended precision, written down again."""
    w = np.asarray(w, np.longdouble)
    m = np.where(y == 1, 1, -1) * (X.astype(np.longdouble) @ w + np.longdouble(b))
    loss = weights @ (np.log1p(np.exp(-np.abs(m))) + np.maximum(-m, 0)) / weights.sum()
    return loss + np.longdouble(alpha) * np.abs(w).sum() + np.longdouble(beta) / 2 * (w @ w)


def on_a_face(X, y, weights, alpha, beta, sign, kind=float):
    """The minimiser of the smooth function that P is on a face, by Newton; None if it has other signs."""
    support = np.flatnonzero(sign)
    Z = np.column_stack([X[:, support], np.ones(len(X))]).astype(kind)
    slope = np.append(alpha * sign[support], 0).astype(kind)
    ridge = np.append(np.full(len(support), beta), 0).astype(kind)
    s, v, share = np.where(y == 1, 1, -1), np.zeros(len(support) + 1, kind), weights / weights.sum()

    def value(v):
        m = s * (Z @ v)
        return share @ (np.log1p(np.exp(-np.abs(m))) + np.maximum(-m, 0)) + slope @ v + (ridge * v) @ v / 2

    before = value(v)
    for _ in range(100):
        if before < 0:
            return None  # P is positive: the minimiser of this face has other signs
        m = s * (Z @ v)
        q = np.where(m >= 0, np.exp(-np.abs(m)), 1) / (1 + np.exp(-np.abs(m)))
        g = -(Z.T @ (share * s * q)) + slope + ridge * v
        H = ((Z.T * (share * q * (1 - q))) @ Z + np.diag(ridge)).astype(float)
        scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        scaled = H * np.outer(scale, scale)
        if not np.isfinite(scaled).all() or np.linalg.eigvalsh(scaled)[0] < 1e-9:
            return None
        step = (scale * np.linalg.solve(scaled, scale * g.astype(float))).astype(kind)
        length = 1.0
        while (now := value(v - length * step)) > before and length > 1e-12:
            length /= 2
        v, before = v - length * step, min(now, before)
        if abs(float(g @ step)) < (1e-30 if kind is float else 1e-36):
            break
    w = np.zeros(X.shape[1], kind)
    w[support] = v[:-1]
    return None if (w * sign < 0).any() else (w, v[-1])


def minimum(X, y, weights, alpha, beta):
    """P* with a minimiser: of all faces the one where P is least, solved again in extended precision."""
    problem = (X, y, weights, alpha, beta)
    faces = [np.array(sign) for sign in itertools.product((-1, 0, 1), repeat=X.shape[1])]
    solved = [(on_a_face(*problem, sign), sign) for sign in faces]
    best = min((float(penalised(*problem, *found)), k) for k, (found, _) in enumerate(solved) if found is not None)
    w, b = on_a_face(*problem, solved[best[1]][1], np.longdouble)
    return penalised(*problem, w, b), w, b


def case(draw, number):
    n, d = int(draw.integers(8, 40)), int(draw.integers(1, 3))
    scales = 10.0 ** draw.uniform(-2, 4, d) if number % 3 == 0 else np.ones(d)
    X = (draw.normal(size=(n, d)) + draw.integers(-3, 4)) * scales
    if number % 4 == 1:
        X = np.column_stack([X, X @ draw.integers(1, 3, d)])  # a column that depends on the others
    y = draw.integers(0, 2, n)
    y[:2] = [0, 1]
    weights = draw.integers(1, 5, n).astype(float) if number % 2 else np.ones(n)
    ratio = 1.0 if number % 5 else 0.5
    C = float(10.0 ** draw.uniform(-1, 2)) / np.abs(X).max()
    return X, y, weights, ratio, C


@pytest.mark.parametrize("part", range(6))
def test_no_violation_over_thousands_of_points(part):
    draw = np.random.default_rng(part)
    checked, proved = 0, dict.fromkeys(WAYS, 0)
    for number in range(10):
        X, y, weights, ratio, C = case(draw, number)
        columns = X.shape[1]
        engine = MemoryEngine(block_of(X), y.astype(np.int32), 2, weights)
        problem = LogisticProblem(C, True, np.array([0, 1]), None, ratio)
        objective, alpha = problem.objective(engine), problem.alpha(engine)
        best, w, b = minimum(X, y, weights, alpha, objective.strength)
        judge = SparseJudge(objective, alpha, 1e-8)
        for size in (0.0, 1e-8, 1e-4, 1e-2, 0.1):
            away = size * draw.normal(size=columns) / np.abs(X).max(axis=0)
            away *= draw.integers(0, 2, columns)
            raw = np.append(w.astype(float) + away, float(b) + size * draw.normal())
            true = penalised(X, y, weights, alpha, objective.strength, raw[:-1], raw[-1]) - best
            here = objective.evaluate(objective.shifted_point(raw), curvature=True)
            for way in WAYS:
                found, claim = judge.tilted_way(here, way)
                assert true <= found + 1e-18 * float(best), (number, size, way, float(true), found)
                assert found <= claim
                checked += 1
                proved[way] += math.isfinite(found)
            assert true <= judge.prove(here).bound + 1e-18 * float(best)
    assert checked == 300
    assert all(count > 5 for count in proved.values()), proved  # no way is vacuous


def test_near_the_minimum_the_bound_is_half_the_squared_residual():
    """It is quadratic: ten times nearer, a hundred times smaller, where a gap is ten times smaller."""
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(400, 5)), draw.integers(0, 2, 400)
    model = LogisticRegression(l1_ratio=1.0, C=0.1).fit(X, y)
    problem = model.certificate_.problem.restate(X, y, None)
    support = np.append(np.flatnonzero(model.coef_[0]), 5)
    assert 2 <= len(support) < 6
    bounds = []
    for size in (1e-3, 1e-4, 1e-5):
        raw = model.certificate_.point.copy()
        raw[support] += size * np.linspace(0.5, 1.0, len(support))
        bounds.append(problem.by_tilting(raw, True, 0).found)
    assert bounds[0] / bounds[1] == pytest.approx(100, rel=0.05)
    assert bounds[1] / bounds[2] == pytest.approx(100, rel=0.05)


def test_the_tilt_stays_in_its_box():
    draw = np.random.default_rng(1)
    for _ in range(300):
        p = int(draw.integers(1, 7))
        gradient, sign = draw.normal(size=p), draw.integers(-1, 2, p).astype(float)
        box = draw.random(p)
        box[draw.random(p) < 0.2] = 0.0  # constants
        sign[box == 0.0] = 1.0
        triangle = np.triu(draw.normal(size=(p, p))) + 2 * np.eye(p)
        found = sharp_tilt(gradient, sign, box, triangle)
        assert (np.abs(found) <= box).all()
        on = sign != 0
        np.testing.assert_array_equal(found[on], (box * sign)[on])
        plain = np.where(on, box * sign, np.clip(-gradient, -box, box))
        length = [np.linalg.norm(np.linalg.solve(triangle.T, gradient + t)) for t in (found, plain)]
        inside = (np.abs(found) < box)[~on].all() and (np.abs(plain) < box)[~on].all()
        assert not inside or length[0] <= length[1] * (1 + 1e-9)
    assert (np.abs(tilt(draw.normal(size=50), np.zeros(50), 0.3)) <= 0.3).all()


def test_common_moves_of_the_classes_are_left_out():
    draw = np.random.default_rng(2)
    for _ in range(200):
        k, d = int(draw.integers(3, 6)), int(draw.integers(1, 5))
        weights = draw.normal(size=(k, d)) * draw.integers(0, 2, (k, d))
        slopes = draw.normal(size=(k, d))
        slopes -= slopes.mean(axis=0)
        alpha = 0.7
        tilted, looked = without_common_moves(tilt(slopes, weights, alpha), weights, np.ones((k, d), dtype=bool), alpha)
        assert ((~looked).sum(axis=0) == 1).all()
        assert (np.abs(tilted) <= alpha).all()
        np.testing.assert_allclose(tilted.sum(axis=0), 0, atol=1e-15)


def test_three_classes_are_proved_and_the_bound_is_above_what_others_reach():
    A, b = load_iris(return_X_y=True)
    for ratio, C in ((1.0, 1.0), (1.0, 30.0), (0.5, 1.0)):
        model = LogisticRegression(l1_ratio=ratio, C=C).fit(A, b)
        assert model.certificate_.kind == "subgradient"
        assert model.certificate_.relative < 1e-12
        seen = []
        LogisticRegression(l1_ratio=ratio, C=C, on_pass=seen.append).fit(A, b)
        for entry in seen:
            assert entry.objective - model.certificate_.objective <= entry.bound + 1e-15
        model.certificate_.verify(A, b)
        model.certificate_.verify(sp.csr_array(A), b)


def test_better_points_are_not_farther_than_farthest():
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(60, 3)), draw.integers(0, 2, 60)
    alpha = 0.02
    best, w, _ = minimum(X, y, np.ones(60), alpha, 0.0)
    for _ in range(50):
        there = draw.normal(size=3)
        value = penalised(X, y, np.ones(60), alpha, 0.0, there, 0.0)
        assert value >= best
        assert np.abs(w - there).sum() <= farthest(there, alpha, float(value))


def test_allowance_only_widens():
    draw = np.random.default_rng(4)
    X, y = draw.normal(size=(100, 4)), draw.integers(0, 2, 100).astype(np.int32)
    problem = LogisticProblem(1.0, True, np.array([0, 1]), None, 1.0)
    engine = MemoryEngine(block_of(X), y)
    objective = problem.objective(engine)
    model = LogisticRegression(l1_ratio=1.0).fit(X, y)
    here = objective.evaluate(objective.shifted_point(model.certificate_.point), curvature=True)
    one, three = (
        tilted_bound(here, yardsticks(objective)[0], problem.alpha(engine), 0.0, None, each)
        for each in (1.0, ALLOWANCE)
    )
    assert one <= three < 1e-15
