"""How a network's weights move: the state of Adam or of momentum, and its learning rate.

scikit-learn's rules with its names. A step touches gradient, weights and state once
(``cpp/kernels/updates.cpp``); parts of the vector may be stepped beside each other.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from separatrix.core import kernels
from separatrix.core.arrays import AnyArray

SLOWEST = 1e-6
"""An adaptive rate stops the fit once it is below this."""


class Update(Protocol):
    """What an epoch needs of a solver."""

    def begin(self) -> None:
        """A new step: all parts of it follow."""

    def step(self, first: int, last: int, gradient: AnyArray, weights: AnyArray, scale: float, decay: float) -> None:
        """Step the part first … last−1 of the weights by scale·gradient + decay·weights."""

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

    def begin(self) -> None:
        """A new step."""
        self.steps += 1

    def step(self, first: int, last: int, gradient: AnyArray, weights: AnyArray, scale: float, decay: float) -> None:
        """Step a part of the weights."""
        corrected = self.rate * math.sqrt(1.0 - self.beta_2**self.steps) / (1.0 - self.beta_1**self.steps)
        kernels.adam_step(
            gradient[first:last],
            weights[first:last],
            self.mean[first:last],
            self.square[first:last],
            scale,
            decay,
            corrected,
            self.beta_1,
            self.beta_2,
            self.epsilon,
        )

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
    velocity: AnyArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.now = self.rate
        self.velocity = np.zeros(self.size, self.dtype)

    def begin(self) -> None:
        """A new step."""

    def step(self, first: int, last: int, gradient: AnyArray, weights: AnyArray, scale: float, decay: float) -> None:
        """Step a part of the weights."""
        kernels.momentum_step(
            gradient[first:last],
            weights[first:last],
            self.velocity[first:last],
            scale,
            decay,
            self.now,
            self.momentum,
            self.nesterov,
        )

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
