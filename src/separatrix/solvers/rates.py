"""Learning rates: a constant, one that decays, or any function of the step."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from separatrix.core.errors import refuse
from separatrix.core.numbers import is_positive
from separatrix.core.parameters import POSITIVE, check_value, shown

Rate = float | Fraction | Callable[[int], float | Fraction]
"""A number, or a function of the step's number t = 0, 1, 2, …"""


@dataclass(frozen=True, slots=True)
class Decaying:
    """η(t) = η₀ / (1 + t/over)^power.

    Any power in (½, 1] has Σ η = ∞ and Σ η² < ∞, which stochastic gradient descent
    needs to settle (Robbins and Monro): with a constant rate it hovers about the
    minimum instead.

    >>> rate = Decaying(0.5)
    >>> [rate(t) for t in (0, 1, 4)]
    [0.5, 0.25, 0.1]
    """

    rate: float
    power: float = 1.0
    over: float = 1.0

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        check_positive("power", self.power)
        check_positive("over", self.over)

    def __call__(self, step: int) -> float:
        """The rate of the step with this number, counted from 0."""
        return float(self.rate / (1.0 + step / self.over) ** self.power)


def check_positive(name: str, value: Any) -> None:
    """Refuse all but a positive finite number."""
    check_value(name, value, POSITIVE)


def check_rate(rate: Any) -> None:
    """Refuse a rate that can be seen to be wrong before the first step."""
    if not callable(rate):
        check_positive("rate", rate)


def rate_at(rate: Rate, step: int, exact: bool) -> Any:
    """The rate of a step, checked; ``exact`` asks for a whole number or a Fraction.

    >>> rate_at(lambda t: 1 / (1 + t), 3, exact=False)
    0.25
    """
    value: Any = rate(step) if callable(rate) else rate
    if not is_positive(value):
        refuse(f"The rate at step {step} is {shown(value)}.", "a rate must be positive and finite at every step.")
    if not exact:
        return float(value)
    if not isinstance(value, (int, Fraction)):
        refuse(
            f"The start holds Fractions, but the rate at step {step} is the float {value!r}.",
            "give the rate as a Fraction too, for example Fraction(1, 10), or start from floats.",
        )
    return Fraction(value)
