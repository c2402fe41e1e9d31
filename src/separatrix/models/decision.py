"""What every linear classifier can do once it has weights: decide, and its geometry."""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _check_feature_names

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import NoSuchAttributeError, refuse
from separatrix.core.protocols import Engine
from separatrix.core.scores import last_of_highest
from separatrix.engines import Block, block_of
from separatrix.models.labels import open_table, refuse_not_finite
from separatrix.models.ties import Rounding


class LinearDecision:
    """f(x) = ⟨w, x⟩ + b; class 1 where f(x) ≥ 0; of K classes the one with the highest score.

    The positive class takes ties, as in the lectures; scikit-learn gives them to
    the other. Of K classes the last of those that tie is taken, which for two is the
    same. A score within its rounding of zero is a tie and given as 0, see ``ties``.
    Two classes: ``coef_`` is (1, d), ``intercept_`` (1,); more: (K, d) and (K,).
    """

    coef_: Matrix
    intercept_: Vector
    classes_: AnyArray
    n_features_in_: int
    _rounding_: Rounding | None = None

    def decision_function(self, X: Any) -> AnyArray:
        """The score f(x) of each row, for a logistic model the log-odds; (n × K) for K classes."""
        out = self._score(X, probabilities=False)
        return out[:, 0] if out.shape[1] == 1 else out

    def predict(self, X: Any) -> AnyArray:
        """The class on whose side of the boundary each row lies; the boundary is class 1's."""
        score = self._score(X, probabilities=False)
        codes = (score[:, 0] >= 0.0).astype(np.intp) if score.shape[1] == 1 else last_of_highest(score)
        labels: AnyArray = self.classes_[codes]
        return labels

    def signed_distance(self, X: Any) -> Vector:
        """f(x)/‖w‖: the distance of each row from the boundary, positive on class 1's side."""
        length = self._normal_length() if hasattr(self, "coef_") else 1.0
        return np.asarray(self._along(X) / length)

    def project(self, X: Any) -> Matrix:
        """The nearest point on the boundary: x − f(x)·w/‖w‖²."""
        length = self._normal_length()
        unit = self._boundary()[0] / length  # ‖w‖² may be below the smallest float
        return self._seen(X) - np.outer(self._along(X) / length, unit)

    @property
    def origin_distance_(self) -> float:
        """|b|/‖w‖: the distance of the boundary from the origin; 0 where b is zero to rounding."""
        length = self._normal_length()
        return abs(self._boundary()[1]) / length

    def _boundary(self) -> tuple[Vector, float]:
        """(w, b) of the boundary ⟨w, x⟩ + b = 0 between two classes; b is 0 where it is zero to rounding."""
        w, b = self.coef_[0], float(self.intercept_[0])
        if self._rounding_ is not None and abs(b) <= self._rounding_.tolerances(self.coef_, self.intercept_)[0, -1]:
            b = 0.0
        return w, b

    def _seen(self, X: Any) -> Matrix:
        """The rows as f sees them, in a dense array."""
        return _dense(block_of(X))

    def _along(self, X: Any) -> Vector:
        """⟨w, x⟩ + b of the boundary, 0 on it."""
        return np.asarray(self.decision_function(X))

    def _outputs(self) -> int:
        """Weight vectors; 1 before fitting, so that the error comes from where it should."""
        return len(self.coef_) if hasattr(self, "coef_") else 1

    def _normal_length(self) -> float:
        if len(self.coef_) > 1:
            refuse(
                f"With {len(self.coef_)} classes there is no single boundary to measure from.",
                "choose two classes k and l; their boundary has the normal coef_[k] - coef_[l].",
                NoSuchAttributeError,
            )
        length = float(np.linalg.norm(self._boundary()[0]))
        if length == 0.0:
            refuse(
                "All weights are zero, so there is no boundary to measure from.",
                "raise C, or add columns.",
                NoSuchAttributeError,
            )
        return length

    def _score(self, X: Any, probabilities: bool) -> Matrix:
        coef = getattr(self, "coef_", None)
        if coef is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )
        return self._linear(X, coef, self.intercept_, probabilities, self._rounding_)

    def _settle(self, engine: Engine, unit: float = 1.0, magnified: float = 1.0, bound: float = 0.0) -> None:
        """At the end of a fit: how far its scores can be from their true values."""
        self._rounding_ = Rounding.of(engine, self.coef_, self.intercept_, unit, magnified, bound)

    def _linear(
        self,
        X: Any,
        coef: Matrix,
        intercept: Vector,
        probabilities: bool = False,
        rounding: Rounding | None = None,
    ) -> Matrix:
        """⟨wₖ, x⟩ + bₖ of every row and any weights (n × K), X checked as for a prediction; ties settled if asked."""
        block = block_of(X)
        # sklearn's check costs more than a prediction; arrays have no names to compare
        if type(X) is not np.ndarray or hasattr(self, "feature_names_in_"):
            _check_feature_names(self, X, reset=False)
        d = block.shape[1]
        if d != coef.shape[1]:
            refuse(
                f"X has {d} features, but {type(self).__name__} is expecting {coef.shape[1]} features as input.",
                "pass the columns the model was fitted on, in the same order.",
            )
        point = np.empty((len(coef), d + 1))
        point[:, :d] = coef
        point[:, d] = intercept
        out = block.scores(point, probabilities)
        if not np.isfinite(out).all():
            refuse_not_finite(block)
        if rounding is not None and not (len(out) == 1 and rounding.clear(out[0].tolist())):
            (rounding.settle_shares if probabilities else rounding.settle)(open_table(block), coef, intercept, out)
        return out


def weights_of(raw: Vector, outputs: int, columns: int, constant: bool) -> dict[str, Any]:
    """The fitted attributes in a raw point."""
    rows = raw.reshape(outputs, -1)
    intercept = rows[:, columns] if constant else np.zeros(outputs)
    return {"coef_": rows[:, :columns].copy(), "intercept_": intercept.copy()}


def log_probabilities(scores: Matrix) -> Matrix:
    """Logarithms of the probabilities of K classes from their scores, of two from one score; none underflows.

    >>> log_probabilities(np.array([[-800.0]]))
    array([[  -0., -800.]])
    """
    if scores.shape[1] == 1:
        score = scores[:, 0]
        return np.column_stack([-np.logaddexp(0.0, score), -np.logaddexp(0.0, -score)])
    below = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))


def _dense(block: Block) -> Matrix:
    return block.written_out()
