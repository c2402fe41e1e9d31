"""Rows by number or in a row, in the type a network computes in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from separatrix import kernels
from separatrix.core.arrays import AnyArray
from separatrix.core.kept import kept
from separatrix.engines.memory.blocks import Block


@dataclass(frozen=True)
class RowSource:
    """Rows of a block as arrays of one type; sparse rows stay sparse.

    Nothing is copied but the rows asked for, except a sparse matrix that is not CSR, or
    not of the right type where its rows are asked for by number: that is converted once.
    """

    block: Block
    dtype: Any

    @kept
    def matrix(self) -> Any:
        """What rows are taken from; None for a table of columns."""
        if self.block.sparse:
            return scipy.sparse.csr_array(self.block.source.astype(self.dtype, copy=False))
        return self.block.source if self.block.layout == "dense" else None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.block.shape[0]

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""
        return self.block.sparse

    @property
    def view(self) -> kernels.Rows:
        """The rows as the kernels read them one by one."""
        if self.block.layout != "csc":
            return self.block.rows
        return kernels.sparse_rows(self.matrix.indptr, self.matrix.indices, self.matrix.data, self.matrix.shape, True)

    def buffer(self, rows: int) -> AnyArray | None:
        """Room for so many rows; None where they stay sparse."""
        return None if self.block.sparse else np.empty((rows, self.block.shape[1]), self.dtype)

    def slice(self, first: int, last: int, out: AnyArray | None) -> Any:
        """Rows first … last−1, without a copy where they lie in rows of the right type."""
        if out is None:
            return self.matrix[first:last]
        if self.matrix is None:
            out[...] = self.block.take(np.arange(first, last, dtype=np.int64))
            return out
        part = self.matrix[first:last]
        if part.dtype == self.dtype and part.flags.c_contiguous and part.flags.aligned:
            return part
        out[...] = part
        return out


def natural_type(block: Block) -> Any:
    """float32 for an array of float32, else float64."""
    dtype = getattr(block.source, "dtype", None)
    return np.float32 if block.layout != "columns" and dtype == np.float32 else np.float64
