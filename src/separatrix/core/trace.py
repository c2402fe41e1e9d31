"""What happened at each pass, and the one hook that everything per pass hangs on."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.core.errors import refuse
from separatrix.core.parameters import shown


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over the data: where the solver stood and how good it knew it was.

    ``point`` holds (w, b) for hooks; a trace does not keep it.
    """

    number: int
    objective: float
    bound: float
    norm: float
    mistakes: float
    seconds: float
    point: Vector = field(repr=False, compare=False)


NOWHERE = np.empty(0)

Hook = Callable[[Pass], bool]
"""Called after every pass; True asks the solver to stop. What it raises, StopIteration too, is the error of the fit."""


def _asks(answer: Any) -> bool:
    try:
        return bool(answer)
    except (TypeError, ValueError):  # an array is neither
        refuse(f"on_pass returned {shown(answer)}.", "return True to stop; False or nothing to go on.")


@dataclass(slots=True)
class Trace:
    """The passes of a fit, readable as columns; of logistic regression also the ``solver`` and the ``reason`` for it.

    >>> trace = Trace()
    >>> _ = trace.record(0.69, float("inf"), 0.0, 3.0, np.zeros(2))
    >>> trace.objective
    array([0.69])
    """

    passes: list[Pass] = field(default_factory=list)
    hooks: tuple[Hook, ...] = ()
    solver: str = ""
    reason: str = ""
    _start: float = field(default_factory=time.perf_counter, repr=False)

    def record(self, objective: float, bound: float, norm: float, mistakes: float, point: Vector) -> bool:
        """Append a pass and call the hooks; True when one of them asks to stop."""
        seconds = time.perf_counter() - self._start
        shown = np.array(point) if self.hooks else NOWHERE  # solvers go on changing theirs
        entry = Pass(len(self.passes) + 1, objective, bound, norm, mistakes, seconds, shown)
        if not self.hooks:
            self.passes.append(entry)
            return False
        answers = [_asks(hook(entry)) for hook in self.hooks]
        self.passes.append(replace(entry, point=NOWHERE))
        return any(answers)

    def __len__(self) -> int:
        return len(self.passes)

    def __iter__(self) -> Iterator[Pass]:
        return iter(self.passes)

    def __getitem__(self, index: int) -> Pass:
        return self.passes[index]

    def _column(self, name: str) -> Vector:
        return np.array([getattr(entry, name) for entry in self.passes])

    @property
    def objective(self) -> Vector:
        """The average objective after each pass."""
        return self._column("objective")

    @property
    def bound(self) -> Vector:
        """The certified distance from the optimum; infinite where nothing was proved yet."""
        return self._column("bound")

    @property
    def norm(self) -> Vector:
        """‖w‖ without the intercept."""
        return self._column("norm")

    @property
    def mistakes(self) -> Vector:
        """Weight of the rows on the wrong side."""
        return self._column("mistakes")

    @property
    def seconds(self) -> Vector:
        """Seconds since the fit began."""
        return self._column("seconds")
