"""A fit takes effect at once or not at all, and its warnings point at whoever called it."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import separatrix as sx
from separatrix.core.errors import ConvergenceWarning, SeparationWarning

X = np.random.default_rng(0).normal(size=(40, 3))
OVERLAP = (X[:, 0] + np.random.default_rng(1).normal(size=40) > 0).astype(int)
SEPARATED = (X[:, 0] > 0).astype(int)


def test_a_warning_that_is_an_error_leaves_the_model_as_it_was():
    model = sx.LogisticRegression(C=np.inf).fit(X, OVERLAP)
    before, coef = dict(vars(model)), model.coef_.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SeparationWarning)
        with pytest.raises(SeparationWarning):
            model.fit(X[:, :2], SEPARATED)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.coef_, coef)


def test_a_stream_that_fails_keeps_its_trace():
    model = sx.SGDClassifier().partial_fit(X, OVERLAP, classes=[0, 1])
    before = model.trace_
    model.partial_fit(X, OVERLAP)
    assert (len(before), len(model.trace_)) == (1, 2)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], OVERLAP)
    assert len(model.trace_) == 2


@pytest.mark.parametrize(
    "model",
    [sx.SGDClassifier(), sx.SGDClassifier(batch_size="all"), sx.LogisticRegression(solver="newton-cholesky")],
    ids=["row by row", "all rows", "newton-cholesky"],
)
@pytest.mark.filterwarnings("ignore::separatrix.core.errors.ConvergenceWarning")
def test_a_hook_may_keep_the_points_it_was_shown(model):
    seen, at_once = [], []

    def look(entry):
        seen.append(entry.point)
        at_once.append(entry.point.copy())
        return False

    clone(model).set_params(max_iter=6, on_pass=look).fit(X, OVERLAP)
    assert len(seen) > 2
    for kept, then in zip(seen, at_once, strict=True):
        np.testing.assert_array_equal(kept, then)


STOP = lambda entry: True  # noqa: E731

CALLS = {
    "separated": (SeparationWarning, lambda: sx.LogisticRegression(C=np.inf).fit(X, SEPARATED)),
    "early": (ConvergenceWarning, lambda: sx.LogisticRegression(max_iter=1, tol=1e-12).fit(1e3 * X, OVERLAP)),
    "firth": (ConvergenceWarning, lambda: sx.LogisticRegression(C=np.inf, firth=True, max_iter=1).fit(X, OVERLAP)),
    "perceptron": (ConvergenceWarning, lambda: sx.Perceptron(max_iter=1, tol=None).fit(X, SEPARATED)),
    "epochs": (ConvergenceWarning, lambda: sx.SGDClassifier(max_iter=1).fit(X, OVERLAP)),
    "descent without end": (SeparationWarning, lambda: sx.SGDClassifier(penalty=None, max_iter=9).fit(X, SEPARATED)),
    "perceptron's loss": (ConvergenceWarning, lambda: sx.SGDClassifier("perceptron", max_iter=1).fit(X, SEPARATED)),
    "network": (ConvergenceWarning, lambda: sx.MLPClassifier((3,), max_iter=1).fit(X, OVERLAP)),
    "penalty": (FutureWarning, lambda: sx.LogisticRegression(penalty="l2").fit(X, OVERLAP)),
    "priors": (UserWarning, lambda: sx.LinearDiscriminantAnalysis(priors=[0.5, 0.7]).fit(X, OVERLAP)),
    "column of labels": (UserWarning, lambda: sx.LogisticRegression().fit(X, OVERLAP[:, None])),
    "column for descent": (UserWarning, lambda: sx.SGDClassifier(on_pass=STOP).fit(X, OVERLAP[:, None])),
    "column for a perceptron": (UserWarning, lambda: sx.Perceptron(on_pass=STOP).fit(X, OVERLAP[:, None])),
    "column for its loss": (UserWarning, lambda: sx.SGDClassifier("perceptron", on_pass=STOP).fit(X, OVERLAP[:, None])),
    "walls": (SeparationWarning, lambda: sx.LinearDiscriminantAnalysis().fit(np.c_[X, SEPARATED], SEPARATED)),
}


@pytest.mark.parametrize("name", CALLS)
def test_warnings_point_at_the_caller(name):
    kind, call = CALLS[name]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    mine = [each for each in found if issubclass(each.category, kind)]
    assert mine
    assert {each.filename for each in mine} == {__file__}


def test_signatures_are_those_of_the_methods():
    assert list(inspect.signature(sx.LogisticRegression.fit).parameters) == ["self", "X", "y", "sample_weight"]
    assert "classes" in inspect.signature(sx.BernoulliNB.partial_fit).parameters
