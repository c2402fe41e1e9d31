"""The verdict's picture against support vector machines, linear programs and definitions."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from separatrix import InputError, separability
from separatrix.display import SeparabilityDisplay


def clouds(gap, columns=2, seed=3):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(50, columns))
    y = np.repeat(["no", "yes"], 25)
    X[y == "yes", 0] += gap
    return X, y


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_corridor_is_that_of_a_support_vector_machine(columns):
    X, y = clouds(8.0, columns)
    display = SeparabilityDisplay.from_data(X, y).plot()
    machine = SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y)
    length = np.linalg.norm(machine.coef_)
    assert display.kind == "complete"
    assert display.margin == pytest.approx(1 / length, rel=1e-5)
    np.testing.assert_allclose(display.direction, machine.coef_[0] / length, atol=1e-5)
    np.testing.assert_allclose(display.distances, machine.decision_function(X) / length, atol=1e-4)
    assert set(display.marked) <= set(machine.support_)
    np.testing.assert_allclose(np.abs(display.distances[display.marked]), display.margin, rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_common_point_is_a_mean_of_either_class(seed, columns):
    X, y = clouds(0.5, columns, seed)
    display = SeparabilityDisplay.from_data(X, y)
    assert display.kind == "overlap"
    upper = y[display.marked] == "yes"
    assert (display.shares > 0).all()
    for side in (upper, ~upper):
        assert display.shares[side].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(display.shares[side] @ X[display.marked[side]], display.common, atol=1e-9)
    assert len(display.marked) <= 2 * (columns + 1)


def test_without_a_constant_the_point_is_common_to_the_cones():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 2.0], [2.0, -1.0]]), np.array([1, 1, 0, 0, 0])
    display = SeparabilityDisplay.from_data(X, y, fit_intercept=False).plot()
    assert display.kind == "overlap"
    upper = y[display.marked] == 1
    for side in (upper, ~upper):
        np.testing.assert_allclose(display.shares[side] @ X[display.marked[side]], display.common, atol=1e-12)


@pytest.mark.parametrize("columns", [2, 3])
def test_quasi_marks_the_rows_on_the_boundary(columns):
    X = np.zeros((6, columns))
    X[:, :2] = [[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0], [2.0, 2.0], [3.0, -1.0], [-2.0, 0.0]]
    y = np.array([1, 1, 0, 1, 1, 0])
    display = SeparabilityDisplay.from_data(X, y).plot()
    assert display.kind == "quasi"
    assert display.marked.tolist() == [0, 1, 2]
    np.testing.assert_allclose(display.distances[:3], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(display.direction[:2]), np.sqrt(0.5), rtol=1e-12)
    assert "3 of 6 rows" in display.ax_.get_title()


def test_distances_are_counted_outside_the_corridor():
    X, y = load_iris(return_X_y=True)
    display = SeparabilityDisplay.from_data(X, y == 0).plot()
    bars = [bar for bar in display.ax_.patches if hasattr(bar, "get_height")][:-1]  # the last one is the corridor
    assert sum(bar.get_height() for bar in bars) == 150
    for bar in bars:
        ends = np.array([bar.get_x(), bar.get_x() + bar.get_width()])
        assert np.abs(ends).min() >= display.margin * (1 - 1e-6)


def test_shares_are_bars_over_the_users_row_numbers():
    X, y = load_iris(return_X_y=True)
    pair = separability(X, y).pairs[1, 2]
    display = SeparabilityDisplay.from_verdict(pair, X, y).plot()
    assert len(display.points) == 100
    np.testing.assert_array_equal(np.sort(display.numbers[display.marked]), np.sort(pair.rows))
    shown = {text.get_text() for text in display.ax_.get_xticklabels()}
    assert shown == {str(row) for row in pair.rows}


def test_stored_verdict_finds_its_margin_in_the_data_given():
    X, y = clouds(8.0)
    stored = pickle.loads(pickle.dumps(separability(X, y)))
    assert SeparabilityDisplay.from_verdict(stored, X, y).margin == SeparabilityDisplay.from_data(X, y).margin


def test_what_cannot_be_shown_is_refused():
    X, y = clouds(8.0)
    many = separability([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(InputError, match="more than two classes"):
        SeparabilityDisplay.from_verdict(many, [[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(InputError, match="about 50 rows"):
        SeparabilityDisplay.from_verdict(separability(X, y), X[1:], y[1:])
    with pytest.raises(InputError, match="undecided"):
        SeparabilityDisplay.from_verdict(replace(separability(X, y), kind="undecided"), X, y)
    with pytest.raises(InputError, match="one class"):
        SeparabilityDisplay.from_data(X[:2], y[:2])
    with pytest.raises(InputError, match="no hyperplane"):
        _ = SeparabilityDisplay.from_data([[0.0], [1.0], [2.0]], [0, 1, 0]).distances
