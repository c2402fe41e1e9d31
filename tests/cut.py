"""The second engine in the place of the first: tables are cut into uneven blocks wherever a model opens them.

``SEPARATRIX_ENGINE=chunked`` runs the suite so (``make test-chunked``). What a test says of memory itself, of copies,
views and compiled passes, is marked ``one_block`` and left out.
"""

import pytest

from separatrix.core.protocols import Engine
from separatrix.engines import Block, ChunkedEngine, MemoryEngine
from separatrix.models import labels

CUTS = (0.07, 0.31, 0.62)
"""Where blocks begin, as shares of the rows."""


def open_in_blocks(block: Block, codes, classes: int, weights) -> Engine:
    """The chunked engine over a table of two rows or more."""
    n = block.shape[0]
    if n < 2:
        return MemoryEngine(block, codes, classes, weights)
    return ChunkedEngine.cut(block, codes, classes, weights, [max(1, round(share * n)) for share in CUTS])


class Cutting:
    """A pytest plugin: every table is opened in blocks."""

    def __init__(self) -> None:
        labels.open_rows = open_in_blocks

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """What is about one block is skipped."""
        for item in items:
            if item.get_closest_marker("one_block"):
                item.add_marker(pytest.mark.skip(reason="about rows in one block"))
