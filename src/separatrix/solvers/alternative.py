"""The linear program behind separability, and its two-sided answer.

For signed rows yᵢ, exactly one set of rows T can be separated at best: some v has
⟨yᵢ, v⟩ > 0 on T and = 0 elsewhere, and some λ > 0 on the rows elsewhere has Σλᵢyᵢ = 0
(Stiemke's theorem of the alternative, for the largest T). The linear program

    maximise Σ min(λᵢ, 1)   over λ ≥ 0 with Σ λᵢyᵢ = 0

has λᵢ ≥ 1 off T and λᵢ = 0 on T; its dual variables are v with ⟨yᵢ, v⟩ ≥ 1 on T. It
has as many equations as columns, so it stays small when rows are many (Konis 2007 states
it from the other side).
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from separatrix.core.apart import GLANCE, Hand
from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import OutOfTime

TOLERANCES = (1e-10, 1e-7)
"""Tried in turn: HiGHS gives up now and then where it is asked for more than rounding allows. Answers are checked."""


class Unsolved(Exception):
    """The linear program is too badly scaled for floating point."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """``multipliers`` λ of the program, the ``direction`` v of its dual, and which rows overlap."""

    multipliers: Vector
    direction: Vector
    overlapping: AnyArray


def solve_alternative(rows: Matrix, deadline: float) -> Alternative:
    """Solve the program for signed rows (m × p) with HiGHS.

    >>> answer = solve_alternative(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]), float("inf"))
    >>> answer.overlapping
    array([ True,  True, False])
    >>> answer.direction[1] >= 0.5
    np.True_
    """
    m = len(rows)
    scale = np.abs(rows).max(axis=1)
    scale[scale == 0.0] = 1.0
    # rows of one size: positive factors change neither side of the alternative
    equations = (rows / scale[:, None]).T
    result = solve_program(
        np.concatenate([-np.ones(m), np.zeros(m)]),
        np.hstack([equations, equations]),
        np.zeros(rows.shape[1]),
        np.vstack([np.tile([0.0, 1.0], (m, 1)), np.tile([0.0, np.inf], (m, 1))]),
        deadline,
    )
    both = np.asarray(result.x[:m] + result.x[m:])
    return Alternative(both / scale, -np.asarray(result.eqlin.marginals), both > 0.5)


def solve_program(cost: Vector, equations: Matrix, right: Vector, bounds: Matrix, deadline: float) -> Any:
    """HiGHS on a thread of its own: an interrupt is answered at once, the thread ends at the deadline."""
    seconds = deadline - time.monotonic()
    if seconds <= 0.0:
        raise OutOfTime

    def work() -> Any:
        for tolerance in TOLERANCES:
            options = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
            if np.isfinite(seconds):
                options["time_limit"] = max(deadline - time.monotonic(), 1e-3)
            result = linprog(cost, A_eq=equations, b_eq=right, bounds=bounds, method="highs-ds", options=options)
            if result.status in (0, 1):
                break
        return result

    hand = Hand(work)
    while not hand.over(GLANCE):
        pass
    result = hand.answer()
    if result.status == 1:
        raise OutOfTime
    if result.x is None:
        raise Unsolved
    return result
