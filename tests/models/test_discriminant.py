"""Gaussian classes against exact fractions, scikit-learn and SciPy's normal density."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Peer

import tables
from separatrix import InputError, LinearDiscriminantAnalysis, SeparationWarning
from twins import solve_exactly

seeds = st.integers(0, 2**32 - 1)


def draw_problem(seed, n=50, d=3, classes=2):
    draw = np.random.default_rng(seed)
    y = np.append(np.arange(classes), draw.integers(0, classes, n - classes))
    X = draw.normal(size=(n, d)) @ draw.normal(size=(d, d)) + draw.normal(size=(classes, d))[y]
    return X, y, draw


@pytest.mark.parametrize("kind", ["pooled", "average"])
def test_two_classes_equal_the_lectures_formula_in_fractions(kind):
    draw = np.random.default_rng(4)
    X, y = draw.integers(-5, 6, (17, 3)).astype(float), np.append([0, 0, 0], np.append([1] * 9, [0] * 5))
    model = LinearDiscriminantAnalysis(covariance=kind).fit(X, y)
    rows = [[[Fraction(int(v)) for v in row] for row in X[y == k]] for k in (0, 1)]
    means = [[sum(r[j] for r in part) / len(part) for j in range(3)] for part in rows]
    scatters = [
        [[sum((r[i] - m[i]) * (r[j] - m[j]) for r in part) for j in range(3)] for i in range(3)]
        for part, m in zip(rows, means, strict=True)
    ]
    n = [len(part) for part in rows]
    if kind == "pooled":
        sigma = [[(scatters[0][i][j] + scatters[1][i][j]) / sum(n) for j in range(3)] for i in range(3)]
    else:
        sigma = [[(scatters[0][i][j] / n[0] + scatters[1][i][j] / n[1]) / 2 for j in range(3)] for i in range(3)]
    w = solve_exactly(sigma, [b - a for a, b in zip(*means, strict=True)])
    quadratic = [sum(m[j] * u for j, u in enumerate(solve_exactly(sigma, m))) for m in means]
    w0 = float(-(quadratic[1] - quadratic[0]) / 2) + np.log(n[1] / n[0])
    np.testing.assert_allclose(model.coef_[0], [float(v) for v in w], rtol=1e-12)
    assert model.intercept_[0] == pytest.approx(w0, rel=1e-12)
    np.testing.assert_allclose(model.covariance_, np.array(sigma, dtype=float), rtol=1e-13)
    # the decks' posterior is Bayes' theorem with normal densities
    densities = [multivariate_normal(m, model.covariance_) for m in model.means_]
    joint = np.column_stack([np.log(p) + f.logpdf(X) for p, f in zip(model.priors_, densities, strict=True)])
    np.testing.assert_allclose(model.log_odds(X), joint[:, 1] - joint[:, 0], rtol=1e-9, atol=1e-10)
    posterior = model.predict_proba(X)
    np.testing.assert_allclose(model.posterior_difference(X), posterior[:, 1] - posterior[:, 0], atol=1e-14)


PARAMETERS = [
    {},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": 0.3},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "lsqr", "covariance_estimator": OAS()},
    {"priors": "given"},
    {"n_components": 1},
]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_equals_scikit_learn(load, parameters):
    X, y = load(return_X_y=True)
    parameters = dict(parameters)
    if parameters.get("priors") == "given":
        parameters["priors"] = np.arange(1, len(np.unique(y)) + 1) / sum(range(len(np.unique(y)) + 1))
    ours = LinearDiscriminantAnalysis(**parameters).fit(X, y)
    theirs = Peer(store_covariance=True, **parameters).fit(X, y)
    # its lsqr solves the unscaled system, whose condition number here is 1e12
    close = 1e-6 if load is load_breast_cancer and parameters.get("solver") == "lsqr" else 1e-9
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=close)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-12)
    if "priors" not in parameters:
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12)
    if parameters.get("solver", "svd") == "svd":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)
    assert ours.certificate_.met
    ours.certificate_.verify(X, y)


def test_given_priors_do_not_move_the_covariance():
    X, y = load_iris(return_X_y=True)
    plain, given_ = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis(priors=[0.8, 0.1, 0.1]).fit(X, y)
    np.testing.assert_array_equal(plain.covariance_, given_.covariance_)
    assert given_.n_parameters_ == plain.n_parameters_ - 2
    with pytest.warns(UserWarning, match="sum to 1"):
        LinearDiscriminantAnalysis(priors=[1, 1, 1]).fit(X, y)


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from(["pooled", "average"]), st.sampled_from([None, 0.2, "auto"]), st.sampled_from([2, 3]))
def test_weight_two_equals_the_row_twice(seed, kind, shrinkage, classes):
    X, y, draw = draw_problem(seed, classes=classes)
    counts = draw.integers(0, 4, len(y))
    counts[: 2 * classes] = 2
    make = LinearDiscriminantAnalysis(covariance=kind, shrinkage=shrinkage)
    weighted = make.fit(X, y, sample_weight=counts)
    coef = weighted.coef_.copy()
    weighted.certificate_.verify(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    repeated = make.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(coef, repeated.coef_, rtol=1e-6, atol=1e-7 * np.abs(coef).max())


@pytest.mark.filterwarnings("ignore::separatrix.SeparationWarning")  # a part may be a single row
@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from(["pooled", "average"]))
def test_parts_merge_to_one_fit(seed, kind):
    X, y, draw = draw_problem(seed, classes=3)
    cut = int(draw.integers(1, len(y) - 1))
    parts = LinearDiscriminantAnalysis(covariance=kind, shrinkage=0.01)
    parts.partial_fit(X[:cut], y[:cut], classes=[0, 1, 2]).partial_fit(X[cut:], y[cut:])
    whole = LinearDiscriminantAnalysis(covariance=kind, shrinkage=0.01).fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-7, atol=1e-9 * np.abs(whole.coef_).max())
    parts.certificate_.verify(X, y)


@pytest.mark.filterwarnings("ignore::separatrix.SeparationWarning")
def test_a_class_not_seen_yet_is_as_good_as_impossible():
    model = LinearDiscriminantAnalysis().partial_fit([[0.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1], classes=[0, 1, 2])
    assert np.isfinite(model.coef_).all()
    assert model.predict_proba([[2.0]])[0, 2] < 1e-250
    model.partial_fit([[9.0], [11.0]], [2, 2])
    assert model.predict([[10.0]]) == [2]


@pytest.mark.parametrize("layout", tables.LAYOUTS)
def test_every_layout_gives_the_same_model(layout):
    X = tables.values(300, 4, "float32", 1)
    y = np.arange(300) % 3
    table = tables.LAYOUTS[layout](X)
    model, plain = LinearDiscriminantAnalysis().fit(table, y), LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.transform(table), plain.transform(X), rtol=1e-7, atol=1e-9)
    model.certificate_.verify(table, y)
    model.certificate_.verify(X, y)


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
def test_far_columns_keep_their_information():
    X, y, _ = draw_problem(7, n=400)
    plain, moved = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X + 1e9, y)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-5)


def test_dependent_and_constant_columns_are_named_and_change_nothing():
    X, y, _ = draw_problem(3, n=80)
    wide = np.column_stack([X[:, 0], np.full(80, 0.1), X[:, 1], 2 * X[:, 0] - X[:, 1], X[:, 2]])
    model = LinearDiscriminantAnalysis().fit(wide, y)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    assert model.dropped_ == ["column 1", "column 3"]
    assert "column 3" in str(model.certificate_)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), atol=1e-9)
    model.certificate_.verify(wide, y)


def test_digits_with_constant_columns_equal_scikit_learn():
    X, y = load_digits(return_X_y=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert model.dropped_ == ["column 0", "column 32", "column 39"]
    np.testing.assert_allclose(model.predict_proba(X), Peer().fit(X, y).predict_proba(X), atol=1e-9)
    sparse = LinearDiscriminantAnalysis().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, model.coef_, rtol=1e-8, atol=1e-9)


def test_classes_without_spread_along_a_difference_are_told():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 2.0], [3.0, 2.0]])
    with pytest.warns(SeparationWarning, match="column 1"):
        model = LinearDiscriminantAnalysis().fit(X, [0, 0, 1, 1])
    assert model.dropped_ == ["column 1"]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"solver": "magic"}, "choose one of"),
        ({"covariance": "both"}, "choose one of pooled, average"),
        ({"shrinkage": 2.0}, "between 0 and 1"),
        ({"tol": -1.0}, "tol must be"),
        ({"n_components": 5}, "n_components cannot"),
        ({"n_components": 0}, "whole number"),
        ({"priors": [1.0]}, "must match"),
        ({"priors": [0.5, 0.6, -0.1]}, "non-negative"),
        ({"shrinkage": 0.1, "covariance_estimator": OAS()}, "only one"),
    ],
)
def test_bad_parameters_are_refused_and_the_model_stays(parameters, says):
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    model.set_params(**parameters)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(InputError, match=says):
        model.fit(X, y)
    assert {name: id(value) for name, value in vars(model).items()} == before


def test_bad_rows_are_refused_and_the_model_stays():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    before = {name: id(value) for name, value in vars(model).items()}
    broken = X.copy()
    broken[7, 2] = np.nan
    for table in (broken, sp.csr_array(broken)):
        with pytest.raises(InputError, match="Column 2 has it at row 7"):
            model.fit(table, y)
        with pytest.raises(InputError, match="Column 2 has it at row 7"):
            model.fit(table, y, sample_weight=np.where(np.arange(150) == 7, 0.0, 1.0))
    with pytest.raises(InputError, match="only one class"):
        model.fit(X, np.zeros(150))
    with pytest.raises(InputError, match="4001 columns"):
        model.fit(sp.csr_array((10, 4001)), np.arange(10) % 2)
    assert {name: id(value) for name, value in vars(model).items()} == before


def test_parameters_are_counted_as_the_lectures_do():
    X, y, _ = draw_problem(1, d=4)
    # M(M + 5)/2 + 1 for two classes: 2M means, M(M + 1)/2 covariances, one prior
    assert LinearDiscriminantAnalysis().fit(X, y).n_parameters_ == 4 * (4 + 5) // 2 + 1


def test_every_parameter_of_scikit_learn_is_accepted():
    assert set(Peer().get_params()) <= set(LinearDiscriminantAnalysis().get_params())


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("shrinkage", [None, 0.2, "auto"])
def test_sparse_columns_far_from_zero_in_one_class_keep_their_spread(layout, shrinkage):
    """A column that only one class stores, at 1e8 ± 1: shifted in that class, as dense rows are."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(400, 3))
    y = np.arange(400) % 2
    X[y == 1, 2] += 1e8
    X[y == 0, 2] = 0.0
    X[y == 0, 1] = draw.normal(size=200) * (draw.random(200) < 0.5)
    dense = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    sparse = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(layout(X), y)
    # the column at 1e8 is fitted from deviations of about one: an unshifted sum would lose all of them
    np.testing.assert_allclose(sparse.covariance_, dense.covariance_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-5)
