"""The engine in memory: all rows in one block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import AnyArray, Matrix, Positions, Vector, Visits
from separatrix.core.lanes import Span, spans
from separatrix.core.protocols import Rowwise, Rule, Term
from separatrix.core.row_vector import RowVector
from separatrix.core.sweeping import Sketch, SweepState
from separatrix.core.total import Total, merge_tree
from separatrix.engines.memory.blocks import block_of
from separatrix.engines.memory.labelled import LabelledRows
from separatrix.kernels import stretches
from separatrix.kernels.columns import ColumnProblem
from separatrix.kernels.threads import one_blas_thread

PART = 2**20
"""Rows of a part, for whose numbers there is room beside the data."""

MOST_SKETCHED = 2**25
"""Bytes that a sketch may have: it stays in the processor's cache, or nearly."""


@dataclass(slots=True)
class MemoryEngine(LabelledRows):
    """Labelled rows in memory; ``copies`` lists what had to be copied, and is empty for most inputs."""

    _sketch: Sketch | None = field(default=None, init=False, repr=False)

    @property
    def one_block(self) -> bool:
        """Whether all rows lie in one block."""
        return True

    @property
    def labels(self) -> RowVector:
        """The class of each row."""
        return RowVector((self.codes,))

    @property
    def row_weights(self) -> RowVector | None:
        """The weight of each row; None when all are one."""
        return None if self.weights is None else RowVector((self.weights,))

    def total(self, term: Term, at: Matrix, groups: RowVector | None = None) -> Any:
        """Add ``term`` over all rows at the points ``at`` (K × p), for each group (0, 1, …) if given."""
        count = 1 if groups is None else 1 + int(groups.array().max())
        with one_blas_thread():
            return term.read(merge_tree(self.totals(term, at, groups, count)))

    def totals(self, term: Term, at: Matrix, groups: RowVector | None, count: int) -> Iterator[Total]:
        """The totals of the spans, to be merged in this order."""
        own = None if groups is None else groups.array()
        labels = kernels.Labels(self.codes, self.weights, own, count)
        kernel = kernels.total_kernel(term.kernel, self.block.layout, own is not None)
        size = term.width(self.columns_count) * len(at) * count
        work = term.work(self.entries_per_row, self.columns_count) * len(at)
        options = {
            name: value.array() if isinstance(value, RowVector) else value for name, value in term.options().items()
        }
        for span in spans(self.rows, work, size):
            yield kernel(self.block.rows, labels, at, options, span)

    def laid(self, numbers: AnyArray) -> RowVector:
        """An array of a number (or several) for each row as a row vector."""
        return RowVector((numbers,))

    def room(self, shape: tuple[int, ...] = ()) -> RowVector:
        """A row vector to be filled: ``shape`` numbers per row, the rows last."""
        return RowVector((np.empty((*shape, self.rows)),), len(shape))

    def collect(self, function: Callable[[Self], AnyArray]) -> RowVector:
        """A plain function of labelled rows, made part by part, as a row vector."""
        made: AnyArray | None = None
        for which, part in self.parts():
            given = function(part)
            if part.rows == self.rows:
                return RowVector((given,))
            if made is None:
                made = np.empty((self.rows, *given.shape[1:]), given.dtype)
            made[which] = given
        assert made is not None
        return RowVector((made,))

    def quick_start(
        self, begin: Vector, shift: Vector | None, strength: float, work: float, way: kernels.QuickWay
    ) -> kernels.Started:
        """The first passes of a penalised logistic fit of two classes, without returning between them.

        ``work`` is what a row costs in one of them, in multiply-adds; all rows are one block.
        """
        labels = kernels.Labels(self.codes, self.weights)
        constant = len(begin) > self.columns_count
        span = Span(0, self.rows, next(iter(spans(self.rows, work, len(begin)))).lanes, self.rows * work)
        with one_blas_thread():
            return kernels.quick_start(
                self.block.rows, labels, begin, shift, constant, self.weight, strength, way, span
            )

    def on_columns(self, constant: bool, weight: float, ridge: float) -> ColumnProblem:
        """The logistic loss of two classes on columns that are packed as they are chosen."""
        labels = kernels.Labels(self.codes, self.weights)
        return ColumnProblem(self.block.rows, labels, self.entries_per_row, weight, constant, ridge)

    def visited(self, order: Visits | None, batch: int) -> Iterator[tuple[Self, Visits | None]]:
        """The rows of an ordered pass: all of them, and their order."""
        yield self, order

    def sweep(
        self, rule: Rule, state: SweepState, order: Visits | None = None, first: int = 0, last: int | None = None
    ) -> SweepState:
        """Visits first … last−1 of the order (rows 0, 1, … if None), changing the state in place.

        Between blocks of about a tenth of a second Python answers signals.
        """
        block = self._by_rows()
        kernel = kernels.sweep_kernel(rule.kernel, block.layout)
        labels = kernels.Labels(self.codes, self.weights)
        end = (self.rows if order is None else len(order)) if last is None else last
        batch = rule.batch
        for span in spans(-(-(end - first) // batch), batch * (self.entries_per_row + 8.0), 1):
            start, stop = first + batch * span.first, min(first + batch * span.last, end)
            kernel(block.rows, labels, rule, state, order, start, stop)
        return state

    def refer(self, rule: Rule, state: SweepState) -> None:
        """Take the state's point as its reference: every row's leeway and length, in one pass."""
        if state.leeway is None or state.lengths is None:
            state.leeway, state.lengths = np.empty(self.rows, np.float32), np.empty(self.rows, np.float32)
        labels = kernels.Labels(self.codes, self.weights)
        kernels.leeways(self._by_rows().rows, labels, rule, state, self.entries_per_row)

    def sketch(self) -> Sketch | None:
        """The rows in a byte per number, where that is no more than 32 MiB; None for sparse rows and short numbers."""
        block = self.block
        short = block.layout == "dense" and block.source.dtype.itemsize < 4
        if block.sparse or short or self.rows * (self.columns_count + 32) > MOST_SKETCHED:
            return None
        if self._sketch is None:
            self._sketch = kernels.sketch(block.rows, self.columns_count, self.entries_per_row)
        return self._sketch

    def map(self, rowwise: Rowwise, at: Matrix) -> RowVector:
        """One output per row (n × outputs)."""
        return RowVector((self.numbers(rowwise, at),))

    def blocks(self) -> Iterator[Self]:
        """The blocks that the rows lie in, each an engine of its own: this one."""
        yield self

    def parts(self) -> Iterator[tuple[slice, Self]]:
        """Stretches of ``PART`` rows, as views; all rows at once where they lie column by column in a sparse matrix.

        >>> engine = MemoryEngine(block_of(np.zeros((3, 2))), np.zeros(3, dtype=np.int32))
        >>> [(which, part.rows) for which, part in engine.parts()]
        [(slice(0, 3, None), 3)]
        """
        if self.rows <= PART or self.block.layout == "csc":
            yield slice(0, self.rows), self
            return
        for first in range(0, self.rows, PART):
            which = slice(first, min(first + PART, self.rows))
            weights = None if self.weights is None else self.weights[which]
            yield which, type(self)(self.block.part(which), self.codes[which], self.classes, weights)

    def spread(self, count: int) -> Positions:
        """The numbers of so many rows of positive weight, evenly spread over them."""
        return stretches.evenly(None if self.weights is None else (self.weights > 0,), self.rows, count)

    def sample(self, count: int, seed: int) -> Self:
        """Copy ``count`` rows of positive weight, evenly spread over each class in proportion to its size."""

        def belonging(code: int) -> tuple[AnyArray, ...]:
            belongs = self.codes == code
            if self.weights is not None:
                belongs &= self.weights > 0
            return (belongs,)

        return self.picked(stretches.spread(belonging, self.classes, self.rows, count, seed))

    def thinned(self, step: int) -> Self:
        """Every so many rows where they lie in one array; else as many, drawn and copied."""
        if self.block.layout != "dense":
            return self.sample(self.rows // step, 0)
        weights = None if self.weights is None else np.ascontiguousarray(self.weights[::step])
        codes = np.ascontiguousarray(self.codes[::step])
        return type(self)(block_of(self.block.source[::step]), codes, self.classes, weights)

    def narrow(self, which: Positions) -> Self:
        """An engine over a few columns, same rows, labels and weights."""
        return type(self)(block_of(self._packed(which)), self.codes, self.classes, self.weights)

    def reweighted(self, weights: RowVector) -> Self:
        """An engine over the same rows and labels with other weights."""
        if weights.sizes != (self.rows,):
            raise ValueError(f"Weights of {weights.sizes} rows do not belong to one block of {self.rows}.")
        return type(self)(self.block, self.codes, self.classes, weights.array())

    def rewritten(self, rows: Any) -> Self:
        """An engine over other rows for the same labels and weights: the same ones written in another way."""
        return type(self)(block_of(rows), self.codes, self.classes, self.weights)
