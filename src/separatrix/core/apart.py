"""Work that does not look at the clock, on a thread of its own: interrupts and deadlines are answered at once."""

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from separatrix.core.errors import OutOfTime

Answer = TypeVar("Answer")

GRACE = 0.2
"""Seconds past the deadline that are waited for an answer that may be about to come."""


def start(worker: threading.Thread) -> None:
    """Begin; a thread that the system has no memory for is a MemoryError, as it is everywhere else."""
    try:
        worker.start()
    except RuntimeError as error:
        raise MemoryError(str(error)) from error


def apart(work: Callable[[], Answer], deadline: float) -> Answer:
    """What ``work`` returns or raises; OutOfTime past the deadline, when it is left to end by itself.

    >>> apart(lambda: 2 + 2, time.monotonic() + 60.0)
    4
    """
    found: dict[str, Any] = {}

    def run() -> None:
        try:
            found["answer"] = work()
        except BaseException as error:  # carried to the caller's thread
            found["error"] = error

    worker = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    start(worker)
    while worker.is_alive():
        worker.join(0.05)
        if worker.is_alive() and time.monotonic() > deadline + GRACE:
            raise OutOfTime
    if "error" in found:
        raise found["error"]
    answer: Answer = found["answer"]
    return answer
