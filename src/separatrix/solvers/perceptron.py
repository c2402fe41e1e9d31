"""Epoch after epoch until no mistake is left, a proof says that none can end, or patience does.

**Stopping.** In this order, after each epoch: no mistakes (a separator); the summed error Σ a|y − ŷ|, y and ŷ = ±1 as
predicted at each visit, or the summed loss Σ a(β − s·z) of the mistakes, under a threshold; no progress in the loss, or
in a validation score, for some epochs; the weights of an earlier epoch again; ``max_iter``. A verdict from outside,
asked once, may say that no separator exists: then only the pocket is worth filling, until ``n_iter_no_change`` epochs
have not lowered the loss.

**Cycles.** With a fixed order and a constant rate an epoch maps weights to weights, so weights that occur twice occur
for ever. Brent's method finds this with one saved point: the point is compared with the one saved at the last
power of two.

**Pocket.** Kept for the case that no separator comes: the last few weights that set a record, by the fewest mistakes
in an epoch or by the longest run without one (Gallant 1990). At the end all of them are counted on all rows, his
ratchet, and the best are taken.

**Skipping.** Rows are skipped by a bound that is exact at a reference (see ``core.sweeping``) and loosens as w
moves away. Of a small table a sketch, a byte per number, settles most of the others. A new reference costs one parallel
read of all rows; it is taken when the visits lost to looseness since the last one would have paid for it, and, without
a sketch, only if a sample of the rows says that it will serve: that most of them have more leeway than the last epoch's
way.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import Matrix, Vector, Visits, every
from separatrix.core.errors import NotFiniteError
from separatrix.core.protocols import Engine
from separatrix.core.sweeping import Sketch, SweepState
from separatrix.core.trace import Trace

SHUFFLED, IN_ORDER = (0.6, 0.3), (0.3, 0.6)
"""A reference is taken if fewer than the first share of the rows are expected to be read, and renewed when the
second share of an epoch's visits was lost to looseness. Rows in order are read twice as fast as shuffled ones, so
there it must promise more."""

POCKET_SIZE = 5
"""Record holders that are counted at the end."""

LITTLE = 2**20
"""Fewer stored numbers than this are read faster than they are reasoned about."""

LOOKS = 64
"""Visits for each mistake of the last epoch from which on a sketch pays."""

PROBE_ROWS = 2000
"""Rows that are looked at to see whether a reference will serve."""


class End(StrEnum):
    """Why learning ended; the text is the fact and, after a semicolon, the remedy for it."""

    SEPARATOR = "an epoch passed without a mistake"
    NO_SEPARATOR = "it is proved that no separator exists"
    ERROR = "the summed error Σ|y − ŷ| of an epoch fell under error_threshold; lower it to go on"
    LOSS = "the summed loss of an epoch fell to loss_threshold; lower it to go on"
    NO_PROGRESS = "the error stopped falling by more than tol; lower tol, or set it to None, to go on"
    VALIDATION = "the validation score stopped rising by more than tol; set early_stopping=False to go on"
    CYCLE = "the weights repeat themselves; shuffle the rows, or let the rate fall"
    MAX_ITER = "epochs ran out; raise max_iter"
    HELD_OUT = (
        "an epoch passed without a mistake, but not every row that was held out is on its side; "
        "set early_stopping=False to learn from all rows"
    )
    ROUNDED = "an epoch passed without a mistake, but by no more than rounding; raise margin, or rescale the columns"
    ASKED = "a callback asked to stop"
    PIECE = "learned piece by piece"


class EpochRule(Protocol):
    """What the loop needs of a rule."""

    skips: bool
    margin: float

    def epoch(self, engine: Engine, state: SweepState, order: Any) -> None:
        """Visit every row once."""

    def wrong(self, engine: Engine, points: Matrix) -> Vector:
        """Weight of the rows on the wrong side of each point."""


@dataclass(slots=True)
class Patience:
    """When to give up, and whom to ask."""

    max_iter: int = 1000
    tol: float | None = None
    n_iter_no_change: int = 5
    error_threshold: float | None = None
    loss_threshold: float | None = None
    pocket: bool = True
    repeats: bool = False
    verdict_after: int | None = None
    verdict: Callable[[], bool] | None = None
    validate: Callable[[Vector], float] | None = None


@dataclass(slots=True)
class Pocket:
    """Weights that may be the best met, counted on all rows at the end."""

    candidates: deque[Vector] = field(default_factory=lambda: deque(maxlen=POCKET_SIZE))
    fewest: float = np.inf
    run: int = 0
    best: Vector | None = None
    wrong: float = np.inf

    def note(self, state: SweepState, made: int) -> None:
        """Keep the weights after an epoch of fewest mistakes and those of the longest run."""
        if made < self.fewest:
            self.fewest = made
            self.candidates.append(state.point.copy())
        if state.run_point is not None and state.longest_run > self.run:
            self.run = state.longest_run
            self.candidates.append(state.run_point.copy())

    def choose(self, rule: EpochRule, engine: Engine, last: Vector) -> Vector:
        """The candidate, or the last weights, with the least weight of rows on the wrong side."""
        points = np.array([*self.candidates, last])
        for point, wrong in zip(points, rule.wrong(engine, points), strict=True):
            self.take(point, float(wrong))
        assert self.best is not None
        return self.best

    def take(self, point: Vector, wrong: float) -> None:
        """Keep the point if fewer rows are wrong."""
        if wrong < self.wrong or self.best is None:
            self.wrong, self.best = wrong, point.copy()


@dataclass(slots=True)
class Skipping:
    """When to take a reference, by counts alone, so that a fit repeats itself."""

    rule: Any
    engine: Engine
    shares: tuple[float, float] = SHUFFLED
    _probe: Engine | None = None
    _before: Vector | None = None
    _sketch: Sketch | None = None
    _tried: bool = False
    _mistakes: int = 0
    _moved: float = np.inf
    _first: float | None = None
    _excess: float = 0.0

    def prepare(self, state: SweepState) -> None:
        """Before an epoch: take a reference if it pays, or give up one that does not."""
        sketched = self._sketched(state)
        stale = state.leeway is not None and self._excess > self.shares[1]
        if state.leeway is None or stale:
            state.forget_leeway()
            if sketched or self._expected(state) < self.shares[0]:
                self.engine.refer(self.rule, state)
                self._first, self._excess = None, 0.0
        self._before = state.point.copy()

    def note(self, state: SweepState, visited: float) -> None:
        """After an epoch: how far it went, and what share of the visits had to read the row."""
        assert self._before is not None
        self._moved = float(np.linalg.norm(state.point - self._before))
        if state.leeway is not None:
            self._first = visited if self._first is None else self._first
            self._excess += visited - self._first + (1.0 if visited > self.shares[0] else 0.0)

    def _sketched(self, state: SweepState) -> bool:
        """Whether rows are looked at in a sketch, made when it first pays: each mistake makes many looks void."""
        made, self._mistakes = state.mistakes - self._mistakes, state.mistakes
        pays = self._before is not None and made * LOOKS <= self.engine.rows
        if pays and not self._tried:
            self._sketch, self._tried = self.engine.sketch(), True
        state.sketch = self._sketch if pays else None
        return state.sketch is not None

    def _expected(self, state: SweepState) -> float:
        """The share of visits that would read the row, judged by some rows and the way of the last epoch."""
        if not np.isfinite(self._moved):
            return 1.0
        if self._probe is None:
            self._probe = self.engine.sample(min(PROBE_ROWS, self.engine.rows), 0)
        probed = SweepState(state.point)
        self._probe.refer(self.rule, probed)
        assert probed.leeway is not None
        return float(np.mean(probed.leeway < 0.75 * self._moved))


@dataclass(slots=True)
class Learned:
    """How learning ended: last weights, the pocket's, and the number of epochs."""

    end: End
    point: Vector
    pocket: Vector | None
    epochs: int


@dataclass(slots=True)
class _Stall:
    """Counts epochs without enough progress."""

    tol: float
    most: int
    best: float = np.inf
    idle: int = field(default=0)

    def after(self, value: float) -> bool:
        """True when the value has not fallen by more than tol for too long."""
        self.idle = self.idle + 1 if value > self.best - self.tol else 0
        self.best = min(self.best, value)
        return self.idle >= self.most


def learn(
    engine: Engine,
    rule: Any,
    state: SweepState,
    order: Visits | None,
    seeds: Callable[[], int] | None,
    patience: Patience,
    trace: Trace,
) -> Learned:
    """Run epochs from ``state``; ``order`` lists the rows to visit, shuffled by ``seeds`` before every epoch."""
    count = engine.rows if order is None else len(order)
    # a new reach takes time with every column, a row only with its entries
    much = engine.rows * engine.entries_per_row >= LITTLE and engine.columns_count <= 8 * engine.entries_per_row
    much = much and engine.one_block
    skipping = Skipping(rule, engine, IN_ORDER if seeds is None else SHUFFLED) if rule.skips and much else None
    pocket = Pocket() if patience.pocket else None
    if seeds is not None and order is None:
        order = every(engine.rows)
    stall = _Stall((patience.tol or 0.0) * count, patience.n_iter_no_change)
    validation = _Stall(patience.tol or 0.0, patience.n_iter_no_change)
    saved, due, asked, hopeless = state.point.copy(), 1, False, False
    filling: _Stall | None = None
    end = End.MAX_ITER
    epoch = 0
    for epoch in range(1, patience.max_iter + 1):
        if seeds is not None and order is not None:
            kernels.shuffle(order, seeds())
        if skipping is not None:
            skipping.prepare(state)
        mistakes, skipped = state.mistakes, state.skipped
        state.counters[2] = state.counters[8] = 0.0
        rule.epoch(engine, state, order)
        if not np.isfinite(state.point).all():
            raise NotFiniteError
        made, error = state.mistakes - mistakes, state.error
        if skipping is not None:
            skipping.note(state, 1.0 - (state.skipped - skipped) / count)
        norm = float(np.linalg.norm(state.point[: engine.columns_count]))
        stopped = trace.record(error, np.inf, norm, float(made), state.point.copy())
        if made == 0:
            end = End.SEPARATOR
            break
        if pocket is not None:
            pocket.note(state, made)
        if stopped:
            end = End.ASKED
        elif patience.error_threshold is not None and 2.0 * state.wrong < patience.error_threshold:
            end = End.ERROR  # y and ŷ are ±1, so a wrong one is 2 off
        elif patience.loss_threshold is not None and error <= patience.loss_threshold:
            end = End.LOSS
        elif patience.validate is not None and _validated(patience.validate, state, validation, pocket):
            end = End.VALIDATION
        elif patience.validate is None and patience.tol is not None and stall.after(error):
            end = End.NO_PROGRESS
        elif patience.repeats and np.array_equal(state.point, saved):
            end = End.CYCLE
        if end is not End.MAX_ITER:
            break
        if epoch == due:
            saved, due = state.point.copy(), 2 * due
        filling = filling or _Stall(0.0, patience.n_iter_no_change) if hopeless else None
        if filling is not None and filling.after(error):
            break
        if epoch == patience.verdict_after and patience.verdict is not None:
            asked, hopeless = True, patience.verdict()
    if end in (End.MAX_ITER, End.CYCLE) and not asked and patience.verdict is not None:
        hopeless = patience.verdict()
    if hopeless and end is not End.SEPARATOR:
        end = End.NO_SEPARATOR
    best = None
    if pocket is not None and end is not End.SEPARATOR:
        best = pocket.choose(rule, engine, state.point) if patience.validate is None else pocket.best
    return Learned(end, state.point, best, epoch)


def _validated(validate: Callable[[Vector], float], state: SweepState, stall: _Stall, pocket: Pocket | None) -> bool:
    """Score the weights on rows held out; the pocket keeps the best."""
    wrong = 1.0 - validate(state.point)
    if pocket is not None:
        pocket.take(state.point, wrong)
    return stall.after(wrong)
