"""Classes of fits in pieces: named at the first call, the same ever after, in any estimator that learns so."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.errors import InputError

X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
Y = np.array([0, 1, 1, 0])

LEARNERS = [
    sx.SGDClassifier(),
    sx.SGDClassifier(loss="perceptron"),
    sx.Perceptron(),
    sx.LinearDiscriminantAnalysis(),
    sx.BernoulliNB(),
    sx.MLPClassifier((2,)),
]


@pytest.fixture(params=LEARNERS, ids=lambda model: type(model).__name__)
def fresh(request):
    return type(request.param)(**request.param.get_params())


@pytest.mark.filterwarnings("ignore")
def test_classes_are_asked_for_once_and_stay(fresh):
    with pytest.raises(InputError, match="first call"):
        fresh.partial_fit(X, Y)
    with pytest.raises(InputError, match="no order"):
        fresh.partial_fit(X, Y, classes=np.array([0, "one"], dtype=object))
    fresh.partial_fit(X, Y, classes=[1, 0, 1])
    np.testing.assert_array_equal(fresh.classes_, [0, 1])
    fresh.partial_fit(X, Y)
    fresh.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(InputError, match=r"last call to partial_fit.\n\nHint: it was \[0, 1\]"):
        fresh.partial_fit(X, Y, classes=[0, 2])
    with pytest.raises(InputError, match="expecting 2 features"):
        fresh.partial_fit(X[:, :1], Y)


@pytest.mark.filterwarnings("ignore")
def test_one_class_alone_is_refused_where_there_must_be_two(fresh):
    if isinstance(fresh, sx.BernoulliNB):
        fresh.partial_fit(X, np.zeros(4, dtype=int), classes=[0])
        return
    with pytest.raises(InputError, match="only one class"):
        fresh.partial_fit(X, np.zeros(4, dtype=int), classes=[0])


@pytest.mark.parametrize("changed", [{"fit_intercept": False}, {"average": True}, {"penalty": "l1", "alpha": 0.1}])
def test_a_perceptron_goes_on_with_the_rule_it_began_with(changed):
    model = sx.Perceptron().partial_fit(X, Y, classes=[0, 1])
    before = dict(vars(model))
    model.set_params(**changed)
    with pytest.raises(InputError, match="not what it was for the first rows"):
        model.partial_fit(X, Y)
    assert all(vars(model)[name] is value for name, value in before.items() if name not in changed)
