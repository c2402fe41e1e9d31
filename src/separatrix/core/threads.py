"""How many threads a kernel may use, and BLAS kept to one.

OpenMP answers for OMP_NUM_THREADS and threadpoolctl; the cgroup quota and the
processor affinity cap it. After a fork the child runs one thread, because
OpenMP's pool does not survive a fork and would wait for threads that are gone.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from separatrix.core import _kernels

_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


@cache
def _quota() -> int:
    """Processors that affinity and the cgroup's quota allow, at least one."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for quota_file, period_file in (
        ("/sys/fs/cgroup/cpu.max", None),
        ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
    ):
        try:
            words = Path(quota_file).read_text().split()
            if period_file is not None:
                words += Path(period_file).read_text().split()
            if words[0] != "max" and int(words[0]) > 0:
                allowed = min(allowed, max(1, -(-int(words[0]) // int(words[1]))))
        except (OSError, ValueError, IndexError):
            continue
    return max(1, allowed)


def thread_count() -> int:
    """Threads for the next kernel call; the answer never changes a result.

    >>> thread_count() >= 1
    True
    """
    if _forked:
        return 1
    return max(1, min(int(_kernels.max_threads()), _quota(), _limit.get()))


_limit: ContextVar[int] = ContextVar("most threads", default=1 << 30)


@contextmanager
def thread_limit(n_jobs: int | None) -> Iterator[None]:
    """At most ``n_jobs`` threads within; None leaves it open, −1 means all, as in joblib."""
    token = _limit.set(max(1, n_jobs) if n_jobs is not None and n_jobs > 0 else _limit.get())
    try:
        yield
    finally:
        _limit.reset(token)


_blas_lock = threading.RLock()


@cache
def _blas_controller() -> Any:
    import scipy.linalg  # noqa: F401  the BLAS to be limited must be loaded first
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS and LAPACK on one thread: OpenBLAS changes bits between one and two."""
    with _blas_lock, _blas_controller().limit(limits=1):
        yield
