"""Firth's bias-reduced logistic regression: term, solver and certificate wired together.

The mathematics stands in ``terms/firth.py``. FLIC (Puhr, Heinze, Nold, Lusa and Geroldinger 2017): the mean
prediction of Firth's estimate is not the mean outcome; where the outcome is rare it is too high. With the weights w
kept, the intercept alone is fitted again by maximum likelihood, Σ aᵢ(yᵢ − σ(⟨w, xᵢ⟩ + b)) = 0, so that they agree.
The witness of the certificate then is (w, b, b again), and this equation is one more slope that vanishes.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from separatrix.certificates.stationary import Stationarity, StationaryCertificate
from separatrix.core.arrays import UNIT_ROUNDOFF, Codes, Matrix, Positions, Vector
from separatrix.core.certificate import ALLOWANCE, LOOSEST, MARGIN, stated_array
from separatrix.core.errors import CertificateError, ConvergenceWarning, refuse
from separatrix.core.factor import Factor
from separatrix.core.plain_values import same
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.aliasing import aliasing
from separatrix.models.labels import Target
from separatrix.models.logistic.fitting import LARGEST_HESSIAN, SMALL_WORK
from separatrix.models.logistic.penalty_name import strength_and_ratio
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.models.logistic.proof import check_kept, columns_kept, coordinates, named
from separatrix.models.logistic.sharp import SharpGround, is_small
from separatrix.solvers.scoring import Record, Scored, fisher_scoring
from separatrix.terms.firth import FirthLoss, Slope
from separatrix.terms.penalised import PenalisedLoss
from separatrix.terms.sharp_firth import SharpFirth

VALUE_ERROR = 1e-11
"""Rounding of the objective beyond which a small table is looked at more sharply."""


def check_firth(estimator: Any, target: Target | None = None) -> None:
    """Refuse parameters, and labels where given, that Firth's method has no meaning for."""
    if not estimator.firth:
        if estimator.flic:
            refuse("flic=True needs firth=True: it refits the intercept of Firth's estimate.", "set firth=True.")
        return
    if not math.isinf(strength_and_ratio(estimator)[0]):
        refuse(
            f"firth=True with C={estimator.C!r}: Firth's penalty ½ log det I takes the place of the other one.",
            "set C=np.inf, or firth=False.",
        )
    if strength_and_ratio(estimator)[1]:
        refuse(f"firth=True with l1_ratio={estimator.l1_ratio!r}: there is no L1 part.", "set l1_ratio=0.")
    if estimator.flic and not estimator.fit_intercept:
        refuse("flic=True needs an intercept to refit.", "set fit_intercept=True, or flic=False.")
    if target is not None and len(target.classes) > 2:
        refuse(
            "Only binary classification is supported with firth=True. The type of the target is multiclass: "
            f"y has {len(target.classes)} classes.",
            "use sklearn.multiclass.OneVsRestClassifier, or firth=False.",
        )


@dataclass(frozen=True, slots=True)
class FirthProblem:
    """Everything but the data: what was fitted, and how to measure its slope again."""

    plain: LogisticProblem
    flic: bool = False

    slope = "Firth's modified score"
    unit = "standard errors"

    def columns(self, claim: Any) -> int:
        """How many columns a claim about this problem is about."""
        return len(claim.point) - self.plain.fit_intercept - self.flic

    def stationarity(
        self, X: Any, y: Any, sample_weight: Any, point: Vector, keep: Positions | None, stated: float
    ) -> tuple[Stationarity, tuple[str, ...]]:
        """−ℓ*/S and the modified score at the point from the data given, and the names of columns left out."""
        if not (same(self.plain.C, math.inf) and self.plain.l1_ratio == 0.0 and type(self.flic) is bool):
            raise CertificateError("Firth's penalty stands alone: C is infinite, and there is no L1 part.")
        restated = self.plain.restate(X, y, sample_weight)
        loss = about_means(restated.objective)
        stated_array(point, "weights", (loss.size + self.flic,))
        raw, left_out = point[: loss.size], np.empty(0, dtype=np.int64)
        with one_blas_thread(), np.errstate(all="ignore"):
            if keep is not None:
                left_out = check_kept(loss, keep)[1]
                if np.delete(raw, keep).any():
                    raise CertificateError("Columns may be left out only with weight 0.")
            last = point[-1] if self.flic else None
            found = measured(loss, keep, raw, last, lambda claim: claim / LOOSEST <= stated <= LOOSEST * claim)
        if found is None:
            raise CertificateError("The information at the stored point is singular in this data.")
        return found, named(X, left_out)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return self.plain.to_dict() | {"firth": True, "flic": self.flic}


def about_means(loss: PenalisedLoss) -> PenalisedLoss:
    """The same loss about the columns' means, which no order of the rows changes.

    Sparse rows cannot be shifted, and log det I of columns near 1e5 needs all its digits: where there are few, or a
    quarter of all numbers is stored anyway, they are spread out.
    """
    engine = loss.engine
    if engine.sparse:
        if not (is_small(loss) or 4.0 * engine.entries_per_row >= engine.columns_count):
            return loss
        engine = engine.rewritten(engine.written_out())
        loss = replace(loss, engine=engine, ranges=None)
    if not loss.constant:
        return loss
    ones = engine.row_weights or engine.collect(lambda part: np.ones(part.rows))
    sums = loss.combine(ones.each(lambda part: part[:, None]))[0]
    with np.errstate(all="ignore"):
        means = sums[:-1] / sums[-1]
    return replace(loss, shift=np.where(np.isfinite(means), means, 0.0), ranges=None)


def sharp_firth(loss: PenalisedLoss, keep: Positions | None, raw: Vector) -> SharpFirth:
    """Firth's function of a small table about a raw point."""
    return SharpFirth(SharpGround.of(loss, keep=columns_kept(loss, keep)).loss, raw)


def measured(
    loss: PenalisedLoss, keep: Positions | None, raw: Vector, intercept: float | None, will_do: Callable[[float], bool]
) -> Stationarity | None:
    """Value and slopes at a raw point, None where I is singular; with FLIC's intercept also its equation.

    Slopes are those of plain floats if ``will_do`` says so of the decrement that would be claimed, else as sharp as the
    table allows; so is a value that plain floats do not give exactly enough. How many rows make up a sum blurs the
    value alone: it must not decide which slopes are stated.
    """
    objective = FirthLoss(loss, keep)
    standing = objective.evaluate(loss.shifted_point(raw))
    found: Stationarity | None = None
    if standing.factor is not None:
        slope = objective.slope(standing)
        steps, error = _steps(loss, slope, standing.factor), objective.value_error(standing)
        found = _with_intercept(loss, raw, intercept, standing.value, error, steps, slope)
    exact = found is not None and found.value_error <= VALUE_ERROR * max(abs(found.value), 1.0)
    good = found is not None and will_do(found.claim()[0])
    if not is_small(loss) or (exact and good):
        return found
    sharp = sharp_firth(loss, keep, raw)
    there = sharp.evaluate(np.zeros(sharp.loss.size))
    if there.upper is None:
        return found
    if good:
        assert found is not None
        return replace(found, value=there.value / loss.weight, value_error=there.value_error / loss.weight)
    slope = sharp.slope(there)
    steps = sharp.steps(there, slope)
    return _with_intercept(loss, raw, intercept, there.value, there.value_error, steps, slope)


def _with_intercept(
    loss: PenalisedLoss, raw: Vector, intercept: float | None, value: float, error: float, scaled: Vector, slope: Slope
) -> Stationarity:
    decrement, rounding = slope.decrement, slope.rounding
    if intercept is not None:
        last, last_rounding = _calibration(loss, raw, intercept)
        scaled, rounding = np.append(scaled, last), rounding + last_rounding
        decrement = math.hypot(decrement, last)
    return Stationarity(value / loss.weight, error / loss.weight, decrement, scaled, rounding)


def _calibration(loss: PenalisedLoss, raw: Vector, intercept: float) -> tuple[float, float]:
    """How far FLIC's equation is from zero in standard errors, and the rounding of that."""
    scores = loss.scores(loss.shifted_point(np.append(raw[:-1], intercept)))

    def sums(part: Matrix, codes: Codes, given: Vector | None) -> Vector:
        shares = expit(part[:, 0])
        weights = np.ones(len(shares)) if given is None else given
        return np.array([np.sum(weights * shares * (1.0 - shares)), np.sum(weights * (shares - (codes == 1)))])

    curving, missed = scores.sum(sums, loss.engine.labels, loss.engine.row_weights).tolist()
    curvature, off = math.sqrt(curving), abs(missed)
    # the intercept is rounded as a number of its own size, the scores as sums, and so are the sums of all rows
    sizes = np.abs(raw[:-1]) @ _largest(loss)
    blur = 4.0 * UNIT_ROUNDOFF * (abs(intercept) + abs(raw[-1]) + (len(raw) + 4) * float(sizes))
    return off / curvature, blur * curvature + 8.0 * UNIT_ROUNDOFF * loss.weight / curvature


def _largest(loss: PenalisedLoss) -> Vector:
    if loss.ranges is None:
        loss.evaluate(np.zeros(loss.size))
    assert loss.ranges is not None
    return np.asarray(np.maximum(np.abs(loss.ranges.low), np.abs(loss.ranges.high)))


def _steps(loss: PenalisedLoss, slope: Slope, factor: Factor) -> Vector:
    """The next step of each kept coefficient in its own standard errors, |(I⁻¹U*)ⱼ|/√(I⁻¹)ⱼⱼ, in raw coordinates."""
    steps, errors = factor.kept(slope.step).copy(), factor.inverse_lengths.copy()
    if loss.constant:  # b = b′ − ⟨shift, w⟩ has another standard error than b′
        direction = np.append(-loss.shift, 1.0)
        steps[-1] = factor.kept(direction) @ steps
        spread = np.zeros(loss.size)
        spread[factor.keep if factor.keep is not None else slice(None)] = factor.kept(direction)
        errors[-1] = math.sqrt(float(spread @ factor.solve(spread)))
    return np.asarray(np.abs(steps) / errors)


@dataclass(frozen=True, slots=True)
class FirthSolved:
    """Where scoring ended, the raw point, and the columns kept; ``intercept`` is FLIC's, if asked for."""

    outcome: Scored
    loss: PenalisedLoss
    keep: Positions | None
    point: Vector
    intercept: float | None

    @property
    def raw(self) -> Vector:
        """The weights given."""
        return self.point if self.intercept is None else np.append(self.point[:-1], self.intercept)

    def certificate(self, problem: LogisticProblem, tol: float, X: Any) -> StationaryCertificate:
        """The slope at the point, as a claim."""
        what = FirthProblem(problem, self.intercept is not None)
        point = self.point if self.intercept is None else np.append(self.point, self.intercept)
        left_out = np.empty(0, dtype=np.int64)
        if self.keep is not None:
            left_out = np.setdiff1d(np.arange(self.loss.engine.columns_count), self.keep)
        with one_blas_thread(), np.errstate(all="ignore"):
            found = measured(self.loss, self.keep, self.point, self.intercept, lambda claim: 0.5 * claim**2 <= tol)
        aliased = named(X, left_out)
        if found is None:
            scaled = np.full(self.loss.size, np.inf)
            value = self.outcome.standing.value / self.loss.weight
            return StationaryCertificate(math.inf, tol, value, scaled, point, what, self.keep, aliased)
        decrement, scaled = found.claim()
        return StationaryCertificate(decrement, tol, found.value, scaled, point, what, self.keep, aliased)


def solve_firth(
    loss: PenalisedLoss, start: Vector | None, tol: float, max_iter: int, flic: bool, trace: Trace
) -> FirthSolved:
    """Maximise ℓ* from a raw starting point (zero, if None); columns that depend on others are left out."""
    if loss.size > LARGEST_HESSIAN:
        refuse(
            f"firth=True forms a matrix of {loss.size} × {loss.size} coefficients; the most is {LARGEST_HESSIAN}.",
            "select columns first, or use a finite C with firth=False.",
        )
    loss = about_means(loss)
    keep = _independent_columns(loss)
    objective = FirthLoss(loss, keep)
    begin = objective.evaluate(np.zeros(loss.size))
    if start is not None:
        point = loss.shifted_point(start)
        if keep is not None:
            point[np.setdiff1d(np.arange(loss.size), keep)] = 0.0
        warm = objective.evaluate(point)
        begin = warm if warm.value <= begin.value else begin
    work = loss.engine.rows * loss.engine.entries_per_row * loss.size
    aim = 1e-4 * tol if work < SMALL_WORK else tol  # small problems run on, as others do

    def recorder(raw_of: Callable[[Any], Vector]) -> Record:
        def record(standing: Any, slope: Slope) -> bool:
            raw = raw_of(standing)
            norm = float(np.linalg.norm(loss.weights_of(raw)))
            value = standing.value / loss.weight
            return trace.record(value, 0.5 * slope.decrement**2, norm, standing.mistakes, raw)

        return record

    if math.isfinite(begin.value):
        outcome = fisher_scoring(objective, begin, tol, aim, max_iter, recorder(lambda at: loss.raw_point(at.point)))
        raw = loss.raw_point(outcome.standing.point)
    else:
        outcome, raw = Scored(begin, None, Stop.STALLED), loss.raw_point(begin.point)
    good = outcome.slope is not None and _met(outcome.slope, tol)
    if is_small(loss) and not good and outcome.stop is not Stop.ASKED and len(trace) < max_iter:
        sharp = sharp_firth(loss, keep, raw)
        standing = sharp.evaluate(np.zeros(sharp.loss.size))
        if standing.upper is not None and not _met(sharp.slope(standing), tol):
            record = recorder(lambda at: at.raw)
            outcome = fisher_scoring(sharp, standing, tol, aim, max_iter - len(trace), record)
            raw = outcome.standing.raw
    intercept = _calibrated(loss, loss.shifted_point(raw), raw[-1]) if flic else None
    return FirthSolved(outcome, loss, keep, raw, intercept)


def _met(slope: Slope, tol: float) -> bool:
    """Whether a claim made of this slope would be below tol."""
    claim = slope.decrement * MARGIN + ALLOWANCE * slope.rounding
    return 0.5 * claim * claim <= tol


def _independent_columns(loss: PenalisedLoss) -> Positions | None:
    """Coordinates to keep, None for all: the others are combinations of them, to the rounding of their decimals."""
    gram = loss.evaluate(np.zeros(loss.size), curvature=True).hessian
    found = aliasing(loss.engine, loss.constant, gram)
    if not len(found.dropped):
        return None
    keep = coordinates(loss, found.keep)
    if not len(keep):
        refuse("Every column is zero and there is no intercept: no weight matters.", "set fit_intercept=True.")
    return keep


def _calibrated(loss: PenalisedLoss, point: Vector, intercept: float) -> float:
    """The intercept at which the mean prediction is the mean outcome, all weights kept."""
    scores, labels, given = loss.scores(point), loss.engine.labels, loss.engine.row_weights

    def excess(move: float) -> float:
        def over(part: Matrix, codes: Codes, weights: Vector | None) -> float:
            z = part[:, 0] + move
            shares = np.where(codes == 1, -expit(-z), expit(z))
            return float(np.sum(shares if weights is None else weights * shares))

        return float(scores.sum(over, labels, given))

    low, high = -1.0, 1.0
    while excess(low) > 0.0:
        low *= 2.0
    while excess(high) < 0.0:
        high *= 2.0
    return intercept + float(brentq(excess, low, high, xtol=1e-15, rtol=1e-15, maxiter=200))


def warn_unless_stationary(stop: Stop, certificate: StationaryCertificate) -> None:
    """Say how large the slope still is where a fit stopped early, and the remedy."""
    if stop is Stop.ASKED or certificate.met:
        return
    how_far = (
        f"{certificate.problem.slope} vanishes only to {certificate.decrement:.1e} {certificate.problem.unit}"
        if certificate.proved
        else "nothing is stated"
    )
    reason = Stop.STALLED if stop.good else stop  # a good end whose rounding error is above tol
    warnings.warn(
        f"The fit stopped early: {reason.fact}. At average objective {certificate.objective:.6g}, {how_far} "
        f"(tol asks for {math.sqrt(2.0 * certificate.tol):.1e}).\n\nHint: {reason.remedy}.",
        ConvergenceWarning,
        stacklevel=4,
    )
