"""How far a smooth objective is from its minimum at given weights, as a fit claims it and as ``verify`` finds it.

The plain proof is the lemma of ``self_concordance`` with a Cholesky factor. Where columns nearly depend on each other
it may prove nothing; of a table that is not large the sharp one then takes its place (``certificates.orthonormal``).
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names

from separatrix.certificates.optimum import Proof
from separatrix.core.arrays import UNIT_ROUNDOFF, Positions, Vector
from separatrix.core.certificate import ALLOWANCE, MARGIN
from separatrix.core.errors import CertificateError
from separatrix.core.factor import factorise
from separatrix.core.protocols import Evaluation
from separatrix.models.aliasing import aliasing, check
from separatrix.models.logistic.choice import sample_rows
from separatrix.models.logistic.prices import Prices
from separatrix.models.logistic.problem import yardsticks
from separatrix.models.logistic.sharp import SharpGround, SharpStanding, is_small
from separatrix.models.logistic.some_rows import WORTH, parts
from separatrix.terms.penalised import PenalisedLoss

SAMPLE_LOOSENESS = 4.0
"""How much looser than n/m a bound by the Hessian of m of n rows may be."""

SAMPLES = (1, 2)
"""How many times as many rows as a fit by a sub-sample looked at are looked at to prove it.

The same rows first, if they lie where they lay; where others do not prove it, twice as many.
"""

FIRM = 2e-12
"""An objective that plain sums leave open by more than this share is added up exactly, where the table is small."""


def prove(
    objective: PenalisedLoss,
    raw: Vector,
    keep: Positions | None,
    stated: float,
    uncentred: float,
    rows: int | None = None,
) -> Proof:
    """F at raw weights and its bound; the sharp one where the plain one is above what was stated.

    ``rows`` is the number of rows that a claim was made for: one of weight two may be given twice.
    """
    if keep is None and _sample_is_cheaper(objective):
        by_sample = _by_samples(objective, raw, stated, uncentred, rows)
        if by_sample is not None:
            return by_sample
    evaluation = objective.evaluate(objective.shifted_point(raw), curvature=True)
    assert evaluation.hessian is not None
    plain = yardsticks(objective)[0]
    factor = factorise(evaluation.hessian, evaluation.point, keep)
    found = claim = math.inf
    loosest = 0.0
    if factor is not None:
        found = plain.bound(evaluation, factor) + uncentred
        claim = yardsticks(objective, rows)[0].bound(evaluation, factor, ALLOWANCE) * MARGIN + uncentred
        # a fit by a sub-sample states a bound that is looser by the share of rows it looked at
        share = objective.engine.rows / sample_rows(objective)
        loosest = SAMPLE_LOOSENESS * share * claim if share > 1.0 else 0.0
    error, blur = 2.0 * value_error(objective, evaluation), value_blur(objective, evaluation)
    if not found <= stated and is_small(objective):
        standing = sharp_standing(objective, raw, keep)
        return Proof(*restated_value(objective, raw, standing.average, error, blur), standing.proved(), standing.bound)
    return Proof(*restated_value(objective, raw, evaluation.value, error, blur), found, claim, loosest)


def _sample_is_cheaper(objective: PenalisedLoss) -> bool:
    engine, size = objective.engine, SAMPLES[-1] * sample_rows(objective)
    prices = Prices(engine.rows, objective.size, engine.entries_per_row, engine.sparse)
    return size < engine.rows and prices.hessian(size) + prices.reading < prices.hessian(engine.rows)


def _samples(objective: PenalisedLoss) -> Iterator[PenalisedLoss]:
    """The objective over the rows that a fit by a sub-sample looked at, and over more."""
    if objective.outputs > 1:
        yield from parts(objective, 0)
    else:
        for times in SAMPLES:
            sample = objective.engine.sample(times * sample_rows(objective), 0)
            yield replace(objective, engine=sample, ranges=None)


def _by_samples(
    objective: PenalisedLoss, raw: Vector, stated: float, uncentred: float, rows: int | None
) -> Proof | None:
    """The proof by the Hessian of some rows, as a fit by a sub-sample has it; None where it is above the stated."""
    evaluation = objective.evaluate(objective.shifted_point(raw))
    for some in _samples(objective):
        hessian, share = some.evaluate(evaluation.point, curvature=True).hessian, some.weight / objective.weight
        assert hessian is not None
        factor = factorise(hessian, evaluation.point, share=share)
        if factor is None:
            return None
        found = yardsticks(objective)[0].bound(evaluation, factor) + uncentred
        if found <= stated:
            claim = yardsticks(objective, rows)[0].bound(evaluation, factor, ALLOWANCE) * MARGIN + uncentred
            error, blur = 2.0 * value_error(objective, evaluation), value_blur(objective, evaluation)
            value = restated_value(objective, raw, evaluation.value, error, blur)
            return Proof(*value, found, claim, SAMPLE_LOOSENESS * SAMPLES[-1] * claim)
        if objective.outputs > 1 and math.isfinite(found) and WORTH * share * found > stated:
            return None  # larger parts would not do either: the claim is by all rows
    return None


def value_error(objective: PenalisedLoss, evaluation: Evaluation) -> float:
    """How far a computed F may be from the true one: its sum, and the scores it is made of."""
    return 4.0 * yardsticks(objective)[0].gamma * abs(evaluation.value) + value_blur(objective, evaluation)


def value_blur(objective: PenalisedLoss, evaluation: Evaluation) -> float:
    """The part of that which comes from the scores: large where columns lie far from zero, however few the rows."""
    error = yardsticks(objective)[0].score_error(evaluation.point)
    return 2.0 * error * (evaluation.slope_size + error)


def stated_value(objective: PenalisedLoss, raw: Vector, evaluation: Evaluation) -> float:
    """F as a certificate states it: the plain one, unless scores of large numbers blur it and exact ones are to be had.

    A column near 1e8 leaves eight digits of a score, and F would be stated farther from the truth than its bound.
    """
    blur = value_blur(objective, evaluation)
    return evaluation.value if _firm(objective, evaluation.value, blur) else measure(objective, raw)[0]


def restated_value(
    objective: PenalisedLoss, raw: Vector, value: float, error: float, blur: float
) -> tuple[float, float]:
    """F and by how much a stated one may differ, ``error`` at most; less where scores blur it in a small table."""
    allowed = 8.0 * FIRM * max(abs(value), 1.0)
    if 2.0 * blur <= allowed or not is_small(objective):
        return value, error
    value, blur = measure(objective, raw)
    return value, allowed + 2.0 * blur


def _firm(objective: PenalisedLoss, value: float, error: float) -> bool:
    return not (error > FIRM * max(abs(value), 1.0) and is_small(objective))


def measure(objective: PenalisedLoss, raw: Vector) -> tuple[float, float]:
    """F at raw weights and how far it may be off; from exact scores where the table is small."""
    if is_small(objective):
        here = SharpGround.of(objective).loss.evaluate(raw)
        value = here.value / objective.weight
        return value, (128.0 * UNIT_ROUNDOFF + here.curvature_error) * abs(value)
    evaluation = objective.evaluate(objective.shifted_point(raw))
    return evaluation.value, value_error(objective, evaluation)


def sharp_standing(objective: PenalisedLoss, raw: Vector, keep: Positions | None) -> SharpStanding:
    """The sharp proof at raw weights, about the coordinates kept."""
    return SharpGround.of(objective, keep=columns_kept(objective, keep)).stand(raw)


def columns_kept(objective: PenalisedLoss, keep: Positions | None) -> Positions | None:
    """The columns among the coordinates kept of the first output."""
    return None if keep is None else keep[keep < objective.engine.columns_count]


def coordinates(objective: PenalisedLoss, columns: Positions) -> Positions:
    """The coordinates of some columns: of every output, the constant's included."""
    p = objective.size // objective.outputs
    one = np.append(columns, np.full(int(objective.constant), p - 1, dtype=np.int64))
    return np.concatenate([one + k * p for k in range(objective.outputs)])


def named(X: Any, columns: Positions) -> tuple[str, ...]:
    """How a certificate calls columns of a table."""
    names = _get_feature_names(X)
    return tuple(str(names[j]) if names is not None else f"column {j}" for j in columns)


def check_kept(objective: PenalisedLoss, keep: Any) -> tuple[Positions, Positions]:
    """Columns involved in dependences and columns set aside; CertificateError unless the data proves ``keep``."""
    width = objective.engine.columns_count
    keep = np.asarray(keep)
    columns = keep[keep < width] if keep.ndim == 1 and keep.dtype.kind in "iu" else np.empty(0, dtype=np.int64)
    if not np.array_equal(keep, coordinates(objective, columns)) or len(columns) == width or not len(keep):
        raise CertificateError(
            "The columns kept are not given as coordinates: each once and in order, the same for every class, "
            "the constant with them, and not all."
        )
    if (np.diff(columns) <= 0).any() or (len(columns) and columns[0] < 0):
        raise CertificateError("A column is kept twice, or one that is not there.")
    single = replace(objective, outputs=1, ranges=None) if objective.outputs > 1 else objective
    found = aliasing(single.engine, objective.constant)
    if not np.array_equal(found.keep, columns):
        proved = check(single.engine, objective.constant, columns)
        if proved is None:
            raise CertificateError("Columns that were set aside as linearly dependent are not so in this data.")
        found = proved
    return found.involved, found.dropped
