"""A fit that does not meet its tolerance says so, how far it is, and what to do; one that does is silent."""

import warnings

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.base import clone

from separatrix import ConvergenceWarning, LogisticRegression, MLPClassifier, Perceptron, SGDClassifier
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.solvers.certified_epochs import EpochPatience, Met, walk


def simulated(seed, n=200, d=5, steep=1.0):
    """Rows of a logistic model with known weights."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, (draw.random(n) < 1.0 / (1.0 + np.exp(-X @ draw.normal(size=d) * steep))).astype(int)


X, Y = simulated(0)

MODELS = [
    LogisticRegression(),
    LogisticRegression(max_iter=2),
    LogisticRegression(tol=1e-30),
    LogisticRegression(solver="newton-cg", max_iter=1),
    LogisticRegression(C=np.inf, max_iter=2),
    LogisticRegression(C=np.inf, firth=True),
    LogisticRegression(C=np.inf, firth=True, max_iter=1),
    LogisticRegression(l1_ratio=1.0),
    LogisticRegression(l1_ratio=1.0, max_iter=1),
    LogisticRegression(l1_ratio=0.5, tol=1e-30),
    SGDClassifier(batch_size="all", max_iter=100),
    SGDClassifier(batch_size="all", alpha=0.01, certify_every=1),
    SGDClassifier(batch_size="all", tol=1e-3),
    SGDClassifier(batch_size="all", early_stopping=True),
    SGDClassifier(),
    SGDClassifier(tol=0.1),
    SGDClassifier(tol=0.9, certify_every=1),
    SGDClassifier(early_stopping=True, batch_size=16),
    SGDClassifier(learning_rate="adaptive"),
    SGDClassifier(penalty="l1", alpha=0.01, tol=1e-2),
    SGDClassifier("perceptron", penalty=None),
    Perceptron(),
    Perceptron(max_iter=3, verdict_after=None),
    Perceptron(tol=1e-3),
    Perceptron(early_stopping=True),
    Perceptron(error_threshold=1e3, verdict_after=None),
    Perceptron(loss_threshold=1e9, verdict_after=None),
    Perceptron(shuffle=False, rule="batch", max_iter=20, verdict_after=None),
    MLPClassifier(hidden_layer_sizes=(3,), max_iter=5, random_state=0),
    MLPClassifier(hidden_layer_sizes=(3,), tol=1e-2, max_iter=2000, random_state=0),
    MLPClassifier(hidden_layer_sizes=(3,), solver="lbfgs", tol=1e-3, max_iter=2000, random_state=0),
    MLPClassifier(hidden_layer_sizes=(3,), early_stopping=True, max_iter=2000, random_state=0),
]


@pytest.mark.parametrize("model", [pytest.param(m, id=str(m).replace("\n", "").replace(" ", "")) for m in MODELS])
def test_a_warning_comes_exactly_when_the_tolerance_is_not_met(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = clone(model).fit(X, Y)
    texts = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    if model.certificate_.met:
        assert texts == [] or isinstance(model, MLPClassifier)  # flat by now, and yet out of epochs
    else:
        (text,) = texts
        fact, hint = text.split("\n\nHint: ")
        assert any(character.isdigit() for character in fact)
        assert len(hint) > 10


def test_a_stop_that_was_asked_for_is_silent():
    for model in (
        LogisticRegression(on_pass=lambda entry: True),
        SGDClassifier(on_pass=lambda entry: True),
        SGDClassifier("perceptron", on_pass=lambda entry: True),
        Perceptron(on_pass=lambda entry: True),
        MLPClassifier(on_pass=lambda entry: True),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not model.fit(X, Y).certificate_.met


def test_epochs_that_are_done_are_called_epochs():
    with pytest.warns(ConvergenceWarning, match="all epochs that max_iter allows are done"):
        SGDClassifier(max_iter=3).fit(X, Y)


def excess(model, X, Y):
    """How far above the optimum the weights are, as a share; F computed here."""
    sign = np.where(Y == 1, 1.0, -1.0)
    best = LogisticRegression(tol=1e-12).fit(X, Y)
    of_each = []
    for found in (model, best):
        w, b = found.coef_[0], found.intercept_[0]
        of_each.append(np.logaddexp(0.0, -sign * (X @ w + b)).mean() + w @ w / (2.0 * len(Y)))
    return of_each[0] / of_each[1] - 1.0


def descent(labels, **options):
    """A hundred epochs to the F of LogisticRegression."""
    return SGDClassifier(alpha=1.0 / len(labels), max_iter=100, **options)


EASY = [(seed, 200, 5, 1.0) for seed in range(4)]
SHAPES = [*EASY, (0, 200, 2, 3.0), (1, 200, 20, 1.0), (2, 1000, 10, 1.0), (3, 1000, 10, 1.0)]


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
@pytest.mark.parametrize("batch_size", [1, 8, 32])
@pytest.mark.parametrize("shape", EASY)
def test_noise_does_not_end_a_descent_far_from_the_optimum(shape, batch_size):
    """200 easy rows: patience of five epochs used to end it up to 20 % above the optimum, after a dozen of them."""
    rows, labels = simulated(*shape)
    model = descent(labels, batch_size=batch_size).fit(rows, labels)
    assert excess(model, rows, labels) < 0.02
    assert model.n_iter_ > 20


@pytest.mark.filterwarnings("ignore::separatrix.ConvergenceWarning")
def test_it_ends_nearer_than_scikit_learns():
    """The same F (alpha = 1/n), both by their defaults."""
    ours, theirs = [], []
    for shape in SHAPES:
        rows, labels = simulated(*shape)
        ours.append(excess(descent(labels).fit(rows, labels), rows, labels))
        other = linear_model.SGDClassifier("log_loss", alpha=1.0 / len(labels), random_state=0).fit(rows, labels)
        theirs.append(excess(other, rows, labels))
    assert np.mean(ours) < np.mean(theirs)
    assert np.max(ours) < np.max(theirs)


class Noisy:
    """Epochs whose objective is given; the weights say how many there were."""

    def __init__(self, objective):
        self.objective, self.epochs = objective, 0

    def epoch(self, number):
        self.epochs += 1
        return Met(float(self.objective(self.epochs)), 0.0)

    def weights(self):
        return np.array([float(self.epochs)])

    def slower(self):
        return False


def epochs_of(objective, most=400, idle=5, noisy=True):
    found = walk(Noisy(objective), EpochPatience(1e-8, most, idle, noisy=noisy), lambda point: 0.0, Trace())
    return found.stop, found.epochs


@pytest.mark.parametrize("seed", range(10))
def test_means_see_through_noise(seed):
    """0.5 + k^−¾, with noise of a tenth of that at every epoch: the best so far is soon unbeaten, the means go on."""
    noise = np.random.default_rng(seed).normal(size=1000)

    def falling(k):
        return 0.5 + k**-0.75 * (1.0 + 0.1 * noise[k])

    assert epochs_of(falling) == (Stop.EPOCHS, 400)
    assert epochs_of(falling, noisy=False)[0] is Stop.PATIENCE


def test_a_level_that_no_longer_falls_ends_it():
    noise = np.random.default_rng(0).normal(size=1000)
    stop, epochs = epochs_of(lambda k: 0.5 + 0.01 * noise[k])
    assert stop is Stop.PATIENCE
    assert 20 <= epochs < 200
    assert epochs_of(lambda k: 0.5)[1] == 24  # two windows of ten, and five in a row
    assert epochs_of(lambda k: 0.5, idle=1)[1] == 4
