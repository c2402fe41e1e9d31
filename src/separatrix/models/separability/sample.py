"""The rows that a search for a verdict looks at: a sample that grows by those it gets wrong."""

import time
from dataclasses import dataclass, field

import numpy as np

from separatrix.core.arrays import Matrix, Positions, Vector
from separatrix.core.errors import OutOfTime
from separatrix.core.protocols import SignedRows
from separatrix.exact.arithmetic import Integers, rounded
from separatrix.exact.coordinates import Coordinates
from separatrix.models.separability.column_basis import ColumnBasis, check_room

SCOUT_SIZE = 2**22
"""Numbers in the rows on which a direction is tried first, where there are many more."""


@dataclass(slots=True)
class Sample:
    """All signed rows, those ``active`` among them, and the columns' basis once it is known."""

    rows: SignedRows
    deadline: float
    columns: ColumnBasis | None = None
    active: Positions = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    order: Positions = field(init=False)
    shown: tuple[Coordinates, Positions, Matrix] | None = None
    """Rows as they were seen last: in exact coordinates that takes time."""
    scouts: tuple[Positions, Matrix] | None = None

    def __post_init__(self) -> None:
        self.order = self.rows.order

    def tick(self) -> None:
        """OutOfTime past the deadline."""
        if time.monotonic() > self.deadline:
            raise OutOfTime

    def take(self, which: Positions) -> Matrix:
        """Some of the rows, all finite."""
        check_room(self.rows, len(which))
        taken = self.rows.take(which)
        if not np.isfinite(taken).all():
            self.rows.refuse_not_finite()
        return taken

    def show(self, coordinates: Coordinates) -> tuple[Matrix, Matrix]:
        """The active rows, and how they are seen in the coordinates."""
        taken = self.take(self.active)
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

    def more(self) -> int:
        """How many rows are added to the sample at a time."""
        assert self.columns is not None
        return 4 * self.columns.rank + 100

    def enlist(self, which: Positions, margins: Vector, sizes: Vector, near: Positions | None = None) -> bool:
        """Add rows on the wrong side to the sample: the worst, and some spread over all of them.

        Where they are few, those too that are ``near`` to the wrong side: they would be on it next time.
        """
        new = ~np.isin(which, self.active)
        which, margins, sizes = which[new], margins[new], sizes[new]
        if not len(which):
            return False
        limit = self.more()
        relative = margins / np.maximum(sizes, 1e-300)
        worst = which[np.argsort(relative, kind="stable")[: limit // 2]]
        spread = which[np.arange(min(limit // 2, len(which))) * len(which) // min(limit // 2, len(which))]
        self.active = np.union1d(self.active, np.union1d(worst, spread))
        if near is not None and len(which) < limit // 2:
            self.active = np.union1d(self.active, near)
        return True

    def scouted(self, integers: Integers) -> bool:
        """Try a direction on some of many rows before all are read; True when offenders were found there."""
        if self.rows.count * self.rows.width < SCOUT_SIZE * 8:
            return False
        if self.scouts is None:
            which = self.rows.sample(SCOUT_SIZE // self.rows.width)
            self.scouts = which, self.take(which)
        which, taken = self.scouts
        direction = rounded(integers)
        margins = taken @ direction
        offending = np.flatnonzero(margins <= 0.0)
        if len(offending) < 10:
            return False
        sizes = np.abs(taken[offending]) @ np.abs(direction)
        return self.enlist(which[offending], margins[offending], sizes)
