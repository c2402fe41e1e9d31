"""Numbers for every row: scores, lengths, spreads; and the activations of a layer."""

import numpy as np

from separatrix.core.arrays import AnyArray, Codes, Matrix, Vector
from separatrix.core.lanes import spans
from separatrix.kernels import _kernels
from separatrix.kernels.rows import Rows, threads_for


def lengths(rows: Rows, constant: bool, out: Vector, entries_per_row: float) -> None:
    """Write ‖x‖ of every row, rounded up, with 1 for the constant counted in."""
    for span in spans(rows.n, entries_per_row + 8.0, 1):
        _kernels.row_lengths(rows, constant, out, span.first, span.last, span.lanes, threads_for(span))


def score(rows: Rows, points: Matrix, constant: bool, probabilities: bool, out: Matrix, entries_per_row: float) -> None:
    """Write the scores of every row at each point, or both probabilities at one point."""
    for span in spans(rows.n, (entries_per_row + 8.0) * len(points), 1):
        _kernels.score(rows, points, constant, probabilities, out, span.first, span.last, span.lanes, threads_for(span))


def spreads(
    rows: Rows, codes: Codes, centre: Matrix, scale: Matrix, full: AnyArray | None, out: Vector, entries_per_row: float
) -> None:
    """Write Σⱼ(scaleₖⱼ(xⱼ − centreₖⱼ))² of every row, k its class; ``full`` columns are stored by every row of k."""
    whole = None if full is None else np.ascontiguousarray(full, dtype=np.float64)
    for span in spans(rows.n, 2 * entries_per_row + 8.0, 1):
        _kernels.spreads(rows, codes, centre, scale, whole, out, span.first, span.last, span.lanes, threads_for(span))


ACTIVATIONS = ("identity", "relu", "tanh", "logistic")
"""In the order of the kernels' enumeration."""


def activate(kind: str, scores: AnyArray, constants: AnyArray) -> None:
    """H = φ(z + b) for rows z, in place."""
    _kernels.activate(scores, constants, ACTIVATIONS.index(kind))
