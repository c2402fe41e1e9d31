"""Fisher scoring: steps by I⁻¹ times the score, with secant corrections, halved while they do not help.

For a penalised likelihood whose information I is known but whose own curvature is not. Plain scoring leaves a
fixed share of the distance at every step, because I differs from the true curvature: for Firth's likelihood
by about the number of coefficients per row, so on few or separated rows it creeps, and in a saturated
model it swings to and fro. What the last steps s and the changes y of the slope g along them tell of the true
curvature is therefore put on top of I⁻¹ (BFGS, limited memory; Nocedal 1980): H ← VᵀHV + ssᵀ/sᵀy,
V = 1 − ysᵀ/sᵀy. A step of more than a third of a standard error leaves the region that older pairs tell of, and all
are forgotten: where the valley is long and bent they would point across it. Pairs with sᵀy below a hundredth of
−sᵀg, as where the function is not convex, are left out, so H stays positive definite and every step goes downhill.
None of this depends on the columns' scales.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.stop import Stop
from separatrix.solvers.line_search import SHORTEST


class ScoredObjective(Protocol):
    """Value and slope apart: many values are looked at, few slopes."""

    def evaluate(self, point: Vector) -> Any:
        """A standing: its ``point``, and the ``value`` there, infinite where there is none."""

    def slope(self, standing: Any) -> Any:
        """At a standing of finite value.

        It has the ``gradient``, its length in I⁻¹ ``decrement`` = λ, an estimate of λ's error ``rounding``, and
        ``solve``, which applies the inverse of I or of a better guess of the curvature.
        """


@dataclass(frozen=True, slots=True)
class Scored:
    """Where scoring ended, and why."""

    standing: Any
    slope: Any
    stop: Stop


Record = Callable[[Any, Any], bool]
"""Writes a pass down, given standing and slope; True asks to stop."""


NEAR = 0.3
"""Steps longer than so many standard errors tell nothing of the curvature where they end."""

MOST_PAIRS = 12
"""Steps remembered for the secant corrections."""


def fisher_scoring(
    objective: ScoredObjective, start: Any, tol: float, aim: float, max_passes: int, record: Record
) -> Scored:
    """Minimise from a standing of finite value, until λ ≤ aim or rounding leaves nothing to gain.

    Where it ends for another reason, λ²/2 ≤ tol is enough.
    """
    here, slope = start, objective.slope(start)
    pairs: list[tuple[Vector, Vector]] = []
    passes = 0
    while True:
        asked, passes = record(here, slope), passes + 1
        if slope.decrement <= aim:
            return Scored(here, slope, Stop.CERTIFIED)
        if asked:
            return Scored(here, slope, Stop.ASKED)
        enough = 0.5 * slope.decrement**2 <= tol
        if passes >= max_passes:
            return Scored(here, slope, Stop.CERTIFIED if enough else Stop.MAX_ITER)
        found = _shortened(objective, here, slope, _corrected(slope, pairs))
        if found is None and pairs:  # old pairs may mislead: once more without
            pairs = []
            found = _shortened(objective, here, slope, _corrected(slope, []))
        if found is None:
            return Scored(here, slope, Stop.FLOOR if enough else Stop.STALLED)
        moved, change = found[0].point - here.point, found[1].gradient - slope.gradient
        near = float(slope.gradient @ slope.solve(slope.gradient)) <= NEAR**2
        if near and moved @ change > -1e-2 * float(moved @ slope.gradient):
            pairs = [*pairs, (moved, change)][-MOST_PAIRS:]
        elif not near:
            pairs = []
        here, slope = found


def _corrected(slope: Any, pairs: list[tuple[Vector, Vector]]) -> Vector:
    """−H times the slope, by the two loops over the pairs; without any it is scoring's own step."""
    vector: Vector = np.array(slope.gradient)
    shares: list[float] = []
    for moved, change in reversed(pairs):
        shares.append(float(moved @ vector) / float(moved @ change))
        vector = vector - shares[-1] * change
    vector = slope.solve(vector)
    for (moved, change), share in zip(pairs, reversed(shares), strict=True):
        vector = vector + (share - float(change @ vector) / float(moved @ change)) * moved
    return -vector


def _shortened(objective: ScoredObjective, here: Any, slope: Any, step: Vector) -> tuple[Any, Any] | None:
    """The first of step, step/2, … that lowers the value enough; in its noise, one that lowers λ; else None."""
    promise = -float(slope.gradient @ step)
    noise = 1e-13 * (abs(here.value) + len(here.point)) + 0.1 * slope.rounding
    length = 1.0
    while length > SHORTEST and promise > 0.0:
        trial = objective.evaluate(here.point + length * step)
        if math.isfinite(trial.value):
            if promise * length > noise and trial.value <= here.value - 1e-4 * length * promise:
                return trial, objective.slope(trial)
            if trial.value <= here.value + noise:
                there = objective.slope(trial)
                if there.decrement <= 0.9 * slope.decrement:
                    return trial, there
            if promise * length <= noise:
                return None
        length *= 0.5
    return None
