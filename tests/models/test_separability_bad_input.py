"""A verdict on a table that is none: named by column and row, in every layout, whatever the verdict would have been."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tables
from separatrix import separability
from separatrix.core.errors import InputError

SHAPES = [(30, 3), (6, 10), (60, 2), (40, 1), (8, 30)]


def labelled(kind, n, d, classes, seed):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    if kind == "overlap":
        return X, np.arange(n) % classes
    if kind == "one class":
        return X, np.zeros(n, dtype=int)
    y = (X[:, 0] > 0).astype(int) if classes == 2 else np.digitize(X[:, 0], [-0.5, 0.5])
    if kind == "quasi":
        X[:2], y[:2] = 0.0, [0, 1]
    return X, y


@given(
    st.sampled_from(SHAPES),
    st.sampled_from(["apart", "overlap", "quasi", "one class"]),
    st.sampled_from([2, 3]),
    st.integers(0, 10),
    st.sampled_from([np.nan, np.inf, -np.inf]),
    st.sampled_from([0.0, 0.5, 0.99]),
    st.sampled_from(sorted(tables.LAYOUTS)),
    st.sampled_from([{}, {"exact": True}, {"fit_intercept": False}, {"budget": 0.0}, {"others": False}]),
)
def test_a_value_that_is_not_finite_is_named_by_its_place(shape, kind, classes, seed, value, where, layout, options):
    n, d = shape
    X, y = labelled(kind, n, d, classes, seed)
    row, column = int(where * n), seed % d
    X[row, column] = value
    with pytest.raises(InputError, match=rf"(NaN|infinity|missing).*row {row}\b(.|\n)*Hint: ") as caught:
        separability(tables.LAYOUTS[layout](X), y, **options)
    assert re.search(rf"Column ({column}|'c?{column}') ", str(caught.value))


GOOD, LABELS = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
TABLES = {
    "words": (np.full((20, 2), "a"), "not numbers"),
    "objects": (np.full((20, 2), object()), "not numbers"),
    "None": (np.full((20, 2), None), "NaN: Column 0"),
    "ragged": ([[1], [1, 2]] * 10, "rows of equal length"),
    "complex": (GOOD + 1j, "Complex"),
    "masked": (np.ma.masked_array(GOOD, mask=GOOD > 1), "masked"),
    "dates": (np.full((20, 2), np.datetime64("2020-01-01")), "not numeric"),
    "text in pandas": (pd.DataFrame({"a": GOOD[:, 0], "b": ["x"] * 20}), "Column 'b' has type"),
    "text in polars": (pl.DataFrame({"a": GOOD[:, 0], "b": ["x"] * 20}), "Column 'b' has type"),
    "text in Arrow": (pa.table({"a": GOOD[:, 0], "b": ["x"] * 20}), "Column 'b' has type"),
    "null in polars": (pl.DataFrame({"a": GOOD[:, 0], "b": [None] + [1.0] * 19}), "Column 'b' has 1 missing"),
    "null in Arrow": (pa.table({"a": GOOD[:, 0], "b": pa.array([None] + [1.0] * 19)}), "Column 'b' has 1 missing"),
    "nothing": (None, "cannot be read as a table"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_no_numbers_are_refused(name):
    table, says = TABLES[name]
    with pytest.raises(InputError, match=f"{says}(.|\n)*\n\nHint: "):
        separability(table, LABELS)


@pytest.mark.parametrize("y", [None, 3, {0, 1}, LABELS[:-1], np.ones((20, 2)), np.full(20, np.nan), [[1], [2, 3]] * 10])
def test_labels_that_are_none_are_refused(y):
    with pytest.raises(InputError, match=r"y(.|\n)*\n\nHint: "):
        separability(GOOD, y)


@pytest.mark.parametrize(
    "weights", [np.full(20, np.nan), np.ones(3), "a", -np.ones(20), 1j * np.ones(20), np.zeros(20)]
)
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(InputError, match=r"(?i)sample.weight(.|\n)*\n\nHint: "):
        separability(GOOD, LABELS, sample_weight=weights)


def test_rows_of_no_weight_need_not_be_numbers():
    X, weights = GOOD.copy(), np.ones(20)
    X[3, 1], weights[3] = np.nan, 0.0
    assert separability(X, LABELS, sample_weight=weights).kind == "overlap"
