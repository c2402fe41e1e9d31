"""The panels of the perceptron are its mistakes, in order."""

import numpy as np
import pytest

from separatrix import InputError, Perceptron
from separatrix.display import StepsDisplay

X = np.array([[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]])
y = np.array([-1, -1, 1, 1])


def test_lecture_example_is_one_panel():
    steps = Perceptron(shuffle=False).steps(X, y, coef_init=[[0.0, 1.0]], intercept_init=[1.0])
    display = StepsDisplay.from_steps(X, y, steps).plot()
    assert display.visits.tolist() == [1]
    assert display.scores.tolist() == [3.0]
    before, after = display.lines(0)
    assert (before.normal.tolist(), before.constant) == ([0.0, 1.0], 1.0)
    assert (after.normal.tolist(), after.constant) == ([1.0, -1.0], 0.0)
    assert "f(x) = 3" in display.ax_[0].get_title()


@pytest.mark.parametrize("constant", [True, False])
def test_updates_follow_the_rule(constant):
    draw = np.random.default_rng(0)
    points = draw.normal(size=(40, 2))
    sides = np.where(points @ [1.0, -2.0] > 0, 1, -1)
    model = Perceptron(fit_intercept=constant, eta0=0.5)
    display = StepsDisplay.from_steps(points, sides, model.steps(points, sides), mistakes=4).plot()
    rows = np.column_stack([np.ones(40), points]) if constant else points
    moved = 0.5 * sides[display.rows, None] * rows[display.rows]
    np.testing.assert_allclose(display.after - display.before, moved, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(display.before[1:], display.after[:-1])
    assert len(display.ax_) == 4
    assert display.lines(0)[0].length == 0.0  # no boundary yet


def test_no_more_steps_are_taken_than_panels_need():
    taken = []

    def endless():
        for step in Perceptron(max_iter=10**6).steps([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]):
            taken.append(step)
            yield step

    points = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    display = StepsDisplay.from_steps(points, [0, 0, 1, 1], endless(), mistakes=3)
    assert len(display.rows) == 3
    assert sum(step.mistake for step in taken) == 3


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(InputError, match="separates the data"):
        StepsDisplay.from_steps(X, y, Perceptron(shuffle=False).steps(X, y, [[1.0, -1.0]], [0.0]))
    with pytest.raises(InputError, match="3 columns"):
        StepsDisplay.from_steps(np.eye(3), [0, 1, 1], [])
    with pytest.raises(InputError, match="one panel"):
        StepsDisplay.from_steps(X, y, [], mistakes=0)
    with pytest.raises(InputError, match="3 classes"):
        StepsDisplay.from_steps(X, [0, 1, 2, 2], [])
