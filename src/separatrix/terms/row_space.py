"""The Hessian of fewer rows than columns, inverted in the space of the rows.

With A = √(C/S)·X̃ (n × p), C the curvatures of the rows and X̃ the rows about the shift with the constant,

    M = κI + AᵀA,    M⁻¹r = (r − Aᵀ(κI + AAᵀ)⁻¹A r)/κ                                      (Woodbury),

where AAᵀ is n × n and made of the products of rows, which never change. M differs from the Hessian in that the
intercept is penalised too, which a preconditioner may.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.pool import LanePool
from separatrix.terms.penalised import PenalisedLoss

PANEL = 256
"""Columns whose products are added at a time."""

LANES = 4
"""Sums that are added up apart, whatever the number of threads."""


def row_products(objective: PenalisedLoss) -> Matrix:
    """All ⟨x̃ᵢ, x̃ⱼ⟩ (n × n; the lower triangle counts), panel by panel of columns."""
    engine, d = objective.engine, objective.engine.columns_count
    edges = [*range(0, d, PANEL), d]
    lanes = min(LANES, len(edges) - 1)

    def add(lane: int) -> Matrix:
        total = np.zeros((engine.rows, engine.rows), order="F")
        for at in range(lane, len(edges) - 1, lanes):
            which = np.arange(edges[at], edges[at + 1])
            panel = engine.columns(which)
            panel = panel.toarray() if engine.sparse else panel
            moved = np.asarray(panel, dtype=np.float64) - objective.shift[which]
            total = blas.dsyrk(1.0, moved.T, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
        return total

    with LanePool() as pool:
        sums = pool.run(add, lanes)
    whole = sums[0]
    for part in sums[1:]:
        whole += part
    return whole + 1.0 if objective.constant else whole


@dataclass(frozen=True, slots=True)
class RowSpace:
    """The products of rows, from which a factor is made wherever the objective is prepared."""

    objective: PenalisedLoss
    products: Matrix

    @classmethod
    def of(cls, objective: PenalisedLoss) -> "RowSpace":
        """One read of the rows, and n²p/2 multiply-adds."""
        return cls(objective, row_products(objective))

    def factor(self) -> "RowSpaceFactor | None":
        """The Hessian at the point that the objective is prepared for; None where it is not positive definite."""
        objective = self.objective
        roots = np.sqrt(objective.row_curvature / objective.weight)
        inner = self.products * roots
        inner *= roots[:, None]
        inner[np.diag_indices(len(roots))] += objective.strength
        lower, info = lapack.dpotrf(inner, lower=1, clean=0, overwrite_a=1)
        return RowSpaceFactor(objective, roots, lower) if info == 0 else None


@dataclass(frozen=True, slots=True)
class RowSpaceFactor:
    """M of the module; a product with its inverse reads the rows twice."""

    objective: PenalisedLoss
    roots: Vector
    lower: Matrix

    def solve(self, vector: Vector) -> Vector:
        """M⁻¹ times a vector."""
        objective = self.objective
        along = self.roots * objective.scores(vector)[:, 0]
        inner = lapack.dpotrs(self.lower, along, lower=1)[0]
        result: Vector = (vector - objective.gathered(self.roots * inner)) / objective.strength
        return result
