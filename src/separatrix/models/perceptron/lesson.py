"""A perceptron's lesson: labelled rows, and learning one class against the rest from them."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.certificates.separability import Separability
from separatrix.certificates.separator import SeparatorCertificate, UnprovedCertificate
from separatrix.core.arrays import Matrix, Positions, Vector, Visits, brief, every
from separatrix.core.errors import refuse
from separatrix.core.protocols import Engine
from separatrix.core.sweeping import SweepState
from separatrix.core.trace import Trace
from separatrix.models.held_out import held_out_engine, hold_out, only
from separatrix.models.labels import Target, refuse_not_finite
from separatrix.models.perceptron.batch_rule import BatchRule
from separatrix.models.perceptron.separator_rows import OneSide
from separatrix.models.separability.question import judged
from separatrix.solvers.perceptron import End, Patience, learn
from separatrix.terms.perceptron import PerceptronRule

SHARE, LEAST_BUDGET = 1.0, 0.5
"""A verdict may take this share of the time that the epochs have taken, and so many seconds at least."""


@dataclass(frozen=True, slots=True)
class Step:
    """One visit: the row, its score z and sign, and the weights (w₀, w₁, …), the constant's first."""

    visit: int
    epoch: int
    row: int
    sign: int
    z: float
    mistake: bool
    before: Vector
    after: Vector


@dataclass(frozen=True, slots=True)
class Taught:
    """What learning one class against the rest gave."""

    point: Vector
    end: End
    epochs: int
    visits: int
    mistakes: int
    certificate: Any


@dataclass(slots=True)
class Lesson:
    """Labelled rows, the order they are visited in, and what is held out."""

    engine: Engine
    target: Target
    weights: Vector | None
    constant: bool
    shuffle: bool
    generator: np.random.Generator
    held_out: float = 0.0
    longest: float = field(init=False)
    mean_square: float = field(init=False)

    def __post_init__(self) -> None:
        self.longest, self.mean_square = PerceptronRule(constant=self.constant).sizes(self.engine)
        if not np.isfinite(self.longest):
            refuse_not_finite(self.engine)

    @property
    def outputs(self) -> int:
        """Weight vectors: one for two classes, else one per class."""
        return 1 if len(self.target.classes) == 2 else len(self.target.classes)

    def code(self, k: int) -> int:
        """The class that classifier k takes as positive."""
        return 1 if self.outputs == 1 else k

    def state(self, start: Vector, rule: PerceptronRule) -> SweepState:
        """Where learning begins."""
        return SweepState(
            start.copy(),
            run_point=np.zeros_like(start),
            total=np.zeros_like(start) if rule.average_from >= 0 else None,
            lost=np.zeros(self.engine.columns_count) if rule.truncate > 0 else None,
        )

    def teach(self, k: int, start: Vector, rule: PerceptronRule, patience: Patience, trace: Trace) -> Taught:
        """Learn class k against the rest, to an end and its certificate."""
        rule = replace(rule, positive=self.code(k))
        verdicts: list[Separability] = []

        began = time.monotonic()

        def none_exists() -> bool:
            budget = max(LEAST_BUDGET, SHARE * (time.monotonic() - began))
            verdicts.append(self._verdict(k, budget))
            return verdicts[-1].kind in ("overlap", "quasi")

        engine, order = self.engine, self._order()
        if self.held_out > 0.0:
            train, held = self._split()
            order = brief(train if order is None else np.intersect1d(order, train), self.engine.rows)
            patience = replace(patience, validate=self._validation(rule, held))
        else:
            patience = replace(patience, verdict=None if patience.verdict_after is None else none_exists)
        cyclic = not self.shuffle or isinstance(rule, BatchRule)
        patience = replace(patience, repeats=cyclic and rule.schedule.constant and rule.truncate == 0.0)
        if isinstance(rule, BatchRule) and order is not None:
            engine = only(engine, order)
            order = None
        state = self.state(start, rule)
        seeds = None if cyclic else (lambda: int(self.generator.integers(2**63)))
        learned = learn(engine, rule, state, order, seeds, patience, trace)
        point = rule.average(state) if rule.average_from >= 0 else learned.point
        if learned.pocket is not None and rule.average_from < 0:
            point = learned.pocket
        certificate = self._certificate(k, rule, learned.end, point, state, start, verdicts)
        end = learned.end if certificate.met else self._unproved(learned.end)
        return Taught(point, end, learned.epochs, state.visits, state.mistakes, certificate)

    def continue_with(
        self, k: int, start: Vector, rule: PerceptronRule, state: SweepState | None, seed: int
    ) -> SweepState:
        """One epoch from the state of the last piece."""
        rule = replace(rule, positive=self.code(k))
        if state is None:
            state = self.state(start, rule)
            state.counters[0] = seed - 1 if rule.average_from < 0 else 0  # η(t) goes on where a fit left off
        else:
            self._refuse_another(start, rule, state)
            state = replace(state, point=state.point.copy(), counters=state.counters.copy(), run_point=None)
            state.total = None if state.total is None else state.total.copy()
            state.lost = None if state.lost is None else state.lost.copy()
        order = self._order()
        engine = self.engine
        if isinstance(rule, BatchRule):
            engine, order = (engine if order is None else only(engine, order)), None
        elif self.shuffle:
            draw = np.random.default_rng([int(self.generator.integers(2**31)), seed])
            order = draw.permutation(every(self.engine.rows) if order is None else order)
        rule.epoch(engine, state, order)
        if not np.isfinite(state.point).all():
            refuse("The weights overflow: they left the range of floats.", "lower eta0, or scale the columns.")
        return state

    def _refuse_another(self, start: Vector, rule: PerceptronRule, state: SweepState) -> None:
        """A state goes on with the rule it was made for."""
        averaged, shortened = state.total is not None, state.lost is not None
        same = len(state.point) == len(start) and averaged == (rule.average_from >= 0)
        if not same or shortened != (rule.truncate > 0):
            refuse(
                "fit_intercept, average or penalty is not what it was for the first rows.", "set it back, or call fit."
            )

    def walk(self, start: Vector, rule: PerceptronRule, max_iter: int) -> Iterator[Step]:
        """Visit by visit, by the same kernel."""
        rule = replace(rule, positive=self.code(0))
        state, order = self.state(start, rule), self._order()
        visited = every(self.engine.rows) if order is None else order
        for epoch in range(1, max_iter + 1):
            if self.shuffle:
                from separatrix import kernels

                kernels.shuffle(visited, int(self.generator.integers(2**63)))
            made = state.mistakes
            for place, row in enumerate(visited.tolist()):
                before, mistakes = state.point.copy(), state.mistakes
                self.engine.sweep(rule, state, visited, place, place + 1)
                sign = 1 if self.target.codes[row] == rule.positive else -1
                wrong = state.mistakes > mistakes
                after = state.point.copy()
                yield Step(
                    state.visits, epoch, row, sign, state.score, wrong, self._lecture(before), self._lecture(after)
                )
            if state.mistakes == made:
                return

    def _lecture(self, point: Vector) -> Vector:
        return np.roll(point, 1) if self.constant else point

    def _order(self) -> Visits | None:
        """Rows of positive weight, or None for all."""
        if self.weights is None or (self.weights > 0).all():
            return None
        return brief(np.flatnonzero(self.weights > 0), self.engine.rows)

    def _split(self) -> tuple[Positions, Positions]:
        """Rows to learn from and rows held out, a share of each class."""
        return hold_out(self.target.codes, len(self.target.classes), self.held_out, self.generator)

    def _validation(self, rule: PerceptronRule, held: Positions) -> Any:
        engine = held_out_engine(self.engine, held)

        def score(point: Vector) -> float:
            return 1.0 - float(rule.wrong(engine, point[None])[0]) / engine.weight

        return score

    def _verdict(self, k: int, budget: float) -> Separability:
        target = self.target
        if self.outputs > 1:
            target = Target((target.codes == k).astype(np.int32), np.array([False, True]))
        deadline = time.monotonic() + budget
        verdict = judged(self.engine, target, self.weights, self.constant, deadline, others=False)
        return verdict.without_data()

    def _unproved(self, end: End) -> End:
        """Why an end that is a separator's is none after all."""
        if end is not End.SEPARATOR:
            return end
        return End.HELD_OUT if self.held_out > 0.0 else End.ROUNDED

    def _certificate(
        self,
        k: int,
        rule: PerceptronRule,
        end: End,
        point: Vector,
        state: SweepState,
        start: Vector,
        verdicts: list[Separability],
    ) -> Any:
        if end is End.NO_SEPARATOR:
            return verdicts[-1]
        one = self.outputs == 1
        side = OneSide(self.constant, self.target.classes if one else np.array([False, True]), 1)
        rows = side.over(self.engine, self.code(k))
        plain = (
            type(rule) is PerceptronRule
            and rule.schedule.constant
            and not rule.penalised
            and rule.average_from < 0
            and self.weights is None
            and end is End.SEPARATOR
            and self.held_out == 0.0
        )
        rate = rule.schedule.eta0 if plain else None
        for direction in (point,) if np.array_equal(point, state.point) else (point, state.point):
            made = SeparatorCertificate.of(
                rows, side, direction.copy(), state.mistakes, start.copy(), rate, rule.margin
            )
            if made is not None:
                return made
        separable = True if any(verdict.kind == "complete" for verdict in verdicts) else None
        reason = self._unproved(end).value
        if any(verdict.kind == "undecided" for verdict in verdicts):
            reason += (
                "; whether a separator exists was not decided in the time of the epochs: separability(X, y) decides"
            )
        return UnprovedCertificate(reason, state.mistakes, separable)


def starting_point(outputs: int, d: int, lesson: Lesson, coef: Any, intercept: Any, random: bool) -> list[Vector]:
    """(w, b) to begin at, for each classifier: given, random or zero."""
    p = d + lesson.constant
    points = lesson.generator.normal(0.0, 0.01, (outputs, p)) if random else np.zeros((outputs, p))
    return list(placed(points, d, lesson.constant, coef, intercept))


def placed(points: Matrix, d: int, constant: bool, coef: Any, intercept: Any) -> Matrix:
    """The points (outputs × p), with the weights and intercepts given in their place."""
    outputs = len(points)
    for name, given, width in (("coef_init", coef, d), ("intercept_init", intercept, 1)):
        if given is None:
            continue
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            refuse(f"{name} holds values that are not numbers.", "pass finite numbers.")
        if values.size != outputs * width:
            shape = (outputs, d) if width == d and name == "coef_init" else (outputs,)
            refuse(f"{name} has shape {values.shape}.", f"it must have shape {shape}.")
        if not np.isfinite(values).all():
            refuse(f"{name} is not finite.", "pass finite numbers.")
        if name == "coef_init":
            points[:, :d] = values.reshape(outputs, d)
        elif constant:
            points[:, d] = values.ravel()
        elif values.any():
            refuse("intercept_init is given, but fit_intercept is False.", "set fit_intercept=True.")
    return points
