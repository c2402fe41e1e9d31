"""Which number of threads a team settles on, by times that are made up."""

from itertools import pairwise

from separatrix.kernels.team import FIRST_WAIT, Team


def run(team, seconds, calls):
    taken = []
    for _ in range(calls):
        taken.append(team.size())
        team.note(taken[-1], seconds[taken[-1]])
    return taken


def test_both_are_tried_and_the_quicker_one_is_kept():
    assert run(Team(2), {1: 2.0, 2: 1.0}, 20) == [1] + 19 * [2]
    assert run(Team(4), {1: 1.0, 4: 5.0}, 20) == [1, 4] + 18 * [1]


def test_the_slower_one_is_tried_again_ever_more_seldom():
    taken = run(Team(2), {1: 1.0, 2: 5.0}, 20 * FIRST_WAIT)
    trials = [call for call, size in enumerate(taken) if size == 2]
    gaps = [after - before for before, after in pairwise(trials)]
    assert len(gaps) >= 3
    assert all(later > 1.5 * gap for gap, later in pairwise(gaps[1:]))


def test_a_processor_that_becomes_free_is_found():
    team = Team(2)
    run(team, {1: 1.0, 2: 5.0}, 10)
    assert run(team, {1: 1.0, 2: 0.5}, 40 * FIRST_WAIT)[-1] == 2


def test_one_thread_is_one_thread():
    assert run(Team(1), {1: 1.0}, 300) == 300 * [1]
