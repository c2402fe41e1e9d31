"""Hypothesis strategies: the same numbers in every layout the engine reads."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
from hypothesis import strategies as st

DTYPES = ["float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool"]


def values(n: int, d: int, dtype: str, seed: int) -> np.ndarray:
    """Small numbers of a type, some of them zero."""
    draw = np.random.default_rng(seed)
    X = np.round(draw.normal(size=(n, d)) * 3, 2) * (draw.random((n, d)) < 0.7)
    return np.abs(X).astype(dtype) if dtype.startswith(("u", "b")) else X.astype(dtype)


def unaligned(X: np.ndarray) -> np.ndarray:
    buffer = np.zeros(X.nbytes + 1, dtype=np.uint8)
    out = np.frombuffer(buffer.data, dtype=X.dtype, count=X.size, offset=1).reshape(X.shape)
    out[...] = X
    return out


def read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.setflags(write=False)
    return X


def strided(X: np.ndarray) -> np.ndarray:
    big = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    big[::2, ::3] = X
    return big[::2, ::3]


def mixed_frame(X: np.ndarray) -> dict[str, np.ndarray]:
    return {f"c{j}": X[:, j].astype(X.dtype if j % 2 else "float64") for j in range(X.shape[1])}


def chunked(table: pa.Table) -> pa.Table:
    half = len(table) // 2
    return pa.concat_tables([table.slice(0, half), table.slice(half)])


def wide_indices(S):
    S = S.copy()
    S.indices = S.indices.astype(np.int64)
    S.indptr = S.indptr.astype(np.int64)
    return S


LAYOUTS = {
    "c": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "strided": strided,
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "unaligned": unaligned,
    "read-only": read_only,
    "swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "csr": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
    "csr64": lambda X: wide_indices(sp.csr_array(X)),
    "csc64": lambda X: wide_indices(sp.csc_array(X)),
    "coo": sp.coo_array,
    "pandas": lambda X: pd.DataFrame(mixed_frame(X)),
    "pandas-block": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(mixed_frame(X)),
    "polars-chunks": lambda X: pl.concat(
        [pl.DataFrame(mixed_frame(X[: len(X) // 2])), pl.DataFrame(mixed_frame(X[len(X) // 2 :]))], rechunk=False
    ),
    "arrow": lambda X: pa.table(mixed_frame(X)),
    "arrow-chunks": lambda X: chunked(pa.table(mixed_frame(X))),
    "arrow-slice": lambda X: pa.table(mixed_frame(np.vstack([X[:3], X]))).slice(min(3, len(X))),
}


@st.composite
def labelled(draw, rows=(1, 70), columns=(1, 9)):
    """(values, codes, weights or None, point) of one small problem."""
    n, d, seed = draw(st.integers(*rows)), draw(st.integers(*columns)), draw(st.integers(0, 2**32 - 1))
    X = values(n, d, draw(st.sampled_from(DTYPES)), seed)
    generator = np.random.default_rng(seed + 1)
    codes = generator.integers(0, 2, n).astype(np.int32)
    weights = generator.integers(0, 4, n).astype(np.float64) if draw(st.booleans()) else None
    point = generator.normal(size=d + 1) * draw(st.sampled_from([0.0, 0.3, 3.0, 100.0]))
    return X, codes, weights, point
