"""Lanes of NumPy work run by a few threads; which thread runs which lane never matters.

The lanes' number is the caller's and depends on shapes alone. NumPy leaves the
interpreter free during matrix products, so that threads help; BLAS itself is kept to
one thread (``kernels.threads``), because its own threads change bits.
"""

import threading
from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

import numpy as np

from separatrix.core.apart import GLANCE, Hand
from separatrix.kernels.threads import thread_count

T = TypeVar("T")


def run_lanes(work: Callable[[int], T], lanes: int, threads: int | None = None) -> list[T]:
    """work(0), work(1), …: the results in order; an error in any lane is raised here.

    Without a second thread it is a plain loop.

    >>> run_lanes(lambda lane: lane * lane, 4)
    [0, 1, 4, 9]
    """
    results: list[Any] = [None] * lanes
    done = [False] * lanes
    ticket, stopped = count(), threading.Event()

    def take_turns() -> None:
        with np.errstate(all="ignore"):
            while not stopped.is_set() and (lane := next(ticket)) < lanes:
                results[lane] = work(lane)
                done[lane] = True

    hands: list[Hand[None]] = []
    try:
        for _ in range(min(thread_count() if threads is None else threads, lanes) - 1):
            try:
                hands.append(Hand(take_turns))
            except MemoryError:  # no thread to be had: those there are do the work
                break
        take_turns()
    except BaseException:
        stopped.set()
        raise
    finally:
        _wait(hands, stopped)
    for hand in hands:
        if hand.failed:
            hand.answer()
    if not all(done):
        raise MemoryError("a thread ended before its lane was done")
    return results


def _wait(hands: list[Hand[None]], stopped: threading.Event) -> None:
    """Until nobody is at work; an interrupt that comes meanwhile is raised then."""
    late: BaseException | None = None
    for hand in hands:
        over = False
        while not over:
            try:
                over = hand.over(GLANCE)
            except BaseException as error:
                late = error
                stopped.set()
    if late is not None:
        raise late
