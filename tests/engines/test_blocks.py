"""What can be read, what is copied, and what is refused."""

from fractions import Fraction
from operator import mul

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import separatrix as sx
import tables
from separatrix import kernels
from separatrix.core.errors import InputError, InputTypeError
from separatrix.engines import block_of
from separatrix.kernels import _kernels

IN_PLACE = set(tables.LAYOUTS) - {"coo"}


@pytest.mark.parametrize("layout", tables.LAYOUTS)
@settings(max_examples=30, deadline=None)
@given(problem=tables.labelled())
def test_every_layout_gives_back_the_same_rows(layout, problem):
    X = problem[0]
    block = block_of(tables.LAYOUTS[layout](X))
    assert block.shape == X.shape
    which = np.random.default_rng(0).permutation(len(X))[: len(X) // 2 + 1]
    taken = block.take(which)
    got = taken.toarray() if sp.issparse(taken) else taken
    np.testing.assert_array_equal(got.astype(float), X[which].astype(float))


@pytest.mark.parametrize("layout", sorted(IN_PLACE))
@pytest.mark.parametrize("dtype", ["float32", "uint8", "int64"])
def test_nothing_is_copied(layout, dtype):
    block = block_of(tables.LAYOUTS[layout](tables.values(30, 4, dtype, 0)))
    assert block.copies == []


def test_what_must_be_copied_is_reported():
    X = tables.values(10, 3, "float64", 0)
    assert block_of(sp.coo_array(X)).copies == ["sparse coo turned into csr"]
    assert block_of(X.astype(object)).copies == ["X converted to float64"]
    assert block_of(X.astype(np.float16)).copies == ["X converted to float64"]
    scrambled = sp.csr_array((np.array([2.0, 1.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    assert "sorted" in block_of(scrambled).copies[0]
    assert block_of(scrambled).source.toarray().tolist() == [[1.0, 0.0, 2.0]]
    assert scrambled.indices.tolist() == [2, 0]  # the user's matrix is untouched


def test_repeated_sparse_entries_are_added_up():
    twice = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 3))
    assert block_of(twice).take(np.array([0, 1])).toarray().tolist() == [[0, 3, 0], [0, 0, 0]]


def test_pandas_nullable_and_arrow_backed_columns_are_read():
    frame = pd.DataFrame(
        {
            "a": pd.array([1, 2, 3], dtype="Int64"),
            "b": pd.array([True, False, True], dtype="boolean"),
            "c": pd.array([0.5, 1.5, 2.5], dtype="float64[pyarrow]"),
            "d": pd.arrays.SparseArray([0.0, 0.0, 4.0]),
            "e": np.array([1, 2, 3], dtype=object),
        }
    )
    block = block_of(frame)
    assert block.take(np.arange(3)).tolist() == [[1, 1, 0.5, 0, 1], [2, 0, 1.5, 0, 2], [3, 1, 2.5, 4, 3]]
    assert block.names == ["a", "b", "c", "d", "e"]


def test_arrow_bitmaps_are_read_bit_by_bit():
    bits = np.random.default_rng(0).random(1000) < 0.3
    table = pa.table({"b": bits, "x": np.arange(1000, dtype=np.int8) % 7}).slice(13)
    np.testing.assert_array_equal(block_of(table).take(np.arange(987))[:, 0], bits[13:])


@pytest.mark.parametrize(
    ("X", "says", "kind"),
    [
        (np.ones(3), "Reshape your data", InputError),
        (np.ones((2, 2, 2)), "dim 3", InputError),
        (np.ones((0, 3)), "0 sample", InputError),
        (np.ones((3, 0)), "0 feature", InputError),
        (np.ones((2, 2), dtype=complex), "Complex data not supported", InputError),
        (np.array([["a", "b"]]), "not numbers", InputError),
        (np.array([[1, {"x": 1}]], dtype=object), "not numbers", InputTypeError),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "not numeric", InputError),
        (pl.LazyFrame({"a": [1]}), "LazyFrame", InputTypeError),
        (pl.DataFrame({"a": [1, None]}), "Column 'a' has 1 missing values .first at row 1.", InputError),
        (pl.DataFrame({"name": ["x", "y"]}), "Column 'name' has type", InputError),
        (pd.DataFrame({"k": [1.0], "s": ["x"]}), "Column 's'", InputError),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), "Column 'a' has 1 missing", InputError),
        (pd.DataFrame({"c": pd.Categorical(["u"])}), "Column 'c'", InputError),
        (pa.table({"a": [1, None, 3]}), "Column 'a' has 1 missing values .first at row 1.", InputError),
        (pa.table({"s": ["x"]}), "Column 's' has type string", InputError),
        (sp.csr_array((3, 0)), "0 feature", InputError),
        (sp.csr_array(np.eye(2, dtype=complex)), "Complex", InputError),
        (object(), "cannot be read as a table", InputTypeError),
        (np.ma.masked_array(np.ones((2, 2)), mask=[[0, 1], [0, 0]]), "masked", InputError),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_way_out(X, says, kind):
    with pytest.raises(kind, match=says) as caught:
        block_of(X)
    assert "Hint:" in str(caught.value)


def test_a_broken_sparse_matrix_is_refused_not_followed():
    broken = sp.csr_array(np.eye(4))
    broken.indices[2] = 99
    with pytest.raises(InputError, match="indices are out of range"):
        block_of(broken)
    broken = sp.csc_array(np.eye(4))
    broken.indptr[2] = 77
    with pytest.raises(InputError, match="indptr are out of range"):
        block_of(broken)


def with_spare_room(S):
    """The same matrix in arrays that are longer than what is stored, which is legal."""
    S = S.copy()
    S.indices = np.concatenate([S.indices, np.full(4000, 3, dtype=S.indices.dtype)])
    S.data = np.concatenate([S.data, np.full(4000, np.nan)])
    return S


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csc_matrix])
def test_spare_room_behind_a_sparse_matrix_is_never_read(kind):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 8)) * (draw.random((300, 8)) < 0.3)
    roomy = with_spare_room(kind(X))
    assert len(roomy.indices) > roomy.indptr[-1]
    block = block_of(roomy)
    which = np.arange(0, 300, 7)
    np.testing.assert_array_equal(block.take(which).toarray(), X[which])
    y = (X.sum(axis=1) + draw.normal(size=300) > 0).astype(int)
    for model in (sx.LinearDiscriminantAnalysis, sx.RidgeClassifier, sx.RidgeClassifierCV, sx.LogisticRegression):
        np.testing.assert_array_equal(model().fit(roomy, y).coef_, model().fit(kind(X), y).coef_)
    assert sx.separability(roomy, y).verify(roomy, y).kind == sx.separability(kind(X), y).kind


def test_a_column_of_many_pieces_gives_the_same_rows():
    X = np.arange(3000.0).reshape(1000, 3)
    pieces = [pa.table({f"c{j}": X[k : k + 1, j] for j in range(3)}) for k in range(1000)]
    block = block_of(pa.concat_tables(pieces))
    which = np.array([0, 999, 17, 500, 501, 502])
    np.testing.assert_array_equal(block.take(which), X[which])
    np.testing.assert_array_equal(block.take(np.arange(1000)), X)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("which", [np.arange(900), np.arange(0, 900, 5), np.array([3, 3, 1, 899]), np.array([0, 899])])
def test_exact_products_of_compressed_columns_are_those_of_rows(dtype, which):
    draw = np.random.default_rng(1)
    X = (10 * draw.normal(size=(900, 7)) * (draw.random((900, 7)) < 0.4)).astype(dtype)
    vectors = draw.normal(size=(2, 1, 8))
    rows, columns = (
        kernels.exact_products(block_of(kind(X)).rows, which, vectors, True) for kind in (sp.csr_array, sp.csc_array)
    )
    np.testing.assert_array_equal(rows, columns)
    expected = [
        [float(sum(map(mul, map(Fraction, map(float, [*X[i], 1])), map(Fraction, v[0])))) for v in vectors]
        for i in which
    ]
    np.testing.assert_array_equal(columns, expected)


def test_no_points_are_refused():
    rows = block_of(np.eye(3)).rows
    codes = np.zeros(3, dtype=np.int32)
    with pytest.raises(ValueError, match="points"):
        _kernels.logistic(
            rows, codes, 1, None, None, 1, np.empty((0, 4)), None, True, False, False, False, None, 0, 3, 1, 1
        )


@pytest.mark.parametrize("bad", [-1, 3])
def test_a_strange_code_is_refused_wherever_it_stands(bad):
    rows = block_of(np.eye(4)).rows
    codes = np.array([0, 1, 2, bad], dtype=np.int32)
    with pytest.raises(ValueError, match="label is out of range"):
        _kernels.softmax(
            rows, codes, 3, None, np.zeros(15), None, True, False, 0, False, False, True, False, None, 0, 4, 1, 1
        )
    with pytest.raises(ValueError, match="label is out of range"):
        _kernels.moments(rows, codes, 3, None, np.zeros(12), False, 2, 4, 1, 1)
    with pytest.raises(ValueError, match="label is out of range"):
        _kernels.logistic(
            rows, codes, 1, None, codes, 3, np.zeros((1, 5)), None, True, False, False, False, None, 0, 4, 1, 1
        )


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_numpy_matrix_is_read_as_the_array_it_holds():
    X = np.matrix([[0.0, 1.0], [2.0, 3.0]])
    block = block_of(X)
    assert type(block.source) is np.ndarray
    assert block.source is not X
    assert np.shares_memory(block.source, X)
