"""The bound holds: no violation over thousands of cases, against a much more exact minimum."""

import math

import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import twins
from separatrix import LogisticRegression
from separatrix.certificates.self_concordance import Yardstick, excess_bound
from separatrix.core.certificate import ALLOWANCE
from separatrix.core.factor import factorise
from separatrix.core.protocols import Evaluation
from separatrix.engines import MemoryEngine, block_of
from separatrix.models.logistic.problem import LogisticProblem, yardsticks


@given(st.floats(1e-120, 0.999999), st.floats(1e-3, 1e3))
def test_excess_bound_equals_its_formula_in_high_precision(t, reach):
    decrement = t / reach
    with mpmath.workdps(400):
        exact_t = mpmath.mpf(decrement) * mpmath.mpf(reach)
        if exact_t >= 1:
            return
        exact = (exact_t + (1 - exact_t) * mpmath.log1p(-exact_t)) / mpmath.mpf(reach) ** 2
        ratio = float(mpmath.mpf(excess_bound(decrement, reach)) / exact)
    assert 1.0 - 1e-15 <= ratio <= 1.0 + 1e-10


def test_nothing_is_proved_from_t_at_least_one_or_nan():
    assert excess_bound(1.0, 1.0) == math.inf
    assert excess_bound(math.nan, 1.0) == math.inf
    assert excess_bound(0.0, 10.0) == 0.0


def state(engine, C, constant):
    return LogisticProblem(C, constant, np.array([0, 1])).objective(engine)


def minimum(X, sign, weights, C, constant):
    """F* by Newton's method in extended precision, independent of the library."""
    X = X.astype(np.longdouble)
    Z = np.column_stack([X, np.ones(len(X))]) if constant else X
    p = Z.shape[1]
    total = weights.sum()
    penalty = np.full(p, 1 / (np.longdouble(C) * total))
    if constant:
        penalty[-1] = 0
    w = np.zeros(p, np.longdouble)

    def value(w):
        m = sign * (Z @ w)
        return weights @ (np.log1p(np.exp(-np.abs(m))) + np.maximum(-m, 0)) / total + 0.5 * penalty @ w**2

    here, least, stalled = value(w), np.inf, 0
    while stalled < 5:  # down to the rounding of the gradient
        m = sign * (Z @ w)
        q = np.where(m >= 0, np.exp(-np.abs(m)), 1) / (1 + np.exp(-np.abs(m)))
        g = -(Z.T @ (weights * sign * q)) / total + penalty * w
        if np.abs(g).max() < 1e-17:
            break
        H = (Z.T * (weights * q * (1 - q))) @ Z / total + np.diag(penalty)
        step = np.linalg.solve(H.astype(float), g.astype(float)).astype(np.longdouble)
        length = np.longdouble(1)
        while value(w - length * step) > here * (1 + 1e-15) and length > 1e-10:
            length /= 2
        w = w - length * step
        here, decrement = value(w), float(g @ step)
        stalled = 0 if decrement < 0.5 * least else stalled + 1
        least = min(least, decrement)
    return value(w), w


def exactly(X, sign, weights, w, b, C):
    """F to forty digits."""
    with mpmath.workdps(40):
        *w, b = (mpmath.mpf(float(a)) + mpmath.mpf(float(a - float(a))) for a in [*w, b])
        rows = [[mpmath.mpf(float(a)) for a in row] for row in X]
        losses = (
            float(k) * mpmath.log1p(mpmath.exp(-int(s) * (mpmath.fdot(x, w) + b)))
            for k, s, x in zip(weights, sign, rows, strict=True)
        )
        return (mpmath.fsum(losses) + mpmath.fdot(w, w) / (2 * mpmath.mpf(C))) / mpmath.mpf(float(weights.sum()))


class Excess:
    """F − F* in extended precision where its own rounding allows, otherwise to forty digits."""

    def __init__(self, X, sign, weights, C, constant):
        self.data, self.C, self.constant = (X, sign, weights), C, constant
        self.low, self.best = minimum(X, sign, weights, C, constant)
        self.low_slip, self.exact_low = self.slip(self.best, self.low), None

    def parts(self, raw):
        return (raw[:-1], raw[-1]) if self.constant else (raw, 0.0)

    def slip(self, raw, value):
        """How far a value of F may be off: a row's loss and its part in the sum take n + 2p + 20 operations."""
        X, (w, b) = self.data[0], self.parts(raw)
        scores = np.abs(X) @ np.abs(w) + abs(b)
        return float(np.finfo(np.longdouble).eps) * (len(X) + 2 * X.shape[1] + 20) * float(value + scores.max())

    def at_most(self, raw, bound):
        X, sign, weights = self.data
        value = twins.objective(X, sign, *self.parts(raw), self.C, weights)
        if value - self.low + self.slip(raw, value) + self.low_slip <= bound:
            return True
        if self.exact_low is None:
            self.exact_low = exactly(*self.data, *self.parts(self.best), self.C)
        return exactly(*self.data, *self.parts(raw), self.C) - self.exact_low <= bound


def test_no_violation_over_thousands_of_points():
    draw = np.random.default_rng(2026)
    checked = proved = 0
    for case in range(300):
        n, d = int(draw.integers(3, 60)), int(draw.integers(1, 6))
        constant = bool(draw.integers(0, 2))
        scales = 10.0 ** draw.uniform(-4, 4, d) if case % 3 == 0 else np.ones(d)
        X = (draw.normal(size=(n, d)) + draw.integers(-3, 4)) * scales
        codes = draw.integers(0, 2, n).astype(np.int32)
        weights = draw.integers(1, 5, n).astype(float) if case % 2 else np.ones(n)
        C = float(10.0 ** draw.uniform(-3, 3)) / np.mean(scales) ** 2
        excess = Excess(X, np.where(codes == 1, 1, -1), weights, C, constant)
        objective = state(MemoryEngine(block_of(X), codes, 2, weights), C, constant)
        centre = objective.shifted_point(excess.best.astype(float))
        for size in (0.0, 1e-6, 1e-3, 1e-2, 0.1, 0.3, 1.0):
            away = draw.normal(size=objective.size)
            if constant:
                away[:-1] /= scales
            else:
                away /= scales
            here = objective.evaluate(centre + size * away, curvature=True)
            factor = factorise(here.hessian, here.point)
            if factor is None:
                continue
            checked += 1
            measure = yardsticks(objective)[0]
            bound = measure.bound(here, factor)
            assert excess.at_most(objective.raw_point(here.point), bound), (case, size)
            assert measure.bound(here, factor, ALLOWANCE) >= bound
            proved += math.isfinite(bound)
            # a Hessian from another point serves too
            there = objective.evaluate(here.point + 0.1 * size * away)
            assert excess.at_most(objective.raw_point(there.point), measure.bound(there, factor)), (case, size)
    assert checked > 1800
    assert proved > 800  # the bound is not vacuous


def test_the_bound_near_the_minimum_is_half_the_squared_decrement():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(500, 4))
    codes = draw.integers(0, 2, 500).astype(np.int32)
    objective = state(MemoryEngine(block_of(X), codes), 1.0, True)
    best, w = minimum(X, np.where(codes == 1, 1, -1), np.ones(500), 1.0, True)
    point = objective.shifted_point(w.astype(float)) + 1e-5 * draw.normal(size=5)
    here = objective.evaluate(point, curvature=True)
    bound = yardsticks(objective)[0].bound(here, factorise(here.hessian, point))
    raw = objective.raw_point(point)
    true = twins.objective(X, np.where(codes == 1, 1, -1), raw[:4], raw[4], 1.0) - best
    assert true <= bound <= 1.01 * float(true)


def test_the_bound_does_not_change_when_columns_are_scaled_by_powers_of_two():
    draw = np.random.default_rng(1)
    X = draw.normal(size=(80, 3))
    codes = draw.integers(0, 2, 80).astype(np.int32)
    scales = np.array([2.0**-30, 1.0, 2.0**30])
    plain = LogisticRegression(C=np.inf).fit(X, codes).trace_
    scaled = LogisticRegression(C=np.inf).fit(X * scales, codes).trace_
    finite = np.isfinite(plain.bound)
    assert finite.sum() >= 3
    np.testing.assert_allclose(scaled.bound[finite][:2], plain.bound[finite][:2], rtol=1e-6)


def test_rounding_widens_the_bound_with_the_number_of_rows():
    few = Yardstick.of(100, np.zeros(2), np.ones(2), np.zeros(2), True)
    many = Yardstick.of(10**9, np.zeros(2), np.ones(2), np.zeros(2), True)
    assert many.gamma > 10**6 * few.gamma


def test_a_claim_covers_a_hessian_that_is_off_by_its_rounding_the_other_way():
    """Two orders of the rows may give Hessians that differ by 2γ√(HⱼⱼHₖₖ), each γ off the true one.

    As that is at most θ times the one Hessian, the bound of the other is at most λ²/2 over (1−θ)(1 − θ/(1−θ)) = 1 − 2θ;
    a claim that allows for rounding three times contains it. The gradient is exact here.
    """
    measure = Yardstick.of(10**6, np.full(2, -1e-12), np.full(2, 1e-12), np.zeros(2), False)
    gamma, point = measure.gamma, np.zeros(2)
    for weakest in (1000.0 * gamma, 200.0 * gamma, 60.0 * gamma):
        hessian = np.array([[1.0, 1.0 - weakest], [1.0 - weakest, 1.0]])
        other = hessian - 2.0 * gamma * np.array([[1.0, -1.0], [-1.0, 1.0]])
        slope = 1e-6 * np.array([1.0, -1.0])
        bounds = [
            measure.bound(
                Evaluation(point, 0.5, slope, taken, None, 0.0, 0.0, np.ones((1, 1)), 0.5),
                factorise(taken, point),
                allowance,
            )
            for taken, allowance in ((hessian, ALLOWANCE), (other, 1.0))
        ]
        assert bounds[1] <= bounds[0] < math.inf
