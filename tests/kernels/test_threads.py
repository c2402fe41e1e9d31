"""Thread counts: limits respected, forks survived, processes not oversubscribed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from separatrix import LogisticRegression, RidgeClassifierCV
from separatrix.kernels import threads

X = np.random.default_rng(0).normal(size=(30_000, 20))
Y = (X @ np.arange(20) > np.random.default_rng(1).normal(size=30_000)).astype(int)


def fitted_sum() -> float:
    return float(LogisticRegression().fit(X, Y).coef_.sum())


def test_thread_count_follows_threadpoolctl():
    with threadpool_limits(limits=1, user_api="openmp"):
        assert threads.thread_count() == 1


@pytest.mark.parametrize("count", [1, 2])
def test_thread_count_follows_omp_num_threads(count):
    code = "from separatrix.kernels.threads import thread_count; print(thread_count())"
    answer = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "OMP_NUM_THREADS": str(count)}, capture_output=True, check=True
    )
    assert int(answer.stdout) == min(count, threads._quota())


def test_thread_limit_caps_and_restores():
    before = threads.thread_count()
    with threads.thread_limit(1):
        assert threads.thread_count() == 1
    assert threads.thread_count() == before
    with threads.thread_limit(-1):
        assert threads.thread_count() == before


def test_quota_of_a_cgroup_is_read(monkeypatch, tmp_path):
    file = tmp_path / "cpu.max"
    file.write_text("150000 100000\n")
    real = threads.Path
    monkeypatch.setattr(threads, "Path", lambda p: file if p == "/sys/fs/cgroup/cpu.max" else real("/nowhere"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert threads._quota.__wrapped__() == 2


def _child(queue) -> None:
    queue.put((threads.thread_count(), fitted_sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_runs_one_thread_and_does_not_hang():
    expected = fitted_sum()  # starts the parent's threads
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_child, args=(queue,))
    child.start()
    count, value = queue.get(timeout=600)
    child.join(timeout=600)
    assert child.exitcode == 0
    assert count == 1
    assert value == expected


def test_joblib_processes_do_not_oversubscribe(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)  # what the user asks for counts more than joblib's share
    counts = joblib.Parallel(n_jobs=2)(joblib.delayed(threads.thread_count)() for _ in range(2))
    assert sum(counts) <= max(2, threads._quota())


def blas_threads():
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


def test_many_may_hold_blas_at_once_and_the_last_restores_it():
    before = blas_threads()
    inside, leave = threading.Barrier(3), threading.Event()

    def hold():
        with threads.one_blas_thread():
            inside.wait(60)
            leave.wait(60)

    holders = [threading.Thread(target=hold) for _ in range(2)]
    for holder in holders:
        holder.start()
    inside.wait(60)  # both are inside: neither waited for the other
    assert threads.one_blas_thread().inside == 2
    assert set(blas_threads()) == {1}
    leave.set()
    for holder in holders:
        holder.join(60)
    assert threads.one_blas_thread().inside == 0
    assert blas_threads() == before


def test_fits_within_fits_under_joblibs_threads():
    small, labels = X[:300], Y[:300]
    models = joblib.Parallel(n_jobs=2, backend="threading")(
        joblib.delayed(RidgeClassifierCV(cv=5).fit)(small, labels) for _ in range(4)
    )
    alone = RidgeClassifierCV(cv=5).fit(small, labels)
    assert all((model.coef_ == alone.coef_).all() for model in models)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forked_while_another_thread_fits_can_fit():
    expected = fitted_sum()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with threads.one_blas_thread():
            inside.set()
            leave.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(60)
    child = context.Process(target=_child, args=(queue,))
    child.start()
    leave.set()
    _, value = queue.get(timeout=60)
    child.join(timeout=60)
    holder.join(60)
    assert child.exitcode == 0
    assert value == expected


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timer")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in a callback of the collector
def test_no_interrupt_leaves_blas_at_one_thread():
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    before, caught = blas_threads(), 0

    def interrupt(number, frame):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for k in range(3000):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + k % 40))
                for _ in range(200):
                    with threads.one_blas_thread(), threads.one_blas_thread():
                        pass
            except KeyboardInterrupt:
                caught += 1
            finally:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except KeyboardInterrupt:
                    caught += 1
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert caught > 0
    assert threads.one_blas_thread().inside == 0
    assert blas_threads() == before


def test_calls_from_many_threads_share_the_helpers():
    """Whoever calls while others are at it gets the bits of one thread, however the helpers are shared."""
    with threads.thread_limit(1):
        alone = fitted_sum()
    found: list[float] = []
    callers = [threading.Thread(target=lambda: found.extend(fitted_sum() for _ in range(3))) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(300)
    assert found == [alone] * 15
