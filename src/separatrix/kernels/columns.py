"""Some columns of a table, packed one after the other: the logistic loss on them and its quadratic model.

What a Newton step with an L1 penalty needs, without the rows and without a Hessian: see ``column_model.hpp``.
"""

import numpy as np

from separatrix.core.arrays import Positions, Vector
from separatrix.core.lanes import THREAD_WORK, spans
from separatrix.core.protocols import Evaluation
from separatrix.kernels import Labels, Rows, _kernels
from separatrix.kernels.threads import thread_count

CALL_WORK = 5e7
"""Multiply-adds of a call: less than a tenth of a second."""

CONVERTED = 8.0
"""What a number that is copied costs, in multiply-adds."""


class ColumnProblem:
    """The average loss (Σ weights = ``weight``) with a ridge, on columns that are chosen anew now and then.

    A point holds one number per column and b′ = b + ⟨shift, w⟩ last, if there is a ``constant``.
    """

    def __init__(
        self, rows: Rows, labels: Labels, entries_per_row: float, weight: float, constant: bool, ridge: float
    ) -> None:
        self._rows, self._entries, self._ridge, self._constant = rows, entries_per_row, ridge, constant
        self._held = _kernels.ColumnProblem(labels.codes, labels.weights, weight, constant, ridge)
        for span in spans(rows.n, entries_per_row, 1):
            self._held.count(rows, span.first, span.last)

    def choose(self, which: Positions, shift: Vector) -> None:
        """Pack these columns, less the shift."""
        which = np.ascontiguousarray(which, dtype=np.int64)
        self._held.choose(self._rows, which, np.ascontiguousarray(shift))
        for span in spans(self._rows.n, CONVERTED * self._entries, 1):
            self._held.copy(self._rows, span.first, span.last)

    def evaluate(self, point: Vector) -> Evaluation:
        """Value and gradient; the curvatures of the rows are kept for ``step``."""
        loss, slope_size, gradient = self._held.evaluate(point, self._threads())
        weights = point[: len(point) - self._constant]
        gradient[: len(weights)] += self._ridge * weights
        value = loss + 0.5 * self._ridge * float(weights @ weights)
        return Evaluation(point, value, gradient, None, None, 0.0, slope_size, np.zeros((1, 1)), loss)

    def renew(self) -> Vector:
        """Build the model at the point that was evaluated last; its second derivatives, the constant at its best."""
        diagonal: Vector = self._held.renew(self._threads())
        return diagonal

    def step(self, here: Evaluation, penalty: Vector, tol: float, most_reads: float) -> Vector:
        """The step d that minimises ⟨g, d⟩ + ½⟨d, Hd⟩ + Σ penaltyⱼ|wⱼ + dⱼ|, up to gains of ``tol`` a sweep.

        Or where reading all columns ``most_reads`` times did not bring it there.
        """
        self._held.begin(here.gradient, here.point, penalty)
        work = most_reads * max(self._held.stored, len(penalty))
        while work > 0.0 and not self._held.descend(tol, min(work, CALL_WORK)):
            work -= CALL_WORK
        found: Vector = self._held.step()
        return found

    def _threads(self) -> int:
        return thread_count() if self._held.stored >= THREAD_WORK else 1
