"""Where rows are added up: in one block in memory, or in blocks that lie apart."""

from separatrix.engines.chunked import ChunkedEngine
from separatrix.engines.memory import Block, MemoryEngine, block_of
from separatrix.engines.opening import open_rows

__all__ = ["Block", "ChunkedEngine", "MemoryEngine", "block_of", "open_rows"]
