"""A block: rows in memory, read where they lie, with their layout and names.

| input | layout | copied? |
|---|---|---|
| array of float32/64, integers, bool, any order or stride | dense | no |
| pandas, polars, Arrow tables | columns | no, except columns stored in an unusual way |
| CSR, CSC | csr, csc | no, if indices are sorted and unique |
| other sparse formats, object arrays, lists, float16, longdouble | as above | once, reported |
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from separatrix import kernels
from separatrix.core.arrays import AnyArray, Matrix, Positions
from separatrix.core.errors import InputError, InputTypeError, refuse
from separatrix.engines.memory.frames import frame_pieces


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of numbers in one of four layouts; ``source`` is the object they live in."""

    rows: kernels.Rows
    layout: str
    source: Any
    stored: int
    names: Sequence[str] | None = None
    copies: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows.n, self.rows.d

    @property
    def sparse(self) -> bool:
        """Whether zeros are left out."""
        return self.layout in ("csr", "csc")

    @property
    def entries_per_row(self) -> float:
        """Stored numbers per row, on average."""
        return self.stored / max(self.rows.n, 1)

    def take(self, which: Positions) -> Any:
        """Copy some rows: a float64 array, or a sparse matrix."""
        if self.sparse:
            return self.source[which].tocsr()
        return kernels.gather(self.rows, np.ascontiguousarray(which, dtype=np.int64))

    def pick(self, which: Positions) -> Any:
        """Copy some rows in the type they are stored in, where that is one type; else as ``take`` does."""
        if self.layout == "dense":
            return np.ascontiguousarray(self.source[which])
        return self.take(which)

    def as_stored(self, first: int = 0, last: int | None = None) -> Any:
        """Rows first … last−1 in the type and layout they are stored in, as a view of an array; else a copy."""
        end = self.shape[0] if last is None else last
        if self.layout == "dense" or (first == 0 and end == self.shape[0] and self.sparse):
            return self.source[first:end] if self.layout == "dense" else self.source
        return self.take(np.arange(first, end))

    def written_out(self) -> Matrix:
        """All rows as a float64 array."""
        if self.sparse:
            return np.asarray(self.source.toarray(), dtype=np.float64)
        return np.asarray(self.take(np.arange(self.shape[0])))

    def scores(self, points: Matrix, probabilities: bool = False) -> Matrix:
        """⟨x, w⟩ + b of every row at each point, or both probabilities at one: without an engine for so little."""
        out = np.empty((self.rows.n, 2 if probabilities else len(points)))
        kernels.score(self.rows, points, True, probabilities, out, self.entries_per_row)
        return out

    def values(self) -> Iterator[AnyArray]:
        """All stored floats as they lie, some at a time; of whole numbers none, and a table of columns is read."""
        if self.layout == "columns":
            yield from (part for _, part in self.read())
        elif self.source.dtype.kind == "f":
            step = max(1, 2**20 // self.shape[1])
            parts = range(0, self.shape[0], step)
            yield from (self.source[k : k + step] for k in parts) if self.layout == "dense" else (self.source.data,)

    def read(self) -> Iterator[tuple[int, Any]]:
        """All rows, some at a time, each time with the number of the first; sparse ones as a whole, by row."""
        n, d = self.shape
        if self.sparse:  # to slice compressed columns again and again takes longer than to turn them
            yield 0, self.source.tocsr()
            return
        step = max(1, 2**20 // d)
        for first in range(0, n, step):
            yield first, self.take(np.arange(first, min(first + step, n)))

    def part(self, which: slice) -> "Block":
        """Consecutive rows as a view; not of columns of a sparse matrix, which would have to be copied."""
        if self.layout == "csr":
            starts = self.source.indptr[which.start : which.stop + 1]
            begin, end = int(starts[0]), int(starts[-1])
            source = type(self.source)((len(starts) - 1, self.shape[1]), dtype=self.source.dtype)
            # not through the constructor, which copies a view of less than half of an array
            source.data, source.indices = self.source.data[begin:end], self.source.indices[begin:end]
            source.indptr = starts - starts[0]
            return replace(self, rows=_sparse_rows(source), source=source, stored=end - begin, copies=[])
        if self.layout == "dense":
            source = self.source[which]
            return replace(self, rows=kernels.dense_rows(source), source=source, stored=source.size, copies=[])
        source = self.source.iloc[which] if hasattr(self.source, "iloc") else self.source[which]
        return replace(block_of(source), names=self.names, copies=[])

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the columns, or their numbers."""
        if self.names is not None:
            return tuple(map(str, self.names))
        return tuple(f"column {j}" for j in range(self.shape[1]))

    def column_name(self, column: int) -> str:
        """How errors call a column."""
        return f"Column {self.names[column]!r}" if self.names is not None else f"Column {column}"


def block_of(X: Any) -> Block:
    """Wrap any table of numbers.

    >>> block_of(np.eye(3, dtype=np.float32, order="F")).layout
    'dense'
    >>> block_of(scipy.sparse.eye_array(3, format="coo")).copies
    ['sparse coo turned into csr']
    """
    if scipy.sparse.issparse(X):
        return _sparse_block(X)
    if not isinstance(X, np.ndarray):
        pieces = frame_pieces(X)
        if pieces is not None:
            n, width = pieces.rows, len(pieces.columns)
            _check_shape((n, width))
            rows = kernels.column_rows(pieces.columns, n)
            return Block(rows, "columns", X, n * width, pieces.names, pieces.copies)
    return _dense_block(X)


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) == 1:
        raise InputError(
            "Expected 2D array, got 1D array instead.\n\nHint: Reshape your data: X.reshape(-1, 1) for one "
            "column, X.reshape(1, -1) for one row."
        )
    if len(shape) != 2:
        refuse(f"Found array with dim {len(shape)}.", "X must have two dimensions: rows and columns.")
    if shape[0] == 0:
        refuse(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required.",
            "check the filter that produced X.",
        )
    if shape[1] == 0:
        refuse(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.",
            "give at least one column.",
        )


def readable(dtype: np.dtype[Any]) -> bool:
    """Whether the kernels read this type as it is."""
    return dtype.kind in "iub" or (dtype.kind == "f" and dtype.itemsize in (4, 8))


def _dense_block(X: Any) -> Block:
    copies: list[str] = []
    if not isinstance(X, np.ndarray):
        if not (hasattr(X, "__array__") or hasattr(X, "__len__") or np.isscalar(X)):
            refuse(
                f"X is a {type(X).__name__}, which cannot be read as a table.",
                "pass an array, a data frame or a scipy.sparse matrix.",
                InputTypeError,
            )
        try:
            X = np.asarray(X)
        except ValueError as error:
            refuse(f"X cannot be read as rows of equal length: {error}.", "give every row as many numbers.")
    if isinstance(X, np.ma.MaskedArray):
        if np.ma.is_masked(X):
            refuse("X has masked values.", "fill or drop them first.")
        X = X.data
    if isinstance(X, np.matrix):  # its columns would be matrices again
        X = np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        _check_shape(X.shape)
    if not readable(X.dtype):
        X = as_float64(X, "X")
        copies.append("X converted to float64")
    return Block(kernels.dense_rows(X), "dense", X, X.size, None, copies)


def as_float64(values: AnyArray, what: str) -> Matrix:
    """Convert what is not plain numbers, or say why it cannot be."""
    if values.dtype.kind == "c":
        refuse(f"Complex data not supported: {what} has dtype {values.dtype}.", "use its real part.")
    if values.dtype.kind in "mMV":
        refuse(f"{what} has dtype {values.dtype}, which is not numeric.", "convert it to numbers first.")
    if values.dtype.kind == "O" and any(isinstance(v, complex) for v in values.ravel()):
        refuse(f"Complex data not supported: {what} holds complex numbers.", "use its real part.")
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        text = f"{what} holds values that are not numbers: {error}."
        hint = "encode categories as numbers, for example with sklearn.preprocessing.OneHotEncoder."
        refuse(text, hint, InputTypeError if isinstance(error, TypeError) else InputError)


def _sparse_block(X: Any) -> Block:
    copies: list[str] = []
    if X.ndim != 2 or 0 in X.shape:
        _check_shape(X.shape)
    if X.format not in ("csr", "csc"):
        copies.append(f"sparse {X.format} turned into csr")
        X = X.tocsr()
    if not readable(X.dtype):
        X = type(X)((as_float64(X.data, "X"), X.indices, X.indptr), shape=X.shape)
        copies.append("values of X converted to float64")
    X = _without_spare_room(X)
    rows = _sparse_rows(X)
    fault = kernels.sparse_fault(rows, X.nnz)
    if fault == "order":
        X = X.copy()
        X.sum_duplicates()
        copies.append(f"{X.format} indices sorted, repeated entries added up")
        rows = _sparse_rows(X)
        fault = kernels.sparse_fault(rows, X.nnz)
    if fault:
        refuse(
            f"The sparse matrix is broken: its {'indptr' if fault == 'starts' else 'indices'} are out of range.",
            "rebuild it; X.check_format() shows where.",
        )
    return Block(rows, X.format, X, int(X.nnz), None, copies)


def _without_spare_room(X: Any) -> Any:
    """Views of what is stored: arrays may be longer than that, which SciPy's own selection of rows does not expect."""
    stored = int(X.indptr[-1]) if len(X.indptr) else 0
    if len(X.indices) == stored == len(X.data) or not 0 <= stored <= min(len(X.indices), len(X.data)):
        return X
    return type(X)((X.data[:stored], X.indices[:stored], X.indptr), shape=X.shape, copy=False)


def _sparse_rows(X: Any) -> kernels.Rows:
    return kernels.sparse_rows(X.indptr, X.indices, X.data, X.shape, X.format == "csr")
