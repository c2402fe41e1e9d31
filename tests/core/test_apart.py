"""Work on another thread: what it returns or raises comes back, and a thread that dies is no answer to wait for."""

import contextvars
import multiprocessing
import os
import sys
import threading
import time

import pytest

from separatrix.core import apart as module
from separatrix.core.apart import Hand, apart
from separatrix.core.errors import OutOfTime


def waited_for(hand):
    while not hand.over(1.0):
        pass
    return hand.answer()


def test_the_work_is_done_elsewhere_with_the_callers_context():
    setting = contextvars.ContextVar("setting", default=0)
    setting.set(7)
    where, what = waited_for(Hand(lambda: (threading.get_ident(), setting.get())))
    assert where != threading.get_ident()
    assert what == 7


def test_it_may_be_asked_more_than_once():
    hand = Hand(lambda: "said")
    assert waited_for(hand) == waited_for(hand) == "said"
    assert hand.over(0.0)


def test_what_it_raises_is_raised_to_the_caller():
    def work():
        raise ArithmeticError("lost")

    with pytest.raises(ArithmeticError, match="lost"):
        waited_for(Hand(work))


def test_a_thread_that_dies_before_its_first_word_is_not_waited_for(monkeypatch):
    """So a thread ends that has no memory for the call: its arguments are dropped, nothing is run."""
    monkeypatch.setattr(module, "_idle", [])
    monkeypatch.setattr(module, "start_new_thread", lambda function, arguments: None)
    with pytest.raises(MemoryError):
        waited_for(Hand(lambda: "said"))
    with pytest.raises(MemoryError):
        apart(lambda: "said", float("inf"))


def test_a_thread_that_cannot_be_had_is_a_matter_of_memory(monkeypatch):
    def none(function, arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(module, "_idle", [])
    monkeypatch.setattr(module, "start_new_thread", none)
    with pytest.raises(MemoryError, match="thread"):
        Hand(lambda: None)


def test_a_thread_that_is_done_serves_the_next_call(monkeypatch):
    monkeypatch.setattr(module, "_idle", [])
    first, second = (waited_for(Hand(threading.get_ident)) for _ in range(2))
    assert first == second


def test_no_more_threads_are_kept_than_are_of_use(monkeypatch):
    monkeypatch.setattr(module, "_idle", idle := [])
    monkeypatch.setattr(module, "MOST_IDLE", 0)
    assert waited_for(Hand(lambda: "said")) == "said"
    assert not idle


def test_a_list_that_cannot_grow_leaves_nobody_waiting(monkeypatch):
    """Who holds the errors that cannot be raised holds the frames too: the token alone would not tell."""

    class Full(list):
        def append(self, worker):
            raise MemoryError

    held = []
    monkeypatch.setattr(sys, "unraisablehook", lambda given: held.append(given.exc_value))
    monkeypatch.setattr(module, "_idle", Full())
    hand = Hand(lambda: "said")
    assert any(hand.over(1.0) for _ in range(60))
    assert hand.answer() == "said"
    assert not held


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_does_not_call_threads_that_it_has_not():
    waited_for(Hand(lambda: None))  # one is idle now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(waited_for(Hand(lambda: "said"))))
    child.start()
    assert queue.get(timeout=60) == "said"
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.real_time
def test_the_deadline_is_kept_while_the_work_goes_on():
    leave = threading.Event()
    with pytest.raises(OutOfTime):
        apart(lambda: leave.wait(60), time.monotonic())
    leave.set()
