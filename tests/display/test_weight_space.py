"""The solution region against SciPy's half-spaces, the criterion against its definition."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection

from separatrix import InputError, Perceptron
from separatrix.display import WeightSpaceDisplay

X = np.array([[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]])
y = np.array([-1, -1, 1, 1])


@pytest.mark.parametrize("fixed", [None, {0: 1.0}])
@pytest.mark.parametrize("margin", [0.0, 1.0, 2.0])
def test_region_is_the_intersection_of_half_planes(fixed, margin):
    display = WeightSpaceDisplay.from_data(X, y, fixed=fixed)
    level = 0.0 if fixed is None else 1.0
    rows = [[*(-s * x), margin - s * level] for s, x in zip(y, X, strict=True)]
    (left, low), (right, high) = display.box
    rows += [[-1, 0, left], [1, 0, -right], [0, -1, low], [0, 1, -high]]
    inner = display.solution(margin).mean(axis=0)
    theirs = ConvexHull(HalfspaceIntersection(np.array(rows, dtype=float), inner).intersections).volume
    assert display.area(margin) == pytest.approx(theirs)
    assert display.contains(inner, margin)


def test_region_shrinks_with_the_margin_and_every_one_is_in_the_picture():
    display = WeightSpaceDisplay.from_data(X, y, margins=(5.0, 0.0, 2.0)).plot()
    assert display.margins == (0.0, 2.0, 5.0)
    areas = [display.area(margin) for margin in display.margins]
    assert areas[0] > areas[1] > areas[2] > 0


def test_criterion_is_the_sum_over_the_mistakes():
    display = WeightSpaceDisplay.from_data(X, y)
    across, up = display.grid
    for i, j in ((0, 0), (20, 150), (159, 3), (70, 90)):
        w = np.array([across[j], up[i]])
        scores = y * (X @ w)
        assert display.criterion[i, j] == pytest.approx(-scores[scores < 0].sum())
    assert display.contains([1.0, -1.0])
    assert not display.contains([0.0, 0.0])  # J_p is zero there, yet nothing is separated


def test_path_is_the_perceptrons_and_ends_in_the_region():
    model = Perceptron(shuffle=False, fit_intercept=False)
    steps = list(model.steps(X, y, coef_init=[[-2.0, 1.0]]))
    display = WeightSpaceDisplay.from_data(X, y, path=steps).plot()
    np.testing.assert_array_equal(display.path[0], [-2.0, 1.0])
    assert len(display.path) - 1 == sum(step.mistake for step in steps)
    np.testing.assert_array_equal(display.path[-1], model.fit(X, y, coef_init=[[-2.0, 1.0]]).coef_[0])
    assert display.contains(display.path[-1])
    assert (display.path >= display.box[0]).all()
    assert (display.path <= display.box[1]).all()


def test_one_column_and_the_constant():
    x, sides = np.array([[1.0], [2.0], [4.0]]), [0, 0, 1]
    display = WeightSpaceDisplay.from_data(x, sides, path=Perceptron().steps(x, sides)).plot()
    assert display.names == ("w₀", "w₁")
    np.testing.assert_array_equal(display.signed, [[-1, -1], [-1, -2], [1, 4]])
    assert display.contains([-3.0, 1.0])
    assert display.contains(display.path[-1])


def test_overlap_has_no_solution():
    display = WeightSpaceDisplay.from_data([[0.0], [1.0], [2.0]], [0, 1, 0], margins=(0.0, 1.0)).plot()
    assert display.area(0.0) == display.area(1.0) == 0.0
    assert not display.contains([0.0, 0.0])
    assert "no solution here, margin 1" in [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_a_row_of_zeros_can_only_be_won_by_a_fixed_weight():
    points, sides = [[0.0, 0.0], [1.0, 0.0], [-1.0, 1.0]], [1, 1, 0]
    assert WeightSpaceDisplay.from_data(points, sides).area() == 0.0
    assert WeightSpaceDisplay.from_data(points, sides, fixed={0: 1.0}).area() > 0.0
    assert WeightSpaceDisplay.from_data(points, sides, fixed={0: 1.0}).area(2.0) == 0.0


def test_a_fixed_weight_is_named_and_the_path_must_keep_it():
    display = WeightSpaceDisplay.from_data(X, y, fixed={0: 1.0}).plot()
    assert "w₀ = 1" in display.ax_.get_title()
    with pytest.raises(InputError, match="leaves the plane"):
        WeightSpaceDisplay.from_data(X, y, fixed={0: 0.0}, path=Perceptron().steps(X, y))


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(InputError, match="3 weights are free"):
        WeightSpaceDisplay.from_data(np.eye(3), [0, 1, 1])
    with pytest.raises(InputError, match="is fixed"):
        WeightSpaceDisplay.from_data(X, y, fixed={7: 1.0})
    with pytest.raises(InputError, match="at least 0"):
        WeightSpaceDisplay.from_data(X, y, margins=(-1.0,))
    with pytest.raises(InputError, match="2 weights"):
        WeightSpaceDisplay.from_data(X, y, path=Perceptron().steps(X, y))
    with pytest.raises(InputError, match="3 classes"):
        WeightSpaceDisplay.from_data(X, [0, 1, 2, 2])
