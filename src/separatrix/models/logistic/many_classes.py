"""Softmax regression with an L2 penalty: which solver, by the cost of its passes.

A pass over the data takes 2npK multiply-adds for n rows, p coefficients a class and K classes, whether it gives a
gradient or a product with the Hessian. Beside them stand

* the Hessian itself, n(Kp)²/4 and (Kp)³/6 for its factor: few of them do, where Kp is small;
* the guides of ``solvers.class_guides`` for quasi-Newton steps: from m rows K·(mp²/2 + p³/2) for blocks by class,
  mp²/2 + p³/2 for a pooled covariance, next to nothing for diagonals.

The passes that each of them needs are not known beforehand; the figures here are what easy tables take. Where steps
with the diagonal turn out to be many, because columns are correlated, a better guide is made after all: by then they
have cost as much as it does. Where steps lead nowhere, Newton's with conjugate gradients go on, which the same guide
preconditions.

Many more rows than coefficients first settle the coefficients roughly on a sample of them.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.solvers.class_guides import ByClass, ByDiagonal, Guide, Pooled
from separatrix.solvers.led_steps import led_steps
from separatrix.solvers.newton_cg import IterativeJudge, newton_cg
from separatrix.solvers.outcome import Outcome, Patience
from separatrix.terms.penalised import PenalisedLoss

NEWTON_STEPS = 7.0
"""Hessians that Newton's method forms."""

PASSES = {"by class": 12.0, "pooled": 15.0, "diagonal": 19.0}
"""Passes that quasi-Newton steps take with each guide."""

GUIDES = 2.0
"""Times that a guide is made: rows' curvatures at the start are not those at the end."""

FEWEST, MOST = 6.0, 300.0
"""Rows from which a guide is made, for each coefficient of a class: fewer are a poor guide, more no better one."""

SHARE = 2.0
"""Between these limits a guide costs as much as so many passes."""

CALL = 2e6
"""Multiply-adds that would take as long as a pass's part in Python."""

NEAR = 1e4
"""A gradient whose bound may be so many times too large soon asks for proofs."""

IN_VAIN = 1e-9
"""A gradient that would do for a bound so many times smaller, and proves nothing, will not when it is shorter."""

MOST_STEPS = 60
"""Quasi-Newton steps before Newton's method with conjugate gradients takes over."""

PRODUCTS = 250
"""Products with the Hessian for one step of that."""

REFRESH, FAR = 4, 0.97
"""After so many steps the guide is made anew if they lowered the objective to this share."""

EASY = 16
"""Steps with the diagonal after which columns are held to be correlated."""

SAMPLE_SHARE = 12
ROWS_TO_BEGIN, MOST_TO_BEGIN = 20.0, 1000.0
"""A sample of one in so many rows says where to begin if it has so many rows for each coefficient of a class; more than
the second number bring it no nearer than a step does, and take memory."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Multiply-adds of what a solver may do."""

    rows: float
    entries: float
    p: float
    classes: float

    @classmethod
    def of(cls, objective: PenalisedLoss) -> "Costs":
        """From the shape alone."""
        engine, classes = objective.engine, objective.outputs
        return cls(float(engine.rows), float(engine.entries_per_row), objective.size / classes, float(classes))

    @property
    def one_pass(self) -> float:
        """Value and gradient."""
        return self.rows * self.classes * (2.0 * self.entries + 25.0) + CALL

    def _each_row(self, name: str) -> float:
        """What a row adds to the cost of a guide."""
        blocks = {"by class": self.classes, "pooled": 1.0, "diagonal": 0.0}[name]
        return 0.5 * blocks * self.entries**2 + self.classes * (5.0 * self.entries + 25.0)

    def guide_rows(self, name: str) -> float:
        """Rows that a guide is made from."""
        cheap = SHARE * self.one_pass / self._each_row(name)
        return min(self.rows, max(FEWEST * self.p, min(cheap, MOST * self.p), 500.0))

    def guide(self, name: str) -> float:
        """Making a guide once."""
        blocks = {"by class": self.classes, "pooled": 1.0, "diagonal": 0.0}[name]
        return self.guide_rows(name) * self._each_row(name) + blocks * (0.5 * self.p**3 + 0.1 * CALL) + CALL

    def leading(self, name: str) -> float:
        """Quasi-Newton steps with a guide."""
        square = 0.0 if name == "diagonal" else self.classes * self.p**2 * (3.0 if name == "by class" else 1.0)
        return GUIDES * self.guide(name) + PASSES[name] * (self.one_pass + square)

    @property
    def newton(self) -> float:
        """Newton's method with the full Hessian."""
        size = self.classes * self.p
        square = 0.25 * self.rows * (self.classes * self.entries) ** 2 + CALL
        return NEWTON_STEPS * (square + self.one_pass + 0.5 * size**3)

    @property
    def best_guide(self) -> str:
        """The guide with which steps cost least."""
        return min(PASSES, key=self.leading)


def price(objective: PenalisedLoss, solver: str) -> float:
    """Multiply-adds that a solver would take."""
    costs = Costs.of(objective)
    return costs.newton if solver == "newton-cholesky" else costs.leading(costs.best_guide)


def chosen(objective: PenalisedLoss) -> str:
    """Of "newton-cholesky" and "led-steps" the one that costs fewer multiply-adds."""
    costs = Costs.of(objective)
    return "newton-cholesky" if costs.newton <= costs.leading(costs.best_guide) else "led-steps"


@dataclass(slots=True)
class Guides:
    """Makes the guides of a fit, from a sample of its rows where those are many."""

    objective: PenalisedLoss
    seed: int
    name: str
    costs: Costs = field(init=False)
    spent: float = 0.0
    value: float = math.inf
    latest: Guide | None = None
    sampled: PenalisedLoss | None = None

    def __post_init__(self) -> None:
        self.costs = Costs.of(self.objective)

    def at(self, here: Evaluation, steps: int) -> Guide | None:
        """A first guide, a fresh one where steps led far, a better one when steps have cost as much as it would."""
        self.spent += self.costs.one_pass
        if self.name == "diagonal" and steps >= EASY:
            better = min(("by class", "pooled"), key=self.costs.leading)
            if self.spent > self.costs.guide(better):
                self.name = better
                self.sampled = None
                return self._made(here)
        if steps == 0 or (steps % REFRESH == 0 and here.value < FAR * self.value):
            return self._made(here)
        return None

    def _made(self, here: Evaluation) -> Guide:
        guide = self.make(here.point)
        self.value = here.value
        return guide

    def make(self, point: Vector) -> Guide:
        """The guide by its name, at a point."""
        small = self._sample()
        count = {"by class": small.outputs, "pooled": 1, "diagonal": 0}[self.name]
        found, rows = small.class_curvature(point, count)
        self.value = math.inf
        if self.name == "by class":
            self.latest = ByClass.of(found, small.strength, small.constant)
        elif self.name == "pooled":
            self.latest = Pooled.of(found[0], rows, small.strength, small.constant)
        else:
            self.latest = ByDiagonal.of(found, rows, small.strength, small.constant)
        return self.latest

    def _sample(self) -> PenalisedLoss:
        if self.sampled is None:
            count = int(self.costs.guide_rows(self.name))
            self.sampled = self.objective
            if 2 * count <= self.objective.engine.rows:
                engine = self.objective.engine.sample(count, self.seed)
                self.sampled = replace(self.objective, engine=engine, ranges=None)
        return self.sampled


@dataclass(slots=True)
class Evaluations:
    """Passes that leave out the curvature of the scores until it is near that a proof asks for it."""

    objective: PenalisedLoss
    tol: float
    judge: IterativeJudge
    near: bool = False
    _seen: tuple[Evaluation, float] | None = None
    _provable: bool | None = None

    def __call__(self, point: Vector) -> Evaluation:
        """Value and gradient at a point."""
        here = self.objective.evaluate(point) if self.near else self.objective.glance(point)
        self.near = self.near or self._least(here) <= NEAR * self.tol * min(here.value, 1.0)
        return here

    def bound(self, here: Evaluation) -> float:
        """The bound from the gradient alone; infinite where that is too long for the bound that is asked for."""
        if self._least(here) > self.tol * min(here.value, 1.0) or not here.scores_curvature.any():
            return math.inf
        zero = np.zeros_like(here.point)
        return self.judge(here, zero, zero)

    def in_vain(self, here: Evaluation) -> bool:
        """Whether rounding alone forbids a proof: where not even no gradient at all would prove anything.

        The gradient's rounding grows as the rows do, the penalty that the bound rests on as one over them: of a million
        rows and more the gradient alone proves nothing.
        """
        if self._provable is None and self.near and here.scores_curvature.any():
            zero = np.zeros_like(here.point)
            self._provable = math.isfinite(self.judge(replace(here, gradient=zero), zero, zero))
        return self._provable is False or self._least(here) <= IN_VAIN * self.tol * min(here.value, 1.0)

    def _least(self, here: Evaluation) -> float:
        """Half the squared length of the gradient in the weights, over the penalty: no bound from it is less."""
        if self._seen is None or self._seen[0] is not here:
            rest = self.objective.weights_of(here.gradient)
            self._seen = here, 0.5 * float(rest @ rest) / self.objective.strength
        return self._seen[1]


def lead_by_guides(
    objective: PenalisedLoss, begin: Vector, started: bool, judge: IterativeJudge, patience: Patience, seed: int
) -> Outcome:
    """Quasi-Newton steps and, where they lead nowhere, Newton's with conjugate gradients."""
    costs = Costs.of(objective)
    if not started:
        begin = from_sample(objective, begin, seed, costs)
    evaluations = Evaluations(objective, patience.tol, judge)
    guides = Guides(objective, seed, costs.best_guide)
    patience.extra = 0  # a step more is not free
    begin = objective.shifted_point(objective.centred(objective.raw_point(begin)))
    outcome = led_steps(evaluations, begin, guides.at, evaluations.bound, patience, MOST_STEPS, evaluations.in_vain)
    if outcome.stop is not Stop.STALLED or evaluations.in_vain(outcome.evaluation):
        return outcome
    return newton_cg(
        objective, outcome.evaluation.point, judge, patience, PRODUCTS, lambda here: guides.make(here.point)
    )


def from_sample(objective: PenalisedLoss, begin: Vector, seed: int, costs: Costs) -> Vector:
    """Where to begin: the rough optimum of a sample of the rows, where they are many."""
    each = costs.p * math.sqrt(costs.classes)
    count = min(objective.engine.rows // SAMPLE_SHARE, int(MOST_TO_BEGIN * each))
    if count < ROWS_TO_BEGIN * each:
        return begin
    engine = objective.engine.sample(count, seed + 1)
    small = replace(objective, engine=engine, ranges=None)
    rough = Patience(1e-2 * objective.size / count, 20, 0, Trace(), small)
    name = min(PASSES, key=Costs.of(small).leading)
    guides = Guides(small, seed, name)
    latest: list[Vector] = [begin]

    def decrement(here: Evaluation) -> float:
        """About how far it is still to go; what it says proves nothing."""
        latest[0] = here.point
        assert guides.latest is not None
        return 0.5 * float(here.gradient @ guides.latest.solve(here.gradient))

    return led_steps(small.glance, begin, guides.at, decrement, rough, 20).evaluation.point
