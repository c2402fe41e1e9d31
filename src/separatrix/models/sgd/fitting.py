"""The logistic loss by descent: what was asked for turned into steps, and the steps taken.

Steps are taken in the user's coordinates (w, b), because a descent is another one in others.
"""

import copy
import math
from dataclasses import dataclass, field, replace

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.protocols import Engine, Evaluation
from separatrix.core.stop import Stop
from separatrix.core.sweeping import SweepState
from separatrix.core.trace import Trace
from separatrix.models.held_out import accuracy, held_out_engine, hold_out, only
from separatrix.models.logistic.fitting import Solved
from separatrix.models.logistic.given_weights import certified
from separatrix.models.sgd.parameters import Settings, check_batch
from separatrix.models.sgd.step_length import batch_smoothness, smoothness
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
    neighbours: int = field(init=False)

    def __post_init__(self) -> None:
        self.neighbours = block_rows(self.objective.engine)

    def epoch(self, number: int) -> Met:
        """Visit every row once."""
        engine, state = self.objective.engine, self.state
        order = self.among
        if self.shuffle:
            order = epoch_order(engine.rows, self.neighbours, self.seed, state.epochs, self.among)
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
    settings: Settings, objective: PenalisedLoss, alpha: float, start: Vector | None, seed: int, trace: Trace
) -> Descended:
    """Run epochs from a raw starting point (None: zero or random) and certify where they end."""
    raw = replace(objective, shift=np.zeros_like(objective.shift), ranges=None)
    seed &= SEEDS
    engine = objective.engine
    among, validate = _positive(engine), None
    if settings.held_out > 0.0:
        train, held = hold_out(engine.labels.array(), engine.classes, settings.held_out, np.random.default_rng(seed))
        validate = accuracy(held_out_engine(engine, held), objective.outputs, objective.constant)
        among = train if among is None else np.intersect1d(among, train)
        raw = replace(raw, engine=only(engine, among))
    progress = begin(settings, raw, alpha, start, seed, among)
    first = progress.state.point.copy()
    steps = steps_of(settings, raw, alpha, progress, seed, among)
    tol = settings.tol

    def prove(point: Vector) -> tuple[float, float]:
        here = certified(objective, alpha, point, tol, Stop.CERTIFIED)
        w = objective.weights_of(here.raw)
        return here.outcome.evaluation.value + alpha * float(np.abs(w).sum()), here.outcome.bound

    patience = EpochPatience(
        tol,
        settings.max_iter,
        settings.idle,
        validate,
        None if settings.certify_every is None else prove,
        settings.certify_every or 1,
        settings.keep_epochs,
        settings.noisy,
    )
    walked = walk(steps, patience, lambda point: float(np.linalg.norm(objective.weights_of(point))), trace)
    solved = certified(objective, alpha, walked.point, tol, walked.stop)
    if walked.stop not in (Stop.DIVERGED, Stop.ASKED) and _rose(objective, alpha, first, solved):
        solved = replace(solved, outcome=replace(solved.outcome, stop=Stop.DIVERGED))
    progress.rates = steps.rates if isinstance(steps, FullSteps) else steps.rule.schedule
    if validate is not None or walked.stop is Stop.DIVERGED:
        progress.state.point = walked.point.copy()
    kept = {epoch: objective.centred(point) for epoch, point in walked.kept.items()}
    return Descended(solved, progress, None if validate is None else walked.scores, kept)


def begin(
    settings: Settings, raw: PenalisedLoss, alpha: float, start: Vector | None, seed: int, among: Positions | None
) -> Progress:
    """The starting point and the rates, from the settings and, where those leave it open, the data."""
    rows = raw.engine.rows if among is None else len(among)
    check_batch(settings, rows)
    start = start_of(settings, raw.size, seed) if start is None else start
    full = settings.batch is None
    batch = rows if settings.batch is None else settings.batch
    kind, eta0 = settings.learning_rate, settings.eta0
    if eta0 is None and kind != "optimal" and not callable(kind):
        curvature = smoothness(raw) if full else batch_smoothness(raw, batch, seed)
        eta0 = 1.0 / curvature if 0.0 < curvature < math.inf else 1.0
    kind = "constant" if full and kind == "auto" else kind
    steady = max(512.0, 5.0 * raw.size) / batch**0.75
    rates = Rates(kind, float(eta0 or 0.0), settings.power_t, raw.strength + alpha, steady)
    total = None if settings.average_from is None else np.zeros(raw.size)
    return Progress(SweepState(np.array(start), total=total), rates)


def start_of(settings: Settings, size: int, seed: int) -> Vector:
    """Where a descent begins that was not told: zero, or small random weights."""
    if not settings.random_start:
        return np.zeros(size)
    return np.random.default_rng([seed & SEEDS, 1]).normal(0.0, SPREAD, size)


def steps_of(
    settings: Settings, raw: PenalisedLoss, alpha: float, progress: Progress, seed: int, among: Positions | None
) -> FullSteps | BatchSteps:
    """Steps from where the progress stands; they change its state in place."""
    average_from = settings.average_from or 0
    if settings.batch is None:
        return FullSteps(raw, alpha, progress.rates, progress.state, average_from)
    rows = raw.engine.rows if among is None else len(among)
    rule = DescentRule(
        progress.rates,
        raw.outputs,
        raw.constant,
        settings.batch,
        shrink=raw.strength,
        truncate=alpha,
        mean_weight=raw.weight / rows,
        average_from=average_from,
    )
    return BatchSteps(raw, alpha, rule, progress.state, raw.weight, among, settings.shuffle, seed)


def one_epoch(
    settings: Settings,
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
    among = _positive(raw.engine)
    seed &= SEEDS
    if progress is None:
        progress = begin(settings, raw, alpha, start, seed, among)
    else:
        check_batch(settings, raw.engine.rows if among is None else len(among))
        progress = copy.deepcopy(progress)
    steps = steps_of(settings, raw, alpha, progress, seed, among)
    if mean is not None and isinstance(steps, BatchSteps):
        steps.rule = replace(steps.rule, mean_weight=mean)
    met = steps.epoch(0)
    return steps.weights(), progress, met


def _positive(engine: Engine) -> Positions | None:
    """Rows of positive weight, or None for all."""
    if engine.row_weights is None:
        return None
    live = engine.row_weights.array() > 0
    return None if live.all() else np.flatnonzero(live).astype(np.int64)


def _rose(objective: PenalisedLoss, alpha: float, first: Vector, solved: Solved) -> bool:
    """Whether F is higher than where the descent began."""
    end = solved.outcome.evaluation.value + alpha * float(np.abs(objective.weights_of(solved.raw)).sum())
    start = math.log(max(objective.outputs, 2))  # F(0)
    if first.any():
        start = objective.evaluate(objective.shifted_point(first)).value
        start += alpha * float(np.abs(objective.weights_of(first)).sum())
    return not end <= start * (1.0 + 1e-9)
