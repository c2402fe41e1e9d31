"""Steps from gradients alone, led by a rough inverse of the Hessian: limited-memory BFGS with a good first matrix.

A product with the Hessian costs as much as a gradient. Where the rough inverse P is good, conjugate gradients spend
most of their products on systems that the next point makes obsolete; here every pass moves on, and what the last passes
said of the curvature corrects P.

Where a bound is to be proved, the gradient's own length does it: no Hessian is needed (``certificates.iterative`` with
the direction zero), only some more steps.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.protocols import Evaluation
from separatrix.core.stop import Stop
from separatrix.solvers.class_guides import Guide
from separatrix.solvers.line_search import backtrack
from separatrix.solvers.outcome import Outcome, Patience

MEMORY = 16
"""Pairs of steps and changes kept."""

RECENT = 4
"""Pairs kept when the guide changes, and so changes of the gradient at all."""

Evaluate = Callable[[Vector], Evaluation]
GuideAt = Callable[[Evaluation, int], Guide | None]
"""A guide for the steps from a point, after so many of them; None to keep the one there is."""


@dataclass(slots=True)
class Window:
    """The last rows of many, older ones first, in one array: they are moved only when its end is reached."""

    most: int
    buffer: Matrix
    first: int = 0
    count: int = 0

    @classmethod
    def of(cls, most: int, size: int) -> "Window":
        """Room for so many rows of a size."""
        return cls(most, np.empty((most + most // 2, size)))

    @property
    def rows(self) -> Matrix:
        """Those there are."""
        return self.buffer[self.first : self.first + self.count]

    def add(self, row: Vector) -> None:
        """One more; the oldest goes where there are enough."""
        self.keep(self.most - 1)
        if self.first + self.count == len(self.buffer):
            for k, kept in enumerate(self.rows):
                self.buffer[k] = kept
            self.first = 0
        self.buffer[self.first + self.count] = row
        self.count += 1

    def keep(self, most: int) -> None:
        """No more than so many of the last."""
        gone = max(0, self.count - most)
        self.first += gone
        self.count -= gone


@dataclass(slots=True)
class Memory:
    """The last m steps s and changes of the gradient y, as rows of S and Y, with Z = YP and the products among them.

    With R the upper triangle of SYᵀ (older steps first), D its diagonal and γ = ⟨s, y⟩/⟨y, Py⟩ of the last pair, BFGS's
    inverse that starts from γP is, times a vector g (Byrd, Nocedal and Schnabel 1994),

        γPg + Sᵀu − γZᵀt,     t = R⁻¹Sg,     u = R⁻ᵀ((D + γZYᵀ)t − γZg).

    One guide is applied at each step, to the new gradient: Py is a difference of two such vectors.
    """

    steps: Window
    changes: Window
    guided: Window
    crossed: Matrix
    among: Matrix
    last: Vector | None = None
    scale: float = 1.0

    @classmethod
    def empty(cls, size: int) -> "Memory":
        """Nothing learnt yet."""
        none = np.empty((0, 0))
        return cls(Window.of(MEMORY, size), Window.of(RECENT, size), Window.of(MEMORY, size), none, none)

    def lead(self, guide: Guide, gradient: Vector) -> Vector:
        """BFGS's inverse times the gradient at the last point learnt."""
        if self.last is None:
            self.last = guide.solve(gradient)
        if not self.steps.count:
            return self.last
        steps, guided = self.steps.rows, self.guided.rows
        scaled = self.scale * (guided @ gradient)
        t = lapack.dtrtrs(self.crossed, steps @ gradient)[0]
        inner = self.crossed.diagonal() * t + self.scale * (self.among @ t) - scaled
        u = lapack.dtrtrs(self.crossed, inner, trans=1)[0]
        led: Vector = self.scale * (self.last - t @ guided) + u @ steps
        return led

    def learn(self, guide: Guide, before: Evaluation, after: Evaluation) -> None:
        """Remember a step."""
        step, change = after.point - before.point, after.gradient - before.gradient
        product = float(step @ change)
        assert self.last is not None
        here = guide.solve(after.gradient)
        guided, self.last = here - self.last, here
        if not product > 0.0:
            return
        keep = slice(max(0, self.steps.count + 1 - MEMORY), None)
        length = float(guided @ change)
        self.crossed = _bordered(self.crossed[keep, keep], self.steps.rows[keep] @ change, product)
        self.among = _bordered(self.among[keep, keep], self.guided.rows[keep] @ change, length, both=True)
        self.steps.add(step)
        self.changes.add(change)
        self.guided.add(guided)
        self.scale = product / length if length > 0.0 else 1.0

    def led_by(self, guide: Guide) -> None:
        """The last few steps with another guide: those before them were made where the Hessian was another."""
        self.last = None
        if not self.steps.count:
            return
        self.steps.keep(RECENT)
        self.crossed = self.crossed[-RECENT:, -RECENT:]
        self.guided.keep(0)
        for change in self.changes.rows:
            self.guided.add(guide.solve(change))
        self.among = self.guided.rows @ self.changes.rows.T
        length = float(self.among[-1, -1])
        self.scale = float(self.crossed[-1, -1]) / length if length > 0.0 else 1.0


def _bordered(square: Matrix, column: Vector, corner: float, both: bool = False) -> Matrix:
    """A square matrix with one more column, and below it the same row or zeros."""
    size = len(square)
    wider = np.zeros((size + 1, size + 1))
    wider[:size, :size] = square
    wider[:size, size] = column
    if both:
        wider[size, :size] = column
    wider[size, size] = corner
    return wider


def led_steps(
    evaluate: Evaluate,
    start: Vector,
    guide_at: GuideAt,
    judge: Callable[[Evaluation], float],
    patience: Patience,
    most: int,
    in_vain: Callable[[Evaluation], bool] = lambda here: False,
) -> Outcome:
    """Steps until the bound is met; the outcome is STALLED after ``most`` of them, or where more would be in vain."""
    here = evaluate(start)
    guide = guide_at(here, 0)
    assert guide is not None
    memory = Memory.empty(len(start))
    steps = 0
    while True:
        bound = judge(here)
        stop = patience.judge(here, bound)
        outcome = Outcome(here, None, bound, stop or Stop.STALLED, np.zeros_like(here.point))
        if stop is not None or steps >= most or in_vain(here):
            return outcome
        fresh = guide_at(here, steps) if steps else None
        if fresh is not None:
            guide = fresh
            memory.led_by(guide)
        step = -memory.lead(guide, here.gradient)
        descent = float(here.gradient @ step)
        found = backtrack(evaluate, here, step, descent) if descent < 0.0 else None
        if found is None and memory.steps.count:  # what was learnt far away may mislead
            memory = Memory.empty(len(start))
            step = -memory.lead(guide, here.gradient)
            found = backtrack(evaluate, here, step, float(here.gradient @ step))
        if found is None:
            return outcome
        memory.learn(guide, here, found)
        here = found
        steps += 1
