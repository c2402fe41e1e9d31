"""Exact changes of coordinates, for rows that floating point cannot tell apart.

Signed rows y are seen as fl(⟨y, tₖ⟩) for integer columns tₖ. At first each tₖ is one
column, scaled by a power of two. When rows are so close to a hyperplane ⟨y, v⟩ = 0 that
rounding hides their side, v itself becomes one of the coordinates: ⟨y, v⟩ is computed
exactly and scaled up, and what was noise becomes a column like the others.

Where columns nearly depend on each other all coordinates are changed at once: with R the triangle of the rows as they
are seen (rows = QR), the columns of R⁻¹, rounded to integers, are such directions. In them the rows are nearly
orthonormal, however close to each other the columns are; twice does for what one R cannot resolve.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.linalg

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.exact.arithmetic import Integers, combination, many_products, powers_of_two, scaled_integers


@dataclass(frozen=True, slots=True)
class Coordinates:
    """r coordinates on p columns: plain ones are single columns times ``scale``; ``exact`` replaces some."""

    width: int
    basis: Positions
    scale: Vector
    exact: tuple[tuple[int, Integers], ...] = ()

    @classmethod
    def plain(cls, rows: Matrix, basis: Positions) -> Self:
        """Single columns, scaled by powers of two to about one."""
        return cls(rows.shape[1], basis, powers_of_two(np.abs(rows[:, basis]).max(axis=0, initial=0.0)))

    @property
    def is_plain(self) -> bool:
        """Whether every coordinate is a single column."""
        return not self.exact

    def apply(self, rows: Matrix) -> Matrix:
        """The rows (m × p) in these coordinates (m × r), one rounding per entry."""
        seen = rows[:, self.basis] * self.scale
        if self.exact:
            places = [place for place, _ in self.exact]
            seen[:, places] = many_products(rows, [vector for _, vector in self.exact]) * self.scale[places]
        return seen

    @classmethod
    def along(cls, rows: Matrix, vectors: Sequence[Integers]) -> Self:
        """Any independent integer vectors as coordinates, scaled so that the rows are about one in each."""
        largest = np.abs(many_products(rows, vectors)).max(axis=0, initial=0.0)
        exact = tuple((k, list(vector)) for k, vector in enumerate(vectors))
        return cls(rows.shape[1], np.zeros(len(vectors), dtype=np.int64), powers_of_two(largest), exact)

    def whitened(self, rows: Matrix, seen: Matrix) -> Self:
        """Coordinates in which the rows given, which are ``seen`` in these, are nearly orthonormal."""
        triangle, order = _triangle(seen)
        diagonal = np.abs(np.diag(triangle))
        weak = diagonal < 1e-17 * diagonal[0]
        triangle[weak, weak] = 1e-17 * diagonal[0]
        inverse = scipy.linalg.solve_triangular(triangle, np.eye(len(triangle)), check_finite=False)
        factors = np.empty_like(inverse)
        factors[order] = inverse
        columns = self.columns()
        return type(self).along(rows, [combination(columns, scaled_integers(column, 53)) for column in factors.T])

    @staticmethod
    def conditioning(seen: Matrix) -> float:
        """How nearly the columns depend on each other, from 1 (not at all) to 0, up to a small factor."""
        diagonal = np.abs(np.diag(_triangle(seen)[0]))
        return float(diagonal.min() / diagonal[0]) if len(diagonal) and diagonal[0] > 0.0 else 0.0

    def direction(self, factors: Vector, bits: int = 53) -> Integers:
        """Σ factorₖ·tₖ as integers over the p columns; the factors rounded to ``bits`` bits."""
        # the powers of two of the scales are put into the integers
        wanted = scaled_integers(factors, bits)
        if not self.is_plain:
            return combination(self.columns(), wanted)
        total = [0] * self.width
        for column, entry, shift in zip(self.basis.tolist(), wanted, self._shifts(), strict=True):
            total[column] += entry << shift
        divisor = math.gcd(*total) or 1
        return [entry // divisor for entry in total]

    def restrict(self, seen: Matrix, rank: int) -> Self:
        """As many of the coordinates as the ``rank``, in which the rows ``seen`` are well spread."""
        sizes = np.abs(seen).max(axis=1, keepdims=True)
        order = scipy.linalg.qr(seen / np.where(sizes > 0.0, sizes, 1.0), mode="r", pivoting=True)[1]
        places = np.sort(order[:rank]).tolist()
        moved = tuple((places.index(place), vector) for place, vector in self.exact if place in places)
        return replace(self, basis=self.basis[places], scale=self.scale[places], exact=moved)

    def columns(self) -> list[Integers]:
        """The coordinates as integer vectors, all times the same power of two."""
        replaced = dict(self.exact)
        out = []
        for place, (column, shift) in enumerate(zip(self.basis, self._shifts(), strict=True)):
            vector = replaced.get(place)
            if vector is None:
                vector = [0] * self.width
                vector[int(column)] = 1
            out.append([entry << shift for entry in vector])
        return out

    def _shifts(self) -> list[int]:
        """The powers of two in the scales, the least of them taken off."""
        exponents = [int(math.frexp(value)[1]) for value in self.scale]
        lowest = min(exponents)
        return [exponent - lowest for exponent in exponents]

    def refine(self, vector: Integers, factors: Vector, sizes: Callable[[Integers], Vector]) -> Self:
        """Make ``vector`` = Σ factorₖtₖ a coordinate in the place of the one with the largest factor.

        ``sizes(vector)`` gives ⟨y, v⟩ of the rows that are close; their largest becomes about one.
        """
        place = int(np.abs(factors).argmax())
        largest = float(np.abs(sizes(vector)).max(initial=0.0))
        scale = self.scale.copy()
        scale[place] = powers_of_two(np.array([largest]))[0]
        kept = tuple((k, old) for k, old in self.exact if k != place)
        return replace(self, scale=scale, exact=(*kept, (place, vector)))


def _triangle(seen: Matrix) -> tuple[Matrix, Positions]:
    """R of the rows brought to one size, and the order its columns were taken in."""
    sizes = np.abs(seen).max(axis=1, keepdims=True)
    found = scipy.linalg.qr(seen / np.where(sizes > 0.0, sizes, 1.0), mode="r", pivoting=True, check_finite=False)
    return np.asarray(found[0][: seen.shape[1]]), np.asarray(found[1])
