"""The positive class takes ties, in every model: on data that mirror each other the truth is known."""

import pickle
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import scipy.sparse

from separatrix import (
    BayesDecisionClassifier,
    BernoulliNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MLPClassifier,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from separatrix.core.errors import SeparationWarning
from separatrix.core.scores import last_of_highest
from separatrix.models.ties import lead

pytestmark = [
    pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::separatrix.SeparationWarning"),
]

LOGISTIC = [
    LogisticRegression(),
    LogisticRegression(C=1e-3),
    LogisticRegression(C=1e6),
    LogisticRegression(solver="newton-cg"),
    LogisticRegression(l1_ratio=1.0, tol=1e-12),  # to rounding: what stops at 1e-8 is off by more than that
    LogisticRegression(l1_ratio=0.5, tol=1e-12),
    LogisticRegression(C=np.inf),
]
DESCENT = [
    SGDClassifier(batch_size="all", alpha=0.01, max_iter=100),
    SGDClassifier(batch_size="all", alpha=0.01, max_iter=100, average=True, penalty="elasticnet", l1_ratio=0.5),
]
TWO_ONLY = [
    LogisticRegression(solver="newton-subsample"),
    LogisticRegression(C=np.inf, firth=True),
    LogisticRegression(C=np.inf, firth=True, flic=True),
]
CLOSED = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(covariance="average", shrinkage=0.3),
    RidgeClassifier(),
    RidgeClassifier(alpha=0.0),
    RidgeClassifierCV(),
]
BATCH = [Perceptron(rule="batch", verdict_after=None, max_iter=5, pocket=False), Perceptron(rule="batch", eta0=0.1)]
BAYES = [BayesDecisionClassifier(LogisticRegression()), BayesDecisionClassifier(LinearDiscriminantAnalysis())]


def named(models):
    return [pytest.param(model, id=str(model).replace("\n", "").replace(" ", "")) for model in models]


def check_tie(model, points):
    """All of predict, probabilities and scores say that the points are on the boundary."""
    points = np.asarray(points, dtype=np.float64)
    assert (model.predict(points) == model.classes_[-1]).all()
    if hasattr(model, "decision_function"):
        score = model.decision_function(points)
        if score.ndim == 1:
            assert (score == 0.0).all()
        else:  # the last is a hair ahead, so that argmax finds it too
            assert (score[:, :-1] == score[:, :1]).all()
            np.testing.assert_allclose(score[:, -1], score[:, 0], rtol=1e-15, atol=1e-15)
            assert (score.argmax(axis=1) == score.shape[1] - 1).all()
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(points)
        if len(model.classes_) == 2:
            assert (shares == 0.5).all()
        else:
            np.testing.assert_allclose(shares, 1.0 / len(model.classes_), rtol=1e-14)
            assert (shares.argmax(axis=1) == len(model.classes_) - 1).all()


def same_answers(model, points):
    """The class is the one that scores and probabilities name, and a row's answer is its own."""
    codes = np.searchsorted(model.classes_, model.predict(points))
    score = model.decision_function(points)
    assert (codes == (score >= 0.0 if score.ndim == 1 else last_of_highest(score))).all()
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(points)
        assert (codes == last_of_highest(shares)).all()
        assert len(model.classes_) == 2 or (codes == shares.argmax(axis=1)).all()
    alone = np.concatenate([model.predict(points[i : i + 1]) for i in range(len(points))])
    assert (alone == model.predict(points)).all()


@pytest.mark.parametrize("model", named([*LOGISTIC, *DESCENT, *TWO_ONLY, *CLOSED, *BATCH, *BAYES]))
@pytest.mark.parametrize("middle", [0.0, 3.0, -0.5])
def test_the_lectures_four_points(model, middle):
    X, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]) + middle, [0, 0, 1, 1]
    if middle and (isinstance(model, (Perceptron, SGDClassifier))):
        pytest.skip("a descent about another origin is another one, and not its own mirror image")
    check_tie(model.fit(X, y), [[middle]])


def mirrored(seed, d, n=60):
    """Rows x of one class and −x of the other."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(n, d)) @ draw.normal(size=(d, d))
    side = draw.random(n) < 1.0 / (1.0 + np.exp(-2.0 * rows[:, 0]))
    return np.vstack([rows, -rows]), np.concatenate([side, ~side])


@pytest.mark.parametrize("model", named([*LOGISTIC, *DESCENT, *TWO_ONLY, *CLOSED, *BATCH, *BAYES]))
@pytest.mark.parametrize("d", [1, 4, 11])
def test_rows_and_their_mirror_images(model, d):
    X, y = mirrored(d, d)
    model.fit(X, y)
    check_tie(model, np.zeros((1, d)))
    if not isinstance(model, BayesDecisionClassifier):
        same_answers(model, np.vstack([X[:20], np.zeros((2, d))]))


@pytest.mark.parametrize("model", named([*LOGISTIC, *DESCENT, *TWO_ONLY, *CLOSED, *BATCH, *BAYES]))
@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_two_columns_that_swap_with_the_classes(model, alike):
    """Then w₁ = −w₂ and b = 0: every point with x₁ = x₂ is on the boundary, however alike the columns are."""
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(50, 2))
    rows[:, 1] = -alike * rows[:, 0] + (1.0 - alike) * rows[:, 1]
    side = draw.random(50) < 1.0 / (1.0 + np.exp(rows[:, 1] - rows[:, 0]))
    X, y = np.vstack([rows, rows[:, ::-1]]), np.where(np.concatenate([side, ~side]), "yes", "no")
    model.fit(X, y)
    check_tie(model, [[t, t] for t in (-1.0, 0.0, 0.1, 0.3, 1.7)])


def rotated(binary, n=12):
    """Three classes, each another's rows with the columns turned or exchanged: where columns are equal so are they."""
    draw = np.random.default_rng(5)
    rows = draw.random((n, 3))
    rows[:, 0] += 0.2
    rows = (rows > 0.5).astype(float) if binary else rows
    rows = np.vstack([rows, rows[:, [0, 2, 1]]])
    X = np.vstack([np.roll(rows, k, axis=1) for k in range(3)])
    return X, np.repeat(["a", "b", "c"], 2 * n)


@pytest.mark.parametrize(
    "model", named([*LOGISTIC, *CLOSED, BATCH[0], BernoulliNB(), BernoulliNB(alpha=0.3, fit_prior=False), *BAYES])
)
def test_three_classes_that_turn_into_each_other(model):
    X, y = rotated(isinstance(model, BernoulliNB))
    model.fit(X, y)
    ties = [[t, t, t] for t in ((0.0, 1.0) if isinstance(model, BernoulliNB) else (0.0, 0.1, 0.7, 1.0))]
    check_tie(model, ties)
    for points in (X, np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])):
        if not isinstance(model, BayesDecisionClassifier):
            same_answers(model, points)
    # two of three that tie: the later of the two
    for k, other in permutations(range(3), 2):
        point = np.zeros((1, 3))
        point[0, [k, other]] = 1.0
        assert model.predict(point) == "abc"[max(k, other)]


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_naive_bayes_of_two_classes(layout):
    rows = np.array([[1, 0, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=float)
    X, y = layout(np.vstack([rows, 1.0 - rows])), [1, 1, 1, 1, 0, 0, 0, 0]
    for alpha in (1.0, 0.1, 0.7):
        model = BernoulliNB(alpha=alpha).fit(X, y)
        shares = model.predict_proba(X).round(12)
        assert np.array_equal(shares[:4], shares[4:, ::-1])
        # of four columns mirrored in pairs, a row that has one of each pair says nothing
        paired = BernoulliNB(alpha=alpha).fit(np.hstack([rows[:, :2], 1 - rows[:, :2]]), [0, 1, 0, 1])
        both = BernoulliNB(alpha=alpha).fit([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [1, 1]], [0, 0, 0, 1, 1, 1])
        check_tie(both, [[1, 1], [0, 0]])
        assert paired.predict(np.zeros((1, 4))).shape == (1,)


LINEAR = [
    *LOGISTIC,
    SGDClassifier(alpha=0.01, max_iter=100),
    SGDClassifier(alpha=0.01, max_iter=100, batch_size=8, average=True),
    SGDClassifier("perceptron", max_iter=100),
    *TWO_ONLY,
    *CLOSED,
    Perceptron(),
    Perceptron(average=True),
    Perceptron(penalty="l2"),
    Perceptron(margin=1.0, learning_rate="invscaling"),
]


@pytest.mark.parametrize("model", named(LINEAR))
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e8])
def test_a_projection_onto_the_boundary_is_on_it(model, scale):
    draw = np.random.default_rng(8)
    X = draw.normal((0.0, 2.0, -5.0), 1.0, size=(80, 3)) * [scale, 1.0, 1.0]
    y = draw.random(80) < 1.0 / (1.0 + np.exp(2.0 - X[:, 1]))
    if scale != 1.0 and isinstance(model, SGDClassifier):
        pytest.skip("a descent needs scaled columns")
    model.fit(X, y)
    feet = model.project(X)
    check_tie(model, feet)
    assert (model.signed_distance(feet) == 0.0).all()


def test_a_network_whose_units_cancel():
    """0.1 + 0.2 − 0.3 is 5.6e-17 in floats and 0 in truth."""
    X, y = mirrored(1, 1)
    for kind, kinds in (("tanh", (0, 1)), ("relu", (0, 1)), ("identity", (0, 1)), ("logistic", ("x", "y"))):
        model = MLPClassifier(hidden_layer_sizes=(3,), activation=kind, max_iter=3, tol=1e9).fit(X, np.take(kinds, y))
        for sign in (1.0, -1.0):
            model.coefs_ = [np.array([[1.0, 1.0, 1.0]]), sign * np.array([[0.1], [0.2], [-0.3]])]
            model.intercepts_ = [np.full(3, 0.7), np.zeros(1)]
            points = np.array([[0.3], [1.1], [2.0]])
            assert (model.predict(points) == kinds[1]).all()
            assert (model.predict_proba(points) == 0.5).all()
            model.intercepts_[1] = np.full(1, -1e-9)
            assert (model.predict(points) == kinds[0]).all()


def test_a_network_of_three_outputs_that_cancel():
    X, y = rotated(False)
    model = MLPClassifier(hidden_layer_sizes=(3,), activation="tanh", max_iter=3, tol=1e9).fit(X, y)
    one = np.array([[0.1, 0.2, -0.3]])
    model.coefs_ = [np.ones((3, 3)), np.vstack([one * 1.0, one * 1.0, one * 1.0])[:, [0, 1, 2]].T * [[1.0, 2.0, 3.0]]]
    model.intercepts_ = [np.zeros(3), np.zeros(3)]
    shares = model.predict_proba(np.array([[0.2, 0.3, 0.4]]))
    np.testing.assert_allclose(shares, 1.0 / 3.0, rtol=1e-14)
    assert shares.argmax() == 2
    assert model.predict(np.array([[0.2, 0.3, 0.4]])) == "c"


@pytest.mark.parametrize("model", named([LogisticRegression(), LinearDiscriminantAnalysis(), RidgeClassifier()]))
def test_a_score_that_is_not_zero_decides_by_its_exact_sign(model):
    """Points a few 1e-10 off the boundary: their side is that of the exact sum, in fractions."""
    X, y = mirrored(2, 3)
    model.fit(X, y)
    w, b = [Fraction(v) for v in model.coef_[0]], Fraction(float(model.intercept_[0]))
    length = float(np.linalg.norm(model.coef_[0]))
    points = model.project(X) + np.outer(np.linspace(-1.0, 1.0, len(X)) * 1e-9, model.coef_[0] / length**2)
    exact = [sum((a * Fraction(c) for a, c in zip(w, row, strict=True)), b) for row in points.tolist()]
    clear = [k for k, value in enumerate(exact) if abs(value) > Fraction(1e-10)]
    assert len(clear) > 50
    assert (model.decision_function(points)[clear] != 0.0).all()
    assert model.predict(points)[clear].tolist() == [exact[k] > 0 for k in clear]
    assert (model.predict_proba(points)[clear] != 0.5).all() if hasattr(model, "predict_proba") else True


def test_ties_survive_pickling_and_come_with_pieces():
    X, y = mirrored(4, 2)
    again = pickle.loads(pickle.dumps(LogisticRegression().fit(X, y)))
    check_tie(again, np.zeros((1, 2)))
    stream = SGDClassifier(batch_size=120, shuffle=False).partial_fit(X, y, classes=[False, True])
    check_tie(stream, np.zeros((1, 2)))


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_sparse_rows_tie_too(kind):
    X, y = mirrored(6, 5)
    model = LogisticRegression().fit(kind(np.where(np.abs(X) > 1.0, X, 0.0)), y)
    points = kind(np.zeros((2, 5)))
    assert (model.predict(points) == 1).all()
    assert (model.predict_proba(points) == 0.5).all()


def test_a_decision_ties_where_the_losses_balance():
    """At p = 0.1 a loss of 9 balances a loss of 1; 0.1·9 and 0.9·1 differ as floats."""
    model = BayesDecisionClassifier(LogisticRegression(), loss_matrix=[[0, 9], [1, 0]])
    model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    model.predict_proba = lambda X: np.array([[0.9, 0.1], [1 - 0.1, 0.1], [1 - 1e-1, 1e-1]])
    assert (model.predict(np.zeros((3, 1))) == 1).all()
    model.predict_proba = lambda X: np.array([[0.9 + 1e-9, 0.1 - 1e-9]])
    assert model.predict(np.zeros((1, 1))) == 0


def test_the_lead_is_that_of_sorting():
    draw = np.random.default_rng(0)
    for classes in (2, 3, 7, 40):
        scores = draw.integers(0, 9, (200, classes)).astype(float)
        ordered = np.sort(scores, axis=1)
        assert np.array_equal(lead(scores), ordered[:, -1] - ordered[:, -2])
        expected = [max(k for k in range(classes) if row[k] == max(row)) for row in scores.tolist()]
        assert last_of_highest(scores).tolist() == expected


def test_all_rows_may_tie():
    """No weight at all and as many rows of either class: everything is a tie, however many rows there are."""
    draw = np.random.default_rng(7)
    X = draw.normal(size=(3000, 400))
    X, y = np.vstack([X, X]), np.repeat([0, 1], 3000)
    model = LogisticRegression(l1_ratio=1.0, C=1e-6).fit(X, y)
    assert not model.coef_.any()
    assert (model.predict(X) == 1).all()
    assert (model.predict_proba(X) == 0.5).all()
    assert (model.decision_function(X) == 0.0).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_origin_of_separated_data_that_mirror_each_other_is_a_tie(seed):
    draw = np.random.default_rng(seed)
    half = np.round(draw.normal(size=(5, 2)), 3) * 10.0 ** draw.integers(-6, 7)
    half = half[np.abs(half @ [1.0, 2.0]) > 0.0]
    labels = (half @ [1.0, 2.0] > 0).astype(int)
    X, y = np.vstack([half, -half]), np.r_[labels, 1 - labels]
    model = LogisticRegression(C=np.inf)
    with pytest.warns(SeparationWarning):
        model.fit(X, y)
    assert model.certificate_.kind == "complete"
    assert model.predict(np.zeros((1, 2))).tolist() == [1]
    assert model.predict_proba(np.zeros((1, 2))).tolist() == [[0.5, 0.5]]
    assert (model.predict(X) == y).all()
