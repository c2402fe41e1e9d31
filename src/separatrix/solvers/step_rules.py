"""How a gradient becomes a step: plain, with momentum, or with each coordinate's own scale.

All are written for a gradient g at the point x and a rate η; each holds its numbers
and makes a ``Stepper`` that remembers what came before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray
from separatrix.core.errors import refuse
from separatrix.core.parameters import BELOW_ONE, check_value, shown
from separatrix.solvers.rates import check_positive

Stepper = Callable[[AnyArray, Any], AnyArray]
"""(gradient, rate) ↦ what is added to the point."""


def _check_share(name: str, value: Any) -> None:
    check_value(name, value, BELOW_ONE)


@dataclass(frozen=True, slots=True)
class Plain:
    """−ηg.

    >>> Plain().stepper(np.zeros(1), False)(np.array([4.0]), 0.5)
    array([-2.])
    """

    def stepper(self, start: AnyArray, exact: bool) -> Stepper:
        """A stepper; there is nothing to remember."""
        return lambda gradient, rate: np.asarray(-rate * gradient)


@dataclass(frozen=True, slots=True)
class Momentum:
    """v ← μv − ηg, the step is v (Polyak's heavy ball)."""

    momentum: float | Fraction = 0.9

    def __post_init__(self) -> None:
        _check_share("momentum", self.momentum)

    def stepper(self, start: AnyArray, exact: bool) -> Stepper:
        """A stepper that remembers v."""
        share = Fraction(self.momentum) if exact else float(self.momentum)
        velocity = start * 0

        def step(gradient: AnyArray, rate: Any) -> AnyArray:
            nonlocal velocity
            velocity = np.asarray(share * velocity - rate * gradient)
            return velocity

        return step


@dataclass(frozen=True, slots=True)
class Nesterov:
    """v ← μv − ηg, the step is μv − ηg: the gradient that counts is the one ahead."""

    momentum: float | Fraction = 0.9

    def __post_init__(self) -> None:
        _check_share("momentum", self.momentum)

    def stepper(self, start: AnyArray, exact: bool) -> Stepper:
        """A stepper that remembers v."""
        share = Fraction(self.momentum) if exact else float(self.momentum)
        velocity = start * 0

        def step(gradient: AnyArray, rate: Any) -> AnyArray:
            nonlocal velocity
            velocity = share * velocity - rate * gradient
            return np.asarray(share * velocity - rate * gradient)

        return step


@dataclass(frozen=True, slots=True)
class Adam:
    """m ← β₁m + (1−β₁)g, s ← β₂s + (1−β₂)g²; the step is −η·m̂/(√ŝ + ε).

    m̂ = m/(1−β₁ᵗ) and ŝ = s/(1−β₂ᵗ) correct for the start at zero (Kingma and Ba 2015).
    """

    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        _check_share("beta_1", self.beta_1)
        _check_share("beta_2", self.beta_2)
        check_positive("epsilon", self.epsilon)

    def stepper(self, start: AnyArray, exact: bool) -> Stepper:
        """A stepper that remembers m, s and t."""
        if exact:
            refuse("Adam takes square roots, and the start holds Fractions.", "start from floats.")
        mean, square, count = np.zeros_like(start), np.zeros_like(start), 0

        def step(gradient: AnyArray, rate: Any) -> AnyArray:
            nonlocal mean, square, count
            count += 1
            mean = self.beta_1 * mean + (1.0 - self.beta_1) * gradient
            square = self.beta_2 * square + (1.0 - self.beta_2) * gradient**2
            root = np.sqrt(square / (1.0 - self.beta_2**count))
            return np.asarray(-rate * (mean / (1.0 - self.beta_1**count)) / (root + self.epsilon))

        return step


Method = Plain | Momentum | Nesterov | Adam

METHODS: dict[str, Callable[[], Method]] = {
    "plain": Plain,
    "momentum": Momentum,
    "nesterov": Nesterov,
    "adam": Adam,
}


def method_of(method: Any) -> Method:
    """A method, or its name.

    >>> method_of("adam")
    Adam(beta_1=0.9, beta_2=0.999, epsilon=1e-08)
    """
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]()
    if not isinstance(method, Method):
        refuse(f"method is {shown(method)}.", f"choose one of {', '.join(METHODS)}, or Momentum(0.5) and the like.")
    return method
