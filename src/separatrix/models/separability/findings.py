"""What a search for a verdict knows so far, and how it states its findings."""

import time
from dataclasses import dataclass, field

import numpy as np

from separatrix.certificates.balance import balance_slack
from separatrix.certificates.separability import Separability, SeparabilityProblem, as_vectors, lowest_terms
from separatrix.certificates.sides import Sides, sides
from separatrix.certificates.verdict_checks import distance
from separatrix.certificates.witness import (
    MOST_WHITENED,
    MOST_WHITENINGS,
    Balance,
    digests,
    ordered,
    proved_slack,
    stated_slack,
)
from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import CertificateError, OutOfTime
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import Integers, powers_of_two, rounded, scaled_integers
from separatrix.exact.coordinates import Coordinates
from separatrix.models.separability.column_basis import ColumnBasis, check_room
from separatrix.solvers.caratheodory import few_rows
from separatrix.solvers.leaning import lean

SCOUT_SIZE = 2**22
"""Numbers in the rows on which a direction is tried first, where there are many more."""

ROUNDING_BITS = (4, 12, 24, 53)
"""Directions are tried with few bits first: small integers are easy to read and to check."""


@dataclass
class SearchState:
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
    whitenings: int = 0
    shown: tuple[Coordinates, Positions, Matrix] | None = None
    """Rows as they were seen last: in exact coordinates that takes time."""
    rounds: int = 0
    scouts: tuple[Positions, Matrix] | None = None
    checked: tuple[Balance, bool] | None = None
    """The balance proved last, and whether its proof needs every digit."""
    order: Positions = field(init=False)

    def __post_init__(self) -> None:
        self.order = self.rows.order

    def _take(self, which: Positions) -> Matrix:
        check_room(self.rows, len(which))
        taken = self.rows.take(which)
        if not np.isfinite(taken).all():
            self.rows.refuse_not_finite()
        return taken

    def _show(self, coordinates: Coordinates) -> tuple[Matrix, Matrix]:
        """The active rows, and how they are seen in the coordinates."""
        taken = self._take(self.active)
        if coordinates.is_plain:
            return taken, coordinates.apply(taken)
        seen = np.empty((len(taken), len(coordinates.basis)))
        new = np.ones(len(taken), dtype=bool)
        if self.shown is not None and self.shown[0] is coordinates:
            place = np.searchsorted(self.active, self.shown[1])
            seen[place], new[place] = self.shown[2], False
        seen[new] = coordinates.apply(taken[new])
        self.shown = coordinates, self.active, seen
        return taken, seen

    def _tick(self) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTime

    def _more(self) -> int:
        """How many rows are added to the sample at a time."""
        assert self.columns is not None
        return 4 * self.columns.rank + 100

    def _enlist(self, which: Positions, margins: Vector, sizes: Vector, near: Positions | None = None) -> bool:
        """Add rows on the wrong side to the sample: the worst, and some spread over all of them.

        Where they are few, those too that are ``near`` to the wrong side: they would be on it next time.
        """
        new = ~np.isin(which, self.active)
        which, margins, sizes = which[new], margins[new], sizes[new]
        if not len(which):
            return False
        limit = self._more()
        relative = margins / np.maximum(sizes, 1e-300)
        worst = which[np.argsort(relative, kind="stable")[: limit // 2]]
        spread = which[np.arange(min(limit // 2, len(which))) * len(which) // min(limit // 2, len(which))]
        self.active = np.union1d(self.active, np.union1d(worst, spread))
        if near is not None and len(which) < limit // 2:
            self.active = np.union1d(self.active, near)
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
        sizes = np.abs(taken[offending]) @ np.abs(direction)
        return self._enlist(which[offending], margins[offending], sizes)

    def _balance(self, taken: Matrix, multipliers: Vector, basis: Positions, positions: Positions) -> Balance | None:
        """A proof that the rows ``taken``, of full rank in the columns ``basis``, balance each other.

        In plain columns if rounding allows, else in coordinates that make these rows nearly orthonormal, where nearly
        dependent columns do not matter.
        """
        coordinates = Coordinates.plain(taken, basis)
        for _ in range(1 + MOST_WHITENINGS):
            self._tick()
            seen = coordinates.apply(taken)
            if not np.isfinite(seen).all():
                return None
            balance = self._balance_in(taken, seen, multipliers, basis, positions)
            if balance is not None or len(basis) > MOST_WHITENED:
                return balance
            coordinates = coordinates.whitened(taken, seen)
        return None

    def _balance_in(
        self, taken: Matrix, seen: Matrix, multipliers: Vector, basis: Positions, positions: Positions
    ) -> Balance | None:
        """A proof from the multipliers given, or from the residuals of a fit, which are more even."""
        found = _few(seen, multipliers, self.deadline)
        if found is None:
            size = np.abs(seen).max(axis=1)
            size[size == 0.0] = 1.0
            even = lean(seen / size[:, None], deadline=self.deadline).multipliers
            found = None if even is None else _few(seen, even / size, self.deadline)
        if found is None:
            return None
        order = np.argsort(positions[found[0]])
        which, few = found[0][order], found[1][order]
        few = few * powers_of_two(few.max(keepdims=True))
        slack = stated_slack(proved_slack(taken[which], basis, few)[0])
        balance = Balance(positions[which], few, basis, digests(taken[which]), slack=slack)
        try:
            self.checked = balance, balance.check(self.rows)
        except CertificateError:
            return None
        return balance

    def _zero_balance(self, position: Positions) -> Balance:
        return Balance(position, np.ones(1), np.empty(0, dtype=np.int64), digests(self.rows.take(position)))

    def _overlap(self, taken: Matrix, multipliers: Vector) -> Separability | None:
        assert self.columns is not None
        balance = self._balance(taken, multipliers, self.columns.basis, self.active)
        return None if balance is None else self._verdict("overlap", balance=balance)

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

    def _verdict(
        self,
        kind: str,
        integers: Integers | None = None,
        everywhere: Sides | None = None,
        *,
        balance: Balance | None = None,
        null: list[Integers] | None = None,
        separated: Positions | None = None,
    ) -> Separability:
        columns = self.columns
        margin, fragile = float("nan"), False
        if integers is not None and everywhere is not None:
            margin = distance(everywhere.least, rounded(integers), self.rows)
            fragile = everywhere.fragile
        elif balance is not None:
            checked = self.checked
            fragile = checked[1] if checked and checked[0] is balance else balance.check(self.rows)
        found = Separability(
            kind,
            self.problem,
            rank=None if columns is None or kind == "undecided" else columns.rank,
            basis=None if columns is None or kind == "undecided" else columns.basis,
            dependences=() if columns is None or kind == "undecided" else columns.dependences,
            integers=None if integers is None else tuple(lowest_terms(integers)),
            margin=margin,
            balance=balance,
            null=ordered(as_vectors(null or [])),
            separated=separated,
            fragile=fragile,
            open_rows=self.active if kind == "undecided" else None,
            count=self.rows.count,
            members=self.rows.members,
            per_row=self.rows.per_row,
            _source=self.rows,
        )
        return found.with_limits(self.rows, self.deadline)


def out_of_time(rows: SignedRows, problem: SeparabilityProblem) -> Separability:
    """The verdict where there was no time for a first look."""
    nothing = np.empty(0, dtype=np.int64)
    return Separability(
        "undecided",
        problem,
        open_rows=nothing,
        count=rows.count,
        members=rows.members,
        per_row=rows.per_row,
        _source=rows,
    )


def _few(seen: Matrix, multipliers: Vector, deadline: float) -> tuple[Positions, Vector] | None:
    """Few rows whose balance is proved, or None."""
    try:
        which, few = few_rows(seen, multipliers, deadline)
    except (np.linalg.LinAlgError, ValueError):
        return None
    return (which, few) if len(which) and balance_slack(seen[which], few) < 0.5 else None
