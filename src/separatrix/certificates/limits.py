"""Which coefficients run to infinity when no maximum exists, and which way.

Let v = Nc run over the directions that separate without error: N spans those orthogonal to the
overlapping rows, and ⟨yᵢ, Nc⟩ ≥ 0 on the separated ones. Coefficient j is (Nc)ⱼ = ⟨nⱼ, c⟩.

- nⱼ = 0: it stays **finite**.
- nⱼ is a sum of rows Nᵀyᵢ with factors ≥ 0 (Farkas): ⟨nⱼ, c⟩ ≥ 0 on the whole cone, **+inf**;
  likewise −nⱼ, **−inf**.
- neither: the cone has directions of either sign, **unbounded**.
- columns outside the basis are **aliased**: combinations of others, with coefficient 0.

The verdict's own direction, written in the columns of the basis, is inside the cone and settles one sign of each
coefficient. For the other, non-negative least squares proposes, and integers prove: either eⱼ = Σ λᵢyᵢ + a combination
of overlapping rows with all λᵢ ≥ 0, balanced in floating point where rounding allows (``balance``) and else solved
exactly, or a direction with that sign whose margins are multiplied out.
Where neither proof comes out, few rows are decided in fractions, and many by what least squares says, to nine digits.
"""

import math
import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import nnls

from separatrix.certificates.balance import balance_slack
from separatrix.certificates.sides import sides
from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import OutOfTime
from separatrix.core.protocols import SignedRows
from separatrix.exact.alternative import exact_alternative
from separatrix.exact.arithmetic import (
    Integers,
    combination,
    independent_part,
    null_space,
    powers_of_two,
    rounded,
    scaled_integers,
)
from separatrix.exact.coordinates import Coordinates

TOLERANCE = 1e-9
FIRST, MORE = 400, 200
ENOUGH = 0.5
"""The slack of a balance that is a proof; below 1 would do."""

EXACT_SIZE = 200
"""Rows times directions up to which fractions are quick."""

MOST_WHITENED = 150
"""Directions up to which coordinates that make the rows orthonormal are quick."""

SHARES = (12, 24, 36, 50)
"""Bits by which a direction that least squares found outweighs the one inside the cone, tried from the few up."""


def coefficient_limits(
    rows: SignedRows,
    names: Sequence[str],
    basis: Positions,
    null: Sequence[Sequence[int]] | None,
    separated: Positions,
    direction: Sequence[int],
    dependences: Sequence[Sequence[int]],
    level: Positions,
    deadline: float = math.inf,
) -> dict[str, str]:
    """What becomes of each column's coefficient, by name; ``null`` None means that all of the basis may move.

    ``direction`` is the verdict's and ``dependences`` those of the columns outside the basis; ``level`` are rows that
    span those of zero margin. OutOfTime past the deadline.
    """
    span = [list(v) for v in null] if null is not None else [_unit(rows.width, int(k)) for k in basis]
    inside = _inside(rows, basis, direction, dependences, separated)
    cone = _Cone(rows, basis, span, separated, inside, level, deadline)
    within = set(basis.tolist())
    moving = [j for j in within if any(vector[j] for vector in span)]
    limits = {}
    for j, name in enumerate(names):
        limits[name] = "aliased" if j not in within else cone.sign(j) if j in moving else "finite"
    return limits


def _inside(
    rows: SignedRows,
    basis: Positions,
    direction: Sequence[int],
    dependences: Sequence[Sequence[int]],
    separated: Positions,
) -> Integers | None:
    """The direction with no entry outside the basis: whole dependences, which no row sees, are taken off."""
    vector = list(direction)
    outside = np.setdiff1d(np.arange(rows.width), basis)
    if len(dependences) == len(outside):
        for column, dependence in zip(outside.tolist(), dependences, strict=True):
            if vector[column]:
                sign = _sign(dependence[column])
                vector = combination([vector, dependence], [sign * dependence[column], -sign * vector[column]])
        return vector
    # as many different rows as columns in the basis: any margins can be reached
    taken = rows.take(separated)[:, basis]
    found = np.zeros(rows.width)
    found[basis] = np.linalg.lstsq(taken, np.abs(taken).max(axis=1), rcond=None)[0]
    vector = scaled_integers(found, 53)
    signs = sides(rows, vector).signs if any(vector) else np.zeros(rows.count)
    level = np.setdiff1d(np.arange(rows.count), separated)
    return vector if (signs[separated] > 0).all() and not signs[level].any() else None


def _unit(width: int, column: int) -> Integers:
    return [int(j == column) for j in range(width)]


class _Cone:
    """{c : ⟨Nᵀyᵢ, c⟩ ≥ 0 on the separated rows}, known by a few of its rows, more as needed."""

    def __init__(
        self,
        rows: SignedRows,
        basis: Positions,
        span: list[Integers],
        separated: Positions,
        inside: Integers | None,
        level: Positions,
        deadline: float,
    ) -> None:
        self.rows, self.basis, self.vectors, self.separated = rows, basis, span, separated
        self.inside, self.deadline = inside, deadline
        self.level = rows.take(level)[:, basis]
        if len(level):
            self.level = self.level[np.sort(independent_part(self.level, deadline)[1])]
        self.known = self._first()
        self.coordinates = self._coordinates(rows.take(self.known))
        self.columns = self.coordinates.columns()
        self.walls = self._walls(self.known)
        self.seen = {j: {0 if inside is None else _sign(inside[j])} for j in range(rows.width)}
        self.fractions: _ExactCone | None = None

    def _first(self) -> Positions:
        """Rows to begin with: some of all, and those closest to the direction inside, which bound the cone."""
        separated = self.separated
        count = min(FIRST, len(separated))
        some = separated[np.arange(count) * len(separated) // count]
        if self.inside is None or count == len(separated):
            return some
        margins, sizes = self.rows.bracket(rounded(self.inside))
        near = np.argsort((margins / np.maximum(sizes, 1e-300))[separated], kind="stable")[:FIRST]
        return np.union1d(some, separated[near])

    def _coordinates(self, taken: Matrix) -> Coordinates:
        """The span, in coordinates that make the rows nearly orthonormal where columns nearly depend on each other."""
        coordinates = Coordinates.along(taken, self.vectors)
        for _ in range(2):
            seen = coordinates.apply(taken)
            if (
                not np.isfinite(seen).all()
                or len(self.vectors) > min(len(taken), MOST_WHITENED)
                or Coordinates.conditioning(seen) > 1e-2
            ):
                break
            coordinates = coordinates.whitened(taken, seen)
        return coordinates

    def _walls(self, which: Positions) -> Matrix:
        walls = self.coordinates.apply(self.rows.take(which))
        sizes = np.abs(walls).max(axis=1, keepdims=True)
        return np.asarray(walls / np.where(sizes > 0.0, sizes, 1.0))

    def sign(self, column: int) -> str:
        """Where the coefficient runs: "+inf", "-inf" or "unbounded"."""
        if len(self.vectors) == 1 and self.inside is not None:
            return "+inf" if self.inside[column] > 0 else "-inf"
        for wanted, name in ((1, "+inf"), (-1, "-inf")):
            if -wanted not in self.seen[column] and self._holds(column, wanted):
                return name
        return "unbounded"

    def _holds(self, column: int, turn: int) -> bool:
        """Whether the coefficient, times ``turn``, is nowhere negative on the cone."""
        wanted = turn * rounded([vector[column] for vector in self.columns])
        wanted = wanted / np.abs(wanted).max()
        if not np.isfinite(self.walls).all():  # sizes beyond what floating point can hold
            return self._in_fractions(column, turn, False)
        while True:
            if time.monotonic() > self.deadline:
                raise OutOfTime
            try:
                factors, rest = nearest(self.walls, wanted)
            except RuntimeError:  # it went round in circles
                return self._in_fractions(column, turn, False)
            if rest <= TOLERANCE:
                return (
                    self._balanced(column, turn, factors)
                    or self._proved(column, turn, factors)
                    or self._in_fractions(column, turn, True)
                )
            # the part that is left points out of the known cone: is that so for all rows?
            direction = self.coordinates.direction(self.walls.T @ factors - wanted)
            below, margins, sizes = sides(self.rows, direction).offending(level=False)
            breaking = np.flatnonzero(np.isin(below, self.separated))
            relative = (margins / np.maximum(sizes, 1e-300))[breaking]
            worst = breaking[np.argsort(relative, kind="stable")[:MORE]]
            new = np.setdiff1d(below[worst], self.known)
            if len(new):
                self.known = np.concatenate([self.known, new])
                self.walls = np.vstack([self.walls, self._walls(new)])
                continue
            return not self._refuted(column, turn, direction) and self._in_fractions(column, turn, False)

    def _balanced(self, column: int, turn: int, factors: Vector) -> bool:
        """The same in floating point: rows in support, −turn·eⱼ and overlapping rows of either sign balance."""
        support = self.rows.take(self.known[np.flatnonzero(factors > 0.0)])[:, self.basis]
        unit = turn * (self.basis == column).astype(np.float64)
        table = np.vstack([support, self.level])
        sizes = powers_of_two(np.abs(table).max(axis=1))
        found = np.linalg.lstsq((table * sizes[:, None]).T, unit, rcond=None)[0] * sizes
        mine, level = np.split(found, [len(support)])
        if not (np.isfinite(found).all() and mine.min(initial=1.0) > 0.0):
            return False
        room = np.abs(level) + powers_of_two(np.abs(self.level).max(axis=1, initial=0.0))
        multipliers = np.concatenate([mine, [1.0], room + level, room - level])
        return balance_slack(np.vstack([support, -unit, self.level, -self.level]), multipliers) < ENOUGH

    def _proved(self, column: int, turn: int, factors: Vector) -> bool:
        """Whether turn·eⱼ is exactly a sum of the rows in support, factors ≥ 0, and of overlapping ones."""
        support = self.rows.take(self.known[np.flatnonzero(factors > 0.0)])[:, self.basis]
        unit = turn * (self.basis == column).astype(np.float64)
        table = np.vstack([self.level, support, unit]).T
        found = null_space(table, self.deadline)
        if len(found.basis) and found.basis[-1] == table.shape[1] - 1:
            return False  # no such sum at all
        last = found.vectors[-1]
        mine = last[len(self.level) : -1]
        return all(entry <= 0 for entry in mine) if last[-1] > 0 else all(entry >= 0 for entry in mine)

    def _refuted(self, column: int, turn: int, found: Integers) -> bool:
        """Whether some direction of the cone has the other sign: the one found, tipped towards the inside."""
        if self.inside is None or not any(found):
            return False
        long, short = (max(abs(entry).bit_length() for entry in v) for v in (found, self.inside))
        for share in SHARES:
            more = share + short - long
            direction = combination([found, self.inside], [1 << max(0, more), 1 << max(0, -more)])
            if turn * direction[column] < 0 and (sides(self.rows, direction).signs[self.separated] >= 0).all():
                for j, entry in enumerate(direction):
                    self.seen[j].add(_sign(entry))
                return True
        return False

    def _in_fractions(self, column: int, turn: int, otherwise: bool) -> bool:
        """By the simplex method in fractions where rows are few; else what least squares says."""
        if len(self.separated) > FIRST or len(self.separated) * len(self.vectors) > EXACT_SIZE:
            return otherwise
        if self.fractions is None:
            self.fractions = _ExactCone(self.rows, self.vectors, self.separated, self.deadline)
        return self.fractions.holds([Fraction(turn * vector[column]) for vector in self.vectors])


class _ExactCone:
    """The same cone in fractions, for as few rows as that is quick for."""

    def __init__(self, rows: SignedRows, span: list[Integers], separated: Positions, deadline: float) -> None:
        taken = [[Fraction(float(value)) for value in row] for row in rows.take(separated)]
        used = [[(j, entry) for j, entry in enumerate(vector) if entry] for vector in span]
        walls = {tuple(sum((row[j] * entry for j, entry in vector), Fraction(0)) for vector in used) for row in taken}
        self.walls, self.deadline = sorted(walls), deadline

    def holds(self, wanted: list[Fraction]) -> bool:
        """Whether λ ≥ 0 on the walls and 1 on −wanted can balance: Farkas' multipliers."""
        rows = [*self.walls, [-value for value in wanted]]
        return exact_alternative(rows, [len(rows) - 1], self.deadline).multipliers[-1] > 0


def nearest(walls: Matrix, wanted: Vector) -> tuple[Vector, float]:
    """Factors ≥ 0 with which the walls' sum comes nearest to the vector, and how far it stays; else RuntimeError.

    SciPy's own word for the distance is not taken: where walls depend on each other it may say 0 of factors that are
    nowhere near, on one BLAS and not on another. At the nearest sum what is missing makes no sharp angle with a wall;
    where that does not hold the walls are tried in another order.

    >>> factors, rest = nearest(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([2.0, -1.0]))
    >>> factors.round(6), round(rest, 6)
    (array([2., 0.]), 1.0)
    """
    count = len(walls)
    for order in (np.arange(count), np.arange(count)[::-1], np.argsort(np.arange(count) * 7919 % 104729)):
        factors = np.zeros(count)
        factors[order] = nnls(walls[order].T, wanted, maxiter=50 * count + 1000)[0]
        missing = walls.T @ factors - wanted
        if (walls @ missing).min(initial=0.0) >= -TOLERANCE:
            return factors, float(np.linalg.norm(missing))
    raise RuntimeError("Least squares gives no answer.")


def _sign(entry: int) -> int:
    return (entry > 0) - (entry < 0)
