"""Rows in memory: arrays, data frames and sparse matrices, read where they lie."""

from separatrix.engines.memory.blocks import Block, block_of
from separatrix.engines.memory.engine import MemoryEngine

__all__ = ["Block", "MemoryEngine", "block_of"]
