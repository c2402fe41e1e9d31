"""Bad input: a typed error that is a fact and a way out, and the estimator unchanged."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separatrix import LogisticRegression
from separatrix.core.errors import InputError

GOOD_X = np.random.default_rng(0).normal(size=(20, 3))
GOOD_Y = np.arange(20) % 2


def broken(value, row=17, column=1, kind="array"):
    X = GOOD_X.copy()
    X[row, column] = value
    if kind == "frame":
        return pd.DataFrame(X, columns=["age", "income", "height"])
    return {"array": X, "fortran": np.asfortranarray(X), "csr": sp.csr_array(X), "csc": sp.csc_array(X)}[kind]


CASES = {
    "NaN": (broken(np.nan), GOOD_Y, {}, {}, r"contains NaN: Column 1 has it at row 17"),
    "NaN in a frame": (broken(np.nan, kind="frame"), GOOD_Y, {}, {}, r"Column 'income' has it at row 17"),
    "names twice": (pd.DataFrame(GOOD_X, columns=["a", "b", "a"]), GOOD_Y, {}, {}, r"2 columns are named 'a'"),
    "infinity": (broken(np.inf), GOOD_Y, {}, {}, r"contains infinity: Column 1 has it at row 17"),
    "NaN, sparse": (broken(np.nan, kind="csr"), GOOD_Y, {}, {}, r"Column 1 has it at row 17"),
    "NaN, sparse columns": (broken(-np.inf, kind="csc"), GOOD_Y, {}, {}, r"Column 1 has it at row 17"),
    "NaN, Fortran": (broken(np.nan, kind="fortran"), GOOD_Y, {}, {}, r"Column 1 has it at row 17"),
    "one class": (GOOD_X, np.zeros(20), {}, {}, "only one class"),
    "one class by weight": (GOOD_X, GOOD_Y, {}, {"sample_weight": (GOOD_Y == 1) * 1.0}, "only one class"),
    "empty": (np.empty((0, 3)), [], {}, {}, "0 sample"),
    "too few labels": (GOOD_X, GOOD_Y[:-1], {}, {}, "20 rows, but y has 19"),
    "no labels": (GOOD_X, None, {}, {}, "requires y"),
    "complex": (GOOD_X.astype(complex), GOOD_Y, {}, {}, "Complex data not supported"),
    "complex labels": (GOOD_X, GOOD_Y.astype(complex), {}, {}, "Complex data not supported"),
    "strings": (np.full((20, 2), "a", dtype=object), GOOD_Y, {}, {}, "not numbers"),
    "negative weight": (GOOD_X, GOOD_Y, {}, {"sample_weight": np.r_[np.ones(19), -1]}, "row 19: -1"),
    "all weights zero": (GOOD_X, GOOD_Y, {}, {"sample_weight": np.zeros(20)}, "non-zero"),
    "weight NaN": (GOOD_X, GOOD_Y, {}, {"sample_weight": np.r_[np.nan, np.ones(19)]}, "row 0"),
    "weights too short": (GOOD_X, GOOD_Y, {}, {"sample_weight": np.ones(3)}, "expected"),
    "weights in a matrix": (GOOD_X, GOOD_Y, {}, {"sample_weight": np.ones((20, 1))}, "1D"),
    "C zero": (GOOD_X, GOOD_Y, {"C": 0}, {}, "C must be positive"),
    "C tiny": (GOOD_X, GOOD_Y, {"C": 5e-324}, {}, "overflows"),
    "all zero": (np.zeros((20, 2)), GOOD_Y, {"C": np.inf, "fit_intercept": False}, {}, "Every column is zero"),
    "C negative": (GOOD_X, GOOD_Y, {"C": -1.0}, {}, "C must be positive"),
    "C NaN": (GOOD_X, GOOD_Y, {"C": np.nan}, {}, "C must be positive"),
    "C text": (GOOD_X, GOOD_Y, {"C": "1"}, {}, "C must be positive"),
    "tol zero": (GOOD_X, GOOD_Y, {"tol": 0.0}, {}, "tol must be"),
    "max_iter zero": (GOOD_X, GOOD_Y, {"max_iter": 0}, {}, "max_iter must be"),
    "max_iter fraction": (GOOD_X, GOOD_Y, {"max_iter": 1.5}, {}, "max_iter must be"),
    "unknown solver": (GOOD_X, GOOD_Y, {"solver": "magic"}, {}, "choose one of"),
    "l1_ratio": (GOOD_X, GOOD_Y, {"l1_ratio": 1.5}, {}, "between 0"),
    "a class without weight": (
        GOOD_X,
        np.arange(20) % 3,
        {},
        {"sample_weight": (np.arange(20) % 3 > 0) * 1.0},
        "no row of positive weight",
    ),
    "class weight word": (GOOD_X, GOOD_Y, {"class_weight": "even"}, {}, "balanced"),
    "class weight negative": (GOOD_X, GOOD_Y, {"class_weight": {0: -1}}, {}, "not negative"),
    "label NaN": (GOOD_X, np.r_[np.nan, np.zeros(10), np.ones(9)], {}, {}, "first at row 0"),
    "label None": (GOOD_X, [None] + [0, 1] * 9 + [1], {}, {}, "first at row 0"),
    "labels of two types": (GOOD_X, ["a", 1] * 10, {}, {}, "mixes labels"),
    "continuous labels": (GOOD_X, GOOD_X[:, 0], {}, {}, "Unknown label type"),
    "label matrix": (GOOD_X, np.ones((20, 2)), {}, {}, "1d array"),
    "overflow": (np.where(GOOD_Y == 1, 1.7e308, -1.7e308)[:, None], GOOD_Y, {}, {}, "overflow"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_and_the_estimator_stays_as_it_was(case):
    X, y, parameters, extra, says = CASES[case]
    if case == "labels of two types":
        y = np.array(y, dtype=object)
    model = LogisticRegression().fit(GOOD_X, GOOD_Y)
    model.set_params(**parameters)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(InputError, match=says):
        model.fit(X, y, **extra)
    assert {name: id(value) for name, value in vars(model).items()} == before


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (GOOD_X[:, :2], "X has 2 features, but LogisticRegression is expecting 3"),
        (broken(np.nan), "Column 1 has it at row 17"),
        (broken(np.inf), "Column 1 has it at row 17"),
        (np.ones(3), "Reshape your data"),
        (np.ones((0, 3)), "0 sample"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "signed_distance"])
def test_prediction_refuses_bad_rows(X, says, method):
    model = LogisticRegression().fit(GOOD_X, GOOD_Y)
    with pytest.raises(InputError, match=says):
        getattr(model, method)(X)


@pytest.mark.parametrize("size", [1e100, 1e150, 1e154, 1e200, 1e300, 1e-300, 1e-320])
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extreme_columns_give_a_finite_result_or_a_clear_error(size, C):
    X = GOOD_X.copy()
    X[:, 1] *= size
    draw = np.random.default_rng(1)
    y = draw.integers(0, 2, 20)
    try:
        model = LogisticRegression(C=C).fit(X, y)
    except InputError as error:
        assert "Hint" in str(error)  # noqa: PT017  either outcome is right
    else:
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
        assert not model.certificate_.met or model.certificate_.verify(X, y)


def test_one_row_of_each_class_is_enough():
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    assert model.certificate_.met
    assert model.predict([[2.0]]) == [1]


def test_weights_may_be_a_number_integers_or_a_frame_column():
    plain = LogisticRegression().fit(GOOD_X, GOOD_Y)
    for weights in (1.0, np.ones(20, int), pd.Series(np.ones(20)), [1] * 20):
        np.testing.assert_allclose(LogisticRegression().fit(GOOD_X, GOOD_Y, sample_weight=weights).coef_, plain.coef_)
