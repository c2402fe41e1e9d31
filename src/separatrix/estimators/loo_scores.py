"""Left-out scores judged by a scorer of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from separatrix.core.arrays import AnyArray, Vector
from separatrix.estimators.inputs import Target


class _Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """A classifier whose scores are handed to it instead of rows."""

    def __init__(self, classes: Any = None) -> None:
        self.classes = classes

    def fit(self, X: Any, y: Any = None) -> "_Given":
        """Nothing to learn."""
        return self

    @property
    def classes_(self) -> Any:
        return self.classes

    def decision_function(self, X: Any) -> Any:
        """The scores themselves."""
        return X

    def predict(self, X: Any) -> Any:
        """The class of the highest score; zero is class 1's."""
        codes = (X >= 0).astype(np.intp) if X.ndim == 1 else X.shape[1] - 1 - np.argmax(X[:, ::-1], axis=1)
        return self.classes[codes]


def best_of(scoring: Any, fitted: AnyArray, target: Target, weights: Vector | None) -> Vector:
    """The scorer's value for each penalty; ``fitted`` is (n × targets × penalties)."""
    from sklearn.metrics import check_scoring

    judge = _Given(target.classes)
    scorer = check_scoring(judge, scoring=scoring)
    labels = target.classes[target.codes]
    values = []
    for k in range(fitted.shape[2]):
        scores = fitted[:, 0, k] if fitted.shape[1] == 1 else fitted[:, :, k]
        extra = {} if weights is None else {"sample_weight": weights}
        values.append(float(scorer(judge, np.nan_to_num(scores), labels, **extra)))
    return np.array(values)
