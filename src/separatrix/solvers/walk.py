"""What a descent returns: where it ended, why, and the way it took."""

import math
import warnings
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.core.errors import ConvergenceWarning, refuse
from separatrix.core.parameters import COUNT, NONE, NOT_NEGATIVE, check_value
from separatrix.solvers.points import Space


class DescentStop(StrEnum):
    """The reason a descent stopped; its text is the fact and, after a semicolon, the remedy for it."""

    GRADIENT = "the gradient is no longer than gradient_tol"
    CHANGE = "the point moves by no more than change_tol"
    PATIENCE = "patience ran out: the function no longer falls; decay the rate, or raise patience, if that is too soon"
    MAX_STEPS = "steps ran out; raise their number, or the rate"
    EPOCHS = "the epochs asked for are done; raise their number, or the rate, to go on"
    DIVERGED = "the points run away; lower the rate, or check that the function has a minimum and the gradient its sign"
    NO_DESCENT = "no step against the gradient lowers the function; check the gradient, or accept the point"

    @property
    def good(self) -> bool:
        """Whether it stopped because of what was asked for."""
        return self in (DescentStop.GRADIENT, DescentStop.CHANGE, DescentStop.PATIENCE)


@dataclass(frozen=True, slots=True)
class Path:
    """The points of a descent, the start first; ``values`` where the function was given.

    ``points`` has one more row than steps were taken. With Fractions it holds Fractions.
    """

    points: AnyArray
    values: Vector | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True, slots=True)
class Descent:
    """Where a descent ended.

    ``point`` is finite always: after a divergence it is the last one before the points
    ran away. With ``patience`` it is the point of the smallest value seen.
    ``value`` is the function there, None where the function was not given.
    ``steps`` counts updates; ``epochs`` passes over the data, 0 where there are no data.
    """

    point: Any
    stop: DescentStop
    steps: int
    gradient_norm: float
    value: float | None = None
    epochs: int = 0
    path: Path | None = field(default=None, repr=False)

    def __str__(self) -> str:
        value = "" if self.value is None else f", value {self.value:.6g}"
        return f"After {self.steps} steps{value}: {self.stop.value}."


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop; checked once, before the first step."""

    max_steps: int
    gradient_tol: float
    change_tol: float
    patience: int | None
    watching: bool
    steps_name: str = "max_steps"

    def __post_init__(self) -> None:
        check_value(self.steps_name, self.max_steps, COUNT)
        check_value("patience", self.patience, NONE | COUNT)
        check_value("gradient_tol", self.gradient_tol, NOT_NEGATIVE)
        check_value("change_tol", self.change_tol, NOT_NEGATIVE)
        if self.patience is not None and not self.watching:
            refuse(
                f"patience is {self.patience}, but there is nothing to watch.",
                "give the function too: function=….",
            )


class Diary:
    """The points and values met, as far as they are asked for, and the best of them."""

    def __init__(self, space: Space, function: Any, keep_path: bool) -> None:
        self._space, self._function, self._keep = space, function, keep_path
        self._points: list[AnyArray] = []
        self._values: list[float] = []
        self.best, self.best_value, self.stale = space.start, math.inf, 0

    def value(self, point: AnyArray, step: int) -> float:
        """The function at a point."""
        return self._space.value(self._function(self._space.shown(point)), step)

    def note(self, point: AnyArray, value: float | None = None) -> None:
        """A point of the path."""
        if self._keep:
            self._points.append(point.copy())
            if value is not None:
                self._values.append(value)

    def watch(self, point: AnyArray, value: float) -> None:
        """Whether the value is the smallest so far; else one more stale one."""
        if value < self.best_value:
            self.best, self.best_value, self.stale = point.copy(), value, 0
        else:
            self.stale += 1

    def path(self) -> Path | None:
        """What was kept."""
        if not self._keep:
            return None
        return Path(np.stack(self._points), np.array(self._values) if self._values else None)


def warn_of(stop: DescentStop) -> None:
    """A warning for an end that nobody asked for, except that steps ran out, which the result says."""
    if stop in (DescentStop.DIVERGED, DescentStop.NO_DESCENT):
        fact, _, remedy = stop.value.partition("; ")
        warnings.warn(f"The descent stopped: {fact}.\n\nHint: {remedy}.", ConvergenceWarning, stacklevel=3)
