"""Left-out scores judged by a scorer of scikit-learn."""

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from separatrix.core.arrays import AnyArray, Vector
from separatrix.core.errors import refuse
from separatrix.core.numbers import is_number
from separatrix.core.parameters import shown
from separatrix.core.scores import last_of_highest
from separatrix.models.labels import Target


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
        codes = (X >= 0).astype(np.intp) if X.ndim == 1 else last_of_highest(X)
        return self.classes[codes]


def is_scorer(name: Any) -> bool:
    """Whether scikit-learn has a scorer of this name."""
    from sklearn.metrics import get_scorer_names

    return isinstance(name, str) and name in get_scorer_names()


def splits(cv: Any) -> bool:
    """Whether rows can be split by it: a splitter, or pairs of positions, to learn from and to judge by."""
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits"):
        return True
    listed = isinstance(cv, Iterable) and not isinstance(cv, (str, bytes, Mapping, np.ndarray))
    if not listed or not isinstance(cv, Sequence):
        return listed
    return len(cv) > 0 and all(isinstance(pair, Sized) and len(pair) == 2 for pair in cv)


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
        value = scorer(judge, np.nan_to_num(scores), labels, **extra)
        if not is_number(value):
            refuse(f"scoring returned {shown(value)}.", "a scorer returns one number, the higher the better.")
        values.append(float(value))
    return np.array(values)
