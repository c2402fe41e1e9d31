"""Basis functions: their formulas, where they stand, and scikit-learn's checks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import GaussianBasis, InputError, LogisticRegression, SigmoidBasis


@parametrize_with_checks(
    [
        GaussianBasis(random_state=0),
        GaussianBasis("data", constant=True, random_state=0),
        GaussianBasis("grid", count=2, width=2.0),
        SigmoidBasis(),
        SigmoidBasis("grid", constant=True),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@given(st.integers(0, 1000), st.integers(1, 4), st.floats(0.1, 10))
def test_gaussian_is_scikit_learns_kernel_at_the_centres(seed, d, width):
    rng = np.random.default_rng(seed)
    X, centres = rng.standard_normal((7, d)), rng.standard_normal((3, d))
    ours = GaussianBasis(centres, width=width).fit(X).transform(X)
    np.testing.assert_allclose(ours, rbf_kernel(X, centres, gamma=0.5 / width**2), atol=1e-12)


def test_sigmoid_steps_column_by_column():
    X = np.array([[0.0, 10.0], [1.0, 20.0]])
    ours = SigmoidBasis([[0.0, 1.0], [10.0, 20.0]], width=2.0, constant=True).fit(X)
    expected = np.column_stack([np.ones(2), expit(X[:, :1] / 2), expit((X[:, :1] - 1) / 2),
                                expit((X[:, 1:] - 10) / 2), expit((X[:, 1:] - 20) / 2)])  # fmt: skip
    np.testing.assert_allclose(ours.transform(X), expected)
    names = ["1", "sigmoid(a)_0", "sigmoid(a)_1", "sigmoid(b)_0", "sigmoid(b)_1"]
    assert ours.get_feature_names_out(["a", "b"]).tolist() == names


def test_centres_stand_where_they_should():
    X = np.random.default_rng(0).uniform(0, 3, (200, 2))
    grid = GaussianBasis("grid", count=4).fit(X).centres_
    assert grid.shape == (16, 2)
    np.testing.assert_allclose(np.unique(grid[:, 0]), np.linspace(X[:, 0].min(), X[:, 0].max(), 4))
    rows = GaussianBasis("data", count=9, random_state=1).fit(X).centres_
    assert len({tuple(row) for row in rows}) == 9
    assert all((row == X).all(axis=1).any() for row in rows)
    quantiles = SigmoidBasis(count=3).fit(X).centres_
    np.testing.assert_allclose(quantiles, np.quantile(X, [0.25, 0.5, 0.75], axis=0).T)


def test_kmeans_finds_the_clusters():
    rng = np.random.default_rng(2)
    middles = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    X = np.repeat(middles, 50, axis=0) + 0.1 * rng.standard_normal((150, 2))
    found = GaussianBasis(count=3, random_state=0).fit(X)
    assert np.linalg.norm(found.centres_[:, None] - middles, axis=2).min(axis=0).max() < 0.1
    assert found.width_ == pytest.approx(10.0, rel=0.05)


def test_few_different_rows_are_all_the_centres_there_are():
    X = np.array([[0.0], [1.0], [1.0], [0.0]])
    for centres in ("kmeans", "data"):
        np.testing.assert_array_equal(GaussianBasis(centres, count=10, random_state=0).fit(X).centres_, [[0], [1]])
    assert GaussianBasis().fit(np.zeros((3, 2))).width_ == 1.0
    np.testing.assert_array_equal(SigmoidBasis().fit(np.zeros((3, 2))).widths_, [1.0, 1.0])


def test_the_width_does_not_depend_on_the_order_of_two_centres():
    centres = np.array([[0.0], [3.0], [4.0]])
    assert GaussianBasis(centres).fit([[0.0], [1.0]]).width_ == 3.0
    assert GaussianBasis(centres[::-1]).fit([[0.0], [1.0]]).width_ == 3.0


@pytest.mark.parametrize(
    "basis",
    [
        GaussianBasis(count=20, random_state=0),
        GaussianBasis("grid", count=5),
        SigmoidBasis(count=8),
        PolynomialFeatures(2, include_bias=False),
        SplineTransformer(),
    ],
)
def test_a_bent_boundary_beside_scikit_learns_bases(basis):
    X, y = make_circles(400, noise=0.1, factor=0.5, random_state=0)
    straight = LogisticRegression().fit(X, y).score(X, y)
    pipe = make_pipeline(StandardScaler(), clone(basis), LogisticRegression(C=10.0)).fit(X, y)
    assert pipe.score(X, y) > 0.95 > straight + 0.3
    assert pipe[-1].certificate_.met


def test_far_rows_keep_their_distances_and_tiny_widths_do_no_harm():
    X = 1e8 + np.array([[0.0], [1.0]])
    np.testing.assert_allclose(GaussianBasis(X, width=1.0).fit(X).transform(X)[0], [1.0, np.exp(-0.5)])
    for basis in (GaussianBasis(X, width=1e-300), SigmoidBasis(X.T, width=1e-308)):
        assert np.isfinite(basis.fit(X).transform(X)).all()


def test_the_width_can_be_searched():
    X, y = make_moons(200, noise=0.2, random_state=1)
    pipe = make_pipeline(GaussianBasis(count=15, random_state=0), LogisticRegression(C=10.0))
    search = GridSearchCV(pipe, {"gaussianbasis__width": [0.05, 0.5, 50.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"gaussianbasis__width": 0.5}


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (GaussianBasis("nowhere"), "nowhere"),
        (GaussianBasis([[1.0, 2.0, 3.0]]), r"shape \(1, 3\)"),
        (GaussianBasis([[1.0, np.nan]]), "row 0, column 1"),
        (GaussianBasis([["a", "b"]]), "numbers"),
        (GaussianBasis(np.empty((0, 2))), "shape"),
        (GaussianBasis(count=0), "count is 0"),
        (GaussianBasis(count=2.5), "count is 2.5"),
        (GaussianBasis(width=0.0), "width is 0.0"),
        (GaussianBasis(width="wide"), "width is 'wide'"),
        (GaussianBasis(constant="yes"), "constant is 'yes'"),
        (SigmoidBasis("kmeans"), "kmeans"),
        (SigmoidBasis([[1.0], [2.0], [3.0]]), r"shape \(3, 1\)"),
        (SigmoidBasis(width=np.inf), "width is inf"),
        (SigmoidBasis(count=True), "count is True"),
    ],
)
def test_bad_parameters_are_refused_and_nothing_is_fitted(basis, message):
    with pytest.raises(InputError, match=message) as caught:
        basis.fit(np.ones((4, 2)) * np.arange(4)[:, None])
    assert "\n\nHint: " in str(caught.value)
    assert not hasattr(basis, "centres_")


def test_values_whose_squares_overflow_are_refused():
    with pytest.raises(InputError, match="Column 1 of X reaches"):
        GaussianBasis().fit([[0.0, 1e200], [1.0, -1e200]])


def test_a_grid_of_too_many_columns_is_refused():
    with pytest.raises(InputError, match="grid"):
        GaussianBasis("grid").fit(np.random.default_rng(0).standard_normal((5, 20)))
