"""Gradient descent on any function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray
from separatrix.core.errors import refuse
from separatrix.core.parameters import FLAG, FUNCTION, NONE, check_value
from separatrix.solvers.points import Space, close_enough, length
from separatrix.solvers.rates import Rate, check_rate, rate_at
from separatrix.solvers.step_rules import Method, Plain, method_of
from separatrix.solvers.walk import Descent, DescentStop, Diary, Limits, warn_of

SHORTEST = 2.0**-60
ENOUGH = 1e-4
"""The share of the fall promised by the slope that a step of the line search must bring (Armijo)."""


def gradient_descent(
    gradient: Callable[[Any], Any],
    start: Any,
    rate: Rate,
    *,
    method: str | Method = "plain",
    function: Callable[[Any], Any] | None = None,
    line_search: bool = False,
    max_steps: int = 1000,
    gradient_tol: float = 1e-8,
    change_tol: float = 0.0,
    patience: int | None = None,
    keep_path: bool = False,
) -> Descent:
    """X ← x − η·∇f(x), again and again.

    For a convex f whose gradient changes by at most L per unit of way, any constant
    η < 2/L converges; a larger one may run away, which is noticed: then the last point
    that did not is returned, with ``stop`` = DIVERGED and a warning. Of several local
    minima the start decides which is reached.

    Parameters
    ----------
    gradient : callable
        ∇f(x), of the shape of x. A number where the start is a number. If the start is
        made of Fractions and so are gradient and rate, all steps are exact.
    start : number or array of numbers
        Where to begin.
    rate : number, callable or Decaying
        Positive; a callable is given the step's number, from 0.
    method : str or object
        "plain", "momentum", "nesterov", "adam", or an object such as ``Momentum(0.5)``.
    function : callable, optional
        f(x); needed by ``line_search`` and ``patience``, and kept in the path.
    line_search : bool
        Halve the step, from the rate on, until f falls by 1e-4 of what the slope
        promises; only with the plain method.
    max_steps : int
        Most steps.
    gradient_tol, change_tol : float
        Stop when ‖∇f(x)‖ ≤ gradient_tol, or when a step is no longer than change_tol
        (0 switches the latter off).
    patience : int, optional
        Stop when f has not reached a new smallest value for so many steps, and return
        the point of the smallest.
    keep_path : bool
        Keep all points, the start first.

    >>> from fractions import Fraction
    >>> walk = gradient_descent(lambda x: 2 * x - 6, Fraction(0), Fraction(1, 4), max_steps=3, keep_path=True)
    >>> [str(x) for x in walk.path.points]
    ['0', '3/2', '9/4', '21/8']
    >>> print(gradient_descent(lambda x: 2 * x - 6, 0.0, 0.25))
    After 30 steps: the gradient is no longer than gradient_tol.
    """
    check_value("gradient", gradient, FUNCTION)
    check_value("function", function, NONE | FUNCTION)
    space = Space.of(start)
    check_rate(rate)
    chosen = method_of(method)
    limits = Limits(max_steps, gradient_tol, change_tol, patience, function is not None)
    check_value("line_search", line_search, FLAG)
    check_value("keep_path", keep_path, FLAG)
    if line_search and function is None:
        refuse("line_search is on, but there is no function to search on.", "give it: function=….")
    if line_search and not isinstance(chosen, Plain):
        refuse(f"line_search is on, and the method is {chosen!r}.", 'a line search needs method="plain".')
    step_of = chosen.stepper(space.start, space.exact)
    diary = Diary(space, function, keep_path)
    point, first_step = space.start, 0.0
    value = None if function is None else diary.value(point, 0)
    diary.note(point, value)
    steps = 0
    while True:
        slope = space.gradient(gradient(space.shown(point)), steps)
        norm = length(slope)
        if value is not None:
            diary.watch(point, value)
        if norm <= limits.gradient_tol:
            stop = DescentStop.GRADIENT
            break
        if limits.patience is not None and diary.stale >= limits.patience:
            stop = DescentStop.PATIENCE
            break
        if steps == limits.max_steps:
            stop = DescentStop.MAX_STEPS
            break
        eta = rate_at(rate, steps, space.exact)
        if line_search:
            assert value is not None
            found = _search(diary, point, value, slope, norm, eta, steps)
            if found is None:
                stop = DescentStop.NO_DESCENT
                break
            step, value = found
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                step = np.asarray(step_of(slope, eta))
        first_step = first_step or length(step)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.asarray(point + step)
        if not close_enough(moved, space.start, first_step):
            stop = DescentStop.DIVERGED
            break
        steps += 1
        if function is not None and not line_search:
            reached = diary.value(moved, steps)
            if reached == np.inf:
                steps, stop = steps - 1, DescentStop.DIVERGED
                break
            value = reached
        point = moved
        diary.note(point, value)
        if limits.change_tol > 0.0 and length(step) <= limits.change_tol:
            slope = space.gradient(gradient(space.shown(point)), steps)
            norm = length(slope)
            stop = DescentStop.CHANGE
            break
    warn_of(stop)
    if limits.patience is not None:
        if value is not None and value < diary.best_value:
            diary.watch(point, value)
        if diary.best_value < np.inf and not np.array_equal(diary.best, point):
            point, value = diary.best, diary.best_value
            norm = length(space.gradient(gradient(space.shown(point)), steps))
    return Descent(space.shown(point), stop, steps, norm, value, path=diary.path())


def _search(
    diary: Diary, point: AnyArray, value: float, slope: AnyArray, norm: float, rate: Any, step: int
) -> tuple[AnyArray, float] | None:
    """The longest of −ηg, −ηg/2, −ηg/4, … that lowers the function enough, and the value it leads to."""
    share = type(rate)(1)
    while share > SHORTEST:
        move = np.asarray(-(rate * share) * slope)
        trial = diary.value(np.asarray(point + move), step)
        if trial < value and trial <= value - ENOUGH * float(rate * share) * norm**2:
            return move, trial
        share = share / 2
    return None
