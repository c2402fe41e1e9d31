"""Labels and weights as people hold them: read as they are, or refused with a reason; nothing is lost on the way."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from separatrix import LogisticRegression, Perceptron
from separatrix.core.errors import InputError
from separatrix.models.labels import encode

X = np.random.default_rng(0).normal(size=(6, 2))
Y = np.array([0, 1, 0, 1, 0, 1])
WORDS = ["a", "b", "a", "a", "b", "a"]
HOLES = ["a", "b", None, "a", "b", "a"]

READ = {
    "arrow": pa.array(WORDS),
    "arrow chunks": pa.chunked_array([WORDS[:2], WORDS[2:]]),
    "arrow dictionary": pa.array(WORDS).dictionary_encode(),
    "arrow runs": pa.RunEndEncodedArray.from_arrays([2, 6], pa.array(WORDS[:2])),
    "arrow dictionary chunks": pa.chunked_array([pa.array(WORDS[:3]), pa.array(WORDS[3:])]).dictionary_encode(),
    "polars": pl.Series(WORDS),
    "polars categorical": pl.Series(WORDS, dtype=pl.Categorical),
    "pandas categorical": pd.Series(WORDS, dtype="category"),
    "pandas string": pd.Series(WORDS, dtype="string"),
    "dates": np.array(["2020-01-01", "2020-01-02"] * 3, dtype="M8[D]"),
    "python dates": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 3,
    "nullable booleans": pd.array([True, False] * 3, dtype="boolean"),
}


@pytest.mark.parametrize("kind", READ)
def test_labels_are_read_wherever_they_are_held(kind):
    model = LogisticRegression().fit(X, READ[kind])
    assert len(model.classes_) == 2
    assert set(model.predict(X)) <= set(model.classes_)


REFUSED = {
    "pandas NA": (pd.Series([1, 0, 1, 0, None, 1], dtype="Int64"), "row 4"),
    "pandas NA in text": (pd.Series(HOLES, dtype="string"), "row 2"),
    "pandas NA among objects": (np.array(["a", pd.NA, "b", "a", "b", "a"], dtype=object), "row 1"),
    "arrow null": (pa.array(HOLES), "null"),
    "polars null": (pl.Series(HOLES), "row 2"),
    "masked": (np.ma.array(Y, mask=[0, 0, 1, 0, 0, 0]), "row 2"),
    "missing date": (np.array(["2020-01-01", "NaT", *["2020-01-02"] * 4], dtype="M8[D]"), "row 1"),
    "sets": ([frozenset([1]), frozenset([2])] * 3, "frozenset"),
    "arrow lists": (pa.array([[1]] * 3 + [[2]] * 3), "several values each"),
    "arrow lists of many lengths": (pa.array([[1], [], [2], [1, 2], [1], [2]]), "several values each"),
    "empty tuples": (pd.Series([(), (1,)] * 3), "tuple"),
    "arrays": (pd.Series([np.array([]), np.array([1])] * 3), "ndarray"),
    "complex objects": (np.array([1j, 2j] * 3, dtype=object), "omplex"),
    "ragged": ([[1], [1, 2], [3], [1], [2], [1]], "one label per row"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_label_that_is_missing_or_no_label_is_refused(kind):
    labels, says = REFUSED[kind]
    model = LogisticRegression()
    with pytest.raises((InputError, TypeError), match=says):
        model.fit(X, labels)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("class_weight", [{"0": 1, "1": 9}, {0: 1, 5: 2}, 7, [1, 2]])
def test_class_weights_of_other_classes_are_refused(class_weight):
    with pytest.raises(InputError, match="class_weight"):
        LogisticRegression(class_weight=class_weight).fit(X, Y)


def test_class_weights_of_classes_that_are_there_count():
    plain = LogisticRegression().fit(X, Y, sample_weight=np.where(Y == 1, 2.0, 1.0)).coef_
    for class_weight in ({1: 2}, {0: 1, 1: 2}, {0: 1, 1: 2, 5: 3}, {np.int64(1): np.float32(2)}):
        np.testing.assert_allclose(LogisticRegression(class_weight=class_weight).fit(X, Y).coef_, plain, rtol=1e-9)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (np.ones(6) * (1 + 1j), "complex"),
        (np.ma.array(np.ones(6), mask=[0, 1, 0, 0, 0, 0]), "row 1"),
        (["heavy"] * 6, "not numbers"),
        ([1, 1, 1, 1, 1, 10**400], "too large"),
        (pl.Series([2**70] * 6, dtype=pl.Int128), "i128"),
        (pd.array([1, 2, None, 1, 1, 1], dtype="Int64"), "row 2"),
        (np.array(["2020"] * 6, dtype="M8[Y]"), "real number"),
    ],
)
def test_weights_that_would_lose_something_are_refused(weights, says):
    with pytest.raises(InputError, match=says):
        LogisticRegression().fit(X, Y, sample_weight=weights)


def test_weights_in_arrow_and_polars_are_those_of_numpy():
    plain = LogisticRegression().fit(X, Y, sample_weight=np.arange(1.0, 7.0)).coef_
    for weights in (pa.array(np.arange(1.0, 7.0)), pl.Series(np.arange(1.0, 7.0))):
        np.testing.assert_array_equal(LogisticRegression().fit(X, Y, sample_weight=weights).coef_, plain)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", READ)
def test_a_perceptron_asks_for_a_verdict_about_labels_wherever_they_are_held(kind):
    same = np.repeat(X[:1], 6, axis=0)  # no separator: the verdict is asked for
    model = Perceptron(max_iter=50).fit(same, READ[kind])
    assert model.certificate_.kind == "overlap"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", ">i4", "int64", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("rows", [7, 70_000])
def test_numbers_are_looked_up_as_they_would_be_sorted(dtype, rows):
    """Labels of a narrow range need no sorting; those of a wide one are sorted as ever."""
    draw = np.random.default_rng(rows)
    low = 0 if np.dtype(dtype).kind == "u" else -100
    for numbers in (draw.integers(low, 27, rows), draw.choice([low, 3, 90], rows), draw.integers(0, 2, rows) * 100):
        labels = numbers.astype(dtype)
        target = encode(labels, rows)
        found, inverse = np.unique(labels, return_inverse=True)
        np.testing.assert_array_equal(target.classes, found)
        np.testing.assert_array_equal(target.codes, inverse)
        assert target.classes.dtype == labels.dtype
        assert target.codes.dtype == np.int32
        assert target.codes.flags.c_contiguous
        among = np.unique(np.append(found, np.array([1, 28], dtype)))
        again = encode(labels, rows, among)
        np.testing.assert_array_equal(among[again.codes], labels)
        assert again.codes.dtype == np.int32
    for far in (np.array([0, 2**40, 5]), np.array([2**63, 2**63 + 1, 2**64 - 1], np.uint64)):
        np.testing.assert_array_equal(encode(far, 3).classes, np.unique(far))
        np.testing.assert_array_equal(encode(far, 3).codes, np.unique(far, return_inverse=True)[1])


def test_labels_finer_than_float64_are_told_apart():
    labels = np.array([np.longdouble(2**53) - 1, np.longdouble(2**53) + 1, np.longdouble(2**53) + 3])
    draw = np.random.default_rng(0)
    codes = np.append(np.arange(3), draw.integers(0, 3, 597))
    model = LogisticRegression().fit(draw.normal(size=(600, 3)), labels[codes])
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
