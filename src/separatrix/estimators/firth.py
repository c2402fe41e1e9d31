"""Firth's bias-reduced logistic regression: term, solver and certificate wired together.

The mathematics stands in ``terms/firth.py``. FLIC (Puhr, Heinze, Nold, Lusa and Geroldinger 2017): the mean
prediction of Firth's estimate is not the mean outcome; where the outcome is rare it is too high. With the weights w
kept, the intercept alone is fitted again by maximum likelihood, Σ aᵢ(yᵢ − σ(⟨w, xᵢ⟩ + b)) = 0, so that they agree.
The witness of the certificate then is (w, b, b again), and this equation is one more slope that vanishes.
"""

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from separatrix.certificates.stationary import Stationarity, StationaryCertificate
from separatrix.core.arrays import Positions, Vector
from separatrix.core.errors import CertificateError, ConvergenceWarning, refuse
from separatrix.core.factor import Factor, independent
from separatrix.core.stop import Stop
from separatrix.core.threads import one_blas_thread
from separatrix.core.trace import Trace
from separatrix.estimators.inputs import Target
from separatrix.estimators.named_penalty import strength_and_ratio
from separatrix.estimators.problem import DEPENDENCE, LogisticProblem, null_directions
from separatrix.estimators.solving import LARGEST_HESSIAN, SMALL_WORK
from separatrix.solvers.scoring import Scored, fisher_scoring
from separatrix.terms.firth import FirthLoss, Slope, Standing
from separatrix.terms.penalised import PenalisedLoss


def check_firth(estimator: Any, target: Target | None = None) -> None:
    """Refuse parameters, and labels where given, that Firth's method has no meaning for."""
    for name in ("firth", "flic"):
        if not isinstance(getattr(estimator, name), (bool, np.bool_)):
            refuse(f"{name} is {getattr(estimator, name)!r}.", f"{name} is True or False.")
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

    def stationarity(self, X: Any, y: Any, sample_weight: Any, point: Vector, keep: Positions | None) -> Stationarity:
        """−ℓ*/S and the modified score at the point, from the data given."""
        restated = self.plain.restate(X, y, sample_weight)
        loss = restated.objective
        if len(point) != loss.size + self.flic:
            raise CertificateError(f"The witness has {len(point)} numbers, the data asks for {loss.size + self.flic}.")
        raw = point[: loss.size]
        with one_blas_thread(), np.errstate(all="ignore"):
            if keep is not None:
                _check_keep(keep, raw, loss.constant)
                if not restated.dependent(keep):
                    raise CertificateError("Columns that were left out as linearly dependent are not so in this data.")
            objective = FirthLoss(loss, keep)
            standing = objective.evaluate(loss.shifted_point(raw))
            if standing.factor is None:
                raise CertificateError("The information at the stored point is singular in this data.")
            return measured(objective, standing, objective.slope(standing), point[-1] if self.flic else None)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return self.plain.to_dict() | {"firth": True, "flic": self.flic}


def _check_keep(keep: Positions, raw: Vector, constant: bool) -> None:
    keep = np.asarray(keep)
    inside = keep.ndim == 1 and len(keep) > 0 and keep[0] >= 0 and keep[-1] < len(raw)
    inside = inside and (not constant or keep[-1] == len(raw) - 1)
    if not inside or (np.diff(keep) <= 0).any() or np.delete(raw, keep).any():
        raise CertificateError("Columns may be left out only with weight 0, each once and in order.")


def measured(objective: FirthLoss, standing: Standing, slope: Slope, intercept: float | None) -> Stationarity:
    """Value and slopes at a point; with FLIC's intercept also how far its equation is from zero."""
    loss, factor = objective.loss, standing.factor
    assert factor is not None
    scaled, decrement, rounding = _steps(loss, slope, factor), slope.decrement, slope.rounding
    if intercept is not None:
        raw = loss.raw_point(standing.point)
        shares = expit(loss.scores(standing.point)[:, 0] + (intercept - raw[-1]))
        weights = np.ones(len(shares)) if loss.engine.weights is None else loss.engine.weights
        curvature = math.sqrt(float(np.sum(weights * shares * (1.0 - shares))))
        off = abs(float(np.sum(weights * (shares - (loss.engine.codes == 1)))))
        scaled = np.append(scaled, off / curvature)
        # the intercept is rounded as a number of its own size, and so are the sums
        blur = 4.0 * 2.0**-53 * (abs(intercept) + abs(raw[-1]))
        rounding += blur * curvature + 2.0**-50 * float(weights.sum()) / curvature
        decrement = math.hypot(decrement, scaled[-1])
    return Stationarity(standing.value / loss.weight, decrement, scaled, rounding)


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
    """The outcome with the point in raw coordinates; ``intercept`` is FLIC's, if asked for."""

    outcome: Scored
    objective: FirthLoss
    raw: Vector
    intercept: float | None

    def certificate(self, problem: LogisticProblem, tol: float, names: Any) -> StationaryCertificate:
        """The slope at the point, as a claim."""
        loss, keep = self.objective.loss, self.objective.keep
        standing, slope = self.outcome.standing, self.outcome.slope
        found = measured(self.objective, standing, slope, self.intercept)
        decrement, scaled = found.claim()
        if self.outcome.stop is Stop.DEPENDENT:
            decrement = math.inf
        point = loss.raw_point(standing.point)
        point = point if self.intercept is None else np.append(point, self.intercept)
        aliased: tuple[str, ...] = ()
        if keep is not None:
            left_out = np.setdiff1d(np.arange(loss.engine.columns_count), keep)
            aliased = tuple(str(names[j]) if names is not None else f"column {j}" for j in left_out)
        what = FirthProblem(problem, self.intercept is not None)
        return StationaryCertificate(decrement, tol, found.value, scaled, point, what, keep, aliased)


def solve_firth(
    loss: PenalisedLoss, start: Vector | None, tol: float, max_iter: int, flic: bool, trace: Trace
) -> FirthSolved:
    """Maximise ℓ* from a raw starting point (zero, if None); columns that depend on others are left out."""
    if loss.size > LARGEST_HESSIAN:
        refuse(
            f"firth=True forms a matrix of {loss.size} × {loss.size} coefficients; the most is {LARGEST_HESSIAN}.",
            "select columns first, or use a finite C with firth=False.",
        )
    keep, dependent = _independent_columns(loss)
    objective = FirthLoss(loss, keep)

    def record(standing: Standing, slope: Slope) -> bool:
        norm = float(np.linalg.norm(loss.weights_of(standing.point)))
        raw = loss.raw_point(standing.point)
        return trace.record(standing.value / loss.weight, 0.5 * slope.decrement**2, norm, standing.mistakes, raw)

    begin = objective.evaluate(np.zeros(loss.size))
    if start is not None:
        point = loss.shifted_point(start)
        if keep is not None:
            point[np.setdiff1d(np.arange(loss.size), keep)] = 0.0
        warm = objective.evaluate(point)
        begin = warm if warm.value <= begin.value else begin
    work = loss.engine.rows * loss.engine.entries_per_row * loss.size
    aim = 1e-4 * tol if work < SMALL_WORK else tol  # small problems run on, as others do
    outcome = fisher_scoring(objective, begin, tol, aim, max_iter, record)
    if not dependent:
        outcome = replace(outcome, stop=Stop.DEPENDENT)
    raw = loss.raw_point(outcome.standing.point)
    intercept = _calibrated(loss, outcome.standing.point, raw[-1]) if flic else None
    if intercept is not None:
        raw[-1] = intercept
    return FirthSolved(outcome, objective, raw, intercept)


def _independent_columns(loss: PenalisedLoss) -> tuple[Positions | None, bool]:
    """Coordinates to keep, None for all, and whether the others depend on them to nine digits."""
    gram = loss.evaluate(np.zeros(loss.size), curvature=True).hessian
    assert gram is not None
    keep = independent(gram, last_first=loss.constant)
    if len(keep) == loss.size:
        return None, True
    if not len(keep):
        refuse("Every column is zero and there is no intercept: no weight matters.", "set fit_intercept=True.")
    return keep, loss.dependence(null_directions(loss, gram, keep)) <= DEPENDENCE


def _calibrated(loss: PenalisedLoss, point: Vector, intercept: float) -> float:
    """The intercept at which the mean prediction is the mean outcome, all weights kept."""
    scores, positive = loss.scores(point)[:, 0], loss.engine.codes == 1
    weights = np.ones(len(scores)) if loss.engine.weights is None else loss.engine.weights

    def excess(move: float) -> float:
        shares = np.where(positive, -expit(-(scores + move)), expit(scores + move))
        return float(np.sum(weights * shares))

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
        f"The fit stopped early: {reason.value}. At average objective {certificate.objective:.6g}, {how_far} "
        f"(tol asks for {math.sqrt(2.0 * certificate.tol):.1e}).\n\nHint: raise max_iter or loosen tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
