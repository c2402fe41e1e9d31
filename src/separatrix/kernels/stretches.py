"""Numbers per row, a stretch of rows at a time: nothing as long as the table need be held beside it."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Positions, Vector
from separatrix.core.lanes import Span, spans
from separatrix.kernels import Rows, _kernels, threads_for

STRETCH = 2**17
"""Rows in a stretch: a megabyte for each number per row, and enough work for several threads."""

MANY = 2**22
"""Multiply-adds from which threads share a stretch: these passes are short and many, and one that waits for a thread
on a busy machine takes ten times as long."""


def stretches(rows: int, layout: str) -> Iterator[tuple[int, int]]:
    """First and last rows, the last not included. Compressed columns are read whole, as each read searches them all.

    >>> list(stretches(200_000, "dense"))
    [(0, 131072), (131072, 200000)]
    """
    step = max(rows, 1) if layout == "csc" else STRETCH
    for first in range(0, rows, step):
        yield first, min(first + step, rows)


def scores(
    rows: Rows, points: Matrix, constant: bool, first: int, last: int, entries_per_row: float, chances: bool = False
) -> Matrix:
    """Scores of rows first … last−1 at each point, or both probabilities (``chances``) at one point."""
    out = np.empty((last - first, 2 if chances else len(points)))
    for span, part in _within(first, last, (entries_per_row + 8.0) * len(points)):
        _kernels.score(rows, points, constant, chances, out[part], span.first, span.last, span.lanes, _threads(span))
    return out


def lengths(rows: Rows, constant: bool, first: int, last: int, entries_per_row: float) -> Vector:
    """‖x‖ of rows first … last−1, rounded up, with 1 for the constant counted in."""
    out = np.empty(last - first)
    for span, part in _within(first, last, entries_per_row + 8.0):
        _kernels.row_lengths(rows, constant, out[part], span.first, span.last, span.lanes, _threads(span))
    return out


def brackets(
    rows: Rows, point: Vector, constant: bool, first: int, last: int, entries_per_row: float
) -> tuple[Vector, Vector]:
    """⟨v, x⟩ of rows first … last−1 and Σ|vⱼxⱼ|, which times (p + 2)·2⁻⁵³ bounds the error of the first."""
    product, size = np.empty(last - first), np.empty(last - first)
    for span, part in _within(first, last, 2 * entries_per_row + 8.0):
        _kernels.bracket(
            rows, point, constant, product[part], size[part], span.first, span.last, span.lanes, _threads(span)
        )
    return product, size


def ranked(belongs: Iterable[AnyArray], ranks: Positions) -> Positions:
    """Where the ranks-th (ascending, from 0) of the places that are true lie, in arrays that follow each other.

    >>> ranked([np.array([True, False]), np.array([True, True])], np.array([0, 2]))
    array([0, 3])
    """
    out = np.empty(len(ranks), dtype=np.int64)
    before = done = start = 0
    for each in belongs:
        for first in range(0, len(each), STRETCH):
            if done == len(ranks):
                return out
            here = each[first : first + STRETCH]
            count = int(np.count_nonzero(here))
            until = int(np.searchsorted(ranks, before + count))
            if until > done:
                out[done:until] = start + first + np.flatnonzero(here)[ranks[done:until] - before]
            before, done = before + count, until
        start += len(each)
    return out


def evenly(live: Sequence[AnyArray] | None, rows: int, count: int) -> Positions:
    """``count`` places, evenly spread over those that are live, the first and the last among them.

    >>> evenly([np.array([True, False]), np.array([True, True])], 4, 2)
    array([0, 3])
    """
    members = rows if live is None else sum(int(np.count_nonzero(each)) for each in live)
    ranks = np.linspace(0, members - 1, min(members, count)).astype(np.int64)
    return ranks if live is None else ranked(live, ranks)


def spread(
    belonging: Callable[[int], tuple[AnyArray, ...]], classes: int, rows: int, count: int, seed: int
) -> Positions:
    """``count`` rows, drawn evenly over each class in proportion to its size; ascending.

    ``belonging`` tells for each class which rows are to be drawn from, in arrays that follow each other.
    """
    draw = np.random.default_rng(seed)
    chosen = []
    for code in range(classes):
        belongs = belonging(code)
        members = sum(int(np.count_nonzero(each)) for each in belongs)
        wanted = min(members, max(1, round(count * members / rows)))
        if members:
            # one from each of `wanted` stretches with whole edges: a row is never taken twice,
            # or the sample's Hessian would not be part of the whole one
            edges = np.arange(wanted + 1, dtype=np.int64) * members // wanted
            widths = np.diff(edges)
            inside = np.minimum((draw.random(wanted) * widths).astype(np.int64), widths - 1)
            chosen.append(ranked(belongs, edges[:-1] + inside))
    return np.sort(np.concatenate(chosen))


def _within(first: int, last: int, work: float) -> Iterator[tuple[Span, slice]]:
    """Spans of about a tenth of a second, and their places among the rows first … last−1."""
    for span in spans(last - first, work, 1):
        yield (
            Span(first + span.first, first + span.last, span.lanes, span.work),
            slice(span.first, span.last),
        )


def _threads(span: Span) -> int:
    return threads_for(span) if span.work >= MANY else 1
