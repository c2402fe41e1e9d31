"""The perceptron's rule, row by row and as a gradient step.

With s = ±1 the sign of a row's class and z = ⟨w, x⟩ + b, a row is a **mistake** when s·z ≤ β; β is
the margin asked for, usually 0, so a row on the boundary is a mistake whichever class it has.

**Sample rule.** Rows are visited one after the other; a mistake of weight a changes w ← w + η·a·s·x and
b ← b + η·a·s at once. This is online gradient descent on ReLU(β − s·z).

**Batch rule.** All mistakes are found at one w, and the step is η Σ a·s·x over them: gradient descent on the
perceptron criterion J_p(w) = Σ a·max(0, β − s·z). J_p has kinks where a row lies on the boundary; there the
mistakes give one of its subgradients. J_p(0) = 0 for β = 0, but w = 0 separates nothing: only
"no mistakes" means success.

η may depend on the number t = 1, 2, … of the visit (of the epoch, for the batch rule).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.parameters import NOT_NEGATIVE, called_rates
from separatrix.core.protocols import Engine
from separatrix.core.sweeping import SweepState
from separatrix.terms.logistic import Scores


@dataclass(frozen=True, slots=True)
class Schedule:
    """Step sizes η(t): constant, eta0/t^power, or a function of t.

    >>> Schedule(1.0, "invscaling", 0.5).rates(1, 4)
    array([1.        , 0.70710678, 0.57735027, 0.5       ])
    """

    eta0: float = 1.0
    kind: str | Callable[[int], float] = "constant"
    power: float = 0.5

    @property
    def constant(self) -> bool:
        """Whether η never changes."""
        return self.kind == "constant"

    def rates(self, first: int, count: int) -> Vector | None:
        """η(first), η(first + 1), …; None if it never changes."""
        if self.constant:
            return None
        if callable(self.kind):
            return called_rates(self.kind, first, count, NOT_NEGATIVE, "a rate is a number, finite and not negative.")
        return np.asarray(self.eta0 * np.arange(first, first + count, dtype=np.float64) ** -self.power)

    def rate(self, t: int) -> float:
        """η(t)."""
        rates = self.rates(t, 1)
        return self.eta0 if rates is None else float(rates[0])


@dataclass(frozen=True, slots=True)
class Lengths:
    """‖x‖ of every row, rounded up, with 1 for the constant counted in."""

    constant: bool
    kernel: str = "lengths"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {"constant": self.constant}

    def outputs(self, points: int) -> int:
        """One number per row."""
        return 1


@dataclass(frozen=True, slots=True)
class PerceptronRule:
    """The sample rule for the class with code ``positive`` against all others.

    ``shrink`` and ``truncate`` are an L2 and an L1 penalty: at every visit w ← (1 − η·shrink)·w, and each
    weight moves by η·truncate towards zero. ``average_from`` ≥ 0 sums up the weights after that many visits.
    """

    positive: int = 1
    constant: bool = True
    schedule: Schedule = Schedule()
    margin: float = 0.0
    shrink: float = 0.0
    truncate: float = 0.0
    average_from: int = -1
    kernel: str = "perceptron"

    @property
    def batch(self) -> int:
        """Every visit stands alone."""
        return 1

    @property
    def penalised(self) -> bool:
        """Whether every visit changes w."""
        return self.shrink > 0.0 or self.truncate > 0.0

    @property
    def skips(self) -> bool:
        """Whether rows may be passed over unread: only mistakes change w."""
        return not self.penalised

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {
            "positive": self.positive,
            "constant": self.constant,
            "rate": self.schedule.eta0,
            "margin": self.margin,
            "shrink": self.shrink,
            "truncate": self.truncate,
            "average_from": self.average_from,
        }

    def rates(self, first: int, count: int) -> Vector | None:
        """η of the visits first, first + 1, …."""
        return self.schedule.rates(first, count)

    def epoch(self, engine: Engine, state: SweepState, order: Any) -> None:
        """Visit every row once, in the order given."""
        engine.sweep(self, state, order)
        state.epochs += 1

    def stretches(self, engine: Engine, points: Matrix) -> Iterator[tuple[slice, Matrix]]:
        """s·z of every row at each point, some rows after others."""
        for rows, signed, _, _ in self._signed(engine, points):
            yield rows, signed

    def _signed(self, engine: Engine, points: Matrix) -> Iterator[tuple[slice, Matrix, AnyArray, Vector | None]]:
        """The same, with which rows are positive and the rows' weights."""
        done = 0
        for block in engine.blocks():
            for rows, signed in block.stretches(Scores(self.constant), points):
                own = block.codes[rows] == self.positive
                signed[~own] *= -1.0
                weights = None if block.weights is None else block.weights[rows]
                yield slice(done + rows.start, done + rows.stop), signed, own, weights
            done += block.rows

    def wrong(self, engine: Engine, points: Matrix) -> Vector:
        """Weight of the rows on the wrong side of each point; the boundary is the positive class's."""
        counts = np.zeros(len(points))
        for _, signed, own, weights in self._signed(engine, points):
            wrong = np.where(own[:, None], signed < 0.0, signed <= 0.0)
            counts += np.count_nonzero(wrong, axis=0) if weights is None else weights @ wrong
        return counts

    def sizes(self, engine: Engine) -> tuple[float, float]:
        """The greatest length of a row and the mean of ‖x‖²; not finite where a row is not."""
        longest = squares = 0.0
        for _, lengths in engine.stretches(Lengths(self.constant), np.empty((1, 0))):
            longest = float(np.maximum(longest, lengths.max(initial=0.0)))  # NaN prevails
            with np.errstate(all="ignore"):
                squares += float(np.sum(np.square(lengths)))
        return longest, squares / max(engine.rows, 1)

    def average(self, state: SweepState) -> Vector:
        """The mean of the weights after each averaged visit; the last weights if there was none."""
        count = state.visits - self.average_from
        if self.average_from < 0 or count <= 0 or state.total is None:
            return state.point.copy()
        return state.total / count if self.penalised else state.point - state.total / count
