"""Few rows that balance, out of many."""

import numpy as np
import pytest

from separatrix.solvers.caratheodory import few_rows
from separatrix.solvers.leaning import lean


@pytest.mark.parametrize("seed", range(20))
def test_at_most_twice_the_rank_and_still_of_full_rank(seed):
    draw = np.random.default_rng(seed)
    p = int(draw.integers(1, 12))
    rows = draw.normal(size=(60 * p, p)) * 10.0 ** draw.integers(-3, 4, p)
    multipliers = lean(rows / np.abs(rows).max(axis=0)).multipliers
    assert multipliers is not None
    which, few = few_rows(rows, multipliers)
    assert p < len(which) <= 2 * p
    assert (few > 0).all()
    assert np.linalg.matrix_rank(rows[which]) == p
    assert (np.abs(few @ rows[which]) <= 1e-12 * (few @ np.abs(rows[which]))).all()


def test_leaning_finds_a_direction_or_a_balance():
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(200, 3))
    rows[:, 0] = np.abs(rows[:, 0]) + 0.01
    found = lean(rows)
    assert found.separates
    assert (rows @ found.direction > 0).all()
    assert found.multipliers is None
    mixed = lean(draw.normal(size=(200, 3)))
    assert not mixed.separates
