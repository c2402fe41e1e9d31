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
        frame = FramePieces(len(X), _different([str(name) for name in X.columns]))
        for position, name in enumerate(frame.names):
            frame.columns.append(_pandas_column(X.iloc[:, position], name, frame.copies))
        return frame
    if library == "polars" and kind == "DataFrame":
        frame = FramePieces(X.height, list(X.columns))
        for series in X.get_columns():
            frame.columns.append(_polars_column(series, frame.copies))
        return frame
    if library == "pyarrow" and kind in ("Table", "RecordBatch"):
        frame = FramePieces(X.num_rows, _different(list(X.schema.names)))
        for position, name in enumerate(frame.names):
            column = X.column(position)
            frame.columns.append(_arrow_column(getattr(column, "chunks", [column]), name, frame.copies))
        return frame
    return None


def _different(names: list[str]) -> list[str]:
    """The names, if no two are alike: a certificate speaks of columns by name."""
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        refuse(f"{names.count(twice)} columns are named {twice!r}.", "give every column a name of its own.")
    return names


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
    if hasattr(dtype, "closed"):  # an interval has a numeric subtype and is no number
        _not_numeric(name, dtype)
    copies.append(f"column {name!r} converted from {dtype}")
    return [(0, _readable(column.to_numpy(dtype=numpy_dtype)), -1)]


def _readable(values: Any) -> Any:
    """Half floats as float64; everything else as it is."""
    return values.astype(np.float64) if values.dtype.kind == "f" and values.dtype.itemsize == 2 else values


def _from_objects(values: Any, name: str) -> Any:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        _not_numeric(name, "object")


def _polars_column(series: Any, copies: list[str]) -> list[Piece]:
    name = series.name
    if series.null_count():
        _missing(name, series.null_count(), int(series.is_null().arg_max()))
    kind = str(series.dtype)
    if not (series.dtype.is_numeric() or kind == "Boolean") or series.dtype.is_decimal() or "128" in kind:
        _not_numeric(name, series.dtype)
    pieces: list[Piece] = []
    row = 0
    for chunk in series.get_chunks():
        if len(chunk):
            # A polars boolean is a bitmap that to_numpy turns into bytes.
            pieces.append((row, _readable(chunk.to_numpy()), -1))
            row += len(chunk)
    if kind == "Boolean":
        copies.append(f"column {name!r} turned from bits into bytes")
    elif kind == "Float16":
        copies.append(f"column {name!r} converted to float64")
    return pieces


ARROW_TYPES = {
    "halffloat": "float16",
    "float": "float32",
    "double": "float64",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""Arrow's names of the types that can be read, beside bool, and NumPy's."""


def _arrow_column(chunks: Any, name: str, copies: list[str]) -> list[Piece]:
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
            if kind not in ARROW_TYPES:
                _not_numeric(name, kind)
            values = np.frombuffer(data, dtype=ARROW_TYPES[kind])[chunk.offset : chunk.offset + len(chunk)]
            if kind == "halffloat" and not pieces:
                copies.append(f"column {name!r} converted to float64")
            pieces.append((row, _readable(values), -1))
        row += len(chunk)
    return pieces
