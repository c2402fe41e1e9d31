"""Ctrl-C ends a fit, and the estimator stays as it was."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from separatrix import LogisticRegression

# a process in the background of some shells ignores Ctrl-C altogether
pytestmark = pytest.mark.usefixtures("interruptible")


def interrupt_when(ready: threading.Event) -> None:
    ready.wait()
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-subsample", "newton-cg"])
def test_interrupt_leaves_the_estimator_as_it_was(solver):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(20_000, 10))
    y = (X[:, 0] + draw.logistic(size=20_000) > 0).astype(int)
    model = LogisticRegression(solver=solver).fit(X, y)
    before = {name: id(value) for name, value in vars(model).items()}
    ready = threading.Event()

    def dawdle(entry):
        ready.set()
        time.sleep(0.02)
        return False

    model.set_params(on_pass=dawdle)
    before["on_pass"] = id(dawdle)
    thread = threading.Thread(target=interrupt_when, args=(ready,))
    thread.start()
    moved = X + 1.0
    with pytest.raises(KeyboardInterrupt):
        [model.fit(moved, y) for _ in range(1000)]
    thread.join()
    # one fit may have ended before the signal came; what is forbidden is half a fit
    now = {name: id(value) for name, value in vars(model).items()}
    assert now.keys() == before.keys()
    assert now == before or model.certificate_.verify(moved, y)


def test_python_is_reached_many_times_in_a_long_pass(monkeypatch):
    """A signal is answered between blocks: a block holds a tenth of a second's work, of wide Hessians a second's."""
    from separatrix.core import lanes

    draw = np.random.default_rng(0)
    X = draw.normal(size=(4000, 50))
    y = draw.integers(0, 2, 4000)
    blocks = []
    real = lanes.BLOCK_WORK
    assert real <= 2**27
    assert lanes.LONGEST_BLOCK <= 2**33  # of a wide Hessian: about a second
    monkeypatch.setattr(lanes, "BLOCK_WORK", 2**14)
    monkeypatch.setattr(lanes, "WORK_PER_NUMBER", 0)
    from separatrix.kernels import _kernels

    kernel = _kernels.logistic
    monkeypatch.setattr(_kernels, "logistic", lambda *a: blocks.append(a[12:16]) or kernel(*a))
    small = LogisticRegression(solver="newton-cholesky").fit(X, y)
    assert len(blocks) > 20 * small.n_iter_[0]
    small.certificate_.verify(X, y)


def test_interrupt_ends_the_linear_program_of_a_verdict(monkeypatch):
    from separatrix.solvers import alternative

    ready = threading.Event()

    def endless(*_, **__):
        ready.set()
        time.sleep(60.0)

    monkeypatch.setattr(alternative, "linprog", endless)
    thread = threading.Thread(target=interrupt_when, args=(ready,))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        alternative.solve_alternative(np.ones((3, 2)), np.inf)
    thread.join()
