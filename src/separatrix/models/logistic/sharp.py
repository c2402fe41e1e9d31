"""Sharper fits and proofs of tables that are not large: exact sums, and a triangle instead of a Gram matrix.

The mathematics is in ``terms.sharp`` (the loss to the last digit) and ``certificates.orthonormal`` (the bound);
here they meet an objective. A table is small when a dense copy and a triangle of it cost nothing that anyone notices.
"""

import math
from dataclasses import dataclass

import numpy as np

from separatrix.certificates.orthonormal import Orthonormal, orthonormal
from separatrix.core.arrays import Positions, Vector
from separatrix.core.certificate import ALLOWANCE, MARGIN
from separatrix.core.protocols import Engine
from separatrix.models.logistic.problem import MOST_ENTRIES
from separatrix.solvers.sharp_newton import sharp_newton
from separatrix.terms.penalised import PenalisedLoss
from separatrix.terms.sharp import SharpEvaluation, SharpLoss

MOST_WORK = 1e8
"""Rows × columns² up to which a table is small; ``MOST_ENTRIES`` says how many rows × columns."""


def is_small(objective: PenalisedLoss) -> bool:
    """Whether the sharp way is open: two classes, and few enough numbers."""
    entries = objective.engine.rows * objective.size
    return objective.outputs == 1 and entries <= MOST_ENTRIES and entries * objective.size <= MOST_WORK


@dataclass(frozen=True, slots=True)
class SharpStanding:
    """A raw point (w, b) of the columns looked at, with the loss's sums there and the coordinates of its Hessian.

    ``value`` is Φ, a sum over rows; ``bound`` the average's distance from its minimum, as a claim may state it.
    """

    evaluation: SharpEvaluation
    frame: Orthonormal | None
    weight: float

    @property
    def point(self) -> Vector:
        """The raw point."""
        return self.evaluation.point

    @property
    def value(self) -> float:
        """Φ there."""
        return self.evaluation.value

    @property
    def average(self) -> float:
        """F = Φ/S."""
        return self.evaluation.value / self.weight

    @property
    def gradient(self) -> Vector:
        """The slope, scaled and shifted."""
        return self.evaluation.gradient

    @property
    def step(self) -> Vector | None:
        """Newton's step."""
        return None if self.frame is None else -self.frame.solve(self.evaluation.gradient)

    @property
    def bound(self) -> float:
        """F − F* is at most this, with rounding allowed for as a claim does."""
        return self.proved(ALLOWANCE) * MARGIN

    def proved(self, allowance: float = 1.0) -> float:
        """F − F* is at most this: what ``verify`` arrives at."""
        if self.frame is None:
            return math.inf
        return self.frame.bound(self.evaluation, allowance) / self.weight * (1.0 + 1e-9)


@dataclass(slots=True)
class SharpGround:
    """An objective of a small table, on some of its columns; ``tilt`` is a slope added to the loss of each of them."""

    loss: SharpLoss
    weight: float
    tilt: Vector | None = None

    @classmethod
    def of(
        cls,
        objective: PenalisedLoss,
        columns: Positions | None = None,
        tilt: Vector | None = None,
        keep: Positions | None = None,
    ) -> "SharpGround":
        """From an objective, all of its columns or some; ``tilt`` as a slope of the average F.

        With ``keep`` only the weights of those columns move, and the others stay as a point has them.
        """
        rows, weights, positive = _dense(objective.engine, columns)
        strength = objective.strength * objective.weight
        summed = None if tilt is None else np.asarray(tilt) * objective.weight
        return cls(SharpLoss(rows, positive, weights, objective.constant, strength, keep), objective.weight, summed)

    def stand(self, point: Vector) -> SharpStanding:
        """The sums at a raw point, and the coordinates of the Hessian there."""
        evaluation = self.loss.evaluate(point, self.tilt)
        finite = math.isfinite(evaluation.value) and bool(np.isfinite(evaluation.gradient).all())
        frame = orthonormal(self.loss.spread, evaluation.curvature, self.loss.ridge) if finite else None
        return SharpStanding(evaluation, frame, self.weight)

    def moved(self, point: Vector, step: Vector) -> Vector:
        """The raw point after a step in scaled, shifted coordinates."""
        return self.loss.moved(point, step)

    def descend(self, start: Vector, tol: float, most_steps: int = 30) -> SharpStanding:
        """Newton's steps from a raw point until F is within tol·min(F, 1) of its minimum, or as near as floats go."""
        first = self.loss.evaluate(start, self.tilt).value / self.weight
        return sharp_newton(self, start, tol * min(abs(first), 1.0), most_steps)


def _dense(engine: Engine, columns: Positions | None) -> tuple[np.ndarray, Vector, np.ndarray]:
    """Rows of positive weight as a float64 array, their weights, and which are of class 1."""
    weights = np.ones(engine.rows) if engine.row_weights is None else engine.row_weights.array()
    which = np.flatnonzero(weights > 0)
    every = np.arange(engine.columns_count) if columns is None else columns
    packed = engine.columns(every)
    dense = np.asarray(packed.toarray() if hasattr(packed, "toarray") else packed, dtype=np.float64)
    return dense[which], weights[which], engine.labels_of(which) == 1
