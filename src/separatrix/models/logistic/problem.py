"""The problem a logistic fit solves, stated from data: for fitting and for verifying alike."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from separatrix.certificates.duality import Gap, duality_gap
from separatrix.certificates.iterative import IterativeYardstick
from separatrix.certificates.optimum import Proof
from separatrix.certificates.self_concordance import Yardstick
from separatrix.core.arrays import AnyArray, Positions, Vector
from separatrix.core.certificate import ALLOWANCE, MARGIN, stated_array, stated_number
from separatrix.core.errors import CertificateError, NotFiniteError
from separatrix.core.protocols import Engine, Evaluation
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.labels import (
    Target,
    block_of,
    encode,
    open_engine,
    refuse_not_finite,
    sample_weights,
    weighted,
)
from separatrix.terms.logistic import CurvatureProduct
from separatrix.terms.penalised import PenalisedLoss

TYPICAL_ROWS = 256
FEW_COLUMNS = 32
"""Up to so many columns the mean of a few rows is near enough to that of all."""

ROWS_PER_COLUMN = 32
"""Beyond, the mean of so many drawn rows for each column: of d columns that of m is off by d/m of a row's square."""

MOST_ENTRIES = 2_000_000
"""Numbers up to which sparse rows are spread out to check a claim made about dense ones."""


def typical_row(engine: Engine) -> Vector:
    """The mean of a few rows of positive weight, spread over the data; zero where sparse or not finite."""
    if engine.sparse:
        return np.zeros(engine.columns_count)
    if engine.columns_count > FEW_COLUMNS:
        wanted = ROWS_PER_COLUMN * engine.columns_count
        return _mean_row(engine.sample(wanted, 0) if 8 * wanted <= engine.rows else engine)
    with np.errstate(all="ignore"):
        mean: Vector = engine.take(engine.spread(TYPICAL_ROWS)).mean(axis=0)
    return np.where(np.isfinite(mean), mean, 0.0)


def _mean_row(engine: Engine) -> Vector:
    """The mean of all rows, in one read."""
    last = np.append(np.zeros(engine.columns_count), 1.0)
    with np.errstate(all="ignore"):
        mean: Vector = engine.total(CurvatureProduct(True, engine.row_weights), last[None])[0][:-1] / engine.weight
    return np.where(np.isfinite(mean), mean, 0.0)


def yardsticks(objective: PenalisedLoss, rows: int | None = None) -> tuple[Yardstick, IterativeYardstick]:
    """What the bounds need to know; the objective must have been evaluated once.

    ``rows`` is the number of rows whose rounding is allowed for: those of the objective, if None.
    """
    ranges = objective.ranges
    assert ranges is not None
    rows = objective.engine.rows if rows is None else rows
    longest = (math.sqrt(ranges.longest) + float(np.linalg.norm(objective.shift))) * (1.0 + 1e-9)
    columns = (ranges.low, ranges.high, objective.shift)
    plain = Yardstick.of(rows, *columns, objective.constant, objective.outputs, longest)
    across = float(np.linalg.norm(plain.spreads[: len(objective.shift)])) * (1.0 + 1e-9)
    return plain, IterativeYardstick(plain, objective.strength, longest, min(longest, across))


def gaps_at(objective: PenalisedLoss, alpha: float, raw: Vector, *allowances: float) -> list[Gap]:
    """The duality gap at (w, b), for each allowance for rounding; the objective must have been evaluated once.

    It does not depend on the shift, so that dense and sparse rows agree on it.
    """
    engine, ranges = objective.engine, objective.ranges
    assert ranges is not None
    one = 1.0 / objective.weight
    given, whole = engine.row_weights, objective.weight
    weights = (
        engine.collect(lambda part: np.full(part.rows, one)) if given is None else given.each(lambda part: part / whole)
    )
    rows = raw.reshape(objective.outputs, -1)
    columns = engine.columns_count
    nowhere = np.zeros(columns)
    return duality_gap(
        objective.raw_scores(raw),
        engine.labels,
        weights,
        objective.combine,
        rows[:, :columns],
        rows[:, columns] if objective.constant else np.zeros(objective.outputs),
        alpha,
        objective.strength,
        Yardstick.of(engine.rows, ranges.low, ranges.high, nowhere, objective.constant, objective.outputs),
        raw,
        allowances,
    )


def about_a_typical_row(objective: PenalisedLoss) -> PenalisedLoss:
    """The objective, sparse rows written out, about a typical row where there is a constant; evaluated once."""
    engine = dense = objective.engine
    if engine.sparse:
        written = engine.columns(np.arange(engine.columns_count, dtype=np.int64)).toarray()
        dense = engine.rewritten(written)
    shift = typical_row(dense) if objective.constant else objective.shift
    other = replace(objective, engine=dense, shift=shift, ranges=None)
    other.evaluate(np.zeros(other.size))
    return other


def packed(objective: PenalisedLoss) -> PenalisedLoss:
    """The objective of dense rows about zero, as sparse ones: the sums of those round otherwise."""
    engine = objective.engine
    every = engine.columns(np.arange(engine.columns_count, dtype=np.int64))
    rows = scipy.sparse.csr_array(np.asarray(every, dtype=np.float64))  # SciPy takes no swapped bytes
    return replace(objective, engine=engine.rewritten(rows), ranges=None)


@dataclass(frozen=True, slots=True)
class Standing:
    """An objective at a point, how far rounding may move it, its distance from the minimum, and the weights not zero.

    ``found`` is what the data proves, ``claim`` what a fit would state.
    """

    value: float
    error: float
    found: float
    claim: float
    nonzero: int


@dataclass(slots=True)
class Restated:
    """The problem on data that ``verify`` was given."""

    objective: PenalisedLoss
    alpha: float
    table: Any = field(default=None, repr=False)
    yardstick: Yardstick = field(init=False)
    iterative: IterativeYardstick = field(init=False)

    def evaluate(self, raw: Vector, curvature: bool) -> Evaluation:
        """The objective at (w, b)."""
        with one_blas_thread():
            evaluation = self.objective.evaluate(self.objective.shifted_point(raw), curvature)
        self.yardstick, self.iterative = yardsticks(self.objective)
        return evaluation

    def evaluate_with_product(self, raw: Vector, direction: Vector) -> tuple[Evaluation, Vector, Vector]:
        """The objective at (w, b); a direction in its coordinates; the Hessian times it.

        The part of the direction that is the same for all classes proves nothing and is taken off: a large one would
        let rounding of the products pass for curvature.
        """
        moved = self.objective.shifted_point(self.objective.centred(direction))
        still = not moved.any()
        at = self.objective.shifted_point(raw)
        evaluation = self.objective.evaluate(at) if still else self.objective.prepare_products(at, diagonal=False)
        self.yardstick, self.iterative = yardsticks(self.objective)
        return evaluation, moved, moved if still else self.objective.product(moved)

    @property
    def size(self) -> int:
        """Numbers in a raw point."""
        return self.objective.size

    def dependent_columns(self, keep: Any) -> tuple[str, ...]:
        """Names of all columns that take part in a dependence; CertificateError unless the data proves ``keep``."""
        from separatrix.models.logistic.proof import check_kept, named

        if self.objective.strength > 0.0 or self.alpha > 0.0:
            raise CertificateError("Columns may be set aside only without a penalty.")
        with one_blas_thread():
            return named(self.table, check_kept(self.objective, keep)[0])

    def prove(self, point: Vector, keep: Positions | None, stated: float, rows: int | None) -> Proof:
        """F at (w, b) and its bound, as sharp as it takes to prove what was stated."""
        from separatrix.models.logistic.proof import prove

        self._without_l1()
        with one_blas_thread():
            return prove(self.objective, point, keep, stated, self.objective.uncentred(point), rows)

    def prove_by_direction(self, point: Vector, direction: Vector, rows: int | None) -> Proof:
        """The same from the Hessian times a direction, in the layout of the fit as far as the shift tells it.

        A direction that solves the equations of sparse rows leaves more of those of the same rows dense.
        """
        self._without_l1()
        with one_blas_thread():
            proof = self._proof_by_direction(point, direction, rows)
        engine, shift = self.objective.engine, self.objective.shift
        if engine.sparse or shift.any() or engine.rows * engine.columns_count > MOST_ENTRIES:
            return proof
        other = Restated(packed(self.objective), self.alpha)
        with one_blas_thread():
            return min(proof, other._proof_by_direction(point, direction, rows), key=lambda each: each.found)

    def _proof_by_direction(self, point: Vector, direction: Vector, rows: int | None) -> Proof:
        from separatrix.models.logistic.proof import restated_value, value_blur, value_error

        evaluation, step, image = self.evaluate_with_product(point, direction)
        found = self.iterative.bound(evaluation, step, image)
        claim = yardsticks(self.objective, rows)[1].bound(evaluation, step, image, ALLOWANCE) * MARGIN
        extra = self.objective.uncentred(point)
        error, blur = 2.0 * value_error(self.objective, evaluation), value_blur(self.objective, evaluation)
        value = restated_value(self.objective, point, evaluation.value, error, blur)
        return Proof(*value, found + extra, claim + extra)

    def measure(self, point: Vector) -> tuple[float, float]:
        """F at (w, b), and how far it may be off."""
        from separatrix.models.logistic.proof import measure

        self._without_l1()
        return measure(self.objective, point)

    def _without_l1(self) -> None:
        """The smooth part alone is no objective where there is an L1 part too."""
        if self.alpha > 0.0:
            raise CertificateError("The bound is of a smooth objective, and the penalty has an L1 part.")

    def by_gap(self, raw: Vector) -> Standing:
        """The objective with its L1 part, and the duality gap: what is proved and what a claim would state."""
        with one_blas_thread(), np.errstate(all="ignore"):
            evaluation = self.objective.evaluate(self.objective.shifted_point(raw))
            found, claim = (gap.value for gap in gaps_at(self.objective, self.alpha, raw, 1.0, ALLOWANCE))
        return self._standing(raw, evaluation, found, claim * MARGIN)

    def by_tilting(
        self, raw: Vector, typical: bool, way: int, rows: int | None = None, stated: float = 0.0
    ) -> Standing:
        """The same by one way to the tilted bound, in coordinates about a ``typical`` row or about zero.

        ``rows`` is the number of rows that the claim was made for. About zero the bound of dense rows and that of the
        same rows packed are both tried, and the one nearer to what was ``stated`` is that of the fit's layout.
        """
        objective = self._about(typical)
        standing = self._tilted(objective, raw, way, rows)
        engine = objective.engine
        if typical or engine.sparse or engine.rows * engine.columns_count > MOST_ENTRIES:
            return standing
        other = packed(objective)
        other.evaluate(np.zeros(other.size))
        return min((standing, self._tilted(other, raw, way, rows)), key=lambda each: abs(each.claim - stated))

    def _tilted(self, objective: PenalisedLoss, raw: Vector, way: int, rows: int | None) -> Standing:
        from separatrix.models.logistic.l1_bounds import SparseJudge

        with one_blas_thread(), np.errstate(all="ignore"):
            evaluation = objective.evaluate(objective.shifted_point(raw), way == 0)
            found, claim = SparseJudge(objective, self.alpha, 0.0, rows).tilted_way(evaluation, way)
        return self._standing(raw, evaluation, found, claim)

    def _standing(self, raw: Vector, evaluation: Evaluation, found: float, claim: float) -> Standing:
        from separatrix.models.logistic.proof import restated_value

        weights = self.objective.weights_of(evaluation.point)
        measure = yardsticks(self.objective)[0]
        blur = measure.score_error(evaluation.point)
        size = float(np.abs(weights).sum())
        error = 4.0 * (measure.gamma * (evaluation.value + self.alpha * size) + blur * (evaluation.slope_size + blur))
        blurred = 4.0 * blur * (evaluation.slope_size + blur)
        smooth, error = restated_value(self.objective, raw, evaluation.value, error, blurred)
        value = smooth + self.alpha * size
        return Standing(value, error, found, claim, int(np.count_nonzero(weights)))

    def _about(self, typical: bool) -> PenalisedLoss:
        """The objective about a typical row, as for dense rows, or about zero, as for sparse ones: roundings differ."""
        objective = self.objective
        engine = objective.engine
        large = engine.rows * engine.columns_count > MOST_ENTRIES
        if typical == bool(objective.shift.any()) or (engine.sparse and large):
            return objective
        if typical:
            return about_a_typical_row(objective)
        other = replace(objective, shift=np.zeros_like(objective.shift), ranges=None)
        other.evaluate(np.zeros(other.size))
        return other


@dataclass(frozen=True, slots=True)
class LogisticProblem:
    """Everything but the data: penalty, intercept, classes, class weights."""

    C: float
    fit_intercept: bool
    classes: AnyArray
    factors: dict[int, float] | None = None
    l1_ratio: float = 0.0

    @property
    def outputs(self) -> int:
        """Weight vectors: one for two classes, one per class for more."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def columns(self, claim: Any) -> int:
        """How many columns a claim about this problem is about."""
        return len(claim.point) // self.outputs - self.fit_intercept

    def alpha(self, engine: Engine) -> float:
        """κρ, the strength of the L1 part."""
        return self.l1_ratio / (self.C * engine.weight)

    def objective(self, engine: Engine) -> PenalisedLoss:
        """The smooth part over an engine's rows; C = ∞ is maximum likelihood."""
        shift = typical_row(engine) if self.fit_intercept else np.zeros(engine.columns_count)
        strength = (1.0 - self.l1_ratio) / (self.C * engine.weight)
        centred = self.l1_ratio == 0.0 or math.isinf(self.C)
        return PenalisedLoss(engine, self.fit_intercept, strength, shift, self.outputs, centred)

    def restate(self, X: Any, y: Any, sample_weight: Any, shift: Vector | None = None) -> Restated:
        """The same problem on the data given; ``shift`` fixes the coordinates."""
        self._check()
        block = block_of(X)
        if shift is not None:
            shift = stated_array(shift, "shift", (block.shape[1],))
            if block.sparse and shift.any():
                # sparse rows cannot be shifted; few enough are spread out, others looked at as they are
                few = block.shape[0] * block.shape[1] <= MOST_ENTRIES
                block, shift = (block_of(block.as_stored().toarray()), shift) if few else (block, None)
        target: Target = encode(y, block.shape[0], self.classes)
        weights = weighted(target, sample_weights(sample_weight, block.shape[0]), self.factors)
        engine = open_engine(block, target, weights)
        objective = self.objective(engine)
        if shift is not None and self.fit_intercept:
            objective = replace(objective, shift=shift)
        try:
            with np.errstate(all="ignore"):
                objective.evaluate(np.zeros(objective.size))
        except NotFiniteError:
            refuse_not_finite(block)
        return Restated(objective, self.alpha(engine), X)

    def _check(self) -> None:
        """A penalty that is none would leave no minimum to be near: bounds hold for convex objectives only."""
        strength = stated_number(self.C, "C", 0.0, infinite=True)
        ratio = stated_number(self.l1_ratio, "l1_ratio", 0.0)
        if not (strength > 0.0 and ratio <= 1.0 and type(self.fit_intercept) is bool):
            raise CertificateError(
                f"The certificate is about C={self.C!r}, l1_ratio={self.l1_ratio!r} and "
                f"fit_intercept={self.fit_intercept!r}: no such problem was fitted."
            )
        if not isinstance(self.classes, np.ndarray) or self.classes.ndim != 1:
            raise CertificateError("The classes of the certificate are not labels.")
        if not np.array_equal(np.unique(self.classes), self.classes) or len(self.classes) < 2:
            raise CertificateError("The classes of the certificate are not two or more labels in their order.")
        for factor in (self.factors or {}).values():
            stated_number(factor, "factor of a class", 0.0)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        factors = None if self.factors is None else {str(code): value for code, value in self.factors.items()}
        return {
            "C": self.C,
            "l1_ratio": self.l1_ratio,
            "fit_intercept": self.fit_intercept,
            "classes": self.classes.tolist(),
            "factors": factors,
        }
