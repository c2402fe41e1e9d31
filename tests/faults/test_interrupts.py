"""Interrupts at any moment of a fit: the estimator is as it was or as it will be, never between, and BLAS as before.

``SEPARATRIX_INTERRUPTS`` says how many a model gets; ``make faults`` asks for many.
"""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import separatrix as sx
from separatrix.kernels import threads

COUNT = int(os.environ.get("SEPARATRIX_INTERRUPTS", "60"))

pytestmark = [
    # an interrupt may fall into a callback of the collector, which cannot raise it
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timer"),
    pytest.mark.skipif(
        threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread only"
    ),
]

MODELS = {
    "logistic": lambda: sx.LogisticRegression(),
    "l1": lambda: sx.LogisticRegression(l1_ratio=1.0, C=0.1),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "firth": lambda: sx.LogisticRegression(C=np.inf, firth=True),
    "sgd": lambda: sx.SGDClassifier(max_iter=5),
    "gd": lambda: sx.SGDClassifier(batch_size="all", max_iter=20),
    "perceptron": lambda: sx.Perceptron(max_iter=5),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "naive Bayes": lambda: sx.BernoulliNB(),
    "ridge": lambda: sx.RidgeClassifier(),
    "ridge, penalty chosen": lambda: sx.RidgeClassifierCV(),
    "network": lambda: sx.MLPClassifier((4,), max_iter=3),
}


def rows(n, d, seed):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, (X[:, 0] + draw.normal(size=n) > 0).astype(int)


def fingerprint(model):
    """Everything a fit leaves behind that can be told apart by shape or value, as one number each."""
    seen = {"names": tuple(sorted(vars(model)))}
    for name, value in vars(model).items():
        if name in (
            "coef_",
            "intercept_",
            "classes_",
            "n_iter_",
            "n_parameters_",
            "n_features_in_",
            "priors_",
            "means_",
        ):
            seen[name] = np.asarray(value, dtype=float).tobytes()
        elif name == "coefs_":
            seen[name] = b"".join(np.asarray(part).tobytes() for part in value)
        elif name == "certificate_":
            seen[name] = str(value)
    return seen


def blas_threads():
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


@pytest.mark.parametrize("name", MODELS)
def test_an_interrupted_fit_leaves_the_old_model_or_the_new_one(name):
    (old_X, old_y), (new_X, new_y) = rows(200, 3, 0), rows(400, 6, 1)
    before = blas_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = fingerprint(MODELS[name]().fit(old_X, old_y))
        new = fingerprint(MODELS[name]().fit(old_X, old_y).fit(new_X, new_y))
        begin = time.perf_counter()
        MODELS[name]().fit(new_X, new_y)
        length = time.perf_counter() - begin
        draw = np.random.default_rng(2)

        armed = [False]

        def interrupt(number, frame):
            if armed[0]:
                raise KeyboardInterrupt

        previous, ended = signal.signal(signal.SIGALRM, interrupt), {"old": 0, "new": 0}
        try:
            for delay in draw.uniform(1e-6, 1.1 * length, COUNT):
                model = MODELS[name]().fit(old_X, old_y)
                try:
                    try:
                        armed[0] = True
                        signal.setitimer(signal.ITIMER_REAL, float(delay))
                        model.fit(new_X, new_y)
                    finally:
                        armed[0] = False
                except KeyboardInterrupt:
                    armed[0] = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                found = fingerprint(model)
                which = "old" if found == old else "new" if found == new else "torn"
                assert which != "torn", {key for key in found if found[key] not in (old.get(key), new.get(key))}
                ended[which] += 1
        finally:
            signal.signal(signal.SIGALRM, previous)
    assert sum(ended.values()) == COUNT
    assert threads.one_blas_thread().inside == 0
    assert blas_threads() == before
