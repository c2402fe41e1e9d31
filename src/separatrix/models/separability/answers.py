"""What follows from the linear program's answer: a verdict, more rows, or finer coordinates."""

from dataclasses import dataclass, field

import numpy as np

from separatrix.certificates.separability import Separability, lowest_terms
from separatrix.certificates.sides import exact_margins, sides
from separatrix.certificates.witness import MOST_WHITENED, MOST_WHITENINGS, Balance, digests
from separatrix.core.arrays import AnyArray, Matrix, Positions, Vector
from separatrix.exact.alternative import exact_alternative
from separatrix.exact.arithmetic import Integers, combination, integer_products, nearest_float, rounded, scaled_integers
from separatrix.exact.coordinates import Coordinates
from separatrix.models.separability.column_basis import column_basis, ordered_null_space
from separatrix.models.separability.findings import ROUNDING_BITS, Findings
from separatrix.models.separability.sample import Sample
from separatrix.solvers.alternative import Alternative
from separatrix.solvers.leaning import lean

MODERATE = 1e-2
"""Columns that depend on each other less than this are left as they are when a program's answer does not hold."""


@dataclass(slots=True)
class Judge:
    """The linear program's answer holds for the sample; all rows must agree, exactly."""

    findings: Findings
    sample: Sample = field(init=False)
    level: bool = False
    """Whether the linear program found rows that only a hyperplane through them can hold: then ``lean`` cannot help."""
    reordered: bool = False
    refinements: int = 0
    whitenings: int = 0

    def __post_init__(self) -> None:
        self.sample = self.findings.sample

    def weigh(
        self, taken: Matrix, seen: Matrix, answer: Alternative, coordinates: Coordinates
    ) -> tuple[Separability | None, Coordinates]:
        """A verdict from the linear program's answer; or None, and more rows or finer coordinates."""
        rows = self.sample.rows
        held = answer.overlapping
        if held.all():
            verdict = self.findings.overlap(taken, answer.multipliers)
            if verdict is not None:
                return verdict, coordinates
            return None, self._refine(taken, seen, answer, coordinates)
        if not held.any():
            integers = coordinates.direction(answer.direction)
            everywhere = sides(rows, integers)
            if everywhere.complete:
                return self.findings.complete(integers, everywhere), coordinates
            if self.sample.enlist(*everywhere.offending(level=True)):
                return None, coordinates
            return None, self._refine(taken, seen, answer, coordinates)
        return self._judge_quasi(taken, seen, answer, coordinates)

    def _judge_quasi(
        self, taken: Matrix, seen: Matrix, answer: Alternative, coordinates: Coordinates
    ) -> tuple[Separability | None, Coordinates]:
        sample = self.sample
        rows = sample.rows
        assert sample.columns is not None
        self.level = True
        approximate = coordinates.direction(answer.direction)
        margins, sizes = rows.bracket(rounded(approximate))
        clearly = np.flatnonzero(margins < -1e-9 * sizes)
        if len(clearly) and sample.enlist(clearly, margins[clearly], sizes[clearly]):
            return None, coordinates
        held = np.flatnonzero(answer.overlapping)
        # dependences of all rows are no directions: only those within the basis are
        within = sample.order[np.isin(sample.order, sample.columns.basis)]
        null = ordered_null_space(rows, sample.active[held], within, sample.deadline)
        vectors, inner = null.vectors, null.basis
        if not vectors:
            return None, self._refine(taken, seen, answer, coordinates)
        integers = self._direction_within(vectors, approximate, taken, answer.overlapping)
        if integers is None:
            return None, self._refine(taken, seen, answer, coordinates)
        everywhere = sides(rows, integers)
        if (everywhere.signs < 0).any():
            if sample.enlist(*everywhere.offending(level=False)):
                return None, coordinates
            return None, self._refine(taken, seen, answer, coordinates)
        level = np.flatnonzero(everywhere.signs == 0)
        outside = np.zeros(len(level), dtype=bool)
        for vector in vectors:
            outside |= exact_margins(rows, level, vector) != 0.0
        if outside.any():
            new = np.setdiff1d(level[outside][:: max(1, int(outside.sum()) // 50)], sample.active)
            if len(new):
                sample.active = np.union1d(sample.active, new)
                return None, coordinates
            return None, self._refine(taken, seen, answer, coordinates)
        if not len(inner):
            balance: Balance | None = self.findings.zero_balance(sample.active[held][:1])
        else:
            balance = self.findings.balance(taken[held], answer.multipliers[held], inner, sample.active[held])
        if balance is None:
            return None, self._refine(taken, seen, answer, coordinates)
        if sample.columns.dependences and not self.reordered:
            return None, self._reorder(taken, answer.overlapping)
        return self.findings.quasi(integers, everywhere, vectors, balance), coordinates

    def judge_exactly(self, taken: Matrix) -> Separability | None:
        """The linear program in fractions on the sample; None when more rows are needed."""
        sample, rows = self.sample, self.sample.rows
        assert sample.columns is not None
        basis = sample.columns.basis
        answer = exact_alternative(taken[:, basis].tolist(), range(len(taken)), sample.deadline)
        integers = [0] * rows.width
        for column, entry in zip(basis, answer.direction, strict=True):
            integers[int(column)] = entry
        held = np.array([value > 0 for value in answer.multipliers])
        everywhere = sides(rows, integers) if any(integers) else None
        if everywhere is not None:
            if sample.enlist(*everywhere.offending(level=not held.any())):
                return None
            if not held.any():
                return self.findings.complete(integers, everywhere)
        positions = sample.active[held]
        null = ordered_null_space(rows, positions, sample.order[np.isin(sample.order, basis)], sample.deadline)
        vectors, inner = null.vectors, null.basis
        if everywhere is not None:
            level = np.flatnonzero(everywhere.signs == 0)
            apart = [level[exact_margins(rows, level, vector) != 0.0] for vector in vectors]
            new = np.setdiff1d(np.concatenate([a[:50] for a in apart]), sample.active) if apart else level[:0]
            if len(new):
                sample.active = np.union1d(sample.active, new)
                return None
        balance = (
            self._exact_balance(positions, inner, null.rows)
            if len(inner)
            else self.findings.zero_balance(positions[:1])
        )
        if everywhere is None or not vectors:
            return self.findings.verdict("overlap", balance=balance)
        return self.findings.quasi(integers, everywhere, vectors, balance)

    def _exact_balance(self, positions: Positions, inner: Positions, independent: Positions) -> Balance:
        """Integer multipliers on few rows: the independent ones, and at most as many others."""
        taken = self.sample.rows.take(positions)
        answer = exact_alternative(taken[:, inner].tolist(), independent.tolist(), self.sample.deadline)
        which = np.flatnonzero([value > 0 for value in answer.multipliers])
        whole = tuple(lowest_terms([answer.multipliers[k] for k in which]))
        order = np.argsort(positions[which])
        which, whole = which[order], tuple(whole[k] for k in order)
        return Balance(positions[which], rounded(whole), inner, digests(taken[which]), whole)

    def _reorder(self, taken: Matrix, held: AnyArray) -> Coordinates:
        """Where columns depend on each other, those that only separated rows use enter the basis first.

        Then as few coefficients as possible run away: a rare category, not all others of its factor.
        """
        sample, rows = self.sample, self.sample.rows
        self.reordered = True
        apart = np.asarray(~taken[held].any(axis=0))
        sample.order = np.concatenate(
            [
                rows.order[apart[rows.order]],
                rows.order[~apart[rows.order]],
            ]
        )
        sample.columns = column_basis(rows, sample.order, sample.deadline)
        sample.active = np.union1d(sample.active, sample.columns.rows)
        return Coordinates.plain(rows.take(sample.active), sample.columns.basis)

    def _direction_within(
        self, vectors: list[Integers], wanted: Integers, taken: Matrix, held: AnyArray
    ) -> Integers | None:
        """A combination of the null vectors, with as few bits as will do, that separates the sample's other rows."""
        table = np.column_stack([rounded(vector) for vector in vectors])
        lengths = [max(abs(e).bit_length() for e in vector) for vector in vectors]
        target = rounded(wanted)
        factors: Vector = np.asarray(np.linalg.lstsq(table, target, rcond=None)[0], dtype=np.float64)
        # each null vector was divided by a power of two of its own
        shared = max(lengths)
        for bits in ROUNDING_BITS:
            whole = [f << (shared - length) for f, length in zip(scaled_integers(factors, bits), lengths, strict=True)]
            integers = combination(vectors, whole)
            if any(integers) and all(value > 0 for value in integer_products(taken[~held], integers)):
                return integers
        return self._leaning_within(vectors, taken[~held])

    def _leaning_within(self, vectors: list[Integers], apart: Matrix) -> Integers | None:
        """The same where the null vectors are nearly parallel: in coordinates that make the rows orthonormal."""
        coordinates = Coordinates.along(apart, vectors)
        for _ in range(1 + MOST_WHITENINGS):
            self.sample.tick()
            seen = coordinates.apply(apart)
            if not np.isfinite(seen).all() or len(seen) < len(vectors) or len(vectors) > MOST_WHITENED:
                return None
            integers = coordinates.direction(lean(seen, deadline=self.sample.deadline).direction)
            if any(integers) and all(value > 0 for value in integer_products(apart, integers)):
                return integers
            coordinates = coordinates.whitened(apart, seen)
        return None

    def _refine(self, taken: Matrix, seen: Matrix, answer: Alternative, coordinates: Coordinates) -> Coordinates:
        """Finer coordinates: orthonormal ones, or the program's direction as one, to tell rows close to it apart."""
        if self.nearly_dependent(seen, MODERATE):
            self.whitenings += 1
            return coordinates.whitened(taken, seen)
        self.refinements += 1
        integers = coordinates.direction(answer.direction)
        if not any(integers):
            # nothing leans anywhere: the direction of least spread is the one that rounding hides
            sizes = np.abs(seen).max(axis=1, keepdims=True)
            least = np.linalg.svd(seen / np.where(sizes > 0, sizes, 1.0), full_matrices=False)[2][-1]
            answer = Alternative(answer.multipliers, least, answer.overlapping)
            integers = coordinates.direction(least)
        held = answer.overlapping

        def close(vector: Integers) -> Vector:
            near = taken[held] if held.any() else taken
            return np.array([nearest_float(value) for value in integer_products(near, vector)])

        return coordinates.refine(integers, answer.direction, close)

    def nearly_dependent(self, seen: Matrix, limit: float) -> bool:
        """Whether other coordinates would show the rows better, and there may be some more."""
        if self.whitenings >= MOST_WHITENINGS or seen.shape[1] > MOST_WHITENED or not np.isfinite(seen).all():
            return False
        return Coordinates.conditioning(seen) < limit
