"""Forks while threads fit, and fits where memory is short: no child hangs, no process dies."""

import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import separatrix as sx

MODELS = {
    "logistic": lambda: sx.LogisticRegression(),
    "l1": lambda: sx.LogisticRegression(l1_ratio=1.0, C=0.1),
    "perceptron": lambda: sx.Perceptron(max_iter=3),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "ridge": lambda: sx.RidgeClassifier(),
    "network": lambda: sx.MLPClassifier((4,), max_iter=2, random_state=0),
}


def rows(n=3000, d=20):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, d))
    return X, (X[:, 0] + draw.normal(size=n) > 0).astype(int)


def _fit(name, queue):
    X, y = rows()
    queue.put(MODELS[name]().fit(X, y).predict(X).sum())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_children_forked_while_threads_fit_can_fit(name):
    X, y = rows()
    expected = MODELS[name]().fit(X, y).predict(X).sum()
    stop = threading.Event()

    def work():
        while not stop.is_set():
            MODELS[name]().fit(X, y)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    context = multiprocessing.get_context("fork")
    try:
        for _ in range(5):
            queue = context.Queue()
            child = context.Process(target=_fit, args=(name, queue))
            child.start()
            assert queue.get(timeout=300) == expected
            child.join(300)
            assert child.exitcode == 0
    finally:
        stop.set()
        for worker in workers:
            worker.join()


LIMITED = """
import resource, sys, warnings
import numpy as np
import scipy.linalg
import separatrix as sx
warnings.simplefilter("ignore")
make = {make}
draw = np.random.default_rng(0)
X = draw.normal(size=(20000, 200))
y = (X[:, 0] + draw.normal(size=20000) > 0).astype(int)
# OpenBLAS ends the process where it cannot have its first buffer: both libraries get theirs before
X[:300] @ X[:300].T
scipy.linalg.cholesky(scipy.linalg.blas.dgemm(1.0, X[:300], X[:300], trans_a=True))
make().fit(X, y) if make is not sx.separability else make(X, y)  # the C library ends threads in the same way
model = make().fit(X[:50], y[:50]) if make is not sx.separability else None
before = dict(vars(model)) if model is not None else None
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
ends = []
for room in (2**18, 2**20, 2**22, 2**23, 2**24, 2**25, 2**26, 2**28):
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
    try:
        model.fit(X, y) if model is not None else make(X, y)
        ends.append("fitted")
    except MemoryError:
        ends.append("refused")
        assert model is None or all(vars(model)[key] is before[key] for key in before)
    if ends[-1] == "fitted":
        break
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
model.fit(X, y) if model is not None else make(X, y)
print(*ends)
"""
MADE = {
    "logistic": "lambda: sx.LogisticRegression(n_jobs=1)",
    "l1": "lambda: sx.LogisticRegression(l1_ratio=1.0, C=0.1, n_jobs=1)",
    "perceptron": "lambda: sx.Perceptron(max_iter=2, n_jobs=1)",
    "lda": "lambda: sx.LinearDiscriminantAnalysis()",
    "ridge": "lambda: sx.RidgeClassifier()",
    "naive Bayes": "lambda: sx.BernoulliNB()",
    "verdict": "sx.separability",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are read from /proc")
@pytest.mark.parametrize("name", MADE)
def test_a_process_short_of_memory_raises_and_lives(name):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(make=MADE[name])],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert set(done.stdout.split()) <= {"fitted", "refused"}


ANY_LIMIT = """
import resource, warnings
import numpy as np
import separatrix as sx
warnings.simplefilter("ignore")
draw = np.random.default_rng({seed})
X = draw.normal(size=(5000, 200))
y = (X[:, 0] + draw.normal(size=5000) > 0).astype(int)
sx.separability(X, y)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
ends = []
for room in 2 ** draw.uniform(14.0, 26.0, {count}):
    resource.setrlimit(resource.RLIMIT_AS, (used + int(room), resource.RLIM_INFINITY))
    try:
        sx.separability(X, y)
        ends.append("fitted")
    except MemoryError:
        ends.append("refused")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(*ends)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are read from /proc")
@pytest.mark.parametrize("seed", range(3))
def test_a_verdict_ends_whatever_memory_its_threads_find(seed):
    """A thread without memory to begin is no reason to wait, and one that cannot throw does not end the process."""
    count = max(60, int(os.environ.get("SEPARATRIX_INTERRUPTS", "0")))
    done = subprocess.run(
        [sys.executable, "-c", ANY_LIMIT.format(seed=seed, count=count)],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        timeout=60 + 10 * count,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.split()) == count
