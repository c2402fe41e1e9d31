"""Stochastic gradient descent on F, batch by batch: the step, its length, and the order of the rows.

**Step.** With F = (1/S) Σ aᵢℓᵢ + κ((1−ρ)/2·‖w‖² + ρ‖w‖₁) and ā = S/n, a batch B of m rows moves

    w ← (1 − ηκ(1−ρ))·w − η/(m·ā) Σ_B aᵢ(π(xᵢ) − e_{yᵢ})xᵢ,    then w ← sign(w)·max(|w| − ηκρ, 0),

an unbiased estimate of the step along −∇F; the L1 part is a proximal step, so weights become exactly zero. The
intercept is not penalised. A factor 1 − ηκ(1−ρ) below 0 counts as 0. With m = 1, no weights and no penalty this is
the online rule w ← w + η(y − π)x, b ← b + η(y − π). With π replaced by the most probable label (``hard``) it is the
perceptron's rule, if a tie counts as a mistake.

**Rates.** t = 1, 2, … counts steps, one per batch.

    constant      η₀
    invscaling    η₀ / t^power
    optimal       1/(κ(t₀ + t − 1)), with t₀ from κ alone by Bottou's rule, as in scikit-learn; needs κ > 0
    adaptive      η₀, a fifth of it whenever patience runs out, until it is below 1e-6
    auto          η₀ / (1 + (t − 1)/T)^¾, T = 512 or five times the coefficients, if those are more, over m^¾: until
                  about then the distance from the optimum matters, later the noise; powers in (½, 1] let it die out
    a function    of t

**Order.** Rows lie in blocks of neighbours. An epoch takes the blocks in random order, ``WINDOW`` at a time, and
shuffles the rows of those together: memory is read in runs that stay in cache, and rows sorted by class are mixed
all the same. Data of one window are shuffled uniformly. A counter-based generator (Philox) has the key (seed, epoch)
and draws the order of the blocks and a seed for each window, so the order of any epoch depends on nothing else.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import Positions, Vector
from separatrix.core.parameters import POSITIVE, called_rates
from separatrix.core.protocols import Engine
from separatrix.core.sweeping import SweepState

SLOWEST = 1e-6
"""An adaptive rate ends the fit once it is below this."""

BLOCK_NUMBERS = 2**12
"""Stored numbers in a block of neighbouring rows: 32 KiB."""

WINDOW = 64
"""Blocks whose rows are shuffled together."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Step sizes η(t), t = 1, 2, …, by one of the schedules above; ``strength`` is κ, ``steady`` is T.

    >>> Rates("invscaling", 1.0, 0.5).rates(1, 4)
    array([1.        , 0.70710678, 0.57735027, 0.5       ])
    >>> Rates("auto", 1.0).rates(7681, 2)
    array([0.125     , 0.12498856])
    """

    kind: str | Callable[[int], float] = "constant"
    eta0: float = 0.01
    power: float = 0.5
    strength: float = 0.0
    steady: float = 512.0

    def rates(self, first: int, count: int) -> Vector:
        """η(first), η(first + 1), …."""
        t = np.arange(first, first + count, dtype=np.float64)
        if callable(self.kind):
            return called_rates(
                self.kind, first, count, POSITIVE, "a rate is a number, positive and finite at every step."
            )
        if self.kind == "optimal":
            return np.asarray(1.0 / (self.strength * (self.optimal_start + t - 1.0)))
        if self.kind == "invscaling":
            return np.asarray(self.eta0 * t**-self.power)
        if self.kind == "auto":
            root = np.sqrt(1.0 + (t - 1.0) / self.steady)
            return np.asarray(self.eta0 / (root * np.sqrt(root)))  # the power ¾, quicker than any other
        return np.full(count, self.eta0)

    @property
    def optimal_start(self) -> float:
        """t₀ = 1/(κη₁), η₁ = v/max(1, |ℓ′(−v)|) for a typical weight v = κ^(−1/4)."""
        typical = math.sqrt(1.0 / math.sqrt(self.strength))
        first = typical / max(1.0, 1.0 / (1.0 + math.exp(-typical)))
        return 1.0 / (first * self.strength)

    def slower(self) -> "Rates | None":
        """A fifth of the rate if it adapts and is not too small already."""
        if self.kind != "adaptive" or self.eta0 <= SLOWEST:
            return None
        return replace(self, eta0=self.eta0 / 5.0)


@dataclass(frozen=True, slots=True)
class DescentRule:
    """Steps on batches of ``batch`` rows; ``outputs`` is 1 for two classes, K for K > 2.

    ``average_from`` steps are not part of the average, if there is one.

    >>> from separatrix.engines import block_of, open_rows
    >>> engine = open_rows(block_of(np.array([[2.0]])), np.array([1], dtype=np.int32), 2, None)
    >>> state = SweepState(np.zeros(2))
    >>> engine.sweep(DescentRule(Rates("constant", 1.0)), state).point  # (1 − ½)·(2, 1)
    array([1. , 0.5])
    """

    schedule: Rates
    outputs: int = 1
    constant: bool = True
    batch: int = 1
    shrink: float = 0.0
    truncate: float = 0.0
    mean_weight: float = 1.0
    average_from: int = 0
    hard: bool = False
    kernel: str = "descent"

    def options(self) -> Mapping[str, Any]:
        """Arguments of the kernel."""
        return {
            "outputs": self.outputs,
            "constant": self.constant,
            "hard": self.hard,
            "mean_weight": self.mean_weight,
            "shrink": self.shrink,
            "truncate": self.truncate,
            "average_from": self.average_from,
        }

    def rates(self, first: int, count: int) -> Vector:
        """η of the steps first, first + 1, …."""
        return self.schedule.rates(first, count)

    def average(self, state: SweepState) -> Vector:
        """The mean of the weights after each averaged step; the last weights if there was none."""
        count = state.steps - self.average_from
        return state.point.copy() if state.total is None or count <= 0 else state.total / count


def block_rows(engine: Engine) -> int:
    """Rows in a block, by the shape of the data alone."""
    return max(8, int(BLOCK_NUMBERS / max(engine.entries_per_row, 1.0)))


def epoch_order(rows: int, block: int, seed: int, epoch: int, among: Positions | None = None) -> Positions:
    """The rows (those listed in ``among``, if given) in the order of an epoch, counted from 0.

    >>> epoch_order(5, 8, seed=0, epoch=3)
    array([0, 1, 4, 2, 3])
    """
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, epoch], dtype=np.uint64)))
    count = rows if among is None else len(among)
    if count <= block * WINDOW:
        order = generator.permutation(count)
    else:
        order = np.empty(count, dtype=np.int64)
        blocks = generator.permutation(-(-count // block))
        inside, filled = np.arange(block), 0
        for first in range(0, len(blocks), WINDOW):
            taken = (blocks[first : first + WINDOW, None] * block + inside).ravel()
            taken = taken[taken < count]
            kernels.shuffle(taken, int(generator.integers(2**63)))
            order[filled : filled + len(taken)] = taken
            filled += len(taken)
    return np.asarray(order if among is None else among[order], dtype=np.int64)
