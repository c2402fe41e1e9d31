"""Networks, KL fits, bases and means as pictures: the numbers first."""

from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from scipy import stats
from sklearn.datasets import load_iris, make_circles
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from separatrix import GaussianBasis, InputError, LogisticRegression
from separatrix.display import BasisDisplay, BayesNetDisplay, CentralLimitDisplay, KLDisplay
from separatrix.display.layered import layered
from separatrix.probability import BayesNet, Bernoulli, Normal

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


# layered graphs


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 14))
    return {f"v{k}": [f"v{j}" for j in range(k) if draw(st.integers(0, 4)) == 0] for k in range(n)}


@settings(deadline=None)
@given(graphs())
def test_arrows_point_down_and_boxes_do_not_touch(parents):
    plan = layered(parents, width=1.0, gap=0.3)
    assert set(plan.places) == set(parents)
    assert set(plan.routes) == {(above, name) for name, its in parents.items() for above in its}
    for (above, name), route in plan.routes.items():
        assert route[0] == plan.places[above]
        assert route[-1] == plan.places[name]
        assert all(b[1] - a[1] == -1.0 for a, b in pairwise(route))
        # where an arrow passes a layer, no box stands in its way
        for x, y in route[1:-1]:
            assert all(abs(x - other[0]) > 0.5 for other in plan.places.values() if other[1] == y)
    for one, other in combinations(plan.places.values(), 2):
        assert one[1] != other[1] or abs(one[0] - other[0]) >= 1.3 - 1e-9


def test_a_tree_and_two_chains_do_not_cross():
    plan = layered({"r": [], "a": ["r"], "b": ["r"], "c": ["b"], "d": ["a"], "e": ["a"]})
    x = {name: place[0] for name, place in plan.places.items()}
    assert (x["a"] < x["b"]) == (max(x["d"], x["e"]) < x["c"])


# networks


@pytest.fixture
def net():
    return BayesNet(
        {
            "E": BayesNet.binary(0.6),
            "G": BayesNet.binary(0.8),
            "I": (["E", "G"], BayesNet.binary([[0.0, 0.4], [0.6, 0.9]])),
            "O": (["I"], BayesNet.binary([0.0, 0.2])),
        }
    )


def test_network_holds_what_follows_from_what_is_given(net):
    display = BayesNetDisplay.from_network(net, given={"O": 1})
    assert display.probabilities["E"][1] == pytest.approx(0.79747, abs=1e-5)
    assert "O" not in display.probabilities
    heights = [display.layout.places[name][1] for name in "EGIO"]
    assert heights == [0.0, 0.0, -1.0, -2.0]
    panel = display.plot().ax_
    written = [text.get_text() for text in panel.texts]
    assert {"E", "G", "I", "O", "= 1", "0.797"} <= set(written)
    assert panel.get_title() == net.factorisation()


def test_large_networks_show_names_and_many_states_are_counted():
    table = np.full((2, 2), 0.5)
    chain = {"x0": [0.5, 0.5]} | {f"x{k}": ([f"x{k - 1}"], table) for k in range(1, 30)}
    display = BayesNetDisplay.from_network(BayesNet(chain), given={"x3": 0})
    assert display.probabilities == {}
    assert "x3 = 0" in [text.get_text() for text in display.plot().ax_.texts]
    wide = BayesNetDisplay.from_network(BayesNet({"a": np.full(9, 1 / 9), "b": [1.0]})).plot()
    assert "… 5 more" in [text.get_text() for text in wide.ax_.texts]


# KL fits


def test_both_fits_are_drawn_over_the_target():
    density = lambda x: 0.7 * Normal(-3, 1).pdf(x) + 0.3 * Normal(3, 1).pdf(x)  # noqa: E731
    display = KLDisplay.from_target(density, interval=(-np.inf, np.inf)).plot()
    assert display.forward.law.mean == pytest.approx(-1.2)
    assert display.reverse.law.mean == pytest.approx(-3.0, abs=0.05)
    np.testing.assert_allclose(display.target, density(display.x), rtol=1e-9)
    drawn = [line.get_ydata() for line in display.ax_.get_lines()]
    np.testing.assert_allclose(drawn[1], display.forward.law.pdf(display.x))
    np.testing.assert_allclose(drawn[2], display.reverse.law.pdf(display.x))
    assert len(drawn) == 2 + display.reverse.n_minima
    assert KLDisplay.from_target(stats.t(4)).plot().reverse.n_minima == 1


# bases


@pytest.fixture(scope="module")
def rings():
    return make_circles(200, noise=0.1, factor=0.5, random_state=0)


def test_scores_over_the_plane_are_the_models(rings):
    X, y = rings
    pipe = make_pipeline(PolynomialFeatures(3, include_bias=False), LogisticRegression()).fit(X, y)
    display = BasisDisplay.from_estimator(pipe, X, y).plot()
    place = np.array([[display.grid[0][30], display.grid[1][200]]])
    assert display.scores[200, 30] == pytest.approx(pipe.decision_function(place)[0])
    # looking along the boundary, the first coordinate is the distance in φ-space
    model = pipe[-1]
    np.testing.assert_allclose(display.images[:, 0], model.signed_distance(pipe[:-1].transform(X)))
    assert display.normal.tolist() == [1.0, 0.0]
    assert len(display.ax_) == 2


def test_two_functions_are_shown_as_they_are(rings):
    X, y = rings
    pipe = make_pipeline(GaussianBasis([[0, 0], [1, 0]], width=0.5), LogisticRegression()).fit(X, y)
    display = BasisDisplay.from_estimator(pipe, X, y).plot()
    np.testing.assert_allclose(display.images, pipe[0].transform(X))
    sides = display.images @ display.normal + display.offset >= 0
    np.testing.assert_array_equal(sides, pipe.predict(X) == 1)
    assert display.axes == ("gaussian(x0, x1)_0", "gaussian(x0, x1)_1")


def test_two_of_many_functions_hold_the_others_at_their_mean(rings):
    X, y = rings
    frame = pd.DataFrame(X, columns=["a", "b"])
    pipe = make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression()).fit(frame, y)
    display = BasisDisplay.from_estimator(pipe, frame, y, functions=(2, 4)).plot()
    assert display.names == ["a", "b"]
    assert display.axes[0] == "a^2 (3 others at their mean)"
    phi = pipe[0].transform(frame)
    expected = pipe[-1].intercept_[0] + phi.mean(axis=0)[[0, 1, 3]] @ pipe[-1].coef_[0, [0, 1, 3]]
    assert display.offset == pytest.approx(expected)
    with pytest.raises(InputError, match="functions is"):
        BasisDisplay.from_estimator(pipe, frame, y, functions=(1, 9))


def test_one_column_is_cut_where_the_prediction_changes():
    x = np.linspace(-3, 3, 101)[:, None]
    y = (np.abs(x[:, 0]) < 1).astype(int)
    pipe = make_pipeline(GaussianBasis("grid", count=5), LogisticRegression(C=10.0)).fit(x, y)
    display = BasisDisplay.from_estimator(pipe, x, y).plot()
    low, high = display.crossings()
    assert pipe.decision_function([[low]])[0] == pytest.approx(0.0, abs=1e-2)
    assert -1.3 < low < -0.7 < 0.7 < high < 1.3
    assert display.functions.shape == (240, 5)


def test_what_has_no_such_picture_is_refused(rings):
    X, y = rings
    with pytest.raises(InputError, match="Pipeline"):
        BasisDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    iris, species = load_iris(return_X_y=True)
    wide = make_pipeline(GaussianBasis(random_state=0), LogisticRegression()).fit(iris, species)
    with pytest.raises(InputError, match="one or two columns"):
        BasisDisplay.from_estimator(wide, iris, species)
    three = make_pipeline(GaussianBasis(random_state=0), LogisticRegression()).fit(iris[:, :2], species)
    with pytest.raises(InputError, match="two classes"):
        BasisDisplay.from_estimator(three, iris[:, :2], species)


# means


def test_distances_are_those_of_scipy_and_bars_have_area_one():
    display = CentralLimitDisplay.from_law(Bernoulli(0.3), sizes=(2, 30), draws=4000, seed=1).plot()
    for k, z in enumerate(display.means):
        assert display.distances[k] == pytest.approx(stats.kstest(z, stats.norm.cdf).statistic)
        _, heights, width = display.bars(k)
        assert heights.sum() * width == pytest.approx(1.0)
    assert len(display.bars(0)[0]) == 3  # a lattice: no, one or two successes
    smooth = CentralLimitDisplay.from_law(Normal(), sizes=(1,), draws=4000).plot()
    assert smooth.bars(0)[1].sum() * smooth.bars(0)[2] == pytest.approx(1.0, abs=0.01)
