"""The bounds of a fit with an L1 part, the cheap ones first; the mathematics is in ``certificates``.

1. ``tilted``: from the Hessian that a Newton step needs anyway. Enough wherever columns are not nearly dependent.
2. ``duality``: two passes, no Hessian. It also proves weights to be zero, without which 1. is tried again.
3. ``tilted`` in the coordinates of ``orthonormal``, for tables that are not large: exact sums, and a small ridge that
   makes columns which depend on each other harmless.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from separatrix.certificates.duality import Gap
from separatrix.certificates.orthonormal import orthonormal
from separatrix.certificates.tilted import farthest, sharp_tilt, tilted_bound
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Positions, Vector
from separatrix.core.protocols import Evaluation
from separatrix.estimators.problem import gap_at, yardsticks
from separatrix.estimators.sharp import ALLOWANCE, MARGIN, SharpGround, is_small
from separatrix.solvers.outcome import Outcome
from separatrix.core.stop import Stop
from separatrix.terms.penalised import PenalisedLoss

RIDGES = (0.0, 1e-13, 1e-11, 1e-9)
"""Prices ε of a ridge, as shares of min(P, 1), tried in this order."""

LARGEST_SET = 1000
"""Up to so many coefficients that are not proved to be zero a Hessian of those is formed for the proof alone."""

WORTH = 1e-2
"""A gap below this share of P proves most zeros: then a Hessian of the rest is worth its pass."""

MOST_ERROR = 0.02
"""The triangle's error in a claim; ``verify`` allows more, so that another order of sums does not decide."""


ROUNDS = 8
"""Changes of the support that ``polished`` makes at most."""


@dataclass(frozen=True, slots=True)
class Proof:
    """P − P* ≤ ``bound``, by the tilted bound or by duality."""

    bound: float
    tilted: bool


@dataclass(slots=True)
class SparseJudge:
    """The best of the three bounds at a point; it stops at the first that is below ``tol``·min(P, 1).

    ``allowance`` and ``margin`` are those of a claim; ``verify`` takes 1 and 1.
    """

    objective: PenalisedLoss
    alpha: float
    tol: float
    allowance: float = ALLOWANCE
    margin: float = MARGIN
    proofs: dict[int, tuple[Vector, Proof]] = field(default_factory=dict)
    _sizes: Vector | None = None
    _zero: AnyArray | None = None
    _gap: float = math.inf

    def __call__(self, evaluation: Evaluation) -> float:
        """The bound at the evaluated point."""
        proof = self.prove(evaluation, self.tol * min(self.value(evaluation), 1.0))
        self.proofs[id(evaluation.point)] = (evaluation.point, proof)
        return proof.bound

    def proof_at(self, point: Vector) -> Proof | None:
        """What was said of a point."""
        known = self.proofs.get(id(point))
        return None if known is None else known[1]

    def value(self, evaluation: Evaluation) -> float:
        """P there."""
        return evaluation.value + self.alpha * float(np.abs(self.objective.weights_of(evaluation.point)).sum())

    def prove(self, evaluation: Evaluation, wanted: float, by_gap: bool = True) -> Proof:
        """The first bound that is at most ``wanted``, or the best of all; ``by_gap`` = False wants a tilted one."""
        best = Proof(self._tilted(evaluation, None), True)
        if best.bound <= wanted:
            return best
        gap = gap_at(self.objective, self.alpha, evaluation.point, self.allowance)
        zero = self._screened(gap)
        by_duality = Proof(gap.value * self.margin, False)
        if by_gap and by_duality.bound < best.bound:
            best = by_duality
        stuck, self._gap = not gap.value < 0.5 * self._gap, gap.value
        if best.bound <= wanted:
            return best
        if zero.any() and (stuck or not by_gap or gap.value <= WORTH * self.value(evaluation)):
            best = min(best, Proof(self._without_zeros(evaluation, zero), True), key=lambda proof: proof.bound)
        if not best.bound <= wanted and is_small(self.objective):
            best = min(best, Proof(self._sharp(evaluation, wanted), True), key=lambda proof: proof.bound)
        return best

    def zero_columns(self) -> AnyArray:
        """Columns that are zero in every minimiser, by any gap seen so far."""
        assert self._zero is not None
        return np.asarray(self._zero.all(axis=0))

    def _screened(self, gap: Gap) -> AnyArray:
        if self._sizes is None or self._zero is None:
            self._sizes = self.objective.column_sizes()
            self._zero = np.zeros((self.objective.outputs, len(self._sizes)), dtype=bool)
        self._zero |= gap.zero_weights(self._sizes, self.alpha)
        return self._zero

    def _tilted(self, evaluation: Evaluation, zero: AnyArray | None) -> float:
        if evaluation.hessian is None:
            return math.inf
        yardstick, strength = yardsticks(self.objective)[0], self.objective.strength
        return tilted_bound(evaluation, yardstick, self.alpha, strength, zero, self.allowance) * self.margin

    def _without_zeros(self, evaluation: Evaluation, zero: AnyArray) -> float:
        """The tilted bound on the weights that may be other than zero; their Hessian is formed if need be."""
        if evaluation.hessian is not None:
            return self._tilted(evaluation, zero)
        objective = self.objective
        rows = evaluation.point.reshape(objective.outputs, -1)
        columns = objective.engine.columns_count
        which: Positions = np.flatnonzero(~zero.all(axis=0) | (rows[:, :columns] != 0.0).any(axis=0)).astype(np.int64)
        if objective.outputs * (len(which) + objective.constant) > LARGEST_SET or not len(which):
            return math.inf
        part = objective.narrowed(which)
        taken = np.append(which, columns) if objective.constant else which
        here = part.evaluate(np.ascontiguousarray(rows[:, taken]).ravel(), curvature=True)
        inner = replace(self, objective=part)
        return inner._tilted(here, zero[:, which])

    def _sharp(self, evaluation: Evaluation, wanted: float) -> float:
        """The tilted bound from exact sums, with the smallest ridge that serves."""
        ground = SharpGround.of(self.objective)
        loss, weight = ground.loss, ground.weight
        here = loss.evaluate(self.objective.raw_point(evaluation.point))
        columns = self.objective.engine.columns_count
        if not (math.isfinite(here.value) and np.isfinite(here.gradient).all()):
            return math.inf
        w = here.point[:columns]
        value = self.value(evaluation)
        box = np.append(np.full(columns, self.alpha * weight), np.zeros(int(loss.constant))) * loss.scale
        sign = np.append(np.sign(w), np.ones(int(loss.constant)))
        spare = 2.0 * weight / farthest(w, self.alpha, value) ** 2
        penalised = np.append(np.ones(columns), np.zeros(int(loss.constant))) * np.square(loss.scale)
        best = math.inf
        for share in RIDGES:
            price = share * min(value, 1.0)
            frame = orthonormal(loss.spread, here.curvature, loss.ridge + price * spare * penalised)
            if frame is None or (self.allowance > 1.0 and frame.error > MOST_ERROR):
                continue
            added = sharp_tilt(here.gradient, sign, box, frame.triangle)
            bent = replace(
                here,
                gradient=here.gradient + added,
                coordinate_error=here.coordinate_error + 4.0 * UNIT_ROUNDOFF * np.abs(added),
            )
            found = frame.bound(bent, self.allowance) / weight * (1.0 + 1e-9) + price
            best = min(best, found * self.margin)
            if best <= wanted:
                break
        return best


def polished(judge: SparseJudge, outcome: Outcome) -> Outcome:
    """The outcome or, where its bound is not met and the table is small, what exact sums make of it.

    On the support P is smooth: Newton's steps with exact sums end where plain ones drown in rounding. A weight that would
    change its sign becomes zero; a zero weight whose slope exceeds α joins.
    """
    objective, alpha = judge.objective, judge.alpha
    target = judge.tol * min(judge.value(outcome.evaluation), 1.0)
    if outcome.bound <= target or outcome.stop is Stop.ASKED or not is_small(objective):
        return outcome
    columns = objective.engine.columns_count
    raw = objective.raw_point(outcome.evaluation.point)
    best = outcome
    sign = np.sign(raw[:columns])
    for _ in range(ROUNDS):
        support: Positions = np.flatnonzero(sign).astype(np.int64)
        ground = SharpGround.of(objective, support, alpha * sign[support])
        there = ground.descend(np.append(raw[support], raw[columns:]), judge.tol).point
        raw = np.append(np.zeros(columns), there[len(support) :])
        raw[support] = there[: len(support)]
        crossed = raw[:columns] * sign < 0.0
        raw[:columns][crossed] = 0.0
        here = objective.evaluate(objective.shifted_point(raw), curvature=True)
        bound = judge(here)
        if bound < best.bound:
            best = replace(outcome, evaluation=here, bound=bound)
        if best.bound <= target:
            return replace(best, stop=Stop.FLOOR)
        slope = objective.weights_of(here.gradient)
        joins = (sign == 0.0) & (np.abs(slope) > alpha)
        if not (crossed.any() or joins.any()):
            return best
        sign = np.where(crossed, 0.0, np.where(joins, -np.sign(slope), sign))
    return best
