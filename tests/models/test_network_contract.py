"""scikit-learn's own checks of the network, with no expected failures, and its signature."""

import inspect

import pytest
import sklearn.neural_network
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import MLPClassifier


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        MLPClassifier(max_iter=100),
        MLPClassifier(solver="sgd", activation="tanh", hidden_layer_sizes=(20, 10), max_iter=100),
        # a penalty, because the checks compare predict_log_proba with log(predict_proba), and where the
        # latter underflows ours is the exact one
        MLPClassifier(solver="lbfgs", hidden_layer_sizes=(10,), alpha=0.1, max_iter=20),
        MLPClassifier(solver="lbfgs", hidden_layer_sizes=(), alpha=1.0, tol=1e-8),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_every_parameter_of_scikit_learns_class_is_there_with_its_default_and_kind():
    ours = inspect.signature(MLPClassifier).parameters
    theirs = inspect.signature(sklearn.neural_network.MLPClassifier).parameters
    for name, parameter in theirs.items():
        assert ours[name].default == parameter.default, name
        assert ours[name].kind == parameter.kind, name
    assert list(ours)[: len(theirs)] == list(theirs)
    assert set(ours) - set(theirs) == {"n_jobs", "on_pass"}
    for method in ("fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "score"):
        mine = inspect.signature(getattr(MLPClassifier, method)).parameters
        assert list(mine) == list(inspect.signature(getattr(sklearn.neural_network.MLPClassifier, method)).parameters)
