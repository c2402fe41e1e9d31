"""The convergence theorem's numbers against a support vector machine and a perceptron written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from separatrix import InputError, Perceptron
from separatrix.display import MistakesDisplay

X = np.array([[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]])
y = np.array([-1, -1, 1, 1])


def separable(seed, rows=30):
    draw = np.random.default_rng(seed)
    points = draw.normal(size=(rows, 2))
    scores = points @ [1.0, 2.0] + 0.3
    keep = np.abs(scores) > 0.3
    keep[:2] = True
    points[0], points[1] = [2.0, 2.0], [-2.0, -2.0]
    sides = np.where(points @ [1.0, 2.0] + 0.3 > 0, 1, -1)
    return points[keep], sides[keep]


def test_lecture_points_by_hand():
    display = MistakesDisplay.from_perceptron(X, y, Perceptron(shuffle=False)).plot()
    # w = (2, −1, 1)/3 has s⟨w, x⟩ = 1, 5/3, 1, 4/3 and is ⅙(1, −2, −1) + ½(1, 0, 1), made of the signed rows of
    # score 1: so no shorter w has all scores ≥ 1. ‖w‖² = 2/3, R² = 4 + 4 + 1
    assert pytest.approx(3.0) == display.R
    assert display.gamma == pytest.approx(np.sqrt(1.5))
    assert display.bound == 6.0
    assert display.visits.tolist() == [1, 3]
    assert display.mistakes == 2
    assert np.isnan(display.angle[0])
    np.testing.assert_allclose(display.most_angle[1:], np.degrees(np.arccos(np.sqrt([1, 2]) * np.sqrt(1.5) / 3)))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_angle_and_mistakes_stay_under_their_bounds(seed):
    points, sides = separable(seed)
    display = MistakesDisplay.from_perceptron(points, sides, Perceptron(random_state=seed % 100))
    assert display.mistakes <= display.bound
    assert (display.angle[1:] <= display.most_angle[1:] + 1e-9).all()
    assert (np.diff(display.most_angle[1:]) < 0).all()


def test_angles_are_those_of_a_perceptron_written_out():
    points, sides = separable(7)
    rows = np.column_stack([points, np.ones(len(points))])
    machine = LinearSVC(loss="hinge", fit_intercept=False, C=1e7, tol=1e-10, max_iter=10**7).fit(rows, sides)
    star, weights, angles = machine.coef_[0], np.zeros(3), []
    for _ in range(50):
        for row, side in zip(rows, sides, strict=True):
            if side * (row @ weights) <= 0:
                weights = weights + side * row
                angles.append(np.degrees(np.arccos(weights @ star / np.linalg.norm(weights) / np.linalg.norm(star))))
    display = MistakesDisplay.from_perceptron(points, sides, Perceptron(shuffle=False)).plot()
    np.testing.assert_allclose(display.angle[1:], angles, atol=0.01)
    assert display.gamma == pytest.approx(1 / np.linalg.norm(star), rel=1e-4)


def test_the_angle_may_grow_although_the_bound_falls():
    grew = 0
    for seed in range(5):
        display = MistakesDisplay.from_perceptron(*separable(seed)).plot()
        grew += int((np.diff(display.angle[1:]) > 1e-6).sum())
    assert grew > 0


def test_start_margin_and_rate_enter_the_bound():
    for model in (Perceptron(margin=2.0), Perceptron(eta0=0.1), Perceptron(fit_intercept=False)):
        constant = None if not model.fit_intercept else [1.0]
        display = MistakesDisplay.from_perceptron(X, y, model, [[0.0, 1.0]], constant).plot()
        star = model.fit(X, y, [[0.0, 1.0]], constant).certificate_
        assert display.mistakes == star.mistakes <= display.bound <= star.bound
        assert (display.angle <= display.most_angle + 1e-9).all()


def test_a_long_walk_is_cut_and_says_so():
    points, sides = separable(1)
    whole = MistakesDisplay.from_perceptron(points, sides)
    part = MistakesDisplay.from_perceptron(points, sides, max_visits=3).plot()
    assert whole.finished
    assert not part.finished
    assert part.total_visits == 3
    assert "first 3 visits" in part.ax_[0].get_title()
    np.testing.assert_array_equal(part.visits, whole.visits[whole.visits <= 3])


def test_no_theorem_no_picture():
    for options in (
        {"learning_rate": "invscaling"},
        {"rule": "batch"},
        {"penalty": "l2"},
        {"class_weight": "balanced"},
    ):
        with pytest.raises(InputError, match="the theorem needs"):
            MistakesDisplay.from_perceptron(X, y, Perceptron(**options))
    with pytest.raises(InputError, match="cannot be separated"):
        MistakesDisplay.from_perceptron([[0.0], [1.0], [2.0]], [0, 1, 0])
    with pytest.raises(InputError, match="3 classes"):
        MistakesDisplay.from_perceptron([[0.0], [1.0], [2.0]], [0, 1, 2])
