"""Columns of pandas, polars and Arrow tables, each read in its own type where it lies."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.core.errors import InputError, InputTypeError, refuse

Piece = tuple[int, Any, int]
"""First row, array, and the bit offset of a bitmap or −1."""


@dataclass(slots=True)
class FramePieces:
    """The columns of a table: names, pieces of memory, and what had to be copied."""

    rows: int
    names: list[str]
    columns: list[list[Piece]] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)


def frame_pieces(X: Any) -> FramePieces | None:
    """The columns of a data frame, or None if X is not one."""
    library = type(X).__module__.partition(".")[0]
    kind = type(X).__name__
    if library == "polars" and kind == "LazyFrame":
        refuse("X is a polars LazyFrame, which holds no data yet.", "call X.collect() first.", InputTypeError)
    if library == "pandas" and kind == "DataFrame":
        frame = FramePieces(len(X), [str(name) for name in X.columns])
        for position, name in enumerate(frame.names):
            frame.columns.append(_pandas_column(X.iloc[:, position], name, frame.copies))
        return frame
    if library == "polars" and kind == "DataFrame":
        frame = FramePieces(X.height, list(X.columns))
        for series in X.get_columns():
            frame.columns.append(_polars_column(series, frame.copies))
        return frame
    if library == "pyarrow" and kind in ("Table", "RecordBatch"):
        frame = FramePieces(X.num_rows, list(X.schema.names))
        for position, name in enumerate(frame.names):
            column = X.column(position)
            frame.columns.append(_arrow_column(getattr(column, "chunks", [column]), name))
        return frame
    return None


def _missing(name: str, count: int, row: int) -> None:
    refuse(
        f"Column {name!r} has {count} missing values (first at row {row}): NaN or null.",
        "drop them, or impute with sklearn.impute.SimpleImputer in a Pipeline.",
    )


def _not_numeric(name: str, dtype: object) -> None:
    refuse(
        f"Column {name!r} has type {dtype}, which is not numeric.",
        "encode it, for example with sklearn.preprocessing.OneHotEncoder, or leave it out.",
        InputTypeError if "object" in str(dtype) else InputError,
    )


def _pandas_column(column: Any, name: str, copies: list[str]) -> list[Piece]:
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        values = column.to_numpy()
        if values.dtype.kind == "O":
            values = _from_objects(values, name)
            copies.append(f"column {name!r} converted from objects")
        elif values.dtype.kind not in "fiub":
            _not_numeric(name, dtype)
        elif values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
            values = values.astype(np.float64)
            copies.append(f"column {name!r} converted to float64")
        return [(0, values, -1)]
    absent = column.isna().to_numpy()
    if absent.any():
        _missing(name, int(absent.sum()), int(absent.argmax()))
    numpy_dtype = getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", None))
    if not isinstance(numpy_dtype, np.dtype) or numpy_dtype.kind not in "fiub":
        _not_numeric(name, dtype)
    copies.append(f"column {name!r} converted from {dtype}")
    return [(0, column.to_numpy(dtype=numpy_dtype), -1)]


def _from_objects(values: Any, name: str) -> Any:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        _not_numeric(name, "object")


def _polars_column(series: Any, copies: list[str]) -> list[Piece]:
    name = series.name
    if series.null_count():
        _missing(name, series.null_count(), int(series.is_null().arg_max()))
    if not (series.dtype.is_numeric() or str(series.dtype) == "Boolean") or series.dtype.is_decimal():
        _not_numeric(name, series.dtype)
    pieces: list[Piece] = []
    row = 0
    for chunk in series.get_chunks():
        if len(chunk):
            # A polars boolean is a bitmap that to_numpy turns into bytes.
            pieces.append((row, chunk.to_numpy(), -1))
            row += len(chunk)
    if str(series.dtype) == "Boolean":
        copies.append(f"column {name!r} turned from bits into bytes")
    return pieces


def _arrow_column(chunks: Any, name: str) -> list[Piece]:
    pieces: list[Piece] = []
    row = 0
    for chunk in chunks:
        if not len(chunk):
            continue
        if chunk.null_count:
            first = next(k for k, valid in enumerate(chunk.is_valid()) if not valid.as_py())
            _missing(name, chunk.null_count, row + first)
        kind = str(chunk.type)
        data = chunk.buffers()[-1]
        if kind == "bool":
            pieces.append((row, np.frombuffer(data, dtype=np.uint8), chunk.offset))
        else:
            if kind not in ("float", "double") and "int" not in kind:
                _not_numeric(name, kind)
            dtype = np.dtype({"float": "float32", "double": "float64"}.get(kind, kind))
            values = np.frombuffer(data, dtype=dtype)[chunk.offset : chunk.offset + len(chunk)]
            pieces.append((row, values, -1))
        row += len(chunk)
    return pieces
