"""Labelled rows as signed rows: the geometry of separability.

Two classes: yᵢ = sᵢ·(xᵢ, 1). More classes (softmax, or several scores): one signed row for each
row and each wrong class k, with (xᵢ, 1) in the place of the row's own class and −(xᵢ, 1)
in the place of k; the first class has no place, since only differences of scores count.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Never

import numpy as np

from separatrix.core.arrays import AnyArray, Codes, Matrix, Positions, Vector
from separatrix.core.errors import refuse
from separatrix.core.protocols import Engine
from separatrix.exact.arithmetic import powers_of_two
from separatrix.kernels.stretches import ranked
from separatrix.models.labels import refuse_not_finite
from separatrix.models.separability.class_directions import directions
from separatrix.solvers.largest_margin import widest_corridor

MOST_WRITTEN = 2**26
"""Numbers in a table up to which it is written out for a quick look."""


def _different(codes: Codes) -> list[int]:
    """The codes that occur, ascending."""
    if not len(codes):
        return []
    low, high = int(codes.min()), int(codes.max())
    return [low] if low == high else [low, high] if high - low == 1 else np.unique(codes).tolist()


def _sample(codes: Codes, count: int) -> Positions:
    chosen = []
    for code in _different(codes):
        belongs = codes == code
        members = int(np.count_nonzero(belongs))
        wanted = min(members, max(1, round(count * members / len(codes))))
        # evenly spread over the members
        chosen.append(ranked([belongs], np.arange(wanted, dtype=np.int64) * members // wanted))
    return np.sort(np.concatenate(chosen))


def _with_constant(taken: Any, constant: bool) -> Matrix:
    values = np.asarray(taken.toarray() if hasattr(taken, "toarray") else taken, dtype=np.float64)
    return np.hstack([values, np.ones((len(values), 1))]) if constant else values


@dataclass(slots=True)
class TwoClassRows:
    """sᵢ·(xᵢ, 1) over the rows ``members`` of a table; ``codes`` 1 for s = +1."""

    table: Engine
    codes: Codes
    constant: bool
    members: Positions | None = None
    per_row: int = field(default=1, init=False)

    @property
    def count(self) -> int:
        """How many."""
        return len(self.codes)

    @property
    def width(self) -> int:
        """Columns, with the constant as the last where there is one."""
        return self.table.columns_count + self.constant

    @property
    def order(self) -> Positions:
        """The constant first, then the columns as they come."""
        return np.roll(np.arange(self.width), int(self.constant))

    @property
    def is_weight(self) -> AnyArray:
        """Which columns are not the constant."""
        return np.arange(self.width) < self.table.columns_count

    def data_row(self, which: Positions) -> Positions:
        """Row numbers in the user's table."""
        return which if self.members is None else self.members[which]

    def take(self, which: Positions) -> Matrix:
        """Some of them, exact."""
        taken = _with_constant(self.table.take(self.data_row(which)), self.constant)
        taken[self.codes[which] != 1] *= -1.0
        return taken

    def bracket(self, direction: Vector) -> tuple[Vector, Vector]:
        """All ⟨yᵢ, v⟩ in floating point, and Σ|yᵢⱼvⱼ|."""
        product, size = np.empty(self.count), np.empty(self.count)
        for rows, products, sizes in self.brackets(direction):
            product[rows], size[rows] = products, sizes
        return product, size

    def brackets(self, direction: Vector) -> Iterator[tuple[slice, Vector, Vector]]:
        """The same for some rows after others, with the rows that they are."""
        done = 0
        for which, product, size in self.table.brackets(direction, self.constant):
            if self.members is not None:
                begin, end = np.searchsorted(self.members, (which.start, which.stop))
                inside = self.members[begin:end] - which.start
                product, size = product[inside], size[inside]
            rows = slice(done, done + len(product))
            product[self.codes[rows] != 1] *= -1.0
            yield rows, product, size
            done = rows.stop

    def _signs(self, which: Positions) -> Vector:
        return np.where(self.codes[which] == 1, 1.0, -1.0)

    def exact(self, which: Positions, parts: Matrix) -> Vector:
        """⟨yᵢ, v⟩ of some of them for v = the sum of parts, rounded once."""
        exact = self.table.exact_products(self.data_row(which), parts[None], self.constant)
        return np.asarray(self._signs(which) * exact[:, 0])

    def sample(self, count: int) -> Positions:
        """Some of them, the classes in proportion."""
        return _sample(self.codes, count)

    def suggested(self) -> Iterator[Vector]:
        """None: of two classes a sample is looked at first."""
        yield from ()

    def widest(self, rows: Matrix) -> tuple[Vector, Vector]:
        """Direction and multipliers of the widest corridor through some of them."""
        if self.constant and (self.codes == self.codes[0]).all():
            refuse("Only one class is there.", "a margin lies between two classes.")
        # values of about one: their squares neither overflow nor underflow
        scale = np.ones(self.width)
        scale[self.is_weight] = powers_of_two(np.abs(rows[:, self.is_weight]).max(initial=0.0, keepdims=True).ravel())
        corridor = widest_corridor(rows * scale, self.constant)
        return corridor.direction * scale, corridor.multipliers

    def refuse_not_finite(self) -> Never:
        """Name the NaN or infinity that a pass met."""
        refuse_not_finite(self.table)


@dataclass(slots=True)
class ManyClassRows:
    """One signed row per row and wrong class, in the order of the rows."""

    table: Engine
    codes: Codes
    classes: int
    constant: bool
    members: Positions | None = None

    @property
    def count(self) -> int:
        """How many."""
        return len(self.codes) * (self.classes - 1)

    @property
    def per_row(self) -> int:
        """Signed rows for each row of the table."""
        return self.classes - 1

    @property
    def _p(self) -> int:
        return self.table.columns_count + self.constant

    @property
    def width(self) -> int:
        """Columns with the constant, for every class but the first."""
        return self._p * (self.classes - 1)

    @property
    def order(self) -> Positions:
        """The constants first, then columns as they come, class by class."""
        places = np.arange(self.width).reshape(self.classes - 1, -1)
        return np.roll(places, int(self.constant), axis=1).T.ravel()

    @property
    def is_weight(self) -> AnyArray:
        """Which columns are not the constant."""
        return np.arange(self.width) % self._p < self.table.columns_count

    def data_row(self, which: Positions) -> Positions:
        """Row numbers in the user's table."""
        rows = which // (self.classes - 1)
        return rows if self.members is None else self.members[rows]

    def _pairs(self, which: Positions) -> tuple[AnyArray, AnyArray]:
        """The row's own class and the wrong one."""
        own = self.codes[which // (self.classes - 1)]
        wrong = which % (self.classes - 1)
        return own, np.where(wrong >= own, wrong + 1, wrong)

    def take(self, which: Positions) -> Matrix:
        """Some of them, exact."""
        rows, inverse = np.unique(self.data_row(which), return_inverse=True)
        values = _with_constant(self.table.take(rows), self.constant)[inverse]
        own, wrong = self._pairs(which)
        out = np.zeros((len(which), self.classes, self._p))
        every = np.arange(len(which))
        out[every, own] = values
        out[every, wrong] = -values
        return out[:, 1:].reshape(len(which), self.width)

    def bracket(self, direction: Vector) -> tuple[Vector, Vector]:
        """All ⟨yᵢ, v⟩ in floating point, and Σ|yᵢⱼvⱼ|."""
        points = np.vstack([np.zeros(self._p), direction.reshape(self.classes - 1, -1)])
        score, size = np.empty((self.table.rows, len(points))), np.empty((self.table.rows, len(points)))
        for k, point in enumerate(points):
            for which, products, sizes in self.table.brackets(point, self.constant):
                score[which, k], size[which, k] = products, sizes
        if self.members is not None:
            score, size = score[self.members], size[self.members]
        every = np.arange(len(self.codes))[:, None]
        wrong = np.arange(self.classes - 1) + (np.arange(self.classes - 1) >= self.codes[:, None])
        own = self.codes[:, None]
        return (score[every, own] - score[every, wrong]).ravel(), (size[every, own] + size[every, wrong]).ravel()

    def brackets(self, direction: Vector) -> Iterator[tuple[slice, Vector, Vector]]:
        """The same, all at once."""
        yield slice(0, self.count), *self.bracket(direction)

    def exact(self, which: Positions, parts: Matrix) -> Vector:
        """⟨yᵢ, v⟩ of some of them for v = the sum of parts, rounded once."""
        weights = np.concatenate([np.zeros((len(parts), 1, self._p)), parts.reshape(len(parts), -1, self._p)], axis=1)
        own, wrong = self._pairs(which)
        rows = self.data_row(which)
        out = np.empty(len(which))
        if not len(which):
            return out
        order = np.lexsort((wrong, own))
        starts = np.flatnonzero(np.diff(own[order], prepend=-1) | np.diff(wrong[order], prepend=-1))
        for mine in np.split(order, starts[1:]):
            a, b = own[mine[0]], wrong[mine[0]]
            difference = np.concatenate([weights[:, a], -weights[:, b]])
            out[mine] = self.table.exact_products(rows[mine], difference[None], self.constant)[:, 0]
        return out

    def sample(self, count: int) -> Positions:
        """All wrong classes of some rows, the classes in proportion."""
        wrong = self.classes - 1
        rows = _sample(self.codes, max(1, count // wrong))
        return (rows[:, None] * wrong + np.arange(wrong)).ravel()

    def refuse_not_finite(self) -> Never:
        """Name the NaN or infinity that a pass met."""
        refuse_not_finite(self.table)

    def suggested(self) -> Iterator[Vector]:
        """Directions that may separate them, from a few reads of the table; none where that is large."""
        rows = np.arange(len(self.codes)) if self.members is None else self.members
        if len(rows) * self._p > MOST_WRITTEN or (np.bincount(self.codes, minlength=self.classes) == 0).any():
            return
        yield from directions(
            _with_constant(self.table.take(rows), self.constant), self.codes, self.classes, self.constant
        )

    def widest(self, rows: Matrix) -> tuple[Vector, Vector]:
        """Not asked for: a corridor lies between two classes."""
        raise NotImplementedError


@dataclass(slots=True)
class Narrowed:
    """Signed rows with zeros in the columns ``aside``: what a verdict that leaves them out is about."""

    whole: TwoClassRows | ManyClassRows
    aside: Positions

    @property
    def count(self) -> int:
        """How many."""
        return self.whole.count

    @property
    def width(self) -> int:
        """Columns, those set aside included."""
        return self.whole.width

    @property
    def order(self) -> Positions:
        """The columns set aside come last."""
        order = self.whole.order
        return np.concatenate([order[~np.isin(order, self.aside)], self.aside])

    @property
    def members(self) -> Positions | None:
        """The rows of the table they come from; None for all."""
        return self.whole.members

    @property
    def per_row(self) -> int:
        """Signed rows for each row of the table."""
        return self.whole.per_row

    @property
    def is_weight(self) -> AnyArray:
        """Which columns are not the constant."""
        return self.whole.is_weight

    def take(self, which: Positions) -> Matrix:
        """Some of them, exact."""
        taken = self.whole.take(which)
        taken[:, self.aside] = 0.0
        return taken

    def bracket(self, direction: Vector) -> tuple[Vector, Vector]:
        """All ⟨yᵢ, v⟩ in floating point, and Σ|yᵢⱼvⱼ|."""
        seen = direction.copy()
        seen[self.aside] = 0.0
        return self.whole.bracket(seen)

    def brackets(self, direction: Vector) -> Iterator[tuple[slice, Vector, Vector]]:
        """The same for some rows after others, with the rows that they are."""
        seen = direction.copy()
        seen[self.aside] = 0.0
        return self.whole.brackets(seen)

    def exact(self, which: Positions, parts: Matrix) -> Vector:
        """⟨yᵢ, v⟩ of some of them for v = the sum of parts, rounded once."""
        seen = parts.copy()
        seen[:, self.aside] = 0.0
        return self.whole.exact(which, seen)

    def sample(self, count: int) -> Positions:
        """Some of them, the classes in proportion."""
        return self.whole.sample(count)

    def suggested(self) -> Iterator[Vector]:
        """Directions that may separate them, with no weight on the columns set aside."""
        for direction in self.whole.suggested():
            direction[self.aside] = 0.0
            yield direction

    def widest(self, rows: Matrix) -> tuple[Vector, Vector]:
        """Direction and multipliers of the widest corridor through some of them."""
        return self.whole.widest(rows)

    def refuse_not_finite(self) -> Never:
        """Name the NaN or infinity that a pass met."""
        self.whole.refuse_not_finite()


def narrowed(rows: TwoClassRows | ManyClassRows, aside: tuple[int, ...]) -> TwoClassRows | ManyClassRows | Narrowed:
    """The rows without some columns of the table; with K classes each has a place for every class but the first."""
    if not aside:
        return rows
    places = np.arange(rows.width).reshape(rows.per_row if isinstance(rows, ManyClassRows) else 1, -1)
    return Narrowed(rows, np.sort(places[:, list(aside)].ravel()))
