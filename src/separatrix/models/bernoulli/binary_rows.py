"""Rows as zeros and ones: above a threshold or not, a block at a time."""

from collections.abc import Iterator
from typing import Any, Never

import numpy as np

from separatrix.core.errors import refuse
from separatrix.engines import Block, block_of
from separatrix.models.labels import refuse_not_finite

BLOCK_NUMBERS = 2**22
"""Values made binary at once: four megabytes."""


def binary_blocks(block: Block, threshold: float | None) -> Iterator[tuple[int, int, Block]]:
    """Rows first … last−1 as zeros and ones, one for values above the threshold; None asks for zeros and ones."""
    n, d = block.shape
    if block.sparse and not (threshold is not None and threshold < 0):
        source = block.as_stored()
        _check(block, source.data, threshold)
        above = (source.data > (0.5 if threshold is None else threshold)).astype(np.uint8)
        yield 0, n, block_of(type(source)((above, source.indices, source.indptr), shape=source.shape))
        return
    step = max(1, BLOCK_NUMBERS // d)
    for first in range(0, n, step):
        last = min(first + step, n)
        part = _rows(block, first, last)
        _check(block, part, threshold)
        yield first, last, block_of(np.greater(part, 0.5 if threshold is None else threshold))


def _rows(block: Block, first: int, last: int) -> Any:
    part = block.as_stored(first, last)
    return part.toarray() if block.sparse else part


def _check(block: Block, values: Any, threshold: float | None) -> None:
    if threshold is None:
        if not ((values == 0) | (values == 1)).all():
            refuse_strange(block, binary=True)
    elif values.dtype.kind == "f" and not np.isfinite(values).all():
        refuse_strange(block, binary=False)


def refuse_strange(block: Block, binary: bool) -> Never:
    """Name the value that could not be counted."""
    if binary:
        n, d = block.shape
        step = max(1, 2**20 // d)
        for first in range(0, n, step):
            part = block.take(np.arange(first, min(first + step, n)))
            part = part.toarray() if block.sparse else part
            other = np.isfinite(part) & (part != 0) & (part != 1)
            if other.any():
                row, column = divmod(int(other.argmax()), d)
                refuse(
                    f"{block.column_name(column)} holds {part[row, column]:g} at row {first + row}; with "
                    "binarize=None all values must be 0 or 1.",
                    "set binarize to a threshold.",
                )
    refuse_not_finite(block)
