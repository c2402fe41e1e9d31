"""Lanes run by threads: all of them once, in order of their numbers, errors not lost."""

import signal
import threading
import time

import numpy as np
import pytest

from separatrix.kernels import pool
from separatrix.kernels.pool import run_lanes


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("lanes", [0, 1, 3, 20])
def test_every_lane_runs_once_and_results_are_in_order(threads, lanes):
    seen = []
    for _ in range(3):
        seen.clear()
        assert run_lanes(lambda lane: seen.append(lane) or lane**2, lanes, threads) == [k**2 for k in range(lanes)]
        assert sorted(seen) == list(range(lanes))


@pytest.mark.parametrize("bad", [0, 3])
def test_an_error_in_any_lane_is_raised(bad):
    def work(lane):
        if lane == bad:
            raise ArithmeticError(f"lane {lane}")
        time.sleep(0.001)

    with pytest.raises(ArithmeticError, match=f"lane {bad}"):
        run_lanes(work, 4, 3)


def test_one_thread_starts_no_other_and_several_meet():
    assert set(run_lanes(lambda _: threading.get_ident(), 8, 1)) == {threading.get_ident()}
    meeting = threading.Barrier(3)  # passed only if three lanes are under way at once
    run_lanes(lambda _: meeting.wait(60), 3, 3)


def test_no_lane_is_under_way_when_it_returns():
    inside, slept = [], threading.Event()

    def work(lane):
        inside.append(lane)
        if lane == 0:
            slept.wait(60)
            raise ArithmeticError
        slept.set()
        time.sleep(0.02)
        inside.remove(lane)

    with pytest.raises(ArithmeticError):
        run_lanes(work, 2, 2)
    assert inside == [0]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timer")
def test_an_interrupt_while_others_are_waited_for_is_raised_when_they_are_done():
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    begun, under_way = threading.Event(), []

    def work(lane):
        if threading.current_thread() is threading.main_thread():
            begun.wait(60)  # the other thread has a lane, and is waited for
            return
        under_way.append(lane)
        begun.set()
        time.sleep(0.3)
        under_way.remove(lane)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            run_lanes(work, 20, 2)
        assert not under_way
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_without_threads_to_be_had_the_caller_does_the_work(monkeypatch):
    def none(work):
        raise MemoryError

    monkeypatch.setattr(pool, "Hand", none)
    assert run_lanes(lambda lane: lane, 5, 4) == [0, 1, 2, 3, 4]


def test_overflow_in_a_lane_is_silent():
    assert np.isinf(run_lanes(lambda lane: float((np.float64(1e308) * np.ones(600)).sum()), 4, 2)).all()
