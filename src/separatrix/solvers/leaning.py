"""A quick look at signed rows: do they lean to one side, or balance each other?

With rows yᵢ (label times row), the average of log(1 + exp(−⟨yᵢ, v⟩)) + κ‖v‖²/2 has a
minimum v by Newton's method. If all ⟨yᵢ, v⟩ > 0, v separates the rows. If not, the
residuals aᵢ = σ(−⟨yᵢ, v⟩) > 0 nearly balance, Σ aᵢyᵢ = κmv, and a small correction
within the span of the rows makes them balance. Neither may come out: then the linear
program of ``alternative`` decides.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.special

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import OutOfTime

MOST_STEPS = 60
RIDGE = 1e-12
ENOUGH = 2.0
"""Margins at which to stop: further steps widen the corridor, but cost more than the rows they save."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """``direction`` with its ``margins``; ``multipliers`` that balance, where all are positive."""

    direction: Vector
    margins: Vector
    multipliers: Vector | None

    @property
    def separates(self) -> bool:
        """Whether every row lies strictly on its side."""
        return bool(self.margins.min() > 0.0)


def lean(rows: Matrix, start: Vector | None = None, deadline: float = math.inf) -> Leaning:
    """Newton's method on the signed rows, until they are well on their sides or balance; OutOfTime past the deadline.

    >>> lean(np.array([[1.0, 2.0], [1.0, -1.0]])).separates
    True
    >>> lean(np.array([[1.0, 2.0], [-1.0, 1.0], [0.0, -1.0]])).multipliers is None
    False
    """
    m, p = rows.shape
    enough = ENOUGH
    direction = np.zeros(p) if start is None else start.copy()
    margins = rows @ direction
    value = _value(margins, direction)
    for _ in range(MOST_STEPS):
        if time.monotonic() > deadline:
            raise OutOfTime
        residuals = scipy.special.expit(-margins)
        gradient = RIDGE * direction - rows.T @ residuals / m
        curvature = residuals * (1.0 - residuals)
        weighted = rows * np.sqrt(curvature / m)[:, None]
        hessian = weighted.T @ weighted
        hessian[np.diag_indices(p)] += RIDGE + 1e-15 * np.trace(hessian) / p
        try:
            step = -_solve(hessian, gradient)
        except scipy.linalg.LinAlgError:
            break
        decrement = -float(gradient @ step)
        if not np.isfinite(decrement) or decrement <= 1e-22 * m:
            break
        change = rows @ step
        shrink = 1.0
        while shrink > 1e-6:
            trial = margins + shrink * change
            trial_value = _value(trial, direction + shrink * step)
            if trial_value <= value - 1e-4 * shrink * decrement or decrement < 1e-14:
                break
            shrink *= 0.5
        direction = direction + shrink * step
        margins, value = trial, trial_value
        if margins.min() > enough:
            break
    return Leaning(direction, margins, None if margins.min() > 0.0 else _balance(rows, margins))


def level_direction(rows: Matrix) -> Vector:
    """The shortest v with all ⟨yᵢ, v⟩ nearest to ‖yᵢ‖: with more columns than rows it separates, almost always.

    From the smaller of the two Gram matrices; v is what ``rows`` and a few of their sums say, not a proof.

    >>> level_direction(np.array([[2.0, 0.0, 1.0], [0.0, 4.0, 0.0]])) @ [2.0, 0.0, 1.0] > 0
    np.True_
    """
    sizes = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    unit = rows / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    wide = len(unit) <= unit.shape[1]
    gram = unit @ unit.T if wide else unit.T @ unit
    gram[np.diag_indices(len(gram))] += 1e-12 * max(1.0, float(np.trace(gram)) / max(len(gram), 1))
    try:
        return unit.T @ _solve(gram, np.ones(len(unit))) if wide else _solve(gram, unit.sum(axis=0))
    except scipy.linalg.LinAlgError:
        return np.asarray(unit.sum(axis=0))


def _solve(matrix: Matrix, right: Vector) -> Vector:
    factor = scipy.linalg.cho_factor(matrix, check_finite=False)
    return np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))


def _value(margins: Vector, direction: Vector) -> float:
    return float(np.logaddexp(0.0, -margins).mean() + 0.5 * RIDGE * direction @ direction)


def _balance(rows: Matrix, margins: Vector) -> Vector | None:
    """Residuals, moved within the span of the rows weighted by them until they balance; None unless positive.

    The correction is aᵢ⟨yᵢ, c⟩, relative to the residual itself, so that small residuals stay positive.
    """
    residuals = scipy.special.expit(-margins)
    if not residuals.min() > 0.0:
        return None
    gram = (rows.T * residuals) @ rows
    try:
        correction = _solve(gram, rows.T @ residuals)
    except scipy.linalg.LinAlgError:
        return None
    factor = 1.0 - rows @ correction
    return residuals * factor if factor.min() > 0.0 else None
