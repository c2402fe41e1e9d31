"""Stochastic gradient descent on a function that is a sum over rows of data."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from separatrix.core.arrays import Positions
from separatrix.core.errors import refuse
from separatrix.core.numbers import is_count
from separatrix.core.parameters import COUNT, FLAG, FUNCTION, NONE, Rule, check_value, count
from separatrix.solvers.points import Space, close_enough, length
from separatrix.solvers.rates import Rate, check_rate, rate_at
from separatrix.solvers.step_rules import Method, method_of
from separatrix.solvers.walk import Descent, DescentStop, Diary, Limits, warn_of

PHILOX_SEED = Rule(
    lambda seed: is_count(seed, 0) or (isinstance(seed, int) and 0 <= seed < 2**64),
    "a whole number of at least 0 that fits into 64 bits",
)


def epoch_order(rows: int, seed: int, epoch: int) -> Positions:
    """The rows in the order of an epoch: a function of (seed, epoch) alone.

    The generator counts instead of remembering, so that epoch 7 can be had without
    drawing epochs 0 to 6, and a fit that is taken up again goes on as if never stopped.

    >>> epoch_order(5, seed=0, epoch=3)
    array([0, 1, 4, 2, 3])
    """
    check_value("rows", rows, count(0))
    check_value("seed", seed, PHILOX_SEED)
    check_value("epoch", epoch, PHILOX_SEED)
    return order_generator(seed, epoch).permutation(rows)


def order_generator(seed: int, epoch: int) -> np.random.Generator:
    """The generator that shuffles an epoch: its ``shuffle`` moves the entries of any array as ``epoch_order`` has them.

    >>> rows = np.arange(5, dtype=np.int32)
    >>> order_generator(seed=0, epoch=3).shuffle(rows)
    >>> rows
    array([0, 1, 4, 2, 3], dtype=int32)
    """
    return np.random.Generator(np.random.Philox(key=np.array([seed, epoch], dtype=np.uint64)))


def batches(order: Positions, size: int) -> Iterator[Positions]:
    """The order in slices of ``size``; the last may be shorter."""
    for first in range(0, len(order), size):
        yield order[first : first + size]


def stochastic_gradient_descent(
    gradient_of_batch: Callable[[Any, Positions], Any],
    start: Any,
    rate: Rate,
    batch_size: int,
    epochs: int,
    *,
    rows: int,
    seed: int = 0,
    shuffle: bool = True,
    method: str | Method = "plain",
    function: Callable[[Any], Any] | None = None,
    gradient_tol: float = 0.0,
    change_tol: float = 0.0,
    patience: int | None = None,
    keep_path: bool = False,
) -> Descent:
    """X ← x − η·g(x; batch), where g estimates ∇f(x) from some rows.

    If f is a sum over n rows, an unbiased estimate from a batch of m is n/m times the
    batch's part. A step may raise f, and the noise can carry the point out of a local
    minimum. With a constant rate the point does not settle but hovers about a minimum;
    ``Decaying`` rates settle.

    Parameters
    ----------
    gradient_of_batch : callable
        g(x, rows) with the numbers of the batch's rows; of the shape of x.
    start : number or array of numbers
        Fractions are kept exact, as in ``gradient_descent``.
    rate : number, callable or Decaying
        Positive; a callable is given the step's number, from 0.
    batch_size : int
        1 is online learning; ``rows`` is gradient descent.
    epochs : int
        Most passes over the rows.
    rows : int
        How many rows there are.
    seed : int
        With the epoch's number it decides the order; nothing else does.
    shuffle : bool
        A new order in every epoch, else 0, 1, 2, … always.
    method : str or object
        As in ``gradient_descent``.
    function : callable, optional
        f(x) over all rows: needed by ``patience``; with ``keep_path`` computed at every point.
    gradient_tol : float
        Stop after an epoch whose gradients have a mean of at most this length.
    change_tol : float
        Stop after an epoch that moved the point by no more than this; 0 for never.
    patience : int, optional
        Stop when f, looked at after each epoch, has not reached a new smallest value
        for so many epochs, and return the point of the smallest.
    keep_path : bool
        Keep the point after every step, the start first.

    >>> from separatrix.solvers.rates import Decaying
    >>> x, y = np.array([-2., -1, 0, 1, 2]), np.array([4.1, 2.1, 1.2, 0, 5.0])
    >>> def gradient(line, rows):
    ...     left = y[rows] - line[0] * x[rows] - line[1]
    ...     return -10.0 * np.array([np.mean(left * x[rows]), np.mean(left)])
    >>> fit = stochastic_gradient_descent(gradient, [0.0, 0.0], Decaying(0.04, over=50), 1, 400, rows=5)
    >>> fit.point.round(1), np.polyfit(x, y, 1).round(1)
    (array([-0. ,  2.5]), array([-0. ,  2.5]))
    """
    check_value("gradient_of_batch", gradient_of_batch, FUNCTION)
    check_value("function", function, NONE | FUNCTION)
    space = Space.of(start)
    check_rate(rate)
    _check_sizes(batch_size, rows, seed)
    check_value("shuffle", shuffle, FLAG)
    check_value("keep_path", keep_path, FLAG)
    limits = Limits(epochs, gradient_tol, change_tol, patience, function is not None, "epochs")
    step_of = method_of(method).stepper(space.start, space.exact)
    diary = Diary(space, function, keep_path)
    value_along = keep_path and function is not None
    point, steps, epoch, first_step = space.start, 0, 0, 0.0
    value = None if function is None else diary.value(point, 0)
    if value is not None:
        diary.watch(point, value)
    diary.note(point, value)
    stop: DescentStop | None = None
    norm = np.inf
    while stop is None:
        before, total = point, space.start * 0
        order = epoch_order(rows, seed, epoch) if shuffle else np.arange(rows, dtype=np.int64)
        for batch in batches(order, int(batch_size)):
            slope = space.gradient(gradient_of_batch(space.shown(point), batch), steps)
            with np.errstate(over="ignore", invalid="ignore"):
                total = np.asarray(total + slope * len(batch))
                step = np.asarray(step_of(slope, rate_at(rate, steps, space.exact)))
                moved = np.asarray(point + step)
            first_step = first_step or length(step)
            if not close_enough(moved, space.start, first_step):
                stop = DescentStop.DIVERGED
                break
            point, steps = moved, steps + 1
            if keep_path:
                diary.note(point, diary.value(point, steps) if value_along else None)
        if stop is not None:
            break
        epoch += 1
        norm = length(total) / rows
        if function is not None:
            value = diary.value(point, steps)
            diary.watch(point, value)
        if norm <= limits.gradient_tol:
            stop = DescentStop.GRADIENT
        elif limits.change_tol > 0.0 and length(np.asarray(point - before)) <= limits.change_tol:
            stop = DescentStop.CHANGE
        elif limits.patience is not None and diary.stale >= limits.patience:
            stop = DescentStop.PATIENCE
        elif epoch == limits.max_steps:
            stop = DescentStop.EPOCHS
    warn_of(stop)
    if limits.patience is not None:
        point, value = diary.best, diary.best_value
    elif stop is DescentStop.DIVERGED and function is not None:
        value = diary.value(point, steps)
    return Descent(space.shown(point), stop, steps, float(norm), value, epoch, diary.path())


def _check_sizes(batch_size: Any, rows: Any, seed: Any) -> None:
    check_value("batch_size", batch_size, COUNT)
    check_value("rows", rows, COUNT)
    check_value("seed", seed, PHILOX_SEED)
    if batch_size > rows:
        refuse(f"batch_size is {batch_size}, but there are {rows} rows.", "use at most all rows.")
