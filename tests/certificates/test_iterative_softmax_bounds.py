"""The bound of many classes by a direction: each maximum is one, and no witness proves what is false."""

import math
from dataclasses import replace

import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.certificates.iterative import IterativeYardstick
from separatrix.certificates.self_concordance import Yardstick
from separatrix.core.errors import CertificateError
from separatrix.core.protocols import Evaluation


def rows_of(draw, k, number):
    """Weights that add up to one, and probabilities: two classes only, even or decided, or any."""
    n = int(draw.integers(k, 40))
    weights = draw.dirichlet(np.ones(n))
    if number % 4 == 0:  # what the constants are sharp for: all rows halve between two of the classes
        pi = np.full((n, k), 1e-5)
        pi[:, number // 4 % k] = pi[:, (number // 4 + 1) % k] = 0.5
    else:
        pi = np.exp(10.0 ** draw.uniform(-1, 0.9) * draw.normal(size=(n, k)))
    return weights, pi / pi.sum(axis=1, keepdims=True)


def curvature_of(weights, pi):
    """Every row's diag π − ππᵀ, their average, and what the bound makes of it."""
    rows = np.einsum("ik,kl->ikl", pi, np.eye(pi.shape[1])) - np.einsum("ik,il->ikl", pi, pi)
    h = np.einsum("i,ikl->kl", weights, rows)
    k = len(h)
    none = np.zeros(k)
    plain = Yardstick(len(pi), np.tile([0.0, 1.0], k), np.tile([0.0, 1.0], k), True, k)
    here = Evaluation(np.tile(none, 2), 0.0, np.tile(none, 2), None, None, 0, 0.0, h, 0.0)
    return rows, h, IterativeYardstick(plain, 1.0, 1.0, 1.0)._scores(here, 0.0)


def true_size(weights, rows, h, vector):
    """ρ = rᵀh⁺r, and Σ aᵢ‖Aᵢv‖ ≥ ‖Σ aᵢ(Aᵢv) ⊗ xᵢ‖ for v = h⁺r and all rows no longer than 1."""
    vector = vector - vector.mean()
    v = np.linalg.solve(h + h.trace() / len(h) ** 2, vector)
    return float(vector @ v), float(weights @ np.linalg.norm(rows @ v, axis=1))


def test_the_largest_of_all_rows_and_errors_is_at_least_what_brute_force_finds():
    draw = np.random.default_rng(0)
    sharpest = np.zeros(4)
    for number in range(600):
        k = int(draw.integers(2, 7))
        weights, pi = rows_of(draw, k, number)
        rows, h, scores = curvature_of(weights, pi)
        if scores is None:
            continue
        pairs = [np.eye(k)[a] - np.eye(k)[b] for a in range(k) for b in range(k) if a != b]
        size = float(10.0 ** draw.uniform(-12, 2))
        errors = [*(sign * size * each for each in np.eye(k) for sign in (1, -1)), *(size / 2 * each for each in pairs)]
        errors += [size * each / np.abs(each).sum() for each in draw.normal(size=(20, k))]
        of_pairs = np.max([true_size(weights, rows, h, each) for each in pairs], axis=0)
        of_errors = np.max([true_size(weights, rows, h, each) for each in errors], axis=0)
        as_stated = np.max([scores.of(each) for each in errors], axis=0)  # not all of these sum to zero
        bounds = np.array([*scores.of_rows(), *scores.at_most(size)])
        assert (np.concatenate([of_pairs, np.maximum(of_errors, as_stated * (1 - 1e-9))]) <= bounds).all(), number
        sharpest = np.maximum(sharpest, np.array([*of_pairs, *as_stated]) / bounds)
        # each of them alone, as it is: the smaller of the two may hide the other
        assert_each_tau(scores, h, size, pairs, errors)
    assert sharpest.min() > 0.99, "none of the constants has room to be smaller"


def assert_each_tau(scores, h, size, pairs, errors):
    """With h the only curvature, the second τ: Σₖₗ|hₖₗ||vₖ − vₗ| of no vector is above 2Σₖ hₖₖ|vₖ| of the worst."""
    for tau, vectors in ((scores.of_rows()[1], pairs), (scores.at_most(size)[1], errors)):
        found = []
        for each in vectors:
            v = scores.inverse @ each
            moved = float(np.sum(np.abs(h) * np.abs(v[:, None] - v)))
            found.append(min(math.sqrt(0.5 * max(float(each @ v), 0.0)), moved))
        assert max(found) <= tau * (1 + 1e-9)


def far_from_the_minimum(k):
    draw = np.random.default_rng(k)
    X, y = draw.normal(size=(60, 3)), draw.integers(0, k, 60)
    y[:k] = range(k)
    best = LogisticRegression(solver="newton-cholesky", tol=1e-12).fit(X, y).certificate_
    away = draw.normal(size=(k, 4)) * 1e-4
    point = best.point + (away - away.mean(axis=0)).ravel()
    restated = best.problem.restate(X, y, None, best._shift)
    objective = restated.objective
    here = objective.evaluate(objective.shifted_point(point), curvature=True)
    step = objective.centred(objective.raw_point(-np.linalg.solve(here.hessian, here.gradient)))
    proof = restated.prove_by_direction(point, step, best._rows)
    honest = replace(best, point=point, objective=proof.value, bound=proof.claim, _direction=step)
    return X, y, honest, honest.objective - best.objective


@pytest.mark.parametrize("k", [3, 4, 5])
def test_a_direction_along_all_classes_alike_proves_nothing_more(k):
    """There the Hessian is zero or κ: what rounding makes of it, times the square of a long step, is no proof."""
    X, y, honest, true = far_from_the_minimum(k)
    honest.verify(X, y)
    assert true > 1e-9
    restated = honest.problem.restate(X, y, None, honest._shift)
    for length in 10.0 ** np.arange(2.0, 12.0, 0.5):
        for sign in (1.0, -1.0):
            direction = honest._direction.reshape(k, -1) + sign * length * np.eye(4)[3]
            claim = restated.prove_by_direction(honest.point, direction.ravel(), honest._rows).claim
            forged = replace(honest, _direction=direction.ravel(), bound=float(claim))
            if claim < true:
                with pytest.raises(CertificateError):
                    forged.verify(X, y)
