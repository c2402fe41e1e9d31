"""Where rows are added up. Today: memory; the engine is chosen by the type of the input."""

from separatrix.engines.blocks import Block, block_of
from separatrix.engines.memory import MemoryEngine

__all__ = ["Block", "MemoryEngine", "block_of"]
