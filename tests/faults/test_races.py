"""Many threads fit to the same rows at once: the bits of one fit alone. With the thread sanitizer also: no race."""

import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.core import lanes
from separatrix.engines import MemoryEngine, block_of
from separatrix.kernels import columns, stretches
from separatrix.kernels import network as network_passes
from separatrix.kernels import rows as table_rows
from separatrix.terms.logistic import LogisticLoss

MODELS = {
    "logistic": lambda: sx.LogisticRegression(),
    "softmax": lambda: sx.LogisticRegression(),
    "l1": lambda: sx.LogisticRegression(l1_ratio=1.0, C=0.1),
    "conjugate gradients": lambda: sx.LogisticRegression(solver="newton-cg"),
    "sgd": lambda: sx.SGDClassifier(max_iter=3),
    "perceptron": lambda: sx.Perceptron(max_iter=3),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "naive Bayes": lambda: sx.BernoulliNB(),
    "ridge": lambda: sx.RidgeClassifier(),
    "network": lambda: sx.MLPClassifier((4,), max_iter=2, random_state=0),
}


@pytest.fixture
def helped(monkeypatch):
    """Three threads for however little work."""
    for module in (table_rows, columns, network_passes):
        monkeypatch.setattr(module, "thread_count", lambda: 3)
    for module in (table_rows, columns):
        monkeypatch.setattr(module, "THREAD_WORK", 1)
    monkeypatch.setattr(stretches, "MANY", 1)
    monkeypatch.setattr(network_passes, "TEAM_WORK", 1)
    monkeypatch.setattr(lanes, "LANE_WORK", 64)


@pytest.mark.parametrize("layout", ["dense", "csr", "csc"])
@pytest.mark.parametrize("name", MODELS)
def test_threads_do_not_disturb_each_other(name, layout, helped):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(500, 5))
    y = (np.arange(500) % 3) if name == "softmax" else (X[:, 0] + draw.normal(size=500) > 0).astype(int)
    table = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_array}[layout](X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = MODELS[name]().fit(table, y)
        found, together = [], threading.Barrier(4)

        def work():
            together.wait(60)
            found.append(MODELS[name]().fit(table, y))

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(300)
    assert len(found) == 4
    for model in found:
        np.testing.assert_array_equal(model.predict(table), alone.predict(table))
        if hasattr(alone, "coef_"):
            np.testing.assert_array_equal(model.coef_, alone.coef_)


def test_one_crew_helps_many_callers(monkeypatch):
    """More threads than processors, more callers than one, jobs of a few rows a lane: what one thread adds up."""
    monkeypatch.setattr(table_rows, "THREAD_WORK", 1)
    monkeypatch.setattr(lanes, "LANE_WORK", 16)
    draw = np.random.default_rng(1)
    X, codes = draw.normal(size=(700, 3)), draw.integers(0, 2, 700).astype(np.int32)
    point = draw.normal(size=(1, 4))

    def gradient():
        total = MemoryEngine(block_of(X), codes).total(LogisticLoss(True, curvature=True), point)[0][0]
        return np.append(total.gradient, total.hessian)

    monkeypatch.setattr(table_rows, "thread_count", lambda: 1)
    alone = gradient()
    monkeypatch.setattr(table_rows, "thread_count", lambda: 5)
    found = []
    callers = [threading.Thread(target=lambda: found.extend(gradient() for _ in range(100))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(300)
    assert len(found) == 400
    for each in found:
        np.testing.assert_array_equal(each, alone)
