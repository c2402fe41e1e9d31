"""How a network's weights move: the state of Adam or of momentum, and its learning rate.

scikit-learn's rules with its names. The steps themselves are compiled (``cpp/kernels/updates.cpp``): one touches
gradient, weights and state once.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.kernels.network import StepRule

SLOWEST = 1e-6
"""An adaptive rate stops the fit once it is below this."""


class Update(StepRule, Protocol):
    """What epochs need of a solver: what a step needs, and a rate that may change between them."""

    def epoch_ends(self, seen: int) -> None:
        """``seen`` rows have been visited since the start."""

    def give_up(self) -> bool:
        """No improvement: True to stop, False to go on with a smaller rate."""


@dataclass(slots=True)
class AdamUpdate:
    """Adam (Kingma and Ba 2015) with the rate η√(1−β₂ᵗ)/(1−β₁ᵗ) for step t."""

    size: int
    dtype: Any
    rate: float
    beta_1: float
    beta_2: float
    epsilon: float
    steps: int = 0
    mean: AnyArray = field(init=False, repr=False)
    square: AnyArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.mean, self.square = np.zeros(self.size, self.dtype), np.zeros(self.size, self.dtype)

    @property
    def shares(self) -> tuple[float, float]:
        """What the means keep of themselves in a step."""
        return self.beta_1, self.beta_2

    @property
    def nesterov(self) -> bool:
        """Adam does not look ahead."""
        return False

    def rates(self, count: int) -> Vector:
        """The rates of the next steps, each corrected for the start at zero."""
        steps = np.arange(self.steps + 1.0, self.steps + count + 1.0)
        found: Vector = self.rate * np.sqrt(1.0 - self.beta_2**steps) / (1.0 - self.beta_1**steps)
        return found

    def advance(self, count: int) -> None:
        """So many steps were taken."""
        self.steps += count

    def epoch_ends(self, seen: int) -> None:
        """Adam keeps its rate."""

    def give_up(self) -> bool:
        """There is no smaller rate to go on with."""
        return True


@dataclass(slots=True)
class MomentumUpdate:
    """Gradient descent with momentum; the rate is constant, falls with the rows seen, or adapts."""

    size: int
    dtype: Any
    rate: float
    schedule: str
    momentum: float
    nesterov: bool
    power_t: float
    now: float = field(init=False)
    mean: AnyArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.now = self.rate
        self.mean = np.zeros(self.size, self.dtype)

    @property
    def square(self) -> None:
        """Momentum keeps no squares."""

    @property
    def shares(self) -> tuple[float, float]:
        """What the velocity keeps of itself in a step."""
        return self.momentum, 0.0

    @property
    def epsilon(self) -> float:
        """Nothing is divided."""
        return 0.0

    def rates(self, count: int) -> Vector:
        """The same for all steps of an epoch."""
        return np.full(count, self.now)

    def advance(self, count: int) -> None:
        """The rate does not depend on it."""

    def epoch_ends(self, seen: int) -> None:
        """η = η₀/(seen + 1)^power_t when the schedule is "invscaling"."""
        if self.schedule == "invscaling":
            self.now = self.rate / (seen + 1) ** self.power_t

    def give_up(self) -> bool:
        """An adaptive rate is divided by five before giving up."""
        if self.schedule != "adaptive" or self.now <= SLOWEST:
            return True
        self.now /= 5.0
        return False
