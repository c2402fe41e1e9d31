"""Lines, hulls and cuts against scipy.spatial and the definitions."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from separatrix import InputError
from separatrix.display.plane import Line, around, cut, hull, table

numbers = st.integers(-20, 20).map(float)
pairs = st.tuples(numbers, numbers)


@given(normal=pairs, constant=numbers, point=pairs)
def test_foot_is_on_the_line_and_as_far_as_the_distance_says(normal, constant, point):
    assume(any(normal))
    line, points = Line(np.array(normal), constant), np.array([point])
    foot = line.feet(points)
    assert foot[0] @ line.normal + constant == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(points - foot) == pytest.approx(abs(line.distances(points)[0]), abs=1e-9)
    assert line.moved(line.distances(points)[0]).distances(points)[0] == pytest.approx(0.0, abs=1e-9)


@given(normal=pairs, constant=numbers)
def test_ends_lie_on_the_line_and_on_the_edge_of_the_box(normal, constant):
    box = np.array([[-3.0, -2.0], [5.0, 4.0]])
    line = Line(np.array(normal), constant)
    ends = line.ends(box)
    corners = np.array([[x, y] for x in box[:, 0] for y in box[:, 1]]) @ line.normal + constant
    if ends is None:
        assert not any(normal) or corners.min() >= 0 or corners.max() <= 0
        return
    np.testing.assert_allclose(ends @ line.normal + constant, 0.0, atol=1e-9)
    for end in ends:
        assert (end >= box[0] - 1e-9).all()
        assert (end <= box[1] + 1e-9).all()
        assert np.isclose(end, box).any()


@given(st.lists(pairs, min_size=3, max_size=30, unique=True))
def test_hull_has_the_corners_and_area_of_qhull(points):
    points = np.array(points)
    assume(np.linalg.matrix_rank(points[1:] - points[0]) == 2)
    ours, theirs = hull(points), ConvexHull(points)
    assert {tuple(corner) for corner in ours} == {tuple(corner) for corner in points[theirs.vertices]}
    assert area(ours) == pytest.approx(theirs.volume)


def test_hull_of_points_on_a_line_is_its_ends():
    assert len(hull(np.array([[1.0, 1.0], [1.0, 1.0]]))) == 1
    np.testing.assert_array_equal(hull(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])), [[0, 0], [2, 2]])


@given(normal=pairs, constant=numbers)
def test_the_two_parts_of_a_cut_add_up(normal, constant):
    square = np.array([[-4.0, -4.0], [4.0, -4.0], [4.0, 4.0], [-4.0, 4.0]])
    assume(any(normal))
    upper, lower = cut(square, np.array(normal), constant), cut(square, -np.array(normal), -constant)
    assert (upper @ np.array(normal) + constant >= -1e-9).all()
    assert area(upper) + area(lower) == pytest.approx(64.0)


def test_box_has_room_even_around_one_point():
    assert (np.diff(around(np.array([[2.0, 3.0]])), axis=0) > 0).all()


def test_table_names_columns_and_refuses_what_is_not_finite():
    assert table([[1, 2]])[1] == ["column 0", "column 1"]
    with pytest.raises(InputError, match="Column 1"):
        table(np.array([[0.0, np.nan]]))


def area(corners):
    after = np.roll(corners, -1, axis=0)
    return abs(corners[:, 0] @ after[:, 1] - corners[:, 1] @ after[:, 0]) / 2
