"""How many threads a kernel may use, and BLAS kept to one.

OpenMP answers for OMP_NUM_THREADS and threadpoolctl; the cgroup quota and the
processor affinity cap it. The threads themselves are ours (``cpp/kernels/crew.hpp``). After a fork the child
runs one, because threads do not survive a fork.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from separatrix.core.parameters import JOBS, check_value
from separatrix.kernels import _kernels

_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True
    if _blas.cache_info().currsize:
        _blas().forked()


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
    check_value("n_jobs", n_jobs, JOBS)
    token = _limit.set(max(1, n_jobs) if n_jobs is not None and n_jobs > 0 else _limit.get())
    try:
        yield
    finally:
        _limit.reset(token)


NUMBER_OF_THREADS = {
    "openblas": ("openblas_get_num_threads", "openblas_set_num_threads"),
    "mkl": ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
}
"""The functions by which a BLAS says and changes how many threads it uses: ``int get()`` and ``void set(int)``."""


@cache
def _blas() -> _kernels.Hold:
    """All loaded BLAS libraries that can be limited, to be held at one thread."""
    import ctypes

    from scipy.linalg import cython_blas, cython_lapack  # which also loads the BLAS to be limited
    from threadpoolctl import ThreadpoolController

    blas, lapack = cython_blas.__pyx_capi__, cython_lapack.__pyx_capi__
    _kernels.use_blas(blas["dsyrk"], blas["dgemm"], lapack["dpotrf"])
    found = []
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        names = NUMBER_OF_THREADS.get(library.internal_api, ())
        functions = [library._get_symbol(name) for name in names]
        if functions and all(functions):
            get, put = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)
            found.append((get, put))
    return _kernels.Hold(found)


def one_blas_thread() -> _kernels.Hold:
    """A context: BLAS and LAPACK on one thread, because OpenBLAS changes bits between one and two.

    Entries are counted: any number of threads may be inside at once, and the last to leave restores what was.

    >>> with one_blas_thread() as _:
    ...     one_blas_thread().inside >= 1
    True
    """
    return _blas()
