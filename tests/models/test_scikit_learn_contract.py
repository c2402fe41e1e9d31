"""scikit-learn's own checks; where a rule that depends on the order of rows cannot pass, the reason is given."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import (
    BayesDecisionClassifier,
    BernoulliNB,
    ConvergenceWarning,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)

ORDER = "a weight scales a step, a repeated row is another visit: not the same path"

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")

OSCILLATES = "with weights of 1000 : 0.0001 and a constant rate batch steps oscillate; a lower rate settles"


def order_dependent(estimator: Any) -> dict[str, str]:
    """Checks that a rule cannot pass, with the reason."""
    if isinstance(estimator, SGDClassifier):
        return {} if estimator.batch_size == "all" else dict.fromkeys(WEIGHTS, ORDER)
    if not isinstance(estimator, Perceptron):
        return {}
    if estimator.rule == "batch":
        return {"check_class_weight_classifiers": OSCILLATES}
    return dict.fromkeys(WEIGHTS, ORDER)


@pytest.mark.filterwarnings("ignore::separatrix.SeparationWarning")  # some checks fit classes without any spread
@pytest.mark.filterwarnings("ignore:.*impossible under every class:UserWarning")
@parametrize_with_checks(
    [
        LogisticRegression(),
        LogisticRegression(solver="newton-cg"),
        LogisticRegression(solver="newton-subsample"),
        LogisticRegression(C=1e-3, class_weight="balanced"),
        LogisticRegression(l1_ratio=1.0),
        LogisticRegression(l1_ratio=0.5),
        SGDClassifier(batch_size="all"),
        SGDClassifier(batch_size="all", penalty="elasticnet", alpha=0.01, average=True),
        SGDClassifier(),
        SGDClassifier(batch_size=4, penalty="l1", alpha=0.01, learning_rate="adaptive"),
        SGDClassifier("perceptron", penalty=None),
        LogisticRegression(C=np.inf, firth=True),
        LogisticRegression(C=np.inf, firth=True, flic=True),
        Perceptron(),
        Perceptron(average=True),
        Perceptron(penalty="elasticnet", tol=1e-3),
        Perceptron(rule="batch", eta0=0.1),
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(covariance="average", shrinkage="auto"),
        BernoulliNB(),
        BernoulliNB(alpha=0.0, fit_prior=False),
        RidgeClassifier(),
        RidgeClassifier(alpha=0.0),
        RidgeClassifierCV(),
        BayesDecisionClassifier(LinearDiscriminantAnalysis()),
    ],
    expected_failed_checks=order_dependent,
)
def test_scikit_learn_check(estimator, check):
    with warnings.catch_warnings():
        if isinstance(estimator, SGDClassifier) or getattr(estimator, "penalty", None) == "elasticnet":
            warnings.simplefilter("ignore", ConvergenceWarning)  # a descent, or tol, stops before anything is proved
        check(estimator)
