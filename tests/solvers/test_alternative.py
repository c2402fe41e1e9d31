"""The linear program of separability, in floating point and in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import separatrix.solvers.alternative as alternative
from exact_simplex import exact_verdict
from separatrix.core.errors import OutOfTime
from separatrix.exact.alternative import exact_alternative
from separatrix.solvers.alternative import solve_alternative


def signed(seed):
    draw = np.random.default_rng(seed)
    return draw.integers(-2, 3, (int(draw.integers(1, 12)), int(draw.integers(1, 5)))).astype(float)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_every_row_is_held_back_or_separated_and_never_both(seed):
    rows = signed(seed)
    _, separated = exact_verdict(rows, np.ones(len(rows)), False)
    answer = solve_alternative(rows, np.inf)
    assert set(np.flatnonzero(~answer.overlapping).tolist()) == separated
    np.testing.assert_allclose(answer.multipliers @ rows, 0, atol=1e-8)
    margins = rows @ answer.direction
    assert (margins > -1e-8).all()
    assert (margins[~answer.overlapping] > 0.5 / max(1.0, np.abs(rows).max())).all()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_in_fractions_both_sides_are_exact(seed):
    rows = signed(seed) * 0.1
    _, separated = exact_verdict(rows, np.ones(len(rows)), False)
    answer = exact_alternative(rows.tolist(), range(len(rows)), np.inf)
    for i, row in enumerate(rows):
        margin = sum(Fraction(float(a)) * b for a, b in zip(row, answer.direction, strict=True))
        assert (margin > 0) == (i in separated) == (answer.multipliers[i] == 0)
        assert margin >= 0
    for column in rows.T:
        assert sum(Fraction(float(a)) * b for a, b in zip(column, answer.multipliers, strict=True)) == 0


def test_past_the_deadline_both_give_up():
    with pytest.raises(OutOfTime):
        solve_alternative(np.ones((3, 2)), 0.0)
    with pytest.raises(OutOfTime):
        exact_alternative([[1.0, 2.0], [-1.0, 2.0], [0.0, -1.0]], range(3), 0.0)


def test_where_the_program_gives_up_it_is_asked_for_less(monkeypatch):
    """HiGHS ends with an error now and then where the tolerance is tight."""
    asked = []

    def hesitant(*given, options, **named):
        asked.append(options["primal_feasibility_tolerance"])
        found = linprog(*given, options=options, **named)
        if len(asked) == 1:
            found.status, found.x = 4, None
        return found

    monkeypatch.setattr(alternative, "linprog", hesitant)
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]])
    assert solve_alternative(rows, np.inf).overlapping.tolist() == [True, True, False]
    assert asked == [1e-10, 1e-7]
