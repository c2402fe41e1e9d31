"""Which coefficients run to infinity when no maximum exists, and which way.

Let v = Nc run over the directions that separate without error: N spans those orthogonal to the
overlapping rows, and ⟨yᵢ, Nc⟩ ≥ 0 on the separated ones. Coefficient j is (Nc)ⱼ = ⟨nⱼ, c⟩.

- nⱼ = 0: it stays **finite**.
- nⱼ is a sum of rows Nᵀyᵢ with factors ≥ 0 (Farkas): ⟨nⱼ, c⟩ ≥ 0 on the whole cone, **+inf**;
  likewise −nⱼ, **−inf**.
- neither: the cone has directions of either sign, **unbounded**.
- columns outside the basis are **aliased**: combinations of others, with coefficient 0.

With few separated rows this is decided in fractions; with many by non-negative least squares, to nine digits.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import nnls

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.exact import powers_of_two, rounded
from separatrix.core.exact_program import exact_alternative
from separatrix.core.protocols import SignedRows

TOLERANCE = 1e-9
FIRST, MORE = 400, 200
EXACT_SIZE = 2000
"""Rows times directions up to which fractions are quick."""


def coefficient_limits(
    rows: SignedRows,
    names: Sequence[str],
    basis: Positions,
    null: Sequence[Sequence[int]] | None,
    separated: Positions,
) -> dict[str, str]:
    """What becomes of each column's coefficient, by name; ``null`` None means that all of the basis may move."""
    if null is None:
        span = np.zeros((rows.width, len(basis)))
        span[basis, np.arange(len(basis))] = 1.0
    else:
        span = np.column_stack([rounded(vector) for vector in null])
    inside = set(basis.tolist())
    few = len(separated) <= FIRST and len(separated) * span.shape[1] <= EXACT_SIZE
    cone: _Cone | _ExactCone = _ExactCone(rows, basis, null, separated) if few else _Cone(rows, span, separated)
    limits = {}
    for j, name in enumerate(names):
        if j not in inside:
            limits[name] = "aliased"
        elif not span[j].any():
            limits[name] = "finite"
        else:
            limits[name] = cone.sign(j)
    return limits


class _ExactCone:
    """The same in fractions, for as few rows as that is quick for: the answer is proved."""

    def __init__(
        self, rows: SignedRows, basis: Positions, null: Sequence[Sequence[int]] | None, separated: Positions
    ) -> None:
        self.span = null if null is not None else [[int(j == k) for j in range(rows.width)] for k in basis]
        taken = [[Fraction(float(value)) for value in row] for row in rows.take(separated)]
        used = [[(j, entry) for j, entry in enumerate(vector) if entry] for vector in self.span]
        walls = {tuple(sum((row[j] * entry for j, entry in vector), Fraction(0)) for vector in used) for row in taken}
        self.walls = sorted(walls)

    def sign(self, column: int) -> str:
        wanted = [Fraction(vector[column]) for vector in self.span]
        if self._holds(wanted):
            return "+inf"
        return "-inf" if self._holds([-value for value in wanted]) else "unbounded"

    def _holds(self, wanted: list[Fraction]) -> bool:
        """Whether λ ≥ 0 on the walls and 1 on −wanted can balance: Farkas' multipliers."""
        rows = [*self.walls, [-value for value in wanted]]
        return exact_alternative(rows, [len(rows) - 1], math.inf).multipliers[-1] > 0


class _Cone:
    """{c : ⟨Nᵀyᵢ, c⟩ ≥ 0 on the separated rows}, known by a few of its rows, more as needed."""

    def __init__(self, rows: SignedRows, span: Matrix, separated: Positions) -> None:
        self.rows, self.span, self.separated = rows, span, separated
        count = min(FIRST, len(separated))
        self.known = separated[np.arange(count) * len(separated) // count]
        # columns of very different sizes: each factor c is measured in a power of two of its own
        self.span = span * powers_of_two(np.abs(self._walls(self.known)).max(axis=0, initial=0.0))
        self.walls = self._walls(self.known)

    def _walls(self, which: Positions) -> Matrix:
        taken = self.rows.take(which)
        taken = taken * powers_of_two(np.abs(taken).max(axis=1, initial=0.0))[:, None]
        walls = taken @ self.span
        sizes = np.abs(walls).max(axis=1, keepdims=True)
        return np.asarray(walls / np.where(sizes > 0.0, sizes, 1.0))

    def sign(self, column: int) -> str:
        wanted = self.span[column]
        if self.span.shape[1] == 1:
            # a single direction, and its first wall says which way it points
            return "+inf" if wanted[0] * self.walls[np.abs(self.walls[:, 0]).argmax(), 0] > 0 else "-inf"
        if self._holds(wanted):
            return "+inf"
        return "-inf" if self._holds(-wanted) else "unbounded"

    def _holds(self, wanted: Vector) -> bool:
        """Whether ⟨wanted, c⟩ ≥ 0 on the cone."""
        wanted = wanted / np.abs(wanted).max()
        while True:
            factors, rest = nnls(self.walls.T, wanted, maxiter=50 * len(self.walls) + 1000)
            if rest <= TOLERANCE:
                return True
            # the part that is left points out of the known cone: is that so for all rows?
            outward = self.walls.T @ factors - wanted
            direction = self.span @ outward
            margins, sizes = self.rows.bracket(direction)
            relative = margins[self.separated] / np.maximum(sizes[self.separated], 1e-300)
            breaking = self.separated[np.flatnonzero(relative < -TOLERANCE)]
            new = np.setdiff1d(breaking[np.argsort(relative[relative < -TOLERANCE])[:MORE]], self.known)
            if not len(new):
                return False
            self.known = np.concatenate([self.known, new])
            self.walls = np.vstack([self.walls, self._walls(new)])
