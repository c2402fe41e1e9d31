"""The squared length of every row under a linear map, a few rows at a time.

‖T(x − shift, 1)‖² for each row x, with T (k × p): for T = L⁻¹ and a matrix LLᵀ this is its leverage. Dense rows are
brought to float64 block by block and multiplied by BLAS; the shift is subtracted first, so a column far from zero
keeps its digits. Of sparse rows the scores at a few rows of T are taken at a time. Beside the
result no more than some megabytes, or a few numbers per row, are held.
"""

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import Matrix, Vector
from separatrix.engines.memory.blocks import Block
from separatrix.kernels.threads import one_blas_thread

BLOCK_NUMBERS = 2**18
"""Numbers of X brought to float64 at once: they stay in cache."""

POINTS_AT_ONCE = 8
"""Rows of T whose scores are taken in one pass over sparse rows."""


def squared_lengths(block: Block, transform: Matrix, constant: bool, shift: Vector | None) -> Vector:
    """‖T(x − shift, 1)‖² of every row; without ``constant`` the 1 is left out.

    >>> from separatrix.engines import block_of
    >>> squared_lengths(block_of(np.array([[3.0], [0.0]])), np.array([[1.0, 4.0]]), True, np.zeros(1))
    array([49., 16.])
    """
    return (
        _of_sparse(block, transform, constant, shift) if block.sparse else _of_dense(block, transform, constant, shift)
    )


def _of_dense(block: Block, transform: Matrix, constant: bool, shift: Vector | None) -> Vector:
    n, d = block.shape
    out = np.empty(n)
    step = max(1, BLOCK_NUMBERS // max(d, len(transform)))
    across = np.asfortranarray(transform[:, :d].T)
    with one_blas_thread():
        for first in range(0, n, step):
            part = block.take(np.arange(first, min(first + step, n)))
            if shift is not None:
                part -= shift  # a copy of ours
            moved = part @ across
            if constant:
                moved += transform[:, d]
            np.einsum("ij,ij->i", moved, moved, out=out[first : first + step])
    return out


def _of_sparse(block: Block, transform: Matrix, constant: bool, shift: Vector | None) -> Vector:
    n, d = block.shape
    out = np.zeros(n)
    raw = transform.copy()
    if constant and shift is not None:
        raw[:, d] -= raw[:, :d] @ shift
    for first in range(0, len(raw), POINTS_AT_ONCE):
        points = np.ascontiguousarray(raw[first : first + POINTS_AT_ONCE])
        scores = np.empty((n, len(points)))
        kernels.score(block.rows, points, constant, False, scores, block.entries_per_row)
        out += np.einsum("ij,ij->i", scores, scores)
    return out
