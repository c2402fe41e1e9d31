"""The search for a verdict: few rows decide, all rows confirm.

A small sample is looked at first (``lean``). If it balances at full rank, that is the
proof of overlap for all rows. If a direction separates it, the direction is tried on
every row in one pass, the worst offenders join the sample, and so on. What floating
point leaves open is settled by the linear program on the sample, and what that leaves
open by exact coordinates.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from separatrix.certificates.balance import balance_slack
from separatrix.certificates.separability import (
    Balance,
    Separability,
    SeparabilityProblem,
    as_vectors,
    digests,
    distance,
)
from separatrix.certificates.sides import Sides, exact_margins, sides
from separatrix.core.arrays import AnyArray, Matrix, Positions, Vector
from separatrix.core.exact import Integers, combination, integer_products, powers_of_two, rounded, scaled_integers
from separatrix.core.protocols import SignedRows
from separatrix.estimators.column_basis import ColumnBasis, column_basis, ordered_null_space
from separatrix.solvers.alternative import Alternative, OutOfTime, solve_alternative
from separatrix.solvers.caratheodory import few_rows
from separatrix.solvers.coordinates import Coordinates
from separatrix.solvers.exact_alternative import exact_alternative
from separatrix.solvers.leaning import lean

FIRST_ROWS = 5
"""Rows per column in the first sample."""

MOST_COLUMNS = 1500
"""Beyond this many columns exact elimination takes too long."""

SCOUT_SIZE = 2**22
"""Numbers in the rows on which a direction is tried first, where there are many more."""

REFINEMENTS = 3
"""After this many changes of coordinates the linear program is solved in fractions."""

ROUNDING_BITS = (4, 12, 24, 53)


@dataclass
class Search:
    """State of the search: the rows looked at so far and the coordinates they are seen in."""

    rows: SignedRows
    problem: SeparabilityProblem
    deadline: float
    columns: ColumnBasis | None = None
    active: Positions = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    level: bool = False
    """Whether the linear program found rows that only a hyperplane through them can hold: then ``lean`` cannot help."""
    reordered: bool = False
    refinements: int = 0
    rounds: int = 0
    scouts: tuple[Positions, Matrix] | None = None
    order: Positions = field(init=False)

    def __post_init__(self) -> None:
        self.order = self.rows.order

    def run(self) -> Separability:
        """The verdict, or "undecided" past the deadline."""
        with np.errstate(all="ignore"):
            try:
                verdict = self._decide()
            except OutOfTime:
                verdict = self._verdict("undecided")
            if verdict.kind in ("overlap", "undecided"):
                # the proof rests on few rows; the others must be numbers all the same
                tiny = np.full(self.rows.width, 2.0**-40)
                if not np.isfinite(self.rows.bracket(tiny)[1]).all():
                    self.rows.refuse_not_finite()
        return verdict

    def _take(self, which: Positions) -> Matrix:
        taken = self.rows.take(which)
        if not np.isfinite(taken).all():
            self.rows.refuse_not_finite()
        return taken

    def _tick(self) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTime

    def _decide(self) -> Separability:
        rows = self.rows
        self._tick()
        if rows.width > MOST_COLUMNS:
            return self._decide_wide()
        self._take(rows.sample(10))
        self.columns = column_basis(rows, self.order)
        basis = self.columns.basis
        start: Vector | None = None
        wanted = FIRST_ROWS * len(basis) + 50
        sample = rows.sample(wanted) if rows.count > wanted else np.arange(rows.count)
        self.active = np.union1d(sample, self.columns.rows)
        if not len(basis):
            return self._all_zero()
        coordinates = Coordinates.plain(rows.take(self.active), basis)
        while True:
            self._tick()
            self.rounds += 1
            taken = self._take(self.active)
            if self.refinements > REFINEMENTS:
                verdict = self._judge_exactly(taken)
                if verdict is not None:
                    return verdict
                continue
            seen = coordinates.apply(taken)
            leaning = lean(seen, start) if coordinates.is_plain and not self.level else None
            if leaning is not None and leaning.multipliers is not None:
                verdict = self._overlap(seen, leaning.multipliers, coordinates)
                if verdict is not None:
                    return verdict
            if leaning is not None and leaning.separates:
                start = leaning.direction
                integers = coordinates.direction(leaning.direction)
                if self._scouted(integers):
                    continue
                everywhere = sides(rows, integers)
                if (everywhere.signs > 0).all():
                    return self._complete(integers, everywhere)
                if self._enlist(everywhere.signs <= 0, everywhere.margins, everywhere.sizes):
                    continue
            start = None
            answer = solve_alternative(seen, self.deadline)
            verdict, coordinates = self._judge(taken, seen, answer, coordinates)
            if verdict is not None:
                return verdict

    def _judge(
        self, taken: Matrix, seen: Matrix, answer: Alternative, coordinates: Coordinates
    ) -> tuple[Separability | None, Coordinates]:
        """A verdict from the linear program's answer; or None, and more rows or finer coordinates."""
        rows = self.rows
        held = answer.overlapping
        if held.all():
            verdict = self._overlap(seen, answer.multipliers, coordinates)
            if verdict is not None:
                return verdict, coordinates
            return None, self._refine(taken, answer, coordinates)
        if not held.any():
            integers = coordinates.direction(answer.direction)
            everywhere = sides(rows, integers)
            if (everywhere.signs > 0).all():
                return self._complete(integers, everywhere), coordinates
            if self._enlist(everywhere.signs <= 0, everywhere.margins, everywhere.sizes):
                return None, coordinates
            return None, self._refine(taken, answer, coordinates)
        return self._judge_quasi(taken, answer, coordinates)

    def _judge_quasi(
        self, taken: Matrix, answer: Alternative, coordinates: Coordinates
    ) -> tuple[Separability | None, Coordinates]:
        rows = self.rows
        assert self.columns is not None
        self.level = True
        approximate = coordinates.direction(answer.direction)
        margins, sizes = rows.bracket(rounded(approximate))
        clearly = margins < -1e-9 * sizes
        if clearly.any() and self._enlist(clearly, margins, sizes):
            return None, coordinates
        held = np.flatnonzero(answer.overlapping)
        null = ordered_null_space(rows, self.active[held], self.order)
        inside = set(self.columns.basis.tolist())
        # dependences of all rows are no directions: only those within the basis are
        vectors = [v for v in null.vectors if all(k in inside for k, entry in enumerate(v) if entry)]
        inner = np.array([k for k in null.basis if k in inside], dtype=np.int64)
        if not vectors:
            return None, self._refine(taken, answer, coordinates)
        integers = self._direction_within(vectors, approximate, taken, answer.overlapping)
        if integers is None:
            return None, self._refine(taken, answer, coordinates)
        everywhere = sides(rows, integers)
        if (everywhere.signs < 0).any():
            if self._enlist(everywhere.signs < 0, everywhere.margins, everywhere.sizes):
                return None, coordinates
            return None, self._refine(taken, answer, coordinates)
        level = np.flatnonzero(everywhere.signs == 0)
        outside = np.zeros(len(level), dtype=bool)
        for vector in vectors:
            outside |= exact_margins(rows, level, vector) != 0.0
        if outside.any():
            new = np.setdiff1d(level[outside][:: max(1, int(outside.sum()) // 50)], self.active)
            if len(new):
                self.active = np.union1d(self.active, new)
                return None, coordinates
            return None, self._refine(taken, answer, coordinates)
        if not len(inner):
            balance: Balance | None = self._zero_balance(self.active[held][:1])
        else:
            if coordinates.is_plain:
                within = Coordinates.plain(taken[held], inner)
            else:
                within = coordinates.restrict(coordinates.apply(taken[held]), len(inner))
            seen = within.apply(taken[held])
            balance = self._balance(seen, answer.multipliers[held], within, self.active[held])
        if balance is None:
            return None, self._refine(taken, answer, coordinates)
        if self.columns.dependences and not self.reordered:
            return None, self._reorder(taken, answer.overlapping)
        return self._quasi(integers, everywhere, vectors, balance), coordinates

    def _judge_exactly(self, taken: Matrix) -> Separability | None:
        """The linear program in fractions on the sample; None when more rows are needed."""
        assert self.columns is not None
        basis = self.columns.basis
        answer = exact_alternative(taken[:, basis], range(len(taken)), self.deadline)
        integers = [0] * self.rows.width
        for column, entry in zip(basis, answer.direction, strict=True):
            integers[int(column)] = entry
        held = np.array([value > 0 for value in answer.multipliers])
        everywhere = sides(self.rows, integers) if any(integers) else None
        if everywhere is not None:
            offending = everywhere.signs < 0 if held.any() else everywhere.signs <= 0
            if self._enlist(offending, everywhere.margins, everywhere.sizes):
                return None
            if not held.any():
                return self._complete(integers, everywhere)
        positions = self.active[held]
        null = ordered_null_space(self.rows, positions, self.order)
        inside = set(basis.tolist())
        vectors = [v for v in null.vectors if all(k in inside for k, entry in enumerate(v) if entry)]
        if everywhere is not None:
            level = np.flatnonzero(everywhere.signs == 0)
            apart = [level[exact_margins(self.rows, level, vector) != 0.0] for vector in vectors]
            new = np.setdiff1d(np.concatenate([a[:50] for a in apart]), self.active) if apart else level[:0]
            if len(new):
                self.active = np.union1d(self.active, new)
                return None
        inner = np.array([k for k in null.basis if k in inside], dtype=np.int64)
        balance = self._exact_balance(positions, inner, null.rows) if len(inner) else self._zero_balance(positions[:1])
        if everywhere is None or not vectors:
            return self._verdict("overlap", balance=balance, fragile=True)
        return self._quasi(integers, everywhere, vectors, balance)

    def _exact_balance(self, positions: Positions, inner: Positions, independent: Positions) -> Balance:
        """Integer multipliers on few rows: the independent ones, and at most as many others."""
        taken = self.rows.take(positions)
        answer = exact_alternative(taken[:, inner], independent.tolist(), self.deadline)
        which = np.flatnonzero([value > 0 for value in answer.multipliers])
        whole = tuple(answer.multipliers[k] for k in which)
        unit = [tuple(int(j == k) for j in range(self.rows.width)) for k in inner]
        return Balance(positions[which], rounded(whole), tuple(unit), digests(taken[which]), whole)

    def _reorder(self, taken: Matrix, held: AnyArray) -> Coordinates:
        """Where columns depend on each other, those that only separated rows use enter the basis first.

        Then as few coefficients as possible run away: a rare category, not all others of its factor.
        """
        self.reordered = True
        apart = ~taken[held].any(axis=0)
        self.order = np.concatenate([self.rows.order[apart[self.rows.order]], self.rows.order[~apart[self.rows.order]]])
        self.columns = column_basis(self.rows, self.order)
        self.active = np.union1d(self.active, self.columns.rows)
        return Coordinates.plain(self.rows.take(self.active), self.columns.basis)

    def _direction_within(
        self, vectors: list[Integers], wanted: Integers, taken: Matrix, held: AnyArray
    ) -> Integers | None:
        """A combination of the null vectors, with as few bits as will do, that separates the sample's other rows."""
        table = np.column_stack([rounded(vector) for vector in vectors])
        lengths = [max(abs(e).bit_length() for e in vector) for vector in vectors]
        target = rounded(wanted)
        factors = np.linalg.lstsq(table, target, rcond=None)[0]
        # each null vector was divided by a power of two of its own
        shared = max(lengths)
        for bits in ROUNDING_BITS:
            whole = [f << (shared - length) for f, length in zip(scaled_integers(factors, bits), lengths, strict=True)]
            integers = combination(vectors, whole)
            if any(integers) and all(value > 0 for value in integer_products(taken[~held], integers)):
                return integers
        return None

    def _enlist(self, offending: AnyArray, margins: Vector, sizes: Vector) -> bool:
        """Add rows on the wrong side to the sample: the worst, and some spread over all of them."""
        which = np.flatnonzero(offending)
        which = which[~np.isin(which, self.active)]
        if not len(which):
            return False
        assert self.columns is not None
        limit = 4 * self.columns.rank + 100
        relative = margins[which] / np.maximum(sizes[which], 1e-300)
        worst = which[np.argsort(relative, kind="stable")[: limit // 2]]
        spread = which[np.arange(min(limit // 2, len(which))) * len(which) // min(limit // 2, len(which))]
        self.active = np.union1d(self.active, np.union1d(worst, spread))
        return True

    def _scouted(self, integers: Integers) -> bool:
        """Try a direction on some of many rows before all are read; True when offenders were found there."""
        if self.rows.count * self.rows.width < SCOUT_SIZE * 8:
            return False
        if self.scouts is None:
            which = self.rows.sample(SCOUT_SIZE // self.rows.width)
            self.scouts = which, self._take(which)
        which, taken = self.scouts
        direction = rounded(integers)
        margins = taken @ direction
        offending = np.flatnonzero(margins <= 0.0)
        if len(offending) < 10:
            return False
        everyone = np.zeros(self.rows.count, dtype=bool)
        everyone[which[offending]] = True
        scores, sizes = np.zeros(self.rows.count), np.ones(self.rows.count)
        scores[which] = margins
        sizes[which] = np.abs(taken) @ np.abs(direction)
        return self._enlist(everyone, scores, sizes)

    def _refine(self, taken: Matrix, answer: Alternative, coordinates: Coordinates) -> Coordinates:
        """The program's direction becomes a coordinate: rows close to it are told apart exactly."""
        self.refinements += 1
        integers = coordinates.direction(answer.direction)
        if not any(integers):
            # nothing leans anywhere: the direction of least spread is the one that rounding hides
            seen = coordinates.apply(taken)
            sizes = np.abs(seen).max(axis=1, keepdims=True)
            least = np.linalg.svd(seen / np.where(sizes > 0, sizes, 1.0), full_matrices=False)[2][-1]
            answer = Alternative(answer.multipliers, least, answer.overlapping)
            integers = coordinates.direction(least)
        held = answer.overlapping

        def close(vector: Integers) -> Vector:
            near = taken[held] if held.any() else taken
            return np.array([float(value) for value in integer_products(near, vector)])

        return coordinates.refine(integers, answer.direction, close)

    def _balance(
        self, seen: Matrix, multipliers: Vector, coordinates: Coordinates, positions: Positions
    ) -> Balance | None:
        """A proof from the multipliers given, or from the residuals of a fit, which are more even."""
        found = _few(seen, multipliers)
        if found is None:
            size = np.abs(seen).max(axis=1)
            size[size == 0.0] = 1.0
            even = lean(seen / size[:, None]).multipliers
            found = None if even is None else _few(seen, even / size)
        if found is None:
            return None
        which, few = found
        chosen = positions[which]
        order = np.argsort(chosen)
        columns = as_vectors(coordinates.columns())
        return Balance(chosen[order], few[order], columns, digests(self.rows.take(chosen[order])))

    def _overlap(self, seen: Matrix, multipliers: Vector, coordinates: Coordinates) -> Separability | None:
        balance = self._balance(seen, multipliers, coordinates, self.active)
        if balance is None:
            return None
        return self._verdict("overlap", balance=balance, fragile=not coordinates.is_plain)

    def _complete(self, integers: Integers, everywhere: Sides) -> Separability:
        return self._verdict("complete", integers, everywhere)

    def _quasi(self, integers: Integers, everywhere: Sides, null: list[Integers], balance: Balance) -> Separability:
        separated = np.flatnonzero(everywhere.signs > 0)
        sturdy = self._sturdier(everywhere, separated) if everywhere.fragile else None
        if sturdy is not None:
            integers, everywhere = sturdy
        return self._verdict("quasi", integers, everywhere, balance=balance, null=null, separated=separated)

    def _sturdier(self, everywhere: Sides, separated: Positions) -> tuple[Integers, Sides] | None:
        """A direction on columns that are zero in all overlapping rows: rounding cannot move those."""
        level = np.flatnonzero(everywhere.signs == 0)
        some = self.rows.take(level[:: max(1, len(level) // 2000)])
        free = np.flatnonzero(~some.any(axis=0))
        if not len(free):
            return None
        apart = self.rows.take(separated[:: max(1, len(separated) // 2000)])[:, free]
        leaning = lean(apart * powers_of_two(np.abs(apart).max(axis=0)))
        if not leaning.separates:
            return None
        direction = leaning.direction * powers_of_two(np.abs(apart).max(axis=0))
        for bits in ROUNDING_BITS:
            integers = [0] * self.rows.width
            for column, entry in zip(free, scaled_integers(direction, bits), strict=True):
                integers[int(column)] = entry
            if not any(integers):
                continue
            again = sides(self.rows, integers)
            if np.array_equal(again.signs, everywhere.signs):
                return integers, again
        return None

    def _all_zero(self) -> Separability:
        """Rows without any column that is not zero: each balances itself."""
        return self._verdict("overlap", balance=self._zero_balance(np.zeros(1, dtype=np.int64)))

    def _zero_balance(self, position: Positions) -> Balance:
        return Balance(position, np.ones(1), (), digests(self.rows.take(position)))

    def _decide_wide(self) -> Separability:
        """Many columns: a direction may still be found and checked; the rank is left open."""
        self.active = np.arange(self.rows.count) if self.rows.count <= 4000 else self.rows.sample(4000)
        while True:
            self._tick()
            taken = self.rows.take(self.active)
            scale = np.maximum(np.abs(taken).max(axis=1, keepdims=True), 1e-300)
            direction = np.linalg.lstsq(taken / scale, np.ones(len(taken)), rcond=None)[0]
            integers = scaled_integers(direction, 53)
            if any(integers):
                everywhere = sides(self.rows, integers)
                if (everywhere.signs > 0).all():
                    return self._complete(integers, everywhere)
                which = np.flatnonzero(everywhere.signs <= 0)
                new = np.setdiff1d(which[np.argsort(everywhere.margins[which], kind="stable")[:1000]], self.active)
                if len(new):
                    self.active = np.union1d(self.active, new)
                    continue
            raise OutOfTime

    def _verdict(
        self,
        kind: str,
        integers: Integers | None = None,
        everywhere: Sides | None = None,
        *,
        balance: Balance | None = None,
        null: list[Integers] | None = None,
        separated: Positions | None = None,
        fragile: bool = False,
    ) -> Separability:
        columns = self.columns
        margin = float("nan")
        if integers is not None and everywhere is not None:
            margin = distance(everywhere.margins[everywhere.signs > 0], rounded(integers), self.rows)
            fragile = fragile or everywhere.fragile
        return Separability(
            kind,
            self.problem,
            rank=None if columns is None else columns.rank,
            basis=None if columns is None else columns.basis,
            dependences=() if columns is None else columns.dependences,
            integers=None if integers is None else tuple(integers),
            margin=margin,
            balance=balance,
            null=as_vectors(null or []),
            separated=separated,
            fragile=fragile,
            open_rows=self.active if kind == "undecided" else None,
            count=self.rows.count,
            members=self.rows.members,
            per_row=self.rows.per_row,
            source=self.rows,
        )


def _few(seen: Matrix, multipliers: Vector) -> tuple[Positions, Vector] | None:
    """Few rows whose balance is proved, or None."""
    try:
        which, few = few_rows(seen, multipliers)
    except (np.linalg.LinAlgError, ValueError):
        return None
    return (which, few) if len(which) and balance_slack(seen[which], few) < 1.0 else None
