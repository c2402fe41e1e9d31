"""Rows in several blocks: the second engine, and the pattern of those for files and workers."""

from separatrix.engines.chunked.engine import ChunkedEngine

__all__ = ["ChunkedEngine"]
