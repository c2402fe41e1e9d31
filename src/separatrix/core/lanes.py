"""How rows are cut: into blocks between which Python may be interrupted, and lanes within.

Both depend on the shape of the data and on the term alone, never on the number
of threads, so the sums have the same bits for any number of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

BLOCK_WORK = 2**27
"""Multiply-adds per block: about a tenth of a second on one thread."""

WORK_PER_NUMBER = 2048
LONGEST_BLOCK = 2**33
"""Multiply-adds that a block brings for each number of its total, because to clear and merge a total is slow work next
to products of matrices; but no more than take a second."""

LANE_WORK = 2**17
"""Fewer multiply-adds than this are not worth a lane of their own."""

THREAD_WORK = 2**20
"""Below this, about half a millisecond, waking other threads costs more than it saves."""

LANE_WORK_PER_NUMBER = 256
"""The same for a lane."""

SMALL_TOTAL, WORK_PER_SMALL_NUMBER = 2**16, 32
"""Numbers of a total that stays in the cache, and what a lane must bring for each where rows touch few of them."""

FEW_LANES, WORK_PER_SHARED_NUMBER = 4, 96
"""Lanes that a small total gets at least where threads share them, and what each must then bring for a number: few long
rows would all be one thread's."""

MOST_LANES = 64
MOST_LANE_NUMBERS = 2**25
"""Numbers that all lanes together may hold: 256 MiB."""


@dataclass(frozen=True, slots=True)
class Span:
    """Rows first … last−1, cut into a number of lanes; ``work`` counts multiply-adds."""

    first: int
    last: int
    lanes: int
    work: float = 0.0


def spans(rows: int, work_per_row: float, size: int) -> Iterator[Span]:
    """Cut ``rows`` into spans, for a total of ``size`` numbers per lane.

    Merging a lane costs ``size`` additions, so a lane must bring many times that, and a block several lanes.

    >>> list(spans(1000, 10.0, 11))
    [Span(first=0, last=1000, lanes=1, work=10000.0)]
    >>> [span.lanes for span in spans(1_000_000, 51.0, 56)]
    [64]
    >>> [(span.last - span.first, span.lanes) for span in spans(2000, 8e6, 4000 * 4000)]  # 4,000 columns
    [(1000, 1), (1000, 1)]
    """
    work_per_row = max(work_per_row, 1.0)
    block_work = max(BLOCK_WORK, min(WORK_PER_NUMBER * size, LONGEST_BLOCK))
    blocks = max(1, -int(-rows * work_per_row // block_work))
    for block in range(blocks):
        first, last = rows * block // blocks, rows * (block + 1) // blocks
        work = (last - first) * work_per_row
        light = size <= SMALL_TOTAL and 4.0 * work_per_row <= size
        lanes = int(work // max(LANE_WORK, (WORK_PER_SMALL_NUMBER if light else LANE_WORK_PER_NUMBER) * size))
        if lanes < FEW_LANES and size <= SMALL_TOTAL and work >= THREAD_WORK:
            lanes = max(lanes, min(FEW_LANES, int(work // (WORK_PER_SHARED_NUMBER * size))))
        lanes = min(
            lanes,
            MOST_LANES,
            MOST_LANE_NUMBERS // max(size, 1),
            last - first,
        )
        yield Span(first, last, max(lanes, 1), work)
