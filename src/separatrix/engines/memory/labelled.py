"""A labelled block: rows where they lie, with their classes and weights, and all that is read of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix import kernels
from separatrix.core.arrays import AnyArray, Codes, Matrix, Positions, Vector, Visits
from separatrix.core.protocols import Rowwise
from separatrix.engines.memory.blocks import Block, block_of
from separatrix.engines.memory.lengths import squared_lengths
from separatrix.engines.memory.typed_rows import RowSource, natural_type
from separatrix.kernels import stretches
from separatrix.kernels.network import Visits as NetworkVisits

SAMPLE_ROWS = 64
"""Rows that tell how large a typical one is."""


@dataclass(slots=True)
class LabelledRows:
    """Labelled rows in one block.

    ``codes`` holds each row's class as 0 … classes−1; ``weights`` may be None.
    """

    block: Block
    codes: Codes
    classes: int = 2
    weights: Vector | None = None
    _row_order: Block | None = field(default=None, init=False, repr=False)
    _typed: RowSource | None = field(default=None, init=False, repr=False)

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
    def natural_type(self) -> Any:
        """float32 for an array of float32, else float64."""
        return natural_type(self.block)

    @property
    def typical_sizes(self) -> Vector:
        """The mean |xⱼ| over some rows, spread over the data; of sparse columns over all."""
        n = self.rows
        if self.block.layout == "csc":
            return np.asarray(abs(self.block.source).sum(axis=0), dtype=np.float64).ravel() / n
        return mean_sizes(self.take(np.linspace(0, n - 1, min(n, SAMPLE_ROWS)).astype(np.int64)))

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the columns, or their numbers."""
        return self.block.titles

    def column_name(self, column: int) -> str:
        """How errors call a column."""
        return self.block.column_name(column)

    @property
    def class_weights(self) -> Vector:
        """The weight of each class."""
        return np.bincount(self.codes, self.weights, minlength=self.classes).astype(np.float64)

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.rows) if self.weights is None else float(self.weights.sum())

    @property
    def smallest_weight(self) -> float:
        """The smallest weight that is not zero."""
        return 1.0 if self.weights is None else float(self.weights[self.weights > 0].min(initial=np.inf))

    def read(self) -> Iterator[tuple[int, Any]]:
        """All rows, some at a time, each time with the number of the first."""
        return self.block.read()

    def values(self) -> Iterator[AnyArray]:
        """All stored floats as they lie, some at a time."""
        return self.block.values()

    def written_out(self) -> Matrix:
        """All rows as a float64 array."""
        return self.block.written_out()

    def take(self, which: Positions) -> Any:
        """Some rows by number: a float64 array, or a sparse matrix."""
        return self.block.take(which)

    def labels_of(self, which: Positions) -> Codes:
        """Their classes."""
        return self.codes[which]

    def picked(self, which: Positions) -> Self:
        """Some rows by number, copied with their labels and weights."""
        weights = None if self.weights is None else self.weights[which]
        return type(self)(block_of(self.block.pick(which)), self.codes[which], self.classes, weights)

    def numbers(self, rowwise: Rowwise, at: Matrix) -> Matrix:
        """One output per row, as an array."""
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

    def brackets(self, point: Vector, constant: bool) -> Iterator[tuple[slice, Vector, Vector]]:
        """⟨v, x⟩ and Σ|vⱼxⱼ| of some rows after others, with the rows that they are."""
        for first, last in stretches.stretches(self.rows, self.block.layout):
            found = stretches.brackets(self.block.rows, point, constant, first, last, self.entries_per_row)
            yield slice(first, last), *found

    def exact_products(self, which: Positions, parts: AnyArray, constant: bool) -> Matrix:
        """⟨v, x⟩ of some rows for each v, a sum of parts (vectors × parts × p), rounded once."""
        return kernels.exact_products(self.block.rows, which, parts, constant)

    def typed(self, dtype: Any) -> RowSource:
        """The rows in one type."""
        if self._typed is None or self._typed.dtype != dtype:
            self._typed = RowSource(self.block, dtype)
        return self._typed

    def visits(self, dtype: Any, order: Visits | None) -> NetworkVisits:
        """The rows with their labels, in an order, as the compiled passes of a network read them."""
        return NetworkVisits(self.typed(dtype).view, kernels.Labels(self.codes, self.weights), order)

    def stored_in(self, classes: int) -> AnyArray:
        """How many rows of each class store a value of each column (K × d); of sparse rows."""
        source, d = self.block.source, self.columns_count
        lines = np.repeat(np.arange(len(source.indptr) - 1), np.diff(source.indptr))
        rows, columns = (source.indices, lines) if self.block.layout == "csc" else (lines, source.indices)
        places = self.codes[rows].astype(np.int64) * d + columns
        return np.bincount(places, minlength=classes * d).reshape(classes, d)

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

    def _packed(self, which: Positions) -> Any:
        """A few columns in the order in which rows are stored, so that they are read and written in one sweep."""
        source = self.block.source
        if self.block.layout == "csr" or (self.block.layout == "dense" and source.flags.c_contiguous):
            return source[:, which] if self.block.sparse else np.take(source, which, axis=1, mode="clip")
        return self.columns(which)

    def _by_rows(self) -> Block:
        """The block itself; columns stored one after the other are turned into rows once."""
        if self.block.layout != "csc":
            return self.block
        if self._row_order is None:
            self._row_order = block_of(self.block.source.tocsr())
            self.copies.append("csc turned into csr for an ordered pass")
        return self._row_order


def mean_sizes(rows: Any) -> Vector:
    """The mean |xⱼ| of rows that are a copy of ours."""
    sizes = np.abs(rows, out=rows) if isinstance(rows, np.ndarray) else abs(rows)
    return np.asarray(sizes.mean(axis=0), dtype=np.float64).ravel()
