"""Logistic regression by descent: the parameters turned into steps, and the steps taken.

Steps are taken in the user's coordinates (w, b), because a descent is another one in others.
"""

import copy
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.core.sweeping import SweepState
from separatrix.core.trace import Trace
from separatrix.models.held_out import accuracy, held_out_engine, hold_out
from separatrix.models.logistic.fitting import Solved
from separatrix.models.logistic.given_weights import certified
from separatrix.models.sgd.step_length import batch_smoothness, smoothness
from separatrix.models.sgd.together import check_batch
from separatrix.solvers.certified_epochs import EpochPatience, Met, walk
from separatrix.terms.penalised import PenalisedLoss
from separatrix.terms.sgd import DescentRule, Rates, block_rows, epoch_order

SEEDS = 2**64 - 1

SPREAD = 0.01
"""Standard deviation of a random start."""


@dataclass(slots=True)
class FullSteps:
    """One step an epoch along −∇F over all rows, the L1 part by a proximal step."""

    objective: PenalisedLoss
    alpha: float
    rates: Rates
    state: SweepState
    average_from: int
    here: Evaluation | None = None

    def epoch(self, number: int) -> Met:
        """One step, and F after it."""
        state, columns = self.state, self.objective.engine.columns_count
        if self.here is None:
            self.here = self.objective.evaluate(state.point)
        eta = float(self.rates.rates(state.steps + 1, 1)[0])
        state.point = state.point - eta * self.here.gradient
        w = state.point.reshape(self.objective.outputs, -1)[:, :columns]
        if self.alpha > 0.0:
            w[...] = np.sign(w) * np.maximum(np.abs(w) - eta * self.alpha, 0.0)
        state.steps += 1
        state.epochs += 1
        if state.total is not None and state.steps > self.average_from:
            state.total += state.point
        self.here = self.objective.evaluate(state.point)
        return Met(self.here.value + self.alpha * float(np.abs(w).sum()), self.here.mistakes)

    def weights(self) -> Vector:
        """The last weights, or their mean."""
        return DescentRule(self.rates, average_from=self.average_from).average(self.state)

    def slower(self) -> bool:
        """A fifth of an adaptive rate."""
        slower = self.rates.slower()
        self.rates = slower or self.rates
        return slower is not None


@dataclass(slots=True)
class BatchSteps:
    """A step for each batch of rows, in the order of the epoch."""

    objective: PenalisedLoss
    alpha: float
    rule: DescentRule
    state: SweepState
    weight: float
    among: Positions | None
    shuffle: bool
    seed: int
    block: int = field(init=False)

    def __post_init__(self) -> None:
        self.block = block_rows(self.objective.engine)

    def epoch(self, number: int) -> Met:
        """Visit every row once."""
        engine, state = self.objective.engine, self.state
        order = self.among
        if self.shuffle:
            order = epoch_order(engine.rows, self.block, self.seed, state.epochs, self.among)
        mistakes = state.counters[1]
        state.counters[2] = 0.0
        engine.sweep(self.rule, state, order)
        state.epochs += 1
        w = self.objective.weights_of(state.point)
        with np.errstate(all="ignore"):
            penalty = 0.5 * self.rule.shrink * float(w @ w) + self.alpha * float(np.abs(w).sum())
        return Met(state.error / self.weight + penalty, float(state.counters[1] - mistakes))

    def weights(self) -> Vector:
        """The last weights, or their mean."""
        return self.rule.average(self.state)

    def slower(self) -> bool:
        """A fifth of an adaptive rate."""
        slower = self.rule.schedule.slower()
        if slower is not None:
            self.rule = replace(self.rule, schedule=slower)
        return slower is not None


@dataclass(slots=True)
class Progress:
    """Where a descent stands, so that it can be taken up again; the rates are fixed at its start."""

    state: SweepState
    rates: Rates


@dataclass(frozen=True, slots=True)
class Descended:
    """The weights with their certificate, and what was kept on the way."""

    solved: Solved
    progress: Progress
    scores: list[float] | None
    kept: dict[int, Vector]


def descend(
    model: Any, objective: PenalisedLoss, alpha: float, start: Vector | None, seed: int, trace: Trace
) -> Descended:
    """Run epochs from a raw starting point (None: as ``init`` says) and certify where they end."""
    raw = replace(objective, shift=np.zeros_like(objective.shift), ranges=None)
    seed &= SEEDS
    engine: Any = objective.engine
    among, validate = _positive(engine.weights), None
    if model.early_stopping:
        classes = engine.classes
        train, held = hold_out(engine.codes, classes, float(model.validation_fraction), np.random.default_rng(seed))
        validating = held_out_engine(engine.block, engine.codes, classes, engine.weights, held)
        validate = accuracy(validating, objective.outputs, objective.constant)
        among = train if among is None else np.intersect1d(among, train)
        weights = np.zeros(engine.rows)
        weights[among] = 1.0 if engine.weights is None else engine.weights[among]
        raw = replace(raw, engine=engine.reweighted(weights))
    progress = begin(model, raw, alpha, start, seed, among)
    first = progress.state.point.copy()
    steps = steps_of(model, raw, alpha, progress, seed, among)
    tol = float(model.tol)

    def prove(point: Vector) -> tuple[float, float]:
        here = certified(objective, alpha, point, tol, Stop.CERTIFIED)
        w = objective.weights_of(here.raw)
        return here.outcome.evaluation.value + alpha * float(np.abs(w).sum()), here.outcome.bound

    patience = EpochPatience(
        tol,
        int(model.max_iter),
        None if model.n_iter_no_change is None else int(model.n_iter_no_change),
        validate,
        None if model.certify_every is None else prove,
        int(model.certify_every or 1),
        frozenset(int(epoch) for epoch in model.keep_epochs),
        # a rate that adapts is only lowered by chance, and sooner is better than later
        noisy=model.solver == "sgd" and model.learning_rate != "adaptive",
    )
    walked = walk(steps, patience, lambda point: float(np.linalg.norm(objective.weights_of(point))), trace)
    solved = certified(objective, alpha, walked.point, tol, walked.stop)
    if walked.stop not in (Stop.DIVERGED, Stop.ASKED) and _rose(objective, alpha, first, solved):
        solved = replace(solved, outcome=replace(solved.outcome, stop=Stop.DIVERGED))
    progress.rates = steps.rates if isinstance(steps, FullSteps) else steps.rule.schedule
    if model.early_stopping or walked.stop is Stop.DIVERGED:
        progress.state.point = walked.point.copy()
    kept = {epoch: objective.centred(point) for epoch, point in walked.kept.items()}
    return Descended(solved, progress, walked.scores if model.early_stopping else None, kept)


def begin(
    model: Any, raw: PenalisedLoss, alpha: float, start: Vector | None, seed: int, among: Positions | None
) -> Progress:
    """The starting point and the rates, from the parameters and, where those leave it open, the data."""
    rows = raw.engine.rows if among is None else len(among)
    check_batch(model, rows)
    if start is None:
        start = np.zeros(raw.size)
        if model.init == "random":
            start = np.random.default_rng([seed, 1]).normal(0.0, SPREAD, raw.size)
    full = model.solver == "gd"
    batch = rows if full else int(model.batch_size)
    kind, eta0 = model.learning_rate, model.eta0
    if eta0 is None and kind != "optimal" and not callable(kind):
        curvature = smoothness(raw) if full else batch_smoothness(raw, batch, seed)
        eta0 = 1.0 / curvature if 0.0 < curvature < math.inf else 1.0
    kind = "constant" if full and kind == "auto" else kind
    steady = max(512.0, 5.0 * raw.size) / batch**0.75
    rates = Rates(kind, float(eta0 or 0.0), float(model.power_t), raw.strength + alpha, steady)
    total = None if model.average is False else np.zeros(raw.size)
    return Progress(SweepState(np.array(start), total=total), rates)


def steps_of(
    model: Any, raw: PenalisedLoss, alpha: float, progress: Progress, seed: int, among: Positions | None
) -> FullSteps | BatchSteps:
    """Steps from where the progress stands; they change its state in place."""
    average_from = 0 if isinstance(model.average, bool) else int(model.average) - 1
    if model.solver == "gd":
        return FullSteps(raw, alpha, progress.rates, progress.state, average_from)
    rows = raw.engine.rows if among is None else len(among)
    rule = DescentRule(
        progress.rates,
        raw.outputs,
        raw.constant,
        int(model.batch_size),
        shrink=raw.strength,
        truncate=alpha,
        mean_weight=raw.weight / rows,
        average_from=average_from,
    )
    return BatchSteps(raw, alpha, rule, progress.state, raw.weight, among, bool(model.shuffle), seed)


def one_epoch(
    model: Any,
    raw: PenalisedLoss,
    alpha: float,
    start: Vector | None,
    seed: int,
    progress: Progress | None,
    mean: float | None,
) -> tuple[Vector, Progress, Met]:
    """The next epoch over the rows given, from where the last ended; the progress given stays as it is.

    ``mean`` is what weights are divided by, if not their mean.
    """
    among = _positive(raw.engine.weights)
    seed &= SEEDS
    if progress is None:
        progress = begin(model, raw, alpha, start, seed, among)
    else:
        check_batch(model, raw.engine.rows if among is None else len(among))
        progress = copy.deepcopy(progress)
    steps = steps_of(model, raw, alpha, progress, seed, among)
    if mean is not None and isinstance(steps, BatchSteps):
        steps.rule = replace(steps.rule, mean_weight=mean)
    met = steps.epoch(0)
    return steps.weights(), progress, met


def _positive(weights: Vector | None) -> Positions | None:
    """Rows of positive weight, or None for all."""
    if weights is None or (weights > 0).all():
        return None
    return np.flatnonzero(weights > 0).astype(np.int64)


def _rose(objective: PenalisedLoss, alpha: float, first: Vector, solved: Solved) -> bool:
    """Whether F is higher than where the descent began."""
    end = solved.outcome.evaluation.value + alpha * float(np.abs(objective.weights_of(solved.raw)).sum())
    start = math.log(max(objective.outputs, 2))  # F(0)
    if first.any():
        start = objective.evaluate(objective.shifted_point(first)).value
        start += alpha * float(np.abs(objective.weights_of(first)).sum())
    return not end <= start * (1.0 + 1e-9)
