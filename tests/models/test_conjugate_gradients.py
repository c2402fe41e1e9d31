"""Sparse rows of correlated columns: secants are slow, a factor is dear, and conjugate gradients take over."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

from separatrix import LogisticRegression

N, D, EACH = 2500, 2000, 60


def table(correlated, seed=0):
    """Every row stores a stretch of columns; correlated ones share a factor and stand in units from 0.1 to 10."""
    draw = np.random.default_rng(seed)
    indices = ((draw.random((N, 1)) + np.arange(EACH)) * (D / EACH)).astype(int).clip(max=D - 1)
    values = draw.normal(size=(N, EACH))
    size = np.ones(D)
    if correlated:
        size = np.geomspace(0.1, 10.0, D)
        values = (np.sqrt(0.19) * values + 0.9 * draw.normal(size=(N, 1))) * size[indices]
    X = sp.csr_array((values.ravel(), indices.ravel(), np.arange(0, N * EACH + 1, EACH)), shape=(N, D))
    score = X @ (draw.normal(size=D) / (size * np.sqrt(EACH))) + 0.5
    return X, (draw.random(N) < 1.0 / (1.0 + np.exp(-score))).astype(int)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_slow_secants_hand_over_to_conjugate_gradients(seed):
    X, y = table(True, seed)
    model = LogisticRegression().fit(X, y)
    assert model.trace_.solver == "newton-cg"
    assert "quick passes" in model.trace_.reason
    assert model.certificate_.met
    model.certificate_.verify(X, y)
    theirs = sklearn.linear_model.LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000).fit(X, y)
    # the penalty is strongly convex: a bound on F is one on the weights
    most = np.sqrt(2.0 * model.certificate_.bound * N)
    assert np.linalg.norm(model.coef_ - theirs.coef_) <= most + 1e-4


def test_quick_secants_do_not():
    X, y = table(False)
    model = LogisticRegression().fit(X, y)
    assert model.trace_.solver == "quasi-newton"
    assert model.certificate_.met


def test_hooks_see_every_pass_and_change_no_bit():
    X, y = table(True)
    seen = []
    plain = LogisticRegression().fit(X, y)
    watched = LogisticRegression(on_pass=lambda entry: seen.append(entry.point)).fit(X, y)
    assert watched.coef_.tobytes() == plain.coef_.tobytes()
    assert len(seen) == len(plain.trace_) == len(watched.trace_)
    assert all(len(point) == D + 1 for point in seen)
