"""What a search has found, stated: a verdict with its proof."""

from dataclasses import dataclass

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
from separatrix.core.errors import CertificateError
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import Integers, powers_of_two, rounded, scaled_integers
from separatrix.exact.coordinates import Coordinates
from separatrix.models.separability.sample import Sample
from separatrix.solvers.caratheodory import few_rows
from separatrix.solvers.leaning import lean

ROUNDING_BITS = (4, 12, 24, 53)
"""Directions are tried with few bits first: small integers are easy to read and to check."""


@dataclass(slots=True)
class Findings:
    """Verdicts on the rows of a sample."""

    sample: Sample
    problem: SeparabilityProblem
    checked: tuple[Balance, bool] | None = None
    """The balance proved last, and whether its proof needs every digit."""

    def verdict(
        self,
        kind: str,
        integers: Integers | None = None,
        everywhere: Sides | None = None,
        *,
        balance: Balance | None = None,
        null: list[Integers] | None = None,
        separated: Positions | None = None,
    ) -> Separability:
        """A verdict of a kind, with the columns' limits."""
        sample, rows = self.sample, self.sample.rows
        columns = sample.columns
        margin, fragile = float("nan"), False
        if integers is not None and everywhere is not None:
            margin = distance(everywhere.least, rounded(integers), rows)
            fragile = everywhere.fragile
        elif balance is not None:
            checked = self.checked
            fragile = checked[1] if checked and checked[0] is balance else balance.check(rows)
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
            open_rows=sample.active if kind == "undecided" else None,
            count=rows.count,
            members=rows.members,
            per_row=rows.per_row,
            _source=rows,
        )
        return found.with_limits(rows, sample.deadline)

    def overlap(self, taken: Matrix, multipliers: Vector) -> Separability | None:
        """Overlap, if the rows taken are proved to balance each other."""
        sample = self.sample
        assert sample.columns is not None
        balance = self.balance(taken, multipliers, sample.columns.basis, sample.active)
        return None if balance is None else self.verdict("overlap", balance=balance)

    def complete(self, integers: Integers, everywhere: Sides) -> Separability:
        """A direction with every row on its side."""
        return self.verdict("complete", integers, everywhere)

    def quasi(self, integers: Integers, everywhere: Sides, null: list[Integers], balance: Balance) -> Separability:
        """A direction with no row on the other side, and a balance of those that lie on it."""
        separated = np.flatnonzero(everywhere.signs > 0)
        sturdy = self._sturdier(everywhere, separated) if everywhere.fragile else None
        if sturdy is not None:
            integers, everywhere = sturdy
        return self.verdict("quasi", integers, everywhere, balance=balance, null=null, separated=separated)

    def _sturdier(self, everywhere: Sides, separated: Positions) -> tuple[Integers, Sides] | None:
        """A direction on columns that are zero in all overlapping rows: rounding cannot move those."""
        rows = self.sample.rows
        level = np.flatnonzero(everywhere.signs == 0)
        some = rows.take(level[:: max(1, len(level) // 2000)])
        free = np.flatnonzero(~some.any(axis=0))
        if not len(free):
            return None
        apart = rows.take(separated[:: max(1, len(separated) // 2000)])[:, free]
        leaning = lean(apart * powers_of_two(np.abs(apart).max(axis=0)))
        if not leaning.separates:
            return None
        direction = leaning.direction * powers_of_two(np.abs(apart).max(axis=0))
        for bits in ROUNDING_BITS:
            integers = [0] * rows.width
            for column, entry in zip(free, scaled_integers(direction, bits), strict=True):
                integers[int(column)] = entry
            if not any(integers):
                continue
            again = sides(rows, integers)
            if np.array_equal(again.signs, everywhere.signs):
                return integers, again
        return None

    def balance(self, taken: Matrix, multipliers: Vector, basis: Positions, positions: Positions) -> Balance | None:
        """A proof that the rows ``taken``, of full rank in the columns ``basis``, balance each other.

        In plain columns if rounding allows, else in coordinates that make these rows nearly orthonormal, where nearly
        dependent columns do not matter.
        """
        coordinates = Coordinates.plain(taken, basis)
        for _ in range(1 + MOST_WHITENINGS):
            self.sample.tick()
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
        sample = self.sample
        found = _few(seen, multipliers, sample.deadline)
        if found is None:
            size = np.abs(seen).max(axis=1)
            size[size == 0.0] = 1.0
            even = lean(seen / size[:, None], deadline=sample.deadline).multipliers
            found = None if even is None else _few(seen, even / size, sample.deadline)
        if found is None:
            return None
        order = np.argsort(positions[found[0]])
        which, few = found[0][order], found[1][order]
        few = few * powers_of_two(few.max(keepdims=True))
        slack = stated_slack(proved_slack(taken[which], basis, few)[0])
        balance = Balance(positions[which], few, basis, digests(taken[which]), slack=slack)
        try:
            self.checked = balance, balance.check(sample.rows)
        except CertificateError:
            return None
        return balance

    def zero_balance(self, position: Positions) -> Balance:
        """A row without any column that is not zero balances itself."""
        return Balance(position, np.ones(1), np.empty(0, dtype=np.int64), digests(self.sample.rows.take(position)))


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
