"""Products rounded once, and elimination modulo a prime."""

import numpy as np

from separatrix.core.arrays import Matrix, Positions
from separatrix.core.lanes import spans
from separatrix.kernels import _kernels
from separatrix.kernels.rows import Rows, threads_for


def exact_products(rows: Rows, which: Positions, vectors: Matrix, constant: bool) -> Matrix:
    """Chosen rows times vectors (vectors × parts × p), rounded once: zeros and signs are exact."""
    which = np.ascontiguousarray(which, dtype=np.int64)
    pieces = [np.empty((0, len(vectors)))]
    for span in spans(len(which), 8.0 * vectors.size, len(vectors)):
        part = which[span.first : span.last]
        pieces.append(_kernels.exact_products(rows, part, vectors, constant, span.lanes, threads_for(span)))
    return np.concatenate(pieces)


def eliminate(matrix: Matrix, prime: int) -> tuple[tuple[int, ...], tuple[int, ...], Positions]:
    """Pivot rows, pivot columns and the reduced echelon form modulo a prime (rank × p)."""
    rows, columns, reduced = _kernels.eliminate(matrix, prime)
    return tuple(rows), tuple(columns), np.array(reduced, dtype=np.int64).reshape(len(rows), matrix.shape[1])
