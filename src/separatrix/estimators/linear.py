"""What every linear classifier can do once it has weights: decide, and its geometry."""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _check_feature_names

from separatrix.core import kernels
from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.engines import Block, block_of
from separatrix.estimators.inputs import refuse_not_finite


class LinearDecision:
    """f(x) = ⟨w, x⟩ + b; class 1 where f(x) ≥ 0.

    The positive class takes ties, as in the lectures; scikit-learn gives them to
    the other. Two classes: ``coef_`` is (1, d), ``intercept_`` (1,).
    """

    coef_: Matrix
    intercept_: Vector
    classes_: AnyArray
    n_features_in_: int

    def decision_function(self, X: Any) -> Vector:
        """The score f(x) of each row: log-odds of the positive class for a logistic model."""
        out = self._score(X, probabilities=False)
        return out[:, 0]

    def predict(self, X: Any) -> AnyArray:
        """The class on whose side of the boundary each row lies; the boundary is class 1's."""
        positive = self.decision_function(X) >= 0.0
        labels: AnyArray = self.classes_[positive.astype(np.intp)]
        return labels

    def signed_distance(self, X: Any) -> Vector:
        """f(x)/‖w‖: the distance of each row from the boundary, positive on class 1's side."""
        return self.decision_function(X) / self._normal_length()

    def project(self, X: Any) -> Matrix:
        """The nearest point on the boundary: x − f(x)·w/‖w‖²."""
        scores = self.decision_function(X)
        rows = _dense(block_of(X))
        return rows - np.outer(scores / self._normal_length() ** 2, self.coef_[0])

    @property
    def origin_distance_(self) -> float:
        """|b|/‖w‖: the distance of the boundary from the origin."""
        return float(abs(self.intercept_[0]) / self._normal_length())

    def _normal_length(self) -> float:
        length = float(np.linalg.norm(self.coef_[0]))
        if length == 0.0:
            refuse("All weights are zero, so there is no boundary to measure from.", "raise C, or add columns.")
        return length

    def _score(self, X: Any, probabilities: bool) -> Matrix:
        coef = getattr(self, "coef_", None)
        if coef is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )
        # sklearn's check costs more than a prediction; arrays have no names to compare
        if type(X) is not np.ndarray or hasattr(self, "feature_names_in_"):
            _check_feature_names(self, X, reset=False)
        block = block_of(X)
        n, d = block.shape
        if d != coef.shape[1]:
            refuse(
                f"X has {d} features, but {type(self).__name__} is expecting {coef.shape[1]} features as input.",
                "pass the columns the model was fitted on, in the same order.",
            )
        point = np.empty((1, d + 1))
        point[0, :d] = coef[0]
        point[0, d] = self.intercept_[0]
        out = np.empty((n, 2 if probabilities else 1))
        kernels.score(block.rows, point, True, probabilities, out, block.entries_per_row)
        if not np.isfinite(out).all():
            refuse_not_finite(block)
        return out


def _dense(block: Block) -> Matrix:
    if block.sparse:
        return np.asarray(block.source.toarray(), dtype=np.float64)
    return kernels.gather(block.rows, np.arange(block.shape[0]))
