"""Fewer rows than columns: the fit in the space that the rows span.

With an L2 penalty the minimiser is a combination of the rows, w = X̃ᵀβ, because whatever is orthogonal to all rows
changes no score and costs penalty. Let K = X̃X̃ᵀ be the n × n products of the rows (about the shift) and K = LLᵀ. Then
X̃ = LQᵀ with orthonormal columns Q, and w = Qu has the length of u: the same problem on n rows of r ≤ n columns,

    F(w, b) = (1/S) Σ aᵢ ℓ(⟨Lᵢ, u⟩ + b) + κ/2·‖u‖².

K costs one read of the rows and n²d/2 multiply-adds; every pass after that has n·r numbers instead of n·d. Cholesky
with pivots picks r rows P that are independent, and w = X̃_Pᵀ(L_P⁻ᵀu). Rounding does no harm: the bound is computed at
w.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from separatrix.core.arrays import Matrix, Vector
from separatrix.kernels.pool import run_lanes
from separatrix.terms.penalised import PenalisedLoss

PANEL = 1024
"""Columns whose products are added at a time."""

LANES = 4
"""Sums that are added up apart, whatever the number of threads."""

MANY_ROWS = 1500
"""Rows beyond which only two sums are added up apart: each is a matrix of their squares, and so is a product."""

LITTLE = 2e7
"""Twice the multiply-adds below which other threads cost more than they save."""

DEPENDENT = 1e-12
"""A row that leaves less than this share of the largest is a combination of others."""


def row_products(objective: PenalisedLoss) -> Matrix:
    """All ⟨x̃ᵢ, x̃ⱼ⟩ of rows about the shift (n × n), panel by panel of columns."""
    engine, d = objective.engine, objective.engine.columns_count
    if engine.sparse and not objective.shift.any():
        rows = engine.stretch(0, d).astype(np.float64).tocsr()
        return np.asfortranarray((rows @ rows.T).toarray())
    edges = [*range(0, d, PANEL), d]
    lanes = min(LANES if engine.rows <= MANY_ROWS else 2, len(edges) - 1)

    def add(lane: int) -> Matrix:
        total, part = np.zeros((engine.rows, engine.rows)), np.empty((engine.rows, engine.rows))
        buffer = np.empty((engine.rows, PANEL))
        for at in range(lane, len(edges) - 1, lanes):
            panel = engine.stretch(edges[at], edges[at + 1])
            panel = panel.toarray() if engine.sparse else panel
            moved = buffer[:, : edges[at + 1] - edges[at]]
            np.subtract(panel, objective.shift[edges[at] : edges[at + 1]], out=moved, dtype=np.float64)
            total += np.matmul(moved, moved.T, out=part)  # BLAS takes it as symmetric, and other threads go on
        return total

    sums = run_lanes(add, lanes, 1 if engine.rows**2 * engine.entries_per_row < LITTLE else None)
    whole = sums[0]
    for part in sums[1:]:
        whole += part
    return np.asfortranarray(whole)


class RowSpace:
    """An objective of n rows and many columns as one of r ≤ n columns, and the way back."""

    def __init__(self, objective: PenalisedLoss) -> None:
        self._objective = objective
        products = row_products(objective)
        largest = float(products.diagonal().max())
        lower, pivots, rank, _ = lapack.dpstrf(products, lower=1, tol=DEPENDENT * largest, overwrite_a=1)
        order = pivots - 1
        self._rows = order[:rank]
        self._lower = np.tril(lower[:rank, :rank])
        inner = np.empty((len(order), rank))
        inner[order] = np.tril(lower)[:, :rank]
        engine = objective.engine
        self.objective = replace(objective, engine=engine.rewritten(inner), shift=np.zeros(rank), ranges=None)

    def point(self, inner: Vector) -> Vector:
        """(w, b′) from (u, b′)."""
        objective, rank = self._objective, len(self._rows)
        factors = np.zeros(objective.engine.rows)
        factors[self._rows] = lapack.dtrtrs(self._lower, inner[:rank], lower=1, trans=1)[0]
        point = objective.gathered(objective.engine.laid(factors))
        if objective.constant:
            point[-1] = inner[-1]
        return point
