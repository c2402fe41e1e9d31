"""Columns of tables: half floats are read, what is no number is refused by name."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from separatrix.core.errors import InputError
from separatrix.engines import block_of

HALF = np.array([1.0, 2.5, -3.0], dtype=np.float16)
ARROW = {
    "dictionary of numbers": pa.array([1, 2, 1]).dictionary_encode(),
    "dictionary of text": pa.array(["a", "b", "a"]).dictionary_encode(),
    "list": pa.array([[1], [2], [3]]),
    "fixed list": pa.array([[1, 2]] * 3, type=pa.list_(pa.int64(), 2)),
    "struct": pa.array([{"a": 1}] * 3),
    "map": pa.array([[("a", 1)]] * 3, type=pa.map_(pa.string(), pa.int64())),
    "interval": pa.array([(1, 2, 3)] * 3, type=pa.month_day_nano_interval()),
    "run ends": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([1.5, 2.5])),
    "decimal": pa.array([decimal.Decimal("1.5")] * 3),
    "date": pa.array([datetime.date(2020, 1, 1)] * 3),
    "extension": pa.array([b"0" * 16] * 3, type=pa.uuid()),
    "binary": pa.array([b"a"] * 3),
}
FRAMES = {
    **{f"arrow {kind}": pa.table({"ok": [1.0, 2.0, 3.0], "odd": column}) for kind, column in ARROW.items()},
    "pandas interval": pd.DataFrame({"ok": [1.0, 2, 3], "odd": pd.interval_range(0, 3)}),
    "pandas period": pd.DataFrame({"ok": [1.0, 2, 3], "odd": pd.period_range("2020", periods=3)}),
    "pandas lists": pd.DataFrame({"ok": [1.0, 2, 3], "odd": [[1], [2], [3]]}),
    "polars Int128": pl.DataFrame({"ok": [1.0, 2, 3], "odd": pl.Series([1, 2, 3], dtype=pl.Int128)}),
    "polars list": pl.DataFrame({"ok": [1.0, 2, 3], "odd": [[1], [2], [3]]}),
    "polars enum": pl.DataFrame({"ok": [1.0, 2, 3], "odd": pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b"]))}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_that_is_no_number_is_refused_by_name(kind):
    with pytest.raises((InputError, TypeError), match="Column 'odd' has type"):
        block_of(FRAMES[kind])


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"ok": [1.0, 2.0, 3.0], "half": pa.array(HALF)}),
        pd.DataFrame({"ok": [1.0, 2, 3], "half": HALF}),
        pd.DataFrame({"ok": [1.0, 2, 3], "half": pd.array(HALF, dtype=pd.ArrowDtype(pa.float16()))}),
        pl.DataFrame({"ok": [1.0, 2, 3], "half": pl.Series(HALF)}),
    ],
    ids=["arrow", "pandas", "pandas arrow", "polars"],
)
def test_half_floats_are_read_and_the_copy_is_reported(frame):
    block = block_of(frame)
    np.testing.assert_array_equal(block.take(np.arange(3))[:, 1], HALF.astype(float))


def test_ragged_rows_are_refused():
    with pytest.raises(InputError, match="rows of equal length"):
        block_of([[1, 2], [3]])
