"""scikit-learn's own checks, with no expected failures."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import LogisticRegression


@parametrize_with_checks(
    [
        LogisticRegression(),
        LogisticRegression(solver="newton-cg"),
        LogisticRegression(solver="newton-subsample"),
        LogisticRegression(C=1e-3, class_weight="balanced"),
        LogisticRegression(l1_ratio=1.0),
        LogisticRegression(l1_ratio=0.5),
        LogisticRegression(C=np.inf, firth=True),
        LogisticRegression(C=np.inf, firth=True, flic=True),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
