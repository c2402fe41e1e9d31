"""The search for a verdict: few rows decide, all rows confirm.

A small sample is looked at first (``lean``). If it balances at full rank, that is the
proof of overlap for all rows. If a direction separates it, the direction is tried on
every row in one pass, the worst offenders join the sample, and so on. What floating
point leaves open is settled by the linear program on the sample, and what that leaves
open by exact coordinates.
"""

import math
import time
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from separatrix.certificates.separability import Separability, SeparabilityProblem
from separatrix.certificates.sides import sides
from separatrix.core.apart import apart
from separatrix.core.arrays import Vector
from separatrix.core.errors import OutOfTime
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import scaled_integers
from separatrix.exact.coordinates import Coordinates
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.separability.answers import Judge
from separatrix.models.separability.column_basis import MOST_NUMBERS, column_basis
from separatrix.models.separability.findings import Findings
from separatrix.models.separability.sample import Sample
from separatrix.solvers.alternative import Unsolved, solve_alternative
from separatrix.solvers.leaning import lean, level_direction

FIRST_ROWS = 5
"""Rows per column in the first sample."""

MANY_COLUMNS = 1500
"""Beyond this many a direction is looked for first, before the rank."""

HIDDEN = 1e-6
"""Columns that depend on each other this nearly are seen in other coordinates from the beginning."""

MANY_NUMBERS = 2**22
"""Numbers in a first sample of signed rows from which, with more than two classes, cheap directions are tried first."""

RANK_SECONDS = 1.0
"""How long a direction that was found to separate waits for the rank, where columns are many."""

MOST_WIDE_ROWS = 8000

LARGE = 1e9
"""Multiplications in a single step from which the search runs on a thread of its own."""


REFINEMENTS = 3
"""After this many changes of coordinates the linear program is solved in fractions."""


@dataclass(slots=True)
class Search:
    """From the first sample to the verdict."""

    sample: Sample
    findings: Findings
    judge: Judge

    @classmethod
    def over(cls, rows: SignedRows, problem: SeparabilityProblem, deadline: float) -> "Search":
        """Nothing is known yet."""
        sample = Sample(rows, deadline)
        findings = Findings(sample, problem)
        return cls(sample, findings, Judge(findings))

    def run(self) -> Separability:
        """The verdict, or "undecided" past the deadline."""
        rows = self.sample.rows
        size = float(rows.width) ** 2 * min(rows.count, FIRST_ROWS * rows.width + 50)
        return self._run() if size < LARGE else self._run_apart()

    def _run(self) -> Separability:
        with one_blas_thread(), np.errstate(all="ignore"):
            try:
                verdict = self._one_class() or self._decide()
            except OutOfTime:
                verdict = self.findings.verdict("undecided")
        return verdict

    def _run_apart(self) -> Separability:
        """Where single steps take long. A search that is given up ends by itself at its next look at the clock."""
        end = self.sample.deadline
        try:
            return apart(self._run, end)
        except OutOfTime:
            return self.undecided()
        finally:
            self.sample.deadline = -math.inf

    def undecided(self) -> Separability:
        """The verdict of a search that ran out of time."""
        return Findings(replace(self.sample, columns=None), self.findings.problem).verdict("undecided")

    def _one_class(self) -> Separability | None:
        """One class alone: the constant puts every row on its side."""
        sample, rows = self.sample, self.sample.rows
        constant = np.flatnonzero(~rows.is_weight)
        if rows.per_row > 1 or not len(constant) or not rows.count:
            return None
        ends = rows.take(rows.sample(2))[:, constant[0]]
        if (ends != ends[0]).any():  # a sample has every class
            return None
        integers = [0] * rows.width
        integers[int(constant[0])] = int(ends[0])
        sample.columns = column_basis(rows, sample.order, sample.deadline)
        return self.findings.complete(integers, sides(rows, integers))

    def _decide(self) -> Separability:
        sample = self.sample
        rows = sample.rows
        sample.tick()
        if rows.per_row > 1:
            verdict = self._decide_many()
            if verdict is not None:
                return verdict
        sample.take(rows.sample(10))
        if rows.width > MANY_COLUMNS or rows.count <= rows.width:
            verdict = self._decide_wide()
            if verdict is not None:
                return verdict
        sample.columns = column_basis(rows, sample.order, sample.deadline)
        basis = sample.columns.basis
        start: Vector | None = None
        wanted = FIRST_ROWS * len(basis) + 50
        first = rows.sample(wanted) if rows.count > wanted else np.arange(rows.count)
        sample.active = np.union1d(first, sample.columns.rows)
        if not len(basis):
            return self._all_zero()
        coordinates = self._first_coordinates()
        while True:
            sample.tick()
            if self.judge.refinements > REFINEMENTS:
                verdict = self.judge.judge_exactly(sample.take(sample.active))
                if verdict is not None:
                    return verdict
                continue
            taken, seen = sample.show(coordinates)
            if not np.isfinite(seen).all():
                # sizes beyond what floating point can hold: only fractions can
                self.judge.refinements = REFINEMENTS + 1
                continue
            leaning = None if self.judge.level or self.judge.refinements else lean(seen, start, sample.deadline)
            if leaning is not None and leaning.multipliers is not None:
                verdict = self.findings.overlap(taken, leaning.multipliers)
                if verdict is not None:
                    return verdict
            if leaning is not None and leaning.separates:
                start = leaning.direction
                integers = coordinates.direction(leaning.direction)
                if sample.scouted(integers):
                    continue
                everywhere = sides(rows, integers, near=sample.more() // 2)
                if everywhere.complete:
                    return self.findings.complete(integers, everywhere)
                if sample.enlist(*everywhere.offending(level=True), everywhere.near):
                    continue
            start = None
            try:
                answer = solve_alternative(seen, sample.deadline)
            except Unsolved:
                self.judge.refinements = REFINEMENTS + 1
                continue
            verdict, coordinates = self.judge.weigh(taken, seen, answer, coordinates)
            if verdict is not None:
                return verdict

    def _first_coordinates(self) -> Coordinates:
        """Single columns; where these nearly depend on each other, directions in which the rows are orthonormal."""
        sample = self.sample
        assert sample.columns is not None
        coordinates = Coordinates.plain(sample.take(sample.active), sample.columns.basis)
        while True:
            taken, seen = sample.show(coordinates)
            if not self.judge.nearly_dependent(seen, HIDDEN):
                return coordinates
            self.judge.whitenings += 1
            coordinates = coordinates.whitened(taken, seen)

    def _decide_many(self) -> Separability | None:
        """Many classes: a direction that a few reads of the table suggest, where samples of signed rows are large."""
        rows = self.sample.rows
        few = min(rows.count, FIRST_ROWS * rows.width + 50)
        if few * float(rows.width) < MANY_NUMBERS or rows.count > MOST_NUMBERS:
            return None
        for direction in rows.suggested():
            self.sample.tick()
            integers = scaled_integers(direction, 53)
            if any(integers):
                everywhere = sides(rows, integers)
                if everywhere.complete:
                    return self.findings.complete(integers, everywhere)
        return None

    def _decide_wide(self) -> Separability | None:
        """More columns than rows, or many: a direction from least squares often separates, and is quickly checked."""
        sample, rows = self.sample, self.sample.rows
        sample.active = np.arange(rows.count) if rows.count <= 4000 else rows.sample(4000)
        while True:
            sample.tick()
            taken = sample.take(sample.active)
            integers = scaled_integers(level_direction(taken), 53)
            if any(integers):
                everywhere = sides(rows, integers)
                if everywhere.complete:
                    with suppress(OutOfTime):
                        # rank and basis are a present to the reader: they are given if there is time
                        share = min(sample.deadline, time.monotonic() + RANK_SECONDS)
                        sample.columns = column_basis(rows, sample.order, share)
                    return self.findings.complete(integers, everywhere)
                which, margins, _ = everywhere.offending(level=True)
                new = np.setdiff1d(which[np.argsort(margins, kind="stable")[:1000]], sample.active)
                if len(new) and len(sample.active) + len(new) <= MOST_WIDE_ROWS:
                    sample.active = np.union1d(sample.active, new)
                    continue
            return None

    def _all_zero(self) -> Separability:
        """Rows without any column that is not zero: each balances itself."""
        return self.findings.verdict("overlap", balance=self.findings.zero_balance(np.zeros(1, dtype=np.int64)))
