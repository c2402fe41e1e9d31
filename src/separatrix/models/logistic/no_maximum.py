"""What maximum likelihood tends to where it has no maximum.

Let v separate as many rows as can be, and Z be the rows (with K classes: the pairs of a
row and a wrong class) that it leaves at zero. Along t·v + u the loss of the separated
rows vanishes as t → ∞, and what remains is the loss of Z alone at u, which has a minimum.
So the limit is a pair: the *direction* v, which decides wherever ⟨v, x⟩ ≠ 0, with
certainty, and the *finite part* u, which decides where ⟨v, x⟩ = 0. u is fixed only up to
directions orthogonal to Z; the one of least ‖w‖ is taken. Complete separation leaves no
row to Z, and u = 0.
"""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.certificates.separability import Separability
from separatrix.certificates.sides import sides
from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import InputError
from separatrix.core.scores import softmax
from separatrix.engines import Block
from separatrix.exact.arithmetic import rounded
from separatrix.kernels.threads import thread_limit
from separatrix.models.aliasing import check
from separatrix.models.labels import open_table
from separatrix.models.separability.signed_rows import TwoClassRows
from separatrix.terms.penalised import PenalisedLoss

LEAST_BUDGET = 2.0
"""Seconds that a fit waits for a verdict at least; more only if the fit itself took longer."""

MOST_STEPS = 50
KNOWN = 1e-12
"""The direction of largest margin is looked for until its bracket is this share of the margin."""

FINITE = "use a finite C, or firth=True for finite estimates of all weights"
"""What to do about it, for those who have C."""

FAR = 745.0
"""exp(−745) is the smallest positive number: beyond, a separated pair has neither loss nor slope."""


@dataclass(frozen=True)
class Limit:
    """The direction (outputs × p, the constant last) and the finite part in the same shape."""

    verdict: Separability
    direction: Matrix
    finite: Matrix

    def scores(self, block: Block, finite: Matrix, constant: bool) -> Matrix:
        """Log-odds in the limit: ±∞ where the direction decides, else those of the finite part."""
        rows = TwoClassRows(open_table(block), np.ones(block.shape[0], dtype=np.int32), constant)
        if len(self.direction) == 1:
            signs = self._signs(rows)[:, None]
            return np.where(signs != 0, np.where(signs > 0, np.inf, -np.inf), finite)
        # the classes that lead along the direction share the row; ties are those within rounding
        brackets = [rows.bracket(v) for v in self.direction]
        along, sizes = (np.column_stack([pair[k] for pair in brackets]) for k in (0, 1))
        slack = (self.direction.shape[1] + 4) * 2.0**-53 * sizes.max(axis=1, keepdims=True) * 2.0
        leading = along >= along.max(axis=1, keepdims=True) - slack
        return np.where(leading, finite, -np.inf)

    def undecided(self, block: Block, constant: bool) -> AnyArray:
        """Rows on which the direction is zero; of two classes."""
        rows = TwoClassRows(open_table(block), np.ones(block.shape[0], dtype=np.int32), constant)
        return np.asarray(self._signs(rows) == 0)

    def _signs(self, rows: TwoClassRows) -> AnyArray:
        """On which side of the direction each row lies, exactly; 0 on it."""
        assert self.verdict.integers is not None
        return np.where(self._within_rounding(rows), 0, sides(rows, self.verdict.integers).signs)

    def _within_rounding(self, rows: TwoClassRows) -> AnyArray:
        """Rows on the boundary but for rounding; none where rows of the fit are as near as that."""
        direction = self.direction[0]
        along, sizes = rows.bracket(direction)
        nearest = self.verdict.margin * float(np.linalg.norm(direction[: rows.table.columns_count]))
        # the direction itself is known to a share of its margin, or its constant would decide about the origin
        known = KNOWN * nearest if np.isfinite(nearest) else 0.0
        slack = 2.0 * (len(direction) + 4) * 2.0**-53 * sizes + known
        return np.asarray((np.abs(along) <= slack) & (16.0 * slack < nearest))


def limit_of(objective: PenalisedLoss, verdict: Separability) -> Limit:
    """The limit of maximum likelihood for a verdict of complete or quasi-complete separation."""
    outputs = objective.outputs
    p = objective.size // outputs
    direction = _spread(np.asarray(verdict.direction), outputs, p)
    finite = np.zeros((outputs, p))
    if verdict.kind == "quasi":
        finite = _finite_part(objective, verdict, direction)
    return Limit(verdict, direction, finite)


def _spread(vector: Vector, outputs: int, p: int) -> Matrix:
    """One row per output; with K classes the first has none of its own, and all are centred."""
    if outputs == 1:
        return vector.reshape(1, p)
    rows = np.vstack([np.zeros(p), vector.reshape(outputs - 1, p)])
    return np.asarray(rows - rows.mean(axis=0))


def _finite_part(objective: PenalisedLoss, verdict: Separability, direction: Matrix) -> Matrix:
    """Newton's method on the loss of what overlaps, within the span of those rows."""
    if objective.outputs == 1:
        restricted, base = _without(objective, verdict), np.zeros(objective.size)
    else:
        assert verdict.direction is not None
        separation = verdict.margin * float(np.linalg.norm(verdict.direction))
        restricted, base = objective, objective.shifted_point((FAR / separation * direction).ravel())
    point = np.zeros(objective.size)
    here = restricted.evaluate(base + point, curvature=True)
    for _ in range(MOST_STEPS):
        assert here.hessian is not None
        step = _pseudo_newton(here.hessian, here.gradient)
        decrement = -float(here.gradient @ step)
        if not decrement > 1e-18 * max(here.value, 1e-300):
            break
        share = 1.0
        while share > 1e-4:
            trial = restricted.evaluate(base + point + share * step, curvature=True)
            if trial.value <= here.value - 1e-4 * share * decrement or decrement < 1e-12 * here.value:
                break
            share *= 0.5
        point, here = point + share * step, trial
    raw = objective.raw_point(point).reshape(objective.outputs, -1)
    return _least_norm(objective, raw, verdict)


def _without(objective: PenalisedLoss, verdict: Separability) -> PenalisedLoss:
    """The same loss with no weight on the separated rows."""
    engine = objective.engine
    stay = np.ones(engine.rows)
    stay[verdict.separated_rows] = 0.0
    given = engine.row_weights
    left = engine.laid(stay) if given is None else given.each(np.multiply, engine.laid(stay))
    return replace(objective, engine=engine.reweighted(left), ranges=None)


def _pseudo_newton(hessian: Matrix, gradient: Vector) -> Vector:
    """−H⁺g in columns of one size: directions without curvature are left alone."""
    size = np.sqrt(np.diag(hessian))
    scale = np.where(size > 1e-12 * size.max(), 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(hessian * scale * scale[:, None])
    bent = values > 1e-11 * values.max()
    along = vectors[:, bent].T @ (scale * gradient)
    return np.asarray(-scale * (vectors[:, bent] @ (along / values[bent])))


def _least_norm(objective: PenalisedLoss, raw: Matrix, verdict: Separability) -> Matrix:
    """Take off what the overlapping rows do not see, so that the weights are shortest."""
    outputs, p = raw.shape
    if outputs > 1:
        raw = raw - raw.mean(axis=0)
    aside = set(verdict.problem.set_aside)
    # a column set aside is no column of the verdict: what no row sees is its difference from the others
    own = [v for v in verdict.dependences if not {k % p for k, entry in enumerate(v) if entry} <= aside]
    unseen = [_spread(rounded(vector), outputs, p) for vector in (*verdict.null, *own)]
    unseen += _combinations(objective, sorted(aside))
    if not unseen:
        return raw
    columns = objective.engine.columns_count
    table = np.column_stack([vector[:, :columns].ravel() for vector in unseen])
    amount = np.linalg.lstsq(table, raw[:, :columns].ravel(), rcond=None)[0]
    moved = raw - np.tensordot(amount, np.stack(unseen), axes=1)
    # what is left of a weight that was taken off is rounding
    return np.where(np.abs(moved) > 1e-14 * np.abs(raw).max(), moved, 0.0)


def _combinations(objective: PenalisedLoss, aside: list[int]) -> list[Matrix]:
    """Each column set aside minus what the others make of it, for every output."""
    if not aside:
        return []
    keep = np.setdiff1d(np.arange(objective.engine.columns_count), aside)
    found = check(objective.engine, objective.constant, keep)
    if found is None:
        return []
    outputs = objective.outputs
    return [np.outer(place, vector) for place in np.eye(outputs) for vector in found.directions.T]


def verdict_in_time(
    X: Any,
    y: Any,
    weights: Vector | None,
    objective: PenalisedLoss,
    began: float,
    n_jobs: int | None,
    raises: bool,
    remedy: str = FINITE,
) -> Separability:
    """The verdict where existence of a maximum was not proved; it may take as long as the fit did.

    With ``raises`` a verdict of separation is an InputError.
    """
    from separatrix.models.separability.question import separability

    budget = max(LEAST_BUDGET, time.monotonic() - began)
    verdict = separability(X, y, objective.constant, budget, sample_weight=weights, others=False, n_jobs=n_jobs)
    if verdict.kind not in ("complete", "quasi"):
        return verdict
    if raises:
        raise InputError(advice(verdict, remedy=remedy))
    if verdict.kind == "complete" and objective.outputs == 1:
        with thread_limit(n_jobs):
            verdict = verdict.widened(deadline=time.monotonic() + budget)
    return verdict.without_data()


def advice(verdict: Separability, limit: bool = True, remedy: str = FINITE) -> str:
    """The text of the warning: kind, columns, rows, and what to do; ``limit`` says that the limit is given."""
    apart = verdict.separated_rows
    rows = ", ".join(str(k) for k in apart[:5].tolist()) + (", …" if len(apart) > 5 else "")
    if verdict.kind == "complete":
        fact = "The classes are completely separable, so the likelihood has no maximum: all weights grow without end."
    else:
        infinite = verdict.infinite
        listed = ", ".join(infinite[:8]) + (", …" if len(infinite) > 8 else "")
        fact = (
            f"The classes are quasi-completely separable, so the likelihood has no maximum: {len(apart)} rows ({rows}) "
            f"can be separated without end, and these weights are not finite: {listed}."
        )
    given = "The limit is given: a direction that decides where it is not zero, and finite weights elsewhere."
    if not limit:
        given = "The weights given are where the descent stopped; trace_ shows how they grow."
    return f"{fact} {given} certificate_.verify(X, y) proves it.\n\nHint: {remedy}."


def limit_probabilities(scores: Matrix) -> Matrix:
    """Probabilities from log-odds that may be infinite."""
    if scores.shape[1] == 1:
        with np.errstate(over="ignore"):
            return np.column_stack([1.0 / (1.0 + np.exp(scores[:, 0])), 1.0 / (1.0 + np.exp(-scores[:, 0]))])
    return softmax(scores)
