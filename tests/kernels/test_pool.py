"""Lanes run by threads: all of them once, in order of their numbers, errors not lost."""

import threading
import time

import numpy as np
import pytest

from separatrix.kernels.pool import LanePool


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("lanes", [0, 1, 3, 20])
def test_every_lane_runs_once_and_results_are_in_order(threads, lanes):
    seen = []
    with LanePool(threads) as pool:
        for _ in range(3):
            seen.clear()
            assert pool.run(lambda lane: seen.append(lane) or lane**2, lanes) == [k**2 for k in range(lanes)]
            assert sorted(seen) == list(range(lanes))


@pytest.mark.parametrize("bad", [0, 3])
def test_an_error_in_any_lane_is_raised(bad):
    def work(lane):
        if lane == bad:
            raise ArithmeticError(f"lane {lane}")
        time.sleep(0.001)

    with LanePool(3) as pool, pytest.raises(ArithmeticError, match=f"lane {bad}"):
        pool.run(work, 4)


def test_one_thread_starts_no_other_and_no_thread_outlives_the_pool():
    def lanes():
        return [thread for thread in threading.enumerate() if thread.name.startswith("separatrix-lane")]

    with LanePool(1) as pool:
        pool.run(lambda lane: None, 8)
        assert not lanes()
    with LanePool(3) as pool:
        pool.run(lambda lane: None, 8)
        assert lanes()
    assert not lanes()


def test_overflow_in_a_lane_is_silent():
    with LanePool(2) as pool:
        found = pool.run(lambda lane: float((np.float64(1e308) * np.ones(600)).sum()), 4)
    assert np.isinf(found).all()
