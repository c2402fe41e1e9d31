"""Lanes of NumPy work run by a few threads; which thread runs which lane never matters.

The lanes' number is the caller's and depends on shapes alone. NumPy leaves the
interpreter free during matrix products, so that threads help; BLAS itself is kept to
one thread (``kernels.threads``), because its own threads change bits.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any, Self, TypeVar

import numpy as np

from separatrix.kernels.threads import thread_count

T = TypeVar("T")


class LanePool:
    """A context that runs lanes; without a second thread it is a plain loop.

    >>> with LanePool() as pool:
    ...     pool.run(lambda lane: lane * lane, 4)
    [0, 1, 4, 9]
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = thread_count() if threads is None else threads
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, work: Callable[[int], T], lanes: int) -> list[T]:
        """work(0), work(1), …: the results in order; an error in any lane is raised here."""
        if self._threads <= 1 or lanes <= 1:
            with np.errstate(all="ignore"):
                return [work(lane) for lane in range(lanes)]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads - 1, thread_name_prefix="separatrix-lane")
        results: list[Any] = [None] * lanes
        ticket = count()

        def take_turns() -> None:
            with np.errstate(all="ignore"):  # not inherited by threads
                while (lane := next(ticket)) < lanes:
                    results[lane] = work(lane)

        others: list[Future[None]] = [self._pool.submit(take_turns) for _ in range(min(self._threads, lanes) - 1)]
        try:
            take_turns()
        finally:
            for other in others:
                other.result()
        return results
