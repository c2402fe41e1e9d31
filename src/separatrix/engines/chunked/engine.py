"""The engine over blocks that lie apart: whatever is known of all rows is put together from what each block says.

Nothing here reads rows. A block is a ``MemoryEngine``; totals of blocks are merged in the tree of their spans, row
vectors stay block by block, a sample names rows and is copied from where they lie. What memory has beyond that, passes
that never leave compiled code and what is known of rows that are not read, is had for few rows only, which are joined.
Files and workers need blocks that come and go; the verbs stay these.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse

from separatrix import kernels
from separatrix.core.arrays import AnyArray, Codes, Matrix, Positions, Vector, Visits
from separatrix.core.protocols import Rowwise, Rule, Term
from separatrix.core.row_vector import RowVector
from separatrix.core.sweeping import Sketch, SweepState
from separatrix.core.total import merge_tree
from separatrix.engines.chunked.term_of_block import TermOfBlock
from separatrix.engines.memory.blocks import Block, block_of
from separatrix.engines.memory.engine import MemoryEngine
from separatrix.engines.memory.labelled import SAMPLE_ROWS, mean_sizes
from separatrix.kernels import stretches
from separatrix.kernels.columns import ColumnProblem
from separatrix.kernels.threads import one_blas_thread

WINDOW = 2**20
"""Numbers of the rows that are brought together for an ordered pass at a time."""


@dataclass(slots=True)
class ChunkedEngine:
    """Labelled rows in blocks, one after the other.

    >>> X, codes = np.arange(10.0)[:, None], np.arange(10, dtype=np.int32) % 2
    >>> engine = ChunkedEngine.cut(block_of(X), codes, 2, None, [3, 7])
    >>> [block.rows for block in engine.held], engine.take(np.array([8, 1])).ravel()
    ([3, 4, 3], array([8., 1.]))
    """

    held: tuple[MemoryEngine, ...]
    copies: list[str] = field(default_factory=list)
    _starts: Positions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kinds = {(block.columns_count, block.classes, block.sparse) for block in self.held}
        if len(kinds) != 1:
            raise ValueError(f"Blocks of one engine have one width, one number of classes and one layout, not {kinds}.")
        if any(block.weights is not None for block in self.held):
            self.held = tuple(
                replace(block, weights=np.ones(block.rows)) if block.weights is None else block for block in self.held
            )
        self._starts = np.cumsum([0, *(block.rows for block in self.held)], dtype=np.int64)

    @classmethod
    def cut(
        cls, block: Block, codes: Codes, classes: int, weights: Vector | None, edges: Iterable[int]
    ) -> "ChunkedEngine":
        """One block cut before the rows given; compressed columns are turned into rows first."""
        copies = block.copies
        if block.layout == "csc":
            block = block_of(block.source.tocsr())
            copies.append("csc turned into csr to be cut")
        n = block.shape[0]
        ends = sorted({0, n, *(edge for edge in edges if 0 < edge < n)})
        held = []
        for first, last in pairwise(ends):
            which = slice(first, last)
            own = None if weights is None else weights[which]
            held.append(MemoryEngine(block.part(which), codes[which], classes, own))
        return cls(tuple(held), copies)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self._starts[-1])

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.held[0].classes

    @property
    def columns_count(self) -> int:
        """Number of columns."""
        return self.held[0].columns_count

    @property
    def entries_per_row(self) -> float:
        """Stored numbers per row."""
        return sum(block.block.stored for block in self.held) / max(self.rows, 1)

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""
        return self.held[0].sparse

    @property
    def natural_type(self) -> Any:
        """float32 for arrays of float32, else float64."""
        return np.result_type(*(block.natural_type for block in self.held)).type

    @property
    def typical_sizes(self) -> Vector:
        """The mean |xⱼ| over some rows, spread over the data."""
        return mean_sizes(self.take(np.linspace(0, self.rows - 1, min(self.rows, SAMPLE_ROWS)).astype(np.int64)))

    @property
    def one_block(self) -> bool:
        """Whether all rows lie in one block."""
        return False

    @property
    def labels(self) -> RowVector:
        """The class of each row."""
        return RowVector(tuple(block.codes for block in self.held))

    @property
    def row_weights(self) -> RowVector | None:
        """The weight of each row; None when all are one."""
        weights = [block.weights for block in self.held if block.weights is not None]
        return RowVector(tuple(weights)) if weights else None

    @property
    def class_weights(self) -> Vector:
        """The weight of each class."""
        weights: Vector = np.sum([block.class_weights for block in self.held], axis=0)
        return weights

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(sum(block.weight for block in self.held))

    @property
    def smallest_weight(self) -> float:
        """The smallest weight that is not zero."""
        weights = self.row_weights
        if weights is None:
            return 1.0
        return min(block.smallest_weight for block in self.held)

    def total(self, term: Term, at: Matrix, groups: RowVector | None = None) -> Any:
        """Add ``term`` over all rows at the points ``at`` (K × p), for each group (0, 1, …) if given."""
        count = 1 if groups is None else 1 + max(int(part.max()) for part in groups.parts)
        with one_blas_thread():
            every = (
                total
                for k, block in enumerate(self.held)
                for total in block.totals(TermOfBlock(term, k), at, None if groups is None else groups.of(k), count)
            )
            return term.read(merge_tree(every))

    def laid(self, numbers: AnyArray) -> RowVector:
        """An array of a number (or several) for each row as a row vector."""
        return RowVector(tuple(np.split(numbers, self._starts[1:-1])))

    def room(self, shape: tuple[int, ...] = ()) -> RowVector:
        """A row vector to be filled."""
        return RowVector(tuple(block.room(shape).array() for block in self.held), len(shape))

    def collect(self, function: Callable[[MemoryEngine], AnyArray]) -> RowVector:
        """A plain function of labelled rows as a row vector."""
        return RowVector(tuple(block.collect(function).array() for block in self.held))

    def map(self, rowwise: Rowwise, at: Matrix) -> RowVector:
        """One output per row (n × outputs)."""
        return RowVector(tuple(block.numbers(rowwise, at) for block in self.held))

    def blocks(self) -> Iterator[MemoryEngine]:
        """The blocks that the rows lie in, each an engine of its own."""
        return iter(self.held)

    def parts(self) -> Iterator[tuple[slice, MemoryEngine]]:
        """Stretches of rows, each an engine of its own."""
        for start, block in zip(self._starts.tolist(), self.held, strict=False):
            for which, part in block.parts():
                yield slice(start + which.start, start + which.stop), part

    def stretches(self, rowwise: Rowwise, at: Matrix) -> Iterator[tuple[slice, Matrix]]:
        """Scores or lengths of some rows after others, with the rows that they are."""
        for start, block in zip(self._starts.tolist(), self.held, strict=False):
            for which, found in block.stretches(rowwise, at):
                yield slice(start + which.start, start + which.stop), found

    def values(self) -> Iterator[AnyArray]:
        """All stored floats as they lie, some at a time."""
        for block in self.held:
            yield from block.values()

    def written_out(self) -> Matrix:
        """All rows as a float64 array."""
        return np.concatenate([block.written_out() for block in self.held])

    def take(self, which: Positions) -> Any:
        """Some rows by number: a float64 array, or a sparse matrix."""
        return self._taken(which, lambda block, rows: block.take(rows))

    def read(self) -> Iterator[tuple[int, Any]]:
        """All rows, some at a time, each time with the number of the first."""
        for start, block in zip(self._starts.tolist(), self.held, strict=False):
            for first, rows in block.read():
                yield start + first, rows

    def column_name(self, column: int) -> str:
        """How errors call a column."""
        return self.held[0].column_name(column)

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the columns, or their numbers."""
        return self.held[0].titles

    def labels_of(self, which: Positions) -> Codes:
        """Their classes."""
        codes: Codes = self._taken(which, lambda block, rows: block.labels_of(rows))
        return codes

    def _taken(self, which: Positions, of: Callable[[MemoryEngine, Positions], Any]) -> Any:
        """What blocks say of some of their rows, in the order asked for."""
        place = np.searchsorted(self._starts, which, side="right") - 1
        found, asked = [], []
        for k in np.unique(place).tolist():
            mine = np.flatnonzero(place == k)
            found.append(of(self.held[k], np.asarray(which)[mine] - self._starts[k]))
            asked.append(mine)
        if not found:
            return of(self.held[0], np.asarray(which))
        back = np.argsort(np.concatenate(asked), kind="stable")
        return _stacked(found)[back]

    def joined(self) -> MemoryEngine:
        """All rows in one block: a copy."""
        return self.picked(np.arange(self.rows, dtype=np.int64))

    def picked(self, which: Positions) -> MemoryEngine:
        """Some rows by number, copied with their labels and weights."""
        rows = self._taken(which, lambda block, mine: block.block.pick(mine))
        weights = None
        if self.row_weights is not None:
            weights = self._taken(which, lambda block, mine: block.weights[mine])  # type: ignore[index]
        return MemoryEngine(block_of(rows), self.labels_of(which), self.classes, weights)

    def quick_start(
        self, begin: Vector, shift: Vector | None, strength: float, work: float, way: kernels.QuickWay
    ) -> kernels.Started:
        """The first passes of a fit to few rows, which are joined for it."""
        return self.joined().quick_start(begin, shift, strength, work, way)

    def on_columns(self, constant: bool, weight: float, ridge: float) -> ColumnProblem:
        """Columns are packed from one block: ``one_block`` says so beforehand."""
        raise NotImplementedError

    def visited(self, order: Visits | None, batch: int) -> Iterator[tuple[MemoryEngine, Visits | None]]:
        """The rows of an ordered pass, some after others brought together and visited as they come."""
        return self._windows(order, batch, 0, self.rows if order is None else len(order))

    def _windows(
        self, order: Visits | None, batch: int, first: int, last: int
    ) -> Iterator[tuple[MemoryEngine, Visits | None]]:
        step = batch * max(1, int(WINDOW / (self.entries_per_row + 1.0)) // batch)
        for begin in range(first, last, step):
            stop = min(begin + step, last)
            which = np.arange(begin, stop, dtype=np.int64) if order is None else order[begin:stop].astype(np.int64)
            yield self.picked(which), None

    def sweep(
        self, rule: Rule, state: SweepState, order: Visits | None = None, first: int = 0, last: int | None = None
    ) -> SweepState:
        """Visits first … last−1 of the order."""
        end = (self.rows if order is None else len(order)) if last is None else last
        for rows, _ in self._windows(order, rule.batch, first, end):
            rows.sweep(rule, state)
        return state

    def refer(self, rule: Rule, state: SweepState) -> None:
        """Nothing is known of rows that are not read: ``one_block`` says so beforehand."""
        raise NotImplementedError

    def sketch(self) -> Sketch | None:
        """None: a sketch is for a table in memory."""
        return None

    def brackets(self, point: Vector, constant: bool) -> Iterator[tuple[slice, Vector, Vector]]:
        """⟨v, x⟩ and Σ|vⱼxⱼ| of some rows after others, with the rows that they are."""
        for start, block in zip(self._starts.tolist(), self.held, strict=False):
            for which, product, size in block.brackets(point, constant):
                yield slice(start + which.start, start + which.stop), product, size

    def exact_products(self, which: Positions, parts: AnyArray, constant: bool) -> Matrix:
        """⟨v, x⟩ of some rows for each v, a sum of parts, rounded once."""
        found: Matrix = self._taken(which, lambda block, rows: block.exact_products(rows, parts, constant))
        return found

    def spread(self, count: int) -> Positions:
        """The numbers of so many rows of positive weight, evenly spread over them."""
        weights = self.row_weights
        return stretches.evenly(None if weights is None else [part > 0 for part in weights.parts], self.rows, count)

    def sample(self, count: int, seed: int) -> MemoryEngine:
        """Copy ``count`` rows of positive weight, the same as of one block."""
        labels = self.labels
        live = None if self.row_weights is None else self.row_weights.each(lambda part: part > 0)

        def belonging(code: int) -> tuple[AnyArray, ...]:
            return labels.each(lambda codes, alive: (codes == code) & (True if alive is None else alive), live).parts

        return self.picked(stretches.spread(belonging, self.classes, self.rows, count, seed))

    def thinned(self, step: int) -> MemoryEngine:
        """As many rows as every so many are, drawn and copied."""
        return self.sample(self.rows // step, 0)

    def columns(self, which: Positions) -> Any:
        """A few columns, packed."""
        packed = _stacked([block.columns(which) for block in self.held])
        return packed.tocsc() if self.sparse else np.asfortranarray(packed)

    def stretch(self, first: int, last: int) -> Any:
        """Columns first … last−1, packed."""
        return _stacked([block.stretch(first, last) for block in self.held])

    def narrow(self, which: Positions) -> Self:
        """An engine over a few columns, same rows, labels and weights."""
        return type(self)(tuple(block.narrow(which) for block in self.held), self.copies)

    def reweighted(self, weights: RowVector) -> Self:
        """An engine over the same rows and labels with other weights."""
        if weights.sizes != self.labels.sizes:
            raise ValueError(f"Weights of {weights.sizes} rows do not belong to blocks of {self.labels.sizes}.")
        return type(self)(tuple(block.reweighted(weights.of(k)) for k, block in enumerate(self.held)), self.copies)

    def rewritten(self, rows: Any) -> Self:
        """An engine over other rows for the same labels and weights."""
        whole = block_of(rows)
        parts = (whole.part(slice(first, last)) for first, last in pairwise(self._starts.tolist()))
        held = (replace(block, block=part) for block, part in zip(self.held, parts, strict=True))
        return type(self)(tuple(held), self.copies)


def _stacked(found: list[Any]) -> Any:
    """Arrays, or sparse matrices, below each other."""
    if len(found) == 1:
        return found[0]
    if scipy.sparse.issparse(found[0]):
        return scipy.sparse.vstack(found, format="csr")
    return np.concatenate(found)
