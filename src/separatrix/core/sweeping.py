"""What an ordered pass carries from row to row: weights, counters, and what is known of rows not read."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from separatrix.core.arrays import Floats, Vector

Sketch = NDArray[np.int8]
"""A small table in a byte per number: whole numbers, and for each row their step and how far they are off."""

COUNTERS = ("visits", "mistakes", "error", "score", "last_mistake", "longest_run", "skipped", "truncated", "wrong")
"""Names of the kernel's counters, in its order."""


@dataclass(slots=True)
class SweepState:
    """Weights that an ordered pass changes in place, and what it counts on the way.

    ``point`` is (w, b). ``run_point`` holds the weights that went longest without a
    mistake, ``total`` what an average needs, ``lost`` what an L1 penalty took from each
    weight. With ``leeway``, ``lengths`` and ``reference`` rows may be skipped: row i is no
    mistake while ‖w − reference‖ < ``leeway[i]``, because its score can fall by at most its
    length times that; leeways are rounded down, lengths up. ``steps`` counts batches, where rows
    are visited in batches. With a ``sketch`` rows are looked at there first.

    >>> SweepState(np.zeros(3)).mistakes
    0
    """

    point: Vector
    counters: Vector = field(default_factory=lambda: np.zeros(len(COUNTERS)))
    run_point: Vector | None = None
    total: Vector | None = None
    lost: Vector | None = None
    leeway: Floats | None = None
    lengths: Floats | None = None
    reference: Vector | None = None
    sketch: Sketch | None = None
    epochs: int = 0
    steps: int = 0

    @property
    def visits(self) -> int:
        """Visits so far, rows that were skipped included."""
        return int(self.counters[0])

    @property
    def mistakes(self) -> int:
        """Updates so far."""
        return int(self.counters[1])

    @property
    def error(self) -> float:
        """Since it was last set to zero: Σ a·(margin − s·z) over the mistakes; of a descent Σ a·loss as met."""
        return float(self.counters[2])

    @property
    def wrong(self) -> float:
        """Since it was last set to zero: Σ a over the perceptron's visits that predicted the other class."""
        return float(self.counters[8])

    @property
    def score(self) -> float:
        """Z = ⟨w, x⟩ + b of the last row that was read."""
        return float(self.counters[3])

    @property
    def longest_run(self) -> int:
        """Most visits in a row without a mistake, among runs that ended in one."""
        return int(self.counters[5])

    @property
    def skipped(self) -> int:
        """Visits that needed no reading; a look at a sketch is an eighth of one."""
        return int(self.counters[6])

    def forget_leeway(self) -> None:
        """From here on every row is read."""
        self.leeway = self.reference = None
