"""Naive Bayes of binary features: counts in, a linear posterior out."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _check_feature_names

from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import NotFiniteError, refuse
from separatrix.core.parameters import ANYTHING, FLAG, NONE, array_of_numbers, check, number, shown
from separatrix.core.protocols import Engine
from separatrix.core.scores import last_of_highest
from separatrix.engines import block_of
from separatrix.models.bernoulli.binary_rows import binary_blocks, refuse_strange
from separatrix.models.bernoulli.problem import BernoulliProblem, count_error
from separatrix.models.decision import LinearDecision, _dense
from separatrix.models.draft import whole
from separatrix.models.labels import Target, encode, open_engine, open_table, sample_weights
from separatrix.models.pieces import check_width, classes_to_come
from separatrix.models.posterior import PosteriorDecision, check_classes, given_priors, warn_unless_met
from separatrix.models.ties import gamma, lead, settle_rows, tolerance_of_rows
from separatrix.terms.bernoulli import BernoulliClasses
from separatrix.terms.counts import ClassCounts
from separatrix.terms.logistic import Scores

SMALLEST_ALPHA = 1e-10

RULES = {
    "alpha": ANYTHING,  # one number or one for each column
    "force_alpha": FLAG,
    "binarize": NONE | number("a finite number"),
    "fit_prior": FLAG,
    "class_prior": ANYTHING,  # see given_priors
}


class BernoulliNB(LinearDecision, PosteriorDecision, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """P(x | cₖ) = Πⱼ μₖⱼ^xⱼ (1 − μₖⱼ)^(1−xⱼ) for binary x: counts are all a fit needs.

    μₖⱼ = (Nₖⱼ + α)/(Wₖ + 2α) with Nₖⱼ the rows of class k that have feature j; α = 0 is maximum likelihood. Two
    classes have the posterior σ(⟨w, x⟩ + w₀), see ``coef_``. Rows of bytes are counted as bytes, sparse rows where they
    lie.

    Parameters
    ----------
    alpha : float or array of d, default=1.0
        Smoothing; 0 allowed. Without it a row may be impossible under every class: it gets the priors, with a warning.
    force_alpha : bool, default=True
        False raises an alpha below 1e-10 to that, as in scikit-learn.
    binarize : float or None, default=0.0
        xⱼ counts as 1 above this; None takes X as it is and refuses values other than 0 and 1.
    fit_prior : bool, default=True
        Class priors from the data; False for even ones.
    class_prior : array of K probabilities or None
        Class priors as given.

    Attributes
    ----------
    class_count_, feature_count_, class_log_prior_, feature_log_prob_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    coef_, intercept_ : arrays (1, d), (1,); of K classes (K, d), (K,)
        The log-odds as a linear function of the binary x; there only where every probability lies between 0 and 1.
    certificate_ : ClosedFormCertificate
    n_parameters_ : int
        K·d probabilities and K − 1 priors.

    Examples
    --------
    >>> X, y = [[1, 0], [1, 1], [0, 1], [0, 0]], [0, 0, 1, 1]
    >>> model = BernoulliNB().fit(X, y)
    >>> np.exp(model.feature_log_prob_)
    array([[0.75, 0.5 ],
           [0.25, 0.5 ]])
    >>> model.predict_proba([[1, 0]])
    array([[0.75, 0.25]])
    """

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags

    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the rows X by labels y; on any error the estimator stays as it was."""
        return self._learn(X, y, None, sample_weight, None)

    @whole
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the counts of more rows; ``classes`` at the first call."""
        known = getattr(self, "_counts", None)
        every = classes_to_come(None if known is None else self.classes_, classes, least=1)
        if known is not None:
            _check_feature_names(self, X, reset=False)
        return self._learn(X, y, every, sample_weight, known)

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, known: ClassCounts | None) -> Self:
        block = block_of(X)
        n, d = block.shape
        if known is not None:
            check_width(self, d)
        alpha = self._check_parameters(d)
        target = encode(y, n, classes)
        weights = sample_weights(sample_weight, n)
        if classes is None:
            check_classes(target, weights)
        problem = BernoulliProblem(target.classes, alpha, self._threshold(), self._given(target))
        try:
            counts = problem.count(open_engine(block, target, weights))
        except NotFiniteError:
            refuse_strange(block, self.binarize is None)
        error = count_error(weights, n)
        if known is not None:
            counts, error = known + counts, error + float(getattr(self, "_error", 0.0))
        if not np.isfinite(counts.weights.sum()):
            refuse("The sample weights add up to more than 1.8e308.", "divide them all by the same number.")
        model = problem.estimate(counts)
        certificate = problem.certificate(model, counts, error)
        # everything succeeded: only now does the estimator change
        if known is None:
            _check_feature_names(self, X, reset=True)
        self.n_features_in_ = d
        self.classes_ = target.classes
        self.class_count_, self.feature_count_ = counts.weights, counts.ones
        self.class_log_prior_, self.feature_log_prob_ = model.priors, model.ones
        self.certificate_ = certificate
        self.n_parameters_ = len(target.classes) * d + (len(target.classes) - 1) * (problem.priors is None)
        self._model, self._counts, self._error = model, counts, error
        warn_unless_met(certificate, "weights of very different size lose the small ones; set alpha > 0.")
        return self

    @property
    def coef_(self) -> Matrix:  # type: ignore[override]  # computed, not stored
        """Weights of the log-odds, or of each class's log-joint."""
        return self._glm()[0]

    @property
    def intercept_(self) -> Vector:  # type: ignore[override]  # computed, not stored
        """Offsets that belong to ``coef_``."""
        return self._glm()[1]

    def _glm(self) -> tuple[Matrix, Vector]:
        model: BernoulliClasses | None = getattr(self, "_model", None)
        if model is None:
            raise AttributeError("The model is not fitted yet.")
        if model.certain or np.isneginf(model.priors).any():
            raise AttributeError(
                "A probability is 0 or 1, so the log-odds are not a finite linear function.\n\nHint: set alpha > 0."
            )
        if len(model.priors) == 2:
            w, b = model.log_odds()
            return w[None], np.array([b])
        return model.coef, model.offset + model.priors

    def predict_joint_log_proba(self, X: Any) -> Matrix:
        """Log P(x, cₖ) of every row (n × K); −∞ where x is impossible under the class.

        Joints that are equal within their rounding are given as equal (of more than two the last a hair higher), see
        ``ties``.
        """
        return self._joint(X)

    def decision_function(self, X: Any) -> AnyArray:
        """Log-odds of class 1, or log-joints of K classes; rows that no class allows have those of the priors."""
        joint = self._joint(X)
        nowhere = np.isneginf(joint).all(axis=1)
        if nowhere.any():
            warnings.warn(
                f"{int(nowhere.sum())} rows (first: row {int(nowhere.argmax())}) are impossible under every class; "
                "they get the priors.\n\nHint: set alpha > 0.",
                UserWarning,
                stacklevel=4,
            )
            joint[nowhere] = self._model.priors
        if joint.shape[1] == 2:
            return np.asarray(joint[:, 1] - joint[:, 0])
        return joint

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; of those that tie the last, so of two class 1."""
        score = self.decision_function(X)
        codes = (score >= 0).astype(np.intp) if score.ndim == 1 else last_of_highest(score)
        labels: AnyArray = self.classes_[codes]
        return labels

    def _joint(self, X: Any) -> Matrix:
        model: BernoulliClasses | None = getattr(self, "_model", None)
        if model is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )
        if type(X) is not np.ndarray or hasattr(self, "feature_names_in_"):
            _check_feature_names(self, X, reset=False)
        block = block_of(X)
        n, d = block.shape
        if d != self.n_features_in_:
            refuse(
                f"X has {d} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.",
                "pass the columns the model was fitted on, in the same order.",
            )
        points = np.column_stack([model.coef, model.offset])
        walls = np.column_stack(model.barriers) if model.certain else None
        out = np.empty((n, len(points)))
        for first, last, part in binary_blocks(block, self._threshold()):
            rows = open_table(part)
            some: Matrix = rows.map(Scores(True), points).array()
            if walls is not None:
                some[rows.map(Scores(True), walls).array() > 0.5] = -np.inf
            some += model.priors
            _settle(rows, model, some, self._counts)
            out[first:last] = some
        return out

    def _seen(self, X: Any) -> Matrix:
        """Zeros and ones: the boundary lies among those, not among the numbers they were made of."""
        return np.concatenate([_dense(part) for _, _, part in binary_blocks(block_of(X), self._threshold())])

    def _threshold(self) -> float | None:
        return None if self.binarize is None else float(self.binarize)

    def _given(self, target: Target) -> Vector | None:
        count = len(target.classes)
        if self.class_prior is not None:
            return given_priors(self.class_prior, count, "class_prior")
        return None if self.fit_prior else np.full(count, 1.0 / count)

    def _check_parameters(self, d: int) -> AnyArray | float:
        check(self, RULES)
        alpha = array_of_numbers(self.alpha, "alpha")
        if alpha.ndim > 1 or (alpha.ndim == 1 and len(alpha) != d):
            refuse(f"When alpha is an array, it should contain `n_features` numbers: {d}.", "give one, or one each.")
        if not np.isfinite(alpha).all() or (alpha < 0).any():
            refuse(f"alpha is {shown(self.alpha)}.", "smoothing is finite and not negative.")
        if not self.force_alpha and (alpha < SMALLEST_ALPHA).any():
            warnings.warn(
                f"alpha too small, setting alpha = {SMALLEST_ALPHA:.1e}. Use `force_alpha=True` to keep it unchanged.",
                UserWarning,
                stacklevel=5,
            )
            alpha = np.maximum(alpha, SMALLEST_ALPHA)
        return alpha if alpha.ndim else float(alpha)


def _settle(rows: Engine, model: BernoulliClasses, joints: Matrix, counts: ClassCounts) -> None:
    """Make joints that tie equal, in place.

    log μ − log(1 − μ), and the sum of all log(1 − μ), are off by a few roundings of the logarithms they are made of;
    each of those is log N − log W, off by a rounding of either.
    """
    ones, zeros, priors = (
        np.abs(np.where(np.isneginf(logs), 0.0, logs)) for logs in (model.ones, model.zeros, model.priors)
    )
    d, whole = rows.columns_count, 1.0 + float(np.log1p(counts.weights.max()))
    tolerances = np.column_stack([ones + zeros + whole, zeros.sum(axis=1) + priors + d * whole]) * 2.0 * gamma(d)
    with np.errstate(invalid="ignore"):
        near = np.flatnonzero(lead(joints) <= 2.0 * tolerances.sum(axis=1).max())
    if len(near):
        settle_rows(joints, near, tolerance_of_rows(rows.picked(near), tolerances))
