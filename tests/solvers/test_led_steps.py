"""Quasi-Newton steps and their guides, against matrices written out."""

import numpy as np
import pytest

import twins
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.engines import MemoryEngine, block_of
from separatrix.solvers.class_guides import ByClass, ByDiagonal, Pooled
from separatrix.solvers.led_steps import MEMORY, RECENT, Memory, led_steps
from separatrix.solvers.outcome import Patience
from separatrix.terms.penalised import PenalisedLoss

NOTHING = np.empty(0)


class Inverse:
    """A guide that is a matrix."""

    def __init__(self, matrix):
        self.matrix = matrix

    def solve(self, gradient):
        return self.matrix @ gradient


def evaluation(point, gradient, value=0.0):
    return Evaluation(point, value, gradient, None, None, 0.0, 0.0, np.zeros((1, 1)), value)


def positive(draw, size):
    root = draw.normal(size=(size, size))
    return root @ root.T + np.eye(size)


@pytest.mark.parametrize("count", [1, 3, MEMORY + 5, 2 * MEMORY + 9])
def test_the_compact_form_is_bfgs_with_the_last_pairs(count):
    draw = np.random.default_rng(count)
    size = 12
    hessian, first, other = positive(draw, size), positive(draw, size), positive(draw, size)
    guide = Inverse(first)
    memory, pairs = Memory.empty(size), []
    here = evaluation(np.zeros(size), draw.normal(size=size))
    memory.lead(guide, here.gradient)
    for _ in range(count):
        point = here.point + draw.normal(size=size)
        after = evaluation(point, here.gradient + hessian @ (point - here.point))
        memory.learn(guide, here, after)
        pairs.append((after.point - here.point, after.gradient - here.gradient))
        here = after
    for matrix in (first, other):
        if matrix is other:
            guide = Inverse(other)
            memory.led_by(guide)
            pairs = pairs[-RECENT:]
        step, change = pairs[-1]
        inverse = matrix * (step @ change) / (change @ matrix @ change)
        for step, change in pairs[-MEMORY:]:
            turn = np.eye(size) - np.outer(change, step) / (step @ change)
            inverse = turn.T @ inverse @ turn + np.outer(step, step) / (step @ change)
        np.testing.assert_allclose(memory.lead(guide, here.gradient), inverse @ here.gradient, rtol=1e-6)


def test_steps_reach_the_minimum_of_a_quadratic_and_say_when_they_do_not():
    draw = np.random.default_rng(1)
    hessian, best = positive(draw, 6), draw.normal(size=6)

    def evaluate(point):
        away = point - best
        return evaluation(point, hessian @ away, 1.0 + 0.5 * float(away @ hessian @ away))

    class Objective:
        def weights_of(self, point):
            return point

        def raw_point(self, point):
            return point

    def run(most, tol):
        patience = Patience(tol, 100, 0, Trace(), Objective())
        guide = Inverse(np.diag(1.0 / np.diag(hessian)))

        def guide_at(here, steps):
            return None if steps else guide

        return led_steps(evaluate, np.zeros(6), guide_at, lambda here: here.value - 1.0, patience, most)

    found = run(50, 1e-10)
    assert found.stop is Stop.CERTIFIED
    np.testing.assert_allclose(found.evaluation.point, best, atol=1e-4)
    assert run(2, 1e-10).stop is Stop.STALLED


@pytest.mark.parametrize("constant", [True, False])
def test_guides_invert_what_they_say_they_do(constant):
    draw = np.random.default_rng(2)
    n, d, classes, strength = 400, 4, 3, 0.3
    X, codes = draw.normal(size=(n, d)) + 3.0, draw.integers(0, classes, n).astype(np.int32)
    engine = MemoryEngine(block_of(X), codes, classes)
    shift = X[:50].mean(axis=0) if constant else np.zeros(d)
    objective = PenalisedLoss(engine, constant, strength, shift, classes)
    p = d + constant
    point = draw.normal(size=classes * p)
    pi = twins.softmax(X, codes, objective.raw_point(point).reshape(classes, p), constant=constant)[1]
    rows = twins.with_constant(X - shift, constant)
    penalty = np.diag([strength] * d + [0.0] * constant)
    blocks = np.stack([(rows * (pi[:, k] * (1 - pi[:, k]) / n)[:, None]).T @ rows for k in range(classes)])
    vector = draw.normal(size=(classes, p))
    centred = vector - vector.mean(axis=0)

    def expected(matrices):
        solved = np.stack([np.linalg.solve(m, v) for m, v in zip(matrices, centred, strict=True)])
        return (solved - solved.mean(axis=0)).ravel()

    found, weighted = objective.class_curvature(point, classes)
    np.testing.assert_allclose(found, blocks, rtol=1e-9, atol=1e-12)
    by_class = ByClass.of(found, strength, constant)
    np.testing.assert_allclose(by_class.solve(vector.ravel()), expected(blocks + penalty), rtol=1e-6)
    diagonal = ByDiagonal.of(*objective.class_curvature(point, 0), strength, constant)
    pooled = Pooled.of(objective.class_curvature(point, 1)[0][0], weighted, strength, constant)
    if constant:
        sizes = blocks[:, -1, -1]
        means = blocks[:, -1, :-1] / sizes[:, None]
        within = [b[:-1, :-1] - t * np.outer(m, m) for b, t, m in zip(blocks, sizes, means, strict=True)]
        shared = sum(within) / sizes.sum() + np.eye(d) * strength / sizes.mean()
        assumed = [(np.diag(np.diag(w)) + strength * np.eye(d), t * shared) for w, t in zip(within, sizes, strict=True)]

        def whole(matrix, t, m):
            return np.block([[matrix + t * np.outer(m, m), t * m[:, None]], [t * m[None], np.full((1, 1), t)]])

        for guide, place in ((diagonal, 0), (pooled, 1)):
            matrices = [whole(each[place], t, m) for each, t, m in zip(assumed, sizes, means, strict=True)]
            np.testing.assert_allclose(guide.solve(vector.ravel()), expected(matrices), rtol=1e-6)
    else:
        squares = np.stack([np.diag(np.diag(b) + strength) for b in blocks])
        np.testing.assert_allclose(diagonal.solve(vector.ravel()), expected(squares), rtol=1e-6)
    for guide in (by_class, diagonal, pooled):  # steps keep to coefficients that sum to zero
        np.testing.assert_allclose(guide.solve(vector.ravel()).reshape(classes, p).sum(axis=0), 0.0, atol=1e-12)
