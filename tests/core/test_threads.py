"""Thread counts: limits respected, forks survived, processes not oversubscribed."""

import multiprocessing
import os
import subprocess
import sys

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from separatrix import LogisticRegression
from separatrix.core import threads

X = np.random.default_rng(0).normal(size=(30_000, 20))
Y = (X @ np.arange(20) > np.random.default_rng(1).normal(size=30_000)).astype(int)


def fitted_sum() -> float:
    return float(LogisticRegression().fit(X, Y).coef_.sum())


def test_thread_count_follows_threadpoolctl():
    with threadpool_limits(limits=1, user_api="openmp"):
        assert threads.thread_count() == 1


@pytest.mark.parametrize("count", [1, 2])
def test_thread_count_follows_omp_num_threads(count):
    code = "from separatrix.core.threads import thread_count; print(thread_count())"
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
