"""Which engine rows are opened with: today all tables are in memory."""

from separatrix.core.arrays import Codes, Vector
from separatrix.core.protocols import Engine
from separatrix.engines.memory.blocks import Block
from separatrix.engines.memory.engine import MemoryEngine


def open_rows(block: Block, codes: Codes, classes: int, weights: Vector | None) -> Engine:
    """The engine for a table with its labels and weights: what is in memory stays where it lies."""
    return MemoryEngine(block, codes, classes, weights)
