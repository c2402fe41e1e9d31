"""The Bayes-optimal decision: a classifier's posteriors, a loss for every action, the action of least expected loss."""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import _check_feature_names, check_is_fitted, has_fit_parameter

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import InputError, refuse
from separatrix.core.parameters import ESTIMATOR, array_of_numbers, shown
from separatrix.engines import block_of
from separatrix.models.decisions.losses import OverallRisk, least_risk, mean_loss, reweighted, threshold_of
from separatrix.models.draft import whole
from separatrix.models.labels import encode, sample_weights
from separatrix.models.posterior import check_classes, given_priors


class BayesDecisionClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """α*(x) = argminᵢ R(αᵢ | x) with the conditional risk R(αᵢ | x) = Σⱼ Lᵢⱼ P(cⱼ | x).

    Lᵢⱼ is the loss of action i when the class is j. For 0–1 loss the decision is the most probable class. Actions need
    not be classes: a row that costs the same whatever the class is a refusal to decide. Of actions that tie the last is
    taken, so of two classes the positive one.

    A model fitted where the classes had the shares πⱼ is moved to a place where they have π′ⱼ by
    P′(cⱼ | x) ∝ P(cⱼ | x)·π′ⱼ/πⱼ: Bayes' theorem with the same p(x | cⱼ).

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        A clone is fitted; wrap a fitted one in ``sklearn.frozen.FrozenEstimator`` to keep it.
    loss_matrix : array (actions × classes) or None
        None for 0–1 loss. Classes in sorted order.
    actions : sequence or None
        A name per row of the matrix; None for the classes, when there are as many rows.
    deployment_priors : array of K probabilities or None
        Class shares where decisions will be made; None for those of the training data.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
    estimator_ : the fitted classifier
    loss_matrix_ : array (actions × classes)
    actions_ : array
    training_priors_ : array
        The estimator's own priors where it has them (``priors_``, ``class_log_prior_``), else the training shares.
    threshold_ : Threshold or None
        Two classes and two actions: where the decision changes, as a probability of class 1.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> model = BayesDecisionClassifier(LogisticRegression(), loss_matrix=[[0, 9], [1, 0]]).fit(X, y)
    >>> print(model.threshold_)
    Take 1 where the probability of class 1 is at least 0.1, else 0.
    >>> model.predict([[0.5]]), model.estimator_.predict([[0.5]])
    (array([1]), array([0]))
    """

    def __init__(
        self, estimator: Any, *, loss_matrix: Any = None, actions: Any = None, deployment_priors: Any = None
    ) -> None:
        self.estimator = estimator
        self.loss_matrix = loss_matrix
        self.actions = actions
        self.deployment_priors = deployment_priors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        from sklearn.utils import get_tags

        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.input_tags.sparse = inner.input_tags.sparse
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a clone of the estimator; on any error this one stays as it was."""
        if not ESTIMATOR.holds(self.estimator):
            refuse(
                f"estimator is {shown(self.estimator)}.",
                "give a classifier with predict_proba, such as LogisticRegression().",
            )
        model = clone(self.estimator)
        if sample_weight is None:
            model.fit(X, y)
        elif has_fit_parameter(model, "sample_weight"):
            model.fit(X, y, sample_weight=sample_weight)
        else:
            refuse(f"{type(model).__name__} does not take sample_weight.", "leave it out, or use another estimator.")
        if not hasattr(model, "predict_proba"):
            refuse(
                f"{type(model).__name__} has no predict_proba: a risk needs posteriors.",
                "calibrate it with sklearn.calibration.CalibratedClassifierCV.",
            )
        classes = np.asarray(model.classes_)
        losses, actions = self._losses(classes)
        deployed = None
        if self.deployment_priors is not None:
            deployed = given_priors(self.deployment_priors, len(classes), "deployment_priors")
        training = self._training_priors(model, classes, y, sample_weight)
        # everything succeeded: only now does the estimator change
        _check_feature_names(self, X, reset=True)
        self.n_features_in_ = block_of(X).shape[1]
        self.estimator_, self.classes_ = model, classes
        self.loss_matrix_, self.actions_ = losses, actions
        self.training_priors_, self._deployed = training, deployed
        self.threshold_ = threshold_of(losses, actions)
        return self

    def predict_proba(self, X: Any) -> Matrix:
        """Posteriors of the classes, moved to the deployment priors where given."""
        check_is_fitted(self, "estimator_")
        _check_feature_names(self, X, reset=False)
        shares = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        return shares if self._deployed is None else reweighted(shares, self.training_priors_, self._deployed)

    def risk(self, X: Any) -> Matrix:
        """R(αᵢ | x), the expected loss of every action for each row (n × actions)."""
        return np.asarray(self.predict_proba(X) @ self.loss_matrix_.T)

    def decide(self, X: Any) -> AnyArray:
        """The action of least expected loss for each row; of those that tie the last."""
        return np.asarray(self.actions_[self._chosen(X)])

    def predict(self, X: Any) -> AnyArray:
        """The decision as a class; only where every action is one."""
        check_is_fitted(self, "estimator_")
        if not set(self.actions_.tolist()) <= set(self.classes_.tolist()):
            refuse(
                f"The actions {self.actions_.tolist()} are not all classes, so a decision is not a prediction.",
                "use decide(X).",
            )
        chosen: AnyArray = self.actions_.astype(self.classes_.dtype)[self._chosen(X)]
        return chosen

    def overall_risk(self, X: Any, y: Any, sample_weight: Any = None) -> OverallRisk:
        """The mean loss of the decisions on labelled rows, and the standard error of that mean.

        With deployment priors every class is given its share there, wₖ = π′ₖ/πₖ by the labels' own shares πₖ.
        """
        chosen = self._chosen(X)
        codes = encode(y, len(chosen), self.classes_).codes
        weights = sample_weights(sample_weight, len(chosen))
        counts = np.ones(len(chosen)) if weights is None else weights
        losses = self.loss_matrix_[chosen, codes]
        if self._deployed is None:
            return mean_loss(losses, counts)
        # each class's mean risk is known with its own error; they are put together by the new shares
        parts = [mean_loss(losses[codes == k], counts[codes == k]) for k in range(len(self.classes_))]
        needed = [k for k, share in enumerate(self._deployed) if share > 0]
        if any(parts[k].rows == 0 for k in needed):
            raise InputError("A class that deployment_priors expect has no labelled row.\n\nHint: add rows of it.")
        value = sum(self._deployed[k] * parts[k].value for k in needed)
        error = np.sqrt(sum((self._deployed[k] * parts[k].standard_error) ** 2 for k in needed))
        return OverallRisk(float(value), float(error), float(counts.sum()))

    def posterior_difference(self, X: Any) -> Vector:
        """G(x) = P(c₁ | x) − P(c₀ | x) of two classes."""
        shares = self._of_two(X)
        return np.asarray(shares[:, 1] - shares[:, 0])

    def log_odds(self, X: Any) -> Vector:
        """g(x) = log P(c₁ | x) − log P(c₀ | x) of two classes."""
        shares = self._of_two(X)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares[:, 1]) - np.log(shares[:, 0]))

    def _of_two(self, X: Any) -> Matrix:
        shares = self.predict_proba(X)
        if shares.shape[1] != 2:
            refuse(f"There are {shares.shape[1]} classes.", "a discriminant of two posteriors needs two classes.")
        return shares

    def _chosen(self, X: Any) -> AnyArray:
        shares = self.predict_proba(X)
        return least_risk(shares, self.loss_matrix_)

    def _losses(self, classes: AnyArray) -> tuple[Matrix, AnyArray]:
        count = len(classes)
        losses = 1.0 - np.eye(count) if self.loss_matrix is None else array_of_numbers(self.loss_matrix, "loss_matrix")
        if losses.ndim != 2 or losses.shape[1] != count or not len(losses):
            refuse(
                f"loss_matrix has shape {losses.shape}; there are {count} classes.",
                "give a row per action and a column per class, classes in sorted order.",
            )
        if not np.isfinite(losses).all():
            refuse("loss_matrix holds NaN or infinity.", "an action that must never be taken has a large, finite loss.")
        if self.actions is None:
            if len(losses) != count:
                refuse(f"loss_matrix has {len(losses)} rows for {count} classes.", "name the rows: actions=[…].")
            return losses, classes
        if isinstance(self.actions, (str, bytes)) or not np.iterable(self.actions):
            refuse(f"actions is {shown(self.actions)}.", "actions must be None or a sequence of names, one per row.")
        named = list(self.actions)
        if len(named) != len(losses):
            refuse(f"There are {len(named)} actions for {len(losses)} rows of loss_matrix.", "name every row once.")
        if not all(isinstance(name, Hashable) for name in named):
            refuse(f"actions is {shown(self.actions)}.", "name actions by strings or numbers.")
        if len(set(named)) != len(named):
            refuse(f"Two actions have the same name: {named}.", "name every row once.")
        kinds = {type(name) for name in named}
        return losses, np.array(named, dtype=None if len(kinds) == 1 else object)

    def _training_priors(self, model: Any, classes: AnyArray, y: Any, sample_weight: Any) -> Vector:
        own = _own_priors(model)
        if own is not None:
            return own
        rows = len(np.asarray(y))
        target = encode(y, rows, classes)
        weights = sample_weights(sample_weight, rows)
        if self.deployment_priors is not None:
            check_classes(target, weights)
        counts = np.bincount(target.codes, weights, minlength=len(classes))
        return np.asarray(counts / counts.sum())


def _own_priors(model: Any) -> Vector | None:
    """Priors that a generative model used; FrozenEstimator hands attributes through."""
    if hasattr(model, "priors_"):
        return np.asarray(model.priors_, dtype=np.float64)
    if hasattr(model, "class_log_prior_"):
        return np.exp(np.asarray(model.class_log_prior_, dtype=np.float64))
    return None
