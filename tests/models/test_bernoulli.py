"""Naive Bayes of binary features against scikit-learn and exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import BernoulliNB as Peer

import tables
from separatrix import BernoulliNB, InputError

seeds = st.integers(0, 2**32 - 1)


def draw_problem(seed, n=60, d=5, classes=2, density=0.4):
    draw = np.random.default_rng(seed)
    y = np.append(np.arange(classes), draw.integers(0, classes, n - classes))
    return (draw.random((n, d)) < density * draw.random((classes, d))[y] * 2).astype(np.uint8), y, draw


@settings(max_examples=60, deadline=None)
@given(
    seeds,
    st.sampled_from([2, 3]),
    st.sampled_from([1.0, 0.1, 1e-9]),
    st.sampled_from([np.asarray, sp.csr_array, sp.csc_array, lambda X: X.astype(bool), lambda X: X * 2.5]),
    st.booleans(),
)
def test_equals_scikit_learn(seed, classes, alpha, make, weighted):
    X, y, draw = draw_problem(seed, classes=classes)
    weights = draw.random(len(y)) + 0.01 if weighted else None
    table = make(X)
    ours = BernoulliNB(alpha=alpha).fit(table, y, sample_weight=weights)
    theirs = Peer(alpha=alpha).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.feature_count_, theirs.feature_count_, rtol=1e-12)
    np.testing.assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(table), theirs.predict_proba(X), atol=1e-7)
    ours.certificate_.verify(X, y, weights)
    if classes == 2:
        score = X @ ours.coef_[0] + ours.intercept_[0]
        np.testing.assert_allclose(score, ours.decision_function(table), atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(seeds, st.sampled_from([0, Fraction(1, 2)]), st.sampled_from([2, 3]))
def test_posteriors_equal_exact_fractions_even_without_smoothing(seed, alpha, classes):
    X, y, _ = draw_problem(seed, n=14, d=3, classes=classes)
    model = BernoulliNB(alpha=float(alpha)).fit(X, y)
    joints = []
    for row in X:
        joint = []
        for k in range(classes):
            mine = X[y == k]
            p = Fraction(len(mine), len(X))
            for j, value in enumerate(row):
                one = (Fraction(int(mine[:, j].sum())) + alpha) / (len(mine) + 2 * alpha)
                p *= one if value else 1 - one
            joint.append(p)
        joints.append(joint)
    expected = np.array([[float(p / sum(joint)) for p in joint] for joint in joints])
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12, atol=1e-15)
    assert (np.asarray(model.predict_joint_log_proba(X) == -np.inf) == (np.array(joints) == 0)).all()


def test_rows_impossible_under_every_class_get_the_priors_with_a_warning():
    model = BernoulliNB(alpha=0.0).fit([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], [0, 0, 1, 1, 1])
    with pytest.warns(UserWarning, match="impossible under every class"):
        shares = model.predict_proba([[1, 1], [1, 0]])
    np.testing.assert_allclose(shares, [[0.4, 0.6], [1.0, 0.0]])
    with pytest.raises(AttributeError, match="alpha > 0"):
        _ = model.coef_
    model.certificate_.verify([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], [0, 0, 1, 1, 1])


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_weight_two_equals_the_row_twice_and_parts_equal_the_whole(seed):
    X, y, draw = draw_problem(seed)
    counts = draw.integers(0, 4, len(y))
    counts[:2] = 1
    weighted = BernoulliNB().fit(X, y, sample_weight=counts)
    repeated = BernoulliNB().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted.feature_log_prob_, repeated.feature_log_prob_)
    cut = int(draw.integers(1, len(y) - 1))
    parts = BernoulliNB().partial_fit(X[:cut], y[:cut], classes=[0, 1]).partial_fit(X[cut:], y[cut:])
    np.testing.assert_array_equal(parts.feature_log_prob_, BernoulliNB().fit(X, y).feature_log_prob_)
    parts.certificate_.verify(X, y)


@pytest.mark.parametrize("layout", tables.LAYOUTS)
@pytest.mark.parametrize("threshold", [0.0, 0.5, -0.5])
def test_every_layout_gives_the_same_model(layout, threshold):
    X = tables.values(200, 4, "float32", 1)
    y = np.arange(200) % 2
    table = tables.LAYOUTS[layout](X)
    model, plain = BernoulliNB(binarize=threshold).fit(table, y), BernoulliNB(binarize=threshold).fit(X, y)
    np.testing.assert_array_equal(model.feature_count_, plain.feature_count_)
    np.testing.assert_array_equal(model.feature_count_, [(X[y == k] > threshold).sum(axis=0) for k in (0, 1)])
    np.testing.assert_allclose(model.predict_proba(table), plain.predict_proba(X), rtol=1e-12)


def test_priors_given_even_or_estimated():
    X, y, _ = draw_problem(1)
    for parameters in ({"fit_prior": False}, {"class_prior": [0.2, 0.8]}, {}):
        ours, theirs = BernoulliNB(**parameters).fit(X, y), Peer(**parameters).fit(X, y)
        np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-14)
    assert BernoulliNB().fit(X, y).n_parameters_ == 2 * 5 + 1
    assert set(Peer().get_params()) == set(BernoulliNB().get_params())
    with pytest.warns(UserWarning, match="alpha too small"):
        model = BernoulliNB(alpha=0.0, force_alpha=False).fit(X, y)
    assert model.certificate_.problem.alpha == 1e-10
    each = np.array([0.5, 1.0, 2.0, 0.1, 1.0])
    ones = np.array([X[y == k].sum(axis=0) for k in (0, 1)])
    expected = (ones + each) / (np.bincount(y)[:, None] + 2 * each)
    np.testing.assert_allclose(np.exp(BernoulliNB(alpha=each).fit(X, y).feature_log_prob_), expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("parameters", "table", "says"),
    [
        ({"alpha": -1.0}, None, "not negative"),
        ({"alpha": "many"}, None, "an array of numbers"),
        ({"class_prior": ["a", "b"]}, None, "an array of numbers"),
        ({"alpha": [1.0, 2.0]}, None, "n_features"),
        ({"binarize": np.nan}, None, "finite number"),
        ({"binarize": None}, np.array([[0.0, 1.0], [0.0, 3.0]]), "Column 1 holds 3 at row 1"),
        ({"binarize": None}, sp.csr_array([[0.0, 1.0], [0.0, 3.0]]), "Column 1 holds 3 at row 1"),
        ({}, np.array([[0.0, np.nan], [0.0, 3.0]]), "Column 1 has it at row 0"),
        ({}, sp.csc_array([[0.0, np.nan], [0.0, 3.0]]), "Column 1 has it at row 0"),
    ],
)
def test_bad_input_is_refused_and_the_model_stays(parameters, table, says):
    X, y, _ = draw_problem(1)
    model = BernoulliNB().fit(X, y)
    model.set_params(**parameters)
    before = {name: id(value) for name, value in vars(model).items()}
    with pytest.raises(InputError, match=says):
        model.fit(X if table is None else table, y if table is None else [0, 1])
    assert {name: id(value) for name, value in vars(model).items()} == before
    if table is not None:
        fresh = BernoulliNB(**parameters).fit([[0, 1], [1, 0]], [0, 1])
        with pytest.raises(InputError, match=says):
            fresh.predict(table)


def test_ties_go_to_the_positive_class():
    model = BernoulliNB().fit([[0], [1], [0], [1]], ["no", "no", "yes", "yes"])
    assert model.predict([[0], [1]]).tolist() == ["yes", "yes"]


@pytest.mark.parametrize("threshold", [0.0, 1.7, -0.5, None])
@pytest.mark.parametrize("layout", ["c", "fortran", "csr", "csc", "pandas", "arrow"])
def test_the_nearest_point_of_the_boundary_is_nearest_to_the_row_of_zeros_and_ones(threshold, layout):
    draw = np.random.default_rng(3)
    ones = draw.random((30, 4)) < 0.4
    X = np.where(ones, 1.0, 0.0) if threshold is None else np.where(ones, threshold + 2.0, threshold - 3.0)
    y = np.append([0, 1], draw.integers(0, 2, 28))
    # the log-odds from the definition: log of the ratio of P(x | c)P(c), at no feature and at each one alone
    share = [[Fraction(int(ones[y == k, j].sum()) + 1, int((y == k).sum()) + 2) for j in range(4)] for k in (0, 1)]

    def log_odds(row):
        ratio = Fraction(int((y == 1).sum()), int((y == 0).sum()))
        for j, one in enumerate(row):
            up, down = share[1][j], share[0][j]
            ratio *= up / down if one else (1 - up) / (1 - down)
        return math.log(ratio)

    b = log_odds([0, 0, 0, 0])
    w = np.array([log_odds(np.eye(4)[j]) - b for j in range(4)])
    expected = [row - (log_odds(row) / (w @ w)) * w for row in ones]
    model = BernoulliNB(binarize=threshold).fit(tables.LAYOUTS[layout](X), y)
    found, apart = (of(tables.LAYOUTS[layout](X)) for of in (model.project, model.signed_distance))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found @ w + b, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found - ones, axis=1), np.abs(apart), atol=1e-12)
