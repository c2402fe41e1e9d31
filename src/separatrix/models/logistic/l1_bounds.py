"""The bounds of a fit with an L1 part, the cheap ones first; the mathematics is in ``certificates``.

1. ``tilted``: from the Hessian that a Newton step needs anyway. Enough wherever columns are not nearly dependent.
2. ``duality``: two passes, no Hessian. It also proves weights to be zero, without which 1. is tried again.
3. ``tilted`` in the coordinates of ``orthonormal``, for tables that are not large: exact sums, and a small ridge that
   makes columns which depend on each other harmless.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from separatrix.certificates.duality import Gap
from separatrix.certificates.orthonormal import orthonormal
from separatrix.certificates.self_concordance import Yardstick
from separatrix.certificates.tilted import farthest, sharp_tilt, tilted_bound
from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Positions, Vector
from separatrix.core.certificate import ALLOWANCE, MARGIN
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.models.logistic.problem import gaps_at, yardsticks
from separatrix.models.logistic.sharp import SharpGround, is_small
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.terms.penalised import PenalisedLoss

RIDGES = (0.0, 1e-13, 1e-11, 1e-9)
"""Prices ε of a ridge, as shares of min(P, 1), tried in this order."""

LARGEST_SET = 1000
"""Up to so many coefficients that are not proved to be zero a Hessian of those is formed for the proof alone."""

WORTH = 1e-2
"""A gap below this share of P, or one that does not fall, is worth the dearer ways to a bound."""

MOST_ERROR = 0.02
"""The triangle's error in a claim; ``verify`` allows more, so that another order of sums does not decide."""


ROUNDS = 20
"""Changes of the support that ``polished`` makes at most."""


@dataclass(frozen=True, slots=True)
class Proof:
    """P − P* ≤ ``bound``, by a way to the tilted bound (counted as in ``tilted_way``), or by duality (None)."""

    bound: float
    way: int | None


@dataclass(slots=True)
class SparseJudge:
    """The best of the three bounds at a point; it stops at the first that is below ``tol``·min(P, 1).

    ``rows`` is the number of rows whose rounding a claim allows for: those of the objective, if None.
    """

    objective: PenalisedLoss
    alpha: float
    tol: float
    rows: int | None = None
    proofs: dict[int, tuple[Vector, Proof]] = field(default_factory=dict)
    _sizes: Vector | None = None
    _zero: AnyArray | None = None
    _last: Gap | None = None

    def __call__(self, evaluation: Evaluation) -> float:
        """The bound at the evaluated point."""
        proof = self.prove(evaluation)
        self.proofs[id(evaluation.point)] = (evaluation.point, proof)
        return proof.bound

    def proof_at(self, point: Vector) -> Proof | None:
        """What was said of a point."""
        known = self.proofs.get(id(point))
        return None if known is None else known[1]

    def value(self, evaluation: Evaluation) -> float:
        """P there."""
        return evaluation.value + self.alpha * float(np.abs(self.objective.weights_of(evaluation.point)).sum())

    def prove(self, evaluation: Evaluation, final: bool = False) -> Proof:
        """The first bound that is met, or the best of all; far away the dearer ones only if the answer is ``final``."""
        wanted = self.tol * min(self.value(evaluation), 1.0)
        best = Proof(self._tilted(evaluation, None, (ALLOWANCE,))[0] * MARGIN, 0)
        if best.bound <= wanted:
            return best
        gap = self._gap_at(evaluation)
        stuck, self._last = self._last is not None and not gap.value < 0.5 * self._last.value, gap
        if gap.value * MARGIN < best.bound:
            best = Proof(gap.value * MARGIN, None)
        if best.bound <= wanted:
            return best
        worth = evaluation.hessian is not None and gap.value <= WORTH * self.value(evaluation)
        if not (final or stuck or worth):
            return best
        (bound,) = self._without_zeros(evaluation, self._zero_weights(gap), (ALLOWANCE,))
        best = Proof(bound * MARGIN, 1) if bound * MARGIN < best.bound else best
        ways = self._sharp(evaluation, (ALLOWANCE,), RIDGES) if is_small(self.objective) else iter(())
        for way, (bound,) in enumerate(ways, start=2):
            if best.bound <= wanted:
                break
            best = Proof(bound * MARGIN, way) if bound * MARGIN < best.bound else best
        return best

    def tilted_way(self, evaluation: Evaluation, way: int) -> tuple[float, float]:
        """What is proved by one way to a tilted bound, and what a claim would state.

        0: from the Hessian of all weights. 1: of those that may not be zero. 2, 3, …: exact sums, with each of RIDGES.
        """
        both = (1.0, ALLOWANCE)
        if way == 0:
            found, claim = self._tilted(evaluation, None, both)
        elif way == 1:
            found, claim = self._without_zeros(evaluation, self._zero_weights(self._gap_at(evaluation)), both)
        elif is_small(self.objective):
            found, claim = next(self._sharp(evaluation, both, (RIDGES[way - 2],)), (math.inf, math.inf))
        else:
            found, claim = math.inf, math.inf
        return found, claim * MARGIN

    def zero_columns(self) -> AnyArray:
        """Columns that are zero in every minimiser, by any gap that this was asked after."""
        assert self._last is not None
        zero: AnyArray = np.asarray(self._zero_weights(self._last).all(axis=0))
        self._zero = zero if self._zero is None else self._zero | zero
        return zero | self._zero

    def _zero_weights(self, gap: Gap) -> AnyArray:
        if self._sizes is None:
            self._sizes = self.objective.column_sizes()
        return gap.zero_weights(self._sizes, self.alpha)

    def _gap_at(self, evaluation: Evaluation) -> Gap:
        return gaps_at(self.objective, self.alpha, self.objective.raw_point(evaluation.point), ALLOWANCE)[0]

    def _tilted(
        self, evaluation: Evaluation, zero: AnyArray | None, allowances: tuple[float, ...]
    ) -> tuple[float, ...]:
        if evaluation.hessian is None:
            return (math.inf,) * len(allowances)
        strength = self.objective.strength
        return tuple(
            tilted_bound(evaluation, self._yardstick(each), self.alpha, strength, zero, each) for each in allowances
        )

    def _yardstick(self, allowance: float) -> Yardstick:
        return yardsticks(self.objective, None if allowance == 1.0 else self.rows)[0]

    def _without_zeros(
        self, evaluation: Evaluation, zero: AnyArray, allowances: tuple[float, ...]
    ) -> tuple[float, ...]:
        """The tilted bound on the weights that may be other than zero, from a Hessian of their columns alone.

        Rounding is counted for those columns, so ``verify`` must form the same.
        """
        objective = self.objective
        rows = evaluation.point.reshape(objective.outputs, -1)
        columns = objective.engine.columns_count
        which: Positions = np.flatnonzero(~zero.all(axis=0) | (rows[:, :columns] != 0.0).any(axis=0)).astype(np.int64)
        if objective.outputs * (len(which) + objective.constant) > LARGEST_SET or not len(which):
            return (math.inf,) * len(allowances)
        part = objective.narrowed(which)
        taken = np.append(which, columns) if objective.constant else which
        here = part.evaluate(np.ascontiguousarray(rows[:, taken]).ravel(), curvature=True)
        return SparseJudge(part, self.alpha, self.tol, self.rows)._tilted(here, zero[:, which], allowances)

    def _sharp(
        self, evaluation: Evaluation, allowances: tuple[float, ...], ridges: tuple[float, ...]
    ) -> Iterator[tuple[float, ...]]:
        """The tilted bound from exact sums, with one ridge after the other."""
        ground = SharpGround.of(self.objective)
        loss, weight = ground.loss, ground.weight
        here = loss.evaluate(self.objective.raw_point(evaluation.point))
        columns = self.objective.engine.columns_count
        if not (math.isfinite(here.value) and np.isfinite(here.gradient).all()):
            return  # nothing is proved
        w = here.point[:columns]
        value = self.value(evaluation)
        box = np.append(np.full(columns, self.alpha * weight), np.zeros(int(loss.constant))) * loss.scale
        sign = np.append(np.sign(w), np.ones(int(loss.constant)))
        far = farthest(w, self.alpha, value)
        spare = 2.0 * weight / far / far  # the square of a far one overflows
        penalised = np.append(np.ones(columns), np.zeros(int(loss.constant))) * np.square(loss.scale)
        for share in ridges:
            price = share * min(value, 1.0)
            frame = orthonormal(loss.spread, here.curvature, loss.ridge + price * spare * penalised)
            if frame is None:
                yield (math.inf,) * len(allowances)
                continue
            added = sharp_tilt(here.gradient, sign, box, frame.triangle)
            error = here.coordinate_error + 4.0 * UNIT_ROUNDOFF * np.abs(added)
            bent = replace(here, gradient=here.gradient + added, coordinate_error=error)
            usable = [each == 1.0 or frame.error <= MOST_ERROR for each in allowances]
            yield tuple(
                frame.bound(bent, each) / weight * (1.0 + 1e-9) + price if good else math.inf
                for each, good in zip(allowances, usable, strict=True)
            )


def polished(judge: SparseJudge, outcome: Outcome, patience: Patience) -> Outcome:
    """The outcome or, where its bound is not met and the table is small, what exact sums make of it.

    On the support P is smooth: Newton's steps with exact sums end where plain ones drown in rounding. A weight that
    would change its sign becomes zero; a zero weight whose slope exceeds α joins.
    """
    objective, alpha = judge.objective, judge.alpha
    target = judge.tol * min(judge.value(outcome.evaluation), 1.0)
    if outcome.bound <= target or outcome.stop in (Stop.ASKED, Stop.MAX_ITER) or not is_small(objective):
        return outcome
    columns = objective.engine.columns_count
    raw = objective.raw_point(outcome.evaluation.point)
    best, value = outcome, math.inf
    sign = np.sign(raw[:columns])
    for _ in range(ROUNDS):
        support: Positions = np.flatnonzero(sign).astype(np.int64)
        ground = SharpGround.of(objective, support, alpha * sign[support])
        there = ground.descend(np.append(raw[support], raw[columns:]), judge.tol).point
        target_raw = np.append(np.zeros(columns), there[len(support) :])
        target_raw[support] = there[: len(support)]
        raw, crossed = _until_a_sign_changes(raw, target_raw, sign)
        here = objective.evaluate(objective.shifted_point(raw), curvature=True)
        slope = objective.weights_of(here.gradient)
        joins = (sign == 0.0) & (np.abs(slope) > alpha)
        if crossed is None or not joins.any():
            bound = judge(here)
            stop = patience.judge_value(here, judge.value(here), bound)
            best = replace(outcome, evaluation=here, bound=bound) if bound < best.bound else best
            if best.bound <= target:
                return replace(best, stop=Stop.FLOOR)
            if stop is not None:
                return replace(best, stop=stop)
        now = judge.value(here)
        if not now <= value * (1.0 + 1e-12) or (crossed is None and not joins.any()):
            return best
        value = now
        sign = np.where(joins, -np.sign(slope), sign) if crossed is None else sign
        if crossed is not None:
            sign[crossed] = 0.0
    return best


def _until_a_sign_changes(raw: Vector, there: Vector, sign: Vector) -> tuple[Vector, int | None]:
    """The point on the way from one to the other where the first weight reaches zero, and which; else the end."""
    columns = len(sign)
    crossing = (raw[:columns] != 0.0) & (there[:columns] * sign < 0.0)
    if not crossing.any():
        wrong = there[:columns] * sign < 0.0  # it joined and moves the other way: it had better stay zero
        there[:columns][wrong] = 0.0
        return there, None
    lengths = np.full(columns, math.inf)
    lengths[crossing] = raw[:columns][crossing] / (raw[:columns][crossing] - there[:columns][crossing])
    first = int(lengths.argmin())
    moved = raw + float(lengths[first]) * (there - raw)
    moved[first] = 0.0
    return moved, first
