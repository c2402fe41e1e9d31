"""Work on threads of its own: interrupts and deadlines are answered at once, and a thread that dies is missed.

``threading.Thread.start`` waits until the new thread says that it runs. Where memory is too short for the thread to
say so, it waits for ever. Threads begun here need not say anything: with its work each is given a token that nobody
else holds, and a token that is gone without an answer left behind is a thread that died.

A thread that is done waits for the next call: it has the memory that a thread needs, and compiled libraries that keep
something for each thread (HiGHS its own helpers) need not make it again.
"""

import contextvars
import os
import time
import weakref
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from separatrix.core.errors import OutOfTime

Answer = TypeVar("Answer")

GRACE = 0.2
"""Seconds past the deadline that are waited for an answer that may be about to come."""

GLANCE = 0.05
"""Seconds between two looks at the clock."""


MOST_IDLE = 8
"""Threads that are kept waiting; more than that were needed once, and end."""


class _Token:
    """Lives as long as the work of its thread."""

    __slots__ = ("__weakref__",)


class _Worker:
    """A thread that serves one call after the other."""

    def __init__(self) -> None:
        self._called = allocate_lock()
        self._called.acquire()
        self._call: tuple[Any, ...] | None = None

    def take(self, call: tuple[Any, ...]) -> None:
        self._call = call
        self._called.release()

    def serve(self) -> None:
        while self._called.acquire() and self._call is not None:
            context, work, found, ended, token = self._call
            self._call = None
            again = False
            try:
                try:
                    found["answer"] = context.run(work)
                except BaseException as error:  # carried to the caller's thread
                    found["error"] = error
                again = self._offered()
            finally:
                ended.release()  # whatever happens, the caller does not wait for it
            del context, work, found, ended, token
            if not again:
                return

    def _offered(self) -> bool:
        """Whether the thread waits for the next call."""
        try:
            if len(_idle) < MOST_IDLE:
                _idle.append(self)
                return True
        except MemoryError:  # the list could not grow
            pass
        return False


_idle: list[_Worker] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads do not survive a fork


class Hand(Generic[Answer]):
    """A call under way on another thread; MemoryError if the system has no thread to give.

    >>> hand = Hand(lambda: 6 * 7)
    >>> while not hand.over(1.0):
    ...     pass
    >>> hand.answer()
    42
    """

    def __init__(self, work: Callable[[], Answer]) -> None:
        self._found: dict[str, Any] = {}
        self._ended = allocate_lock()
        self._ended.acquire()
        token = _Token()
        self._token = weakref.ref(token)
        call = (contextvars.copy_context(), work, self._found, self._ended, token)
        try:
            _idle.pop().take(call)
        except IndexError:
            worker = _Worker()
            worker.take(call)
            try:
                start_new_thread(worker.serve, ())
            except RuntimeError as error:
                raise MemoryError(str(error)) from error

    def over(self, seconds: float) -> bool:
        """Whether the thread has ended, if need be after waiting so long."""
        if self._ended.acquire(timeout=seconds):
            self._ended.release()  # for the next who asks
            return True
        return self._token() is None

    @property
    def failed(self) -> bool:
        """Whether the work raised an error."""
        return "error" in self._found

    def answer(self) -> Answer:
        """What the work returned or raised, once it is over."""
        if "error" in self._found:
            raise self._found["error"]
        if "answer" not in self._found:
            raise MemoryError("a thread ended before its work had begun")
        answer: Answer = self._found["answer"]
        return answer


def apart(work: Callable[[], Answer], deadline: float) -> Answer:
    """What ``work`` returns or raises; OutOfTime past the deadline, when it is left to end by itself.

    >>> apart(lambda: 2 + 2, time.monotonic() + 60.0)
    4
    """
    hand = Hand(work)
    while not hand.over(GLANCE):
        if time.monotonic() > deadline + GRACE:
            raise OutOfTime
    return hand.answer()
