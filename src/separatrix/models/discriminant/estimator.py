"""Linear discriminant analysis: Gaussian classes with one covariance, fitted by maximum likelihood."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from separatrix.certificates.closed_form import sum_error
from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import SeparationWarning, refuse
from separatrix.core.parameters import (
    ANYTHING,
    COUNT,
    ESTIMATOR,
    FLAG,
    NONE,
    NOT_NEGATIVE,
    SHARE,
    Rule,
    check,
    one_of,
)
from separatrix.core.protocols import Engine
from separatrix.core.row_vector import array_of
from separatrix.core.scores import last_of_highest
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.decision import LinearDecision, _dense
from separatrix.models.discriminant.problem import GaussianProblem
from separatrix.models.draft import whole
from separatrix.models.labels import (
    Target,
    block_of,
    encode,
    open_engine,
    open_table,
    refuse_not_finite,
    sample_weights,
)
from separatrix.models.logistic.fitting import LARGEST_HESSIAN
from separatrix.models.pieces import check_width, classes_to_come
from separatrix.models.posterior import PosteriorDecision, check_classes, given_priors, warn_unless_met
from separatrix.terms.gaussian import discriminant_axes, linear_posterior
from separatrix.terms.moments import ClassMoments
from separatrix.terms.walls import Walls, find_walls

RULES = {
    "solver": one_of("svd", "lsqr", "eigen"),
    "shrinkage": NONE | SHARE | Rule(lambda amount: isinstance(amount, str) and amount == "auto", '"auto"'),
    "priors": ANYTHING,  # see given_priors
    "n_components": NONE | COUNT,
    "store_covariance": FLAG,
    "tol": NOT_NEGATIVE,
    "covariance_estimator": NONE | ESTIMATOR,
    "covariance": one_of("pooled", "average"),
}


def _merges(model: "LinearDiscriminantAnalysis") -> bool:
    """Moments merge; Ledoit and Wolf, or an estimator, need all rows at once."""
    if model.shrinkage == "auto" or model.covariance_estimator is not None:
        raise AttributeError(
            "partial_fit needs a covariance that follows from moments.\n\nHint: give shrinkage as a number."
        )
    return True


class LinearDiscriminantAnalysis(
    LinearDecision,
    PosteriorDecision,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # untyped bases
    TransformerMixin,  # type: ignore[misc]  # untyped bases
    ClassifierMixin,  # type: ignore[misc]  # untyped bases
    BaseEstimator,  # type: ignore[misc]  # untyped bases
):
    """p(x | cₖ) = N(μₖ, Σ) with one Σ for all classes; then log P(cₖ | x) is linear in x.

    Maximum likelihood: πₖ the classes' shares, μₖ their means, Σ the covariance within classes. For two classes the
    posterior is σ(⟨w, x⟩ + w₀) with w = Σ⁻¹(μ₁ − μ₀), w₀ = −½(μ₁ᵀΣ⁻¹μ₁ − μ₀ᵀΣ⁻¹μ₀) + log(π₁/π₀). All of it follows from
    one pass over X, dense or sparse, in any type. Columns that are constant within classes, or that others
    determine, have weight 0 and are named (``dropped_``). Where the classes differ along a direction in which they have
    no spread, that decides first, with probabilities of 0 and 1 (see ``terms.walls``); a warning names its columns.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        Accepted as in scikit-learn; all three are the same closed form here, and all of them transform and shrink.
        With "eigen" ``transform`` does not subtract ``xbar_``, as there.
    shrinkage : float in [0, 1], "auto" or None
        (1 − s)Σ + s·(tr Σ/d)·I; "auto" lets Ledoit and Wolf choose s for each class, as in scikit-learn.
    priors : array of K probabilities or None
        Class priors; None for the classes' shares. They enter the posterior alone. (scikit-learn's "lsqr" and "eigen"
        also weigh the class covariances by given priors; its "svd" does not.)
    n_components : int or None
        Columns of ``transform``; at most min(K − 1, d).
    store_covariance : bool, default=False
        Accepted; ``covariance_`` is always there.
    tol : float, default=1e-4
        A column is left out when less than tol² of its variance is its own.
    covariance_estimator : estimator or None
        Fitted to the rows of each class, as in scikit-learn; its ``covariance_`` is used.
    covariance : {"pooled", "average"}, default="pooled"
        Class covariances weighted by counts (maximum likelihood), or their plain mean.

    Attributes
    ----------
    coef_, intercept_, classes_, priors_, means_, covariance_, xbar_, scalings_, explained_variance_ratio_
        As in scikit-learn.
    certificate_ : ClosedFormCertificate
    dropped_ : list of str
        Columns that were left out.
    separating_ : list of str
        Columns of the directions without spread within the classes that decide first.
    n_parameters_ : int
        K − 1 priors, K·d means and d(d + 1)/2 covariances; priors that were given are not counted.

    Examples
    --------
    >>> model = LinearDiscriminantAnalysis().fit([[0.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1])
    >>> model.means_.ravel(), model.covariance_, model.coef_, model.intercept_
    (array([1., 4.]), array([[1.]]), array([[3.]]), array([-7.5]))
    """

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        covariance: str = "pooled",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.covariance = covariance

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X and labels y; on any error the estimator stays as it was."""
        self._check_parameters()
        engine, target = self._open(X, y, sample_weight, None)
        check_classes(target, array_of(engine.row_weights))
        problem = self._problem(target)
        with one_blas_thread(), np.errstate(all="ignore"):
            moments = self._moments_of(problem, engine)
            return self._conclude(X, problem, moments, engine, sum_error(engine.rows, engine.sparse), first=True)

    @available_if(_merges)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    @whole
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Merge the moments of more rows; the result is that of one fit to all of them. ``classes`` at the first call.

        A class that no row has shown yet has posterior zero, to 300 digits.
        """
        self._check_parameters()
        known: ClassMoments | None = getattr(self, "_moments", None)
        every = classes_to_come(None if known is None else self.classes_, classes)
        if known is not None:
            _check_feature_names(self, X, reset=False)
        engine, target = self._open(X, y, sample_weight, every)
        if known is not None:
            check_width(self, engine.columns_count)
        problem = self._problem(target)
        with one_blas_thread(), np.errstate(all="ignore"):
            moments = self._moments_of(problem, engine)
            error = sum_error(engine.rows, engine.sparse)
            if known is not None:
                if len(known.scatters) != len(moments.scatters):
                    refuse("covariance was changed since the last call.", "fit anew.")
                moments = known + moments
                error += self._error
            return self._conclude(X, problem, moments, None, error, first=known is None)

    def decision_function(self, X: Any) -> AnyArray:
        """Log-odds of class 1, or the scores of K classes; ±∞ where directions without spread decide."""
        score = super().decision_function(X)
        walls: Walls | None = getattr(self, "_walls", None)
        if walls is None or not len(walls.points):
            return score
        heights = self._linear(X, walls.points[:, :-1], walls.points[:, -1])
        decided = walls.decide(heights, np.zeros((len(heights), len(self.classes_))) if score.ndim == 1 else score)
        # of two classes: minus infinity for class 1, plus for class 0; where neither is decided, the log-odds
        return decided if score.ndim == 2 else np.where(decided.any(axis=1), decided[:, 1] - decided[:, 0], score)

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; the last of those that tie."""
        score = self.decision_function(X)
        codes = (score >= 0.0).astype(np.intp) if score.ndim == 1 else last_of_highest(score)
        labels: AnyArray = self.classes_[codes]
        return labels

    def signed_distance(self, X: Any) -> Vector:
        """The distance from the boundary: from the wall between two classes, where there is one."""
        plane = self._plane()
        if plane is None:
            return super().signed_distance(X)
        return np.asarray(self._linear(X, plane[None, :-1], plane[-1:])[:, 0] / np.linalg.norm(plane[:-1]))

    def project(self, X: Any) -> Matrix:
        """The nearest point on the boundary, or on the wall between two classes."""
        plane = self._plane()
        if plane is None:
            return super().project(X)
        return _dense(block_of(X)) - np.outer(self.signed_distance(X), plane[:-1] / np.linalg.norm(plane[:-1]))

    @property
    def origin_distance_(self) -> float:
        """The distance of the boundary, or of the wall between two classes, from the origin."""
        plane = self._plane()
        if plane is None:
            return super().origin_distance_
        return float(abs(plane[-1]) / np.linalg.norm(plane[:-1]))

    def _plane(self) -> Vector | None:
        walls: Walls | None = getattr(self, "_walls", None)
        return None if walls is None else walls.between

    def transform(self, X: Any) -> Matrix:
        """Rows on the axes that spread the class means most, in units of the spread within classes."""
        check_is_fitted(self)
        offset = np.zeros(self.n_features_in_) if self.solver == "eigen" else self.xbar_
        axes = self.scalings_[:, : self._most_components]
        return self._linear(X, np.ascontiguousarray(axes.T), -(offset @ axes))

    @property
    def _n_features_out(self) -> int:
        return min(self._most_components, int(self.scalings_.shape[1]))

    def _open(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> tuple[Engine, Target]:
        block = block_of(X)
        if block.shape[1] > LARGEST_HESSIAN:
            refuse(
                f"X has {block.shape[1]} columns: their covariance would need {block.shape[1]}² numbers; "
                f"the most is {LARGEST_HESSIAN} columns.",
                "select columns or project them first, for example with sklearn.decomposition.TruncatedSVD.",
            )
        target = encode(y, block.shape[0], classes)
        weights = sample_weights(sample_weight, block.shape[0])
        return open_engine(block, target, weights), target

    def _problem(self, target: Target) -> GaussianProblem:
        count = len(target.classes)
        priors = None if self.priors is None else given_priors(self.priors, count)
        kind, estimator = str(self.covariance), self.covariance_estimator
        shrinkage = self.shrinkage if self.shrinkage is None or self.shrinkage == "auto" else float(self.shrinkage)
        return GaussianProblem(target.classes, priors, kind, shrinkage, estimator, float(self.tol))

    def _moments_of(self, problem: GaussianProblem, engine: Engine) -> ClassMoments:
        moments = problem.moments(engine)
        if not np.isfinite(moments.scatters).all() or not np.isfinite(moments.means).all():
            refuse_not_finite(engine)
        return moments

    def _conclude(
        self, X: Any, problem: GaussianProblem, moments: ClassMoments, engine: Engine | None, error: float, first: bool
    ) -> Self:
        count, d = moments.means.shape
        most = min(count - 1, d)
        if self.n_components is not None and self.n_components > most:
            refuse(f"n_components cannot be larger than min(n_features, n_classes - 1), which is {most}.", "lower it.")
        classes = problem.estimate(moments, engine)
        keep = classes.kept(problem.tol)
        posterior = linear_posterior(classes, keep)
        axes, shares = discriminant_axes(classes, keep, problem.tol)
        walls = find_walls(classes, keep, engine)
        rounding = error * problem.lost(moments, classes, keep)
        certificate = problem.certificate(classes, posterior, keep, walls, rounding, X, engine)
        # everything succeeded: only now does the estimator change
        if first:
            _check_feature_names(self, X, reset=True)
        self.n_features_in_ = d
        self.classes_ = problem.classes
        self.priors_, self.means_, self.covariance_ = classes.priors, classes.means, classes.covariance
        self.xbar_ = classes.centre
        self.coef_, self.intercept_ = posterior.coef, posterior.intercept
        self._settle(open_table(block_of(X)), magnified=certificate.condition)
        self._most_components = most if self.n_components is None else int(self.n_components)
        self.scalings_, self.explained_variance_ratio_ = axes, shares[: self._most_components]
        self.certificate_ = certificate
        self.dropped_, self.separating_ = list(certificate.aliased), list(certificate.separating)
        self._walls = walls
        self.n_parameters_ = (count - 1) * (problem.priors is None) + count * d + d * (d + 1) // 2
        self._moments, self._error = moments, error
        self._warn(self.separating_)
        warn_unless_met(certificate, "columns depend on each other nearly; leave some out, raise tol or set shrinkage.")
        return self

    def _warn(self, names: list[str]) -> None:
        if names:
            some = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
            warnings.warn(
                "The classes differ along directions in which they have no spread, so the likelihood has no maximum; "
                f"these directions decide first, with probabilities of 0 and 1. They are made of: {some}.\n\n"
                "Hint: were these columns made from the class? Leave them out, or set shrinkage.",
                SeparationWarning,
                stacklevel=5,
            )

    def _check_parameters(self) -> None:
        check(self, RULES)
        if self.shrinkage and self.covariance_estimator is not None:
            refuse("shrinkage and covariance_estimator are both given.", "only one of the two can be set.")
