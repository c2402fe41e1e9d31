"""Least squares as a classifier: a line fitted to ±1 and cut at zero."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_feature_names

from separatrix.certificates.closed_form import ClosedFormCertificate
from separatrix.core.arrays import Matrix
from separatrix.core.errors import refuse
from separatrix.core.parameters import COUNT, FLAG, NONE, NOT_NEGATIVE, SEED, Rule, check, number, one_of
from separatrix.core.protocols import Engine, LabelledBlock
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.decision import LinearDecision
from separatrix.models.draft import whole
from separatrix.models.labels import CLASS_WEIGHT, Target
from separatrix.models.logistic.fitting import LARGEST_HESSIAN
from separatrix.models.posterior import warn_unless_met
from separatrix.models.ridge.problem import RidgeProblem, opened
from separatrix.models.ridge.solution import RidgeSolution, solve_ridge
from separatrix.models.ridge.wide import solve_wide
from separatrix.terms.firth import SquaredLengths
from separatrix.terms.least_squares import (
    NormalEquations,
    downdated,
    signs_of,
)
from separatrix.terms.logistic import Scores

SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")

PENALTY = number("finite and at least 0; 0 is plain least squares", 0.0)

RULES = {
    "alpha": PENALTY,
    "fit_intercept": FLAG,
    "copy_X": FLAG,
    "max_iter": NONE | COUNT,
    "tol": NOT_NEGATIVE,
    "class_weight": CLASS_WEIGHT,
    "solver": Rule(one_of(*SOLVERS).holds, f"{one_of(*SOLVERS).text}; all give the same answer", choice=True),
    "positive": FLAG,
    "random_state": SEED,
    "store_loo": FLAG,
}


class LeastSquaresDecision(LinearDecision, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """What estimators by least squares share: tags, and taking over a solution."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _take(
        self,
        X: Any,
        target: Target,
        engine: Engine,
        problem: RidgeProblem,
        certificate: ClosedFormCertificate,
        at: RidgeSolution,
    ) -> None:
        # everything succeeded: only now does the estimator change
        _check_feature_names(self, X, reset=True)
        self.n_features_in_ = engine.columns_count
        self.classes_ = target.classes
        self.coef_, self.intercept_ = at.coef, at.intercept
        self._settle(engine, magnified=certificate.condition)
        self.certificate_ = certificate
        self.dropped_ = list(certificate.aliased)
        self.n_parameters_ = len(at.coef) * (engine.columns_count + problem.fit_intercept)
        warn_unless_met(certificate, "columns depend on each other nearly; leave some out, or raise alpha.")


class RidgeClassifier(LeastSquaresDecision):
    """Least squares on targets ±1: Σ aᵢ(yᵢ − ⟨w, xᵢ⟩ − b)² + α‖w‖², and class 1 where ⟨w, x⟩ + b ≥ 0.

    With α = 0 plain least squares. More than two classes: each against the rest, the highest score decides. Far but
    correctly classified points pull this boundary, because (1 − z)² punishes being too right; see ``OutlierDisplay``.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty, at least 0; b has none. At 0, columns that others determine have weight 0; ``dropped_`` names them.
    fit_intercept : bool, default=True
    class_weight : dict, "balanced" or None
    copy_X, max_iter, tol, solver, random_state
        Accepted as in scikit-learn and without effect: the answer is a closed form.
    positive : bool, default=False
        Only False: weights are not constrained.
    store_loo : bool, default=True
        Whether to keep ``loo_residuals_``, one more pass over the rows; not for more than 4,000 columns, where
        conjugate gradients take the place of the Gram matrix.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn; ``coef_`` is (1, d) for two classes.
    loo_residuals_ : array (n, targets)
        y − f(x) for every row, with f fitted to all others, in closed form. Of a row with a weight above one a single
        copy is left out. NaN where nothing is known without the row (leverage 1).
    certificate_ : ClosedFormCertificate
    n_parameters_ : int

    Examples
    --------
    >>> model = RidgeClassifier(alpha=0.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.coef_.round(12), model.intercept_.round(12)
    (array([[0.8]]), array([-1.2]))
    >>> model.loo_residuals_.ravel().round(6)
    array([ 0.666667, -0.857143,  0.857143, -0.666667])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        store_loo: bool = True,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.store_loo = store_loo

    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X and labels y; on any error the estimator stays as it was."""
        check(self, RULES)
        alpha = float(self.alpha)
        if self.positive:
            refuse("positive=True is not supported.", "use sklearn.linear_model.RidgeClassifier for positive weights.")
        _, target, factors, engine = opened(X, y, sample_weight, self.class_weight, wide=alpha > 0)
        problem = RidgeProblem(target.classes, alpha, bool(self.fit_intercept), factors)
        residuals = None
        with one_blas_thread(), np.errstate(all="ignore"):
            if engine.columns_count > LARGEST_HESSIAN:
                self._fit_wide(X, target, engine, problem)
            else:
                equations = problem.equations_of(engine)
                solution = solve_ridge(engine, equations, alpha)
                residuals = _left_out(engine, equations, solution) if self.store_loo else None
                self._take(X, target, engine, problem, problem.certify(engine, equations, solution, X), solution)
        self.n_iter_ = np.array([1], dtype=np.int32)
        if residuals is not None:
            self.loo_residuals_ = residuals
        elif hasattr(self, "loo_residuals_"):
            del self.loo_residuals_
        return self

    def _fit_wide(self, X: Any, target: Target, engine: Engine, problem: RidgeProblem) -> None:
        equations = problem.wide_equations_of(engine)
        coef = solve_wide(engine, equations, problem.alpha)
        keep = np.arange(coef.shape[1])
        solution = RidgeSolution(coef, equations.intercept(coef), keep, np.empty((0, 0)))
        parameters = {"coef": coef, "intercept": solution.intercept, "keep": keep}
        found = problem.measured_wide(engine, equations, parameters)
        certificate = ClosedFormCertificate.of(found, parameters, problem, 0.0)
        self._take(X, target, engine, problem, certificate, solution)


def _left_out(engine: Engine, equations: NormalEquations, at: RidgeSolution) -> Matrix:
    points = np.column_stack([at.coef, at.intercept])
    signs = signs_of(2 if len(points) == 1 else len(points))
    across = at.leverage_map
    if not equations.constant:
        across = np.column_stack([across, np.zeros(len(across))])
    across = np.ascontiguousarray(across)

    def residual(part: LabelledBlock) -> Matrix:
        errors = signs[part.codes] - part.numbers(Scores(True), points)
        share = part.numbers(SquaredLengths(True, equations.centre), across)[:, 0]
        if part.weights is not None:
            share = share * np.minimum(part.weights, 1.0)
        return np.asarray(downdated(errors, share[:, None]))

    residuals: Matrix = engine.collect(residual).array()
    return residuals
