"""The picture of a descent holds the path and the function before it draws."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

from separatrix import InputError
from separatrix.display import DescentDisplay
from separatrix.optimize import gradient_descent, stochastic_gradient_descent

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def bowl(p):
    return p[0] ** 2 + 5 * p[1] ** 2


def walks():
    start = np.array([4.0, 2.0])
    descent = gradient_descent(lambda p: np.array([2 * p[0], 10 * p[1]]), start, 0.05, max_steps=30, keep_path=True)
    noisy = stochastic_gradient_descent(
        lambda p, rows: np.array([2 * p[0], 10 * p[1]]) + np.where(rows[0] % 2, 6.0, -6.0),
        start, 0.05, 1, 3, rows=10, keep_path=True,
    )  # fmt: skip
    return {"gradient descent": descent, "SGD": noisy}


def test_contours_hold_the_function_and_both_paths_stand_side_by_side():
    found = walks()
    display = DescentDisplay.from_descents(bowl, found).plot()
    assert len(display.ax_) == 2
    across, up = np.meshgrid(*display.grids)
    np.testing.assert_allclose(display.heights, across**2 + 5 * up**2)
    for name, walk in found.items():
        np.testing.assert_array_equal(display.paths[name], walk.path.points)
        np.testing.assert_allclose(display.values[name], [bowl(p) for p in walk.path.points])
    assert (np.diff(display.levels()) > 0).all()


def test_a_curve_of_one_number():
    walk = gradient_descent(lambda x: 2 * x - 6, 0.0, 0.9, keep_path=True, max_steps=8)
    display = DescentDisplay.from_descents(lambda x: x**2 - 6 * x + 9, {"rate 0.9": walk}, limits=[(-1.0, 7.0)]).plot()
    np.testing.assert_allclose(display.heights, (display.grids[0] - 3) ** 2, atol=1e-12)
    assert display.grids[0][[0, -1]].tolist() == [-1.0, 7.0]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="kept no path"):
        DescentDisplay.from_descents(bowl, {"a": gradient_descent(lambda x: x, 1.0, 0.5)})
    with pytest.raises(InputError, match="no descent"):
        DescentDisplay.from_descents(bowl, {})
    walk = gradient_descent(lambda x: x, np.ones(3), 0.5, keep_path=True)
    with pytest.raises(InputError, match="one or two"):
        DescentDisplay.from_descents(bowl, {"a": walk})
