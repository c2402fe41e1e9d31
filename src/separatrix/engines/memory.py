"""The engine in memory, over arrays, data frames and sparse matrices."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import Codes, Matrix, Positions, Vector, Visits
from separatrix.core.lanes import Span, spans
from separatrix.core.protocols import Rowwise, Rule, Term
from separatrix.core.sweeping import Sketch, SweepState
from separatrix.core.total import merge_tree
from separatrix.engines.blocks import Block, block_of
from separatrix.engines.lengths import squared_lengths
from separatrix.kernels import stretches
from separatrix.kernels.columns import ColumnProblem
from separatrix.kernels.threads import one_blas_thread

PART = 2**20
"""Rows of a part, for whose numbers there is room beside the data."""

MOST_SKETCHED = 2**25
"""Bytes that a sketch may have: it stays in the processor's cache, or nearly."""


@dataclass(slots=True)
class MemoryEngine:
    """Labelled rows in memory.

    ``codes`` holds each row's class as 0 … classes−1; ``weights`` may be None.
    ``copies`` lists what had to be copied; it is empty for most inputs.
    """

    block: Block
    codes: Codes
    classes: int = 2
    weights: Vector | None = None
    _row_order: Block | None = field(default=None, init=False, repr=False)
    _sketch: Sketch | None = field(default=None, init=False, repr=False)

    @property
    def copies(self) -> list[str]:
        """What had to be copied."""
        return self.block.copies

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.block.shape[0]

    @property
    def columns_count(self) -> int:
        """Number of columns."""
        return self.block.shape[1]

    @property
    def entries_per_row(self) -> float:
        """Stored numbers per row."""
        return self.block.entries_per_row

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""
        return self.block.sparse

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.rows) if self.weights is None else float(self.weights.sum())

    @property
    def smallest_weight(self) -> float:
        """The smallest weight that is not zero."""
        return 1.0 if self.weights is None else float(self.weights[self.weights > 0].min())

    def total(self, term: Term, at: Matrix, folds: Codes | None = None) -> Any:
        """Add ``term`` over all rows at the points ``at`` (K × p), for each fold if given."""
        fold_count = 1 if folds is None else int(folds.max()) + 1
        labels = kernels.Labels(self.codes, self.weights, folds, fold_count)
        kernel = kernels.total_kernel(term.kernel, self.block.layout)
        size = term.width(self.columns_count) * len(at) * fold_count
        work = term.work(self.entries_per_row, self.columns_count) * len(at)
        options = term.options()
        cut = spans(self.rows, work, size)
        with one_blas_thread():
            return term.read(merge_tree(kernel(self.block.rows, labels, at, options, span) for span in cut))

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

    def _by_rows(self) -> Block:
        """The block itself; columns stored one after the other are turned into rows once."""
        if self.block.layout != "csc":
            return self.block
        if self._row_order is None:
            self._row_order = block_of(self.block.source.tocsr())
            self.copies.append("csc turned into csr for an ordered pass")
        return self._row_order

    def map(self, rowwise: Rowwise, at: Matrix) -> Matrix:
        """One output per row (n × outputs)."""
        options = rowwise.options()
        if rowwise.kernel == "mapped_lengths":
            return squared_lengths(self.block, at, options["constant"], options["shift"])[:, None]
        out = np.empty((self.rows, rowwise.outputs(len(at))))
        if rowwise.kernel == "spreads":
            scale, full = options["scale"], options["full"]
            kernels.spreads(self.block.rows, self.codes, at, scale, full, out.ravel(), self.entries_per_row)
        elif rowwise.kernel == "lengths":
            kernels.lengths(self._by_rows().rows, options["constant"], out.ravel(), self.entries_per_row)
        else:
            kernels.score(self.block.rows, at, options["constant"], options["probabilities"], out, self.entries_per_row)
        return out

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

    def stretches(self, rowwise: Rowwise, at: Matrix) -> Iterator[tuple[slice, Matrix]]:
        """Scores or lengths of some rows after others, with the rows that they are."""
        options, entries = rowwise.options(), self.entries_per_row
        block = self._by_rows() if rowwise.kernel == "lengths" else self.block
        for first, last in stretches.stretches(self.rows, self.block.layout):
            if rowwise.kernel == "lengths":
                out = stretches.lengths(block.rows, options["constant"], first, last, entries)[:, None]
            else:
                chances = options["probabilities"]
                out = stretches.scores(block.rows, at, options["constant"], first, last, entries, chances)
            yield slice(first, last), out

    def sample(self, count: int, seed: int) -> Self:
        """Copy ``count`` rows of positive weight, evenly spread over each class in proportion to its size."""
        draw = np.random.default_rng(seed)
        chosen = []
        for code in range(self.classes):
            belongs = self.codes == code
            if self.weights is not None:
                belongs &= self.weights > 0
            members = int(np.count_nonzero(belongs))
            wanted = min(members, max(1, round(count * members / self.rows)))
            if members:
                # one from each of `wanted` stretches with whole edges: a row is never taken twice,
                # or the sample's Hessian would not be part of the whole one
                edges = np.arange(wanted + 1, dtype=np.int64) * members // wanted
                widths = np.diff(edges)
                inside = np.minimum((draw.random(wanted) * widths).astype(np.int64), widths - 1)
                chosen.append(stretches.ranked(belongs, edges[:-1] + inside))
        which = np.sort(np.concatenate(chosen))
        weights = None if self.weights is None else self.weights[which]
        return type(self)(block_of(self.block.pick(which)), self.codes[which], self.classes, weights)

    def thinned(self, step: int) -> Self:
        """Every so many rows, where they lie; copied where they do not lie in one array."""
        if self.block.layout != "dense":
            return self.sample(self.rows // step, 0)
        weights = None if self.weights is None else np.ascontiguousarray(self.weights[::step])
        codes = np.ascontiguousarray(self.codes[::step])
        return type(self)(block_of(self.block.source[::step]), codes, self.classes, weights)

    def columns(self, which: Positions) -> Any:
        """A few columns: packed in column order, in the type of an array or as float64, or CSC for sparse rows."""
        if self.block.sparse:
            return self.block.source.tocsc()[:, which]
        if self.block.layout == "dense":
            source = self.block.source
            packed = np.empty((self.rows, len(which)), dtype=source.dtype, order="F")
            for place, column in enumerate(which):
                packed[:, place] = source[:, column]
            return packed
        packed = np.empty((self.rows, len(which)), order="F")
        step = max(1, 2**20 // self.columns_count)
        for first in range(0, self.rows, step):
            rows = np.arange(first, min(first + step, self.rows))
            packed[rows] = self.block.take(rows)[:, which]
        return packed

    def stretch(self, first: int, last: int) -> Any:
        """Columns first … last−1, as a view where that can be had."""
        if self.block.layout == "dense":
            return self.block.source[:, first:last]
        if self.block.sparse:
            return self.block.source[:, first:last]
        return self.columns(np.arange(first, last))

    def narrow(self, which: Positions) -> Self:
        """An engine over a few columns, same rows, labels and weights."""
        return type(self)(block_of(self._packed(which)), self.codes, self.classes, self.weights)

    def _packed(self, which: Positions) -> Any:
        """A few columns in the order in which rows are stored, so that they are read and written in one sweep."""
        source = self.block.source
        if self.block.layout == "csr" or (self.block.layout == "dense" and source.flags.c_contiguous):
            return source[:, which] if self.block.sparse else np.take(source, which, axis=1, mode="clip")
        return self.columns(which)

    def reweighted(self, weights: Vector) -> Self:
        """An engine over the same rows and labels with other weights."""
        return type(self)(self.block, self.codes, self.classes, weights)
