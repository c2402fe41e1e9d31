"""Least squares as a classifier with the best of many penalties, by leaving one row out."""

from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.core.errors import refuse
from separatrix.core.numbers import is_count
from separatrix.core.parameters import ANYTHING, FLAG, NONE, Rule, array_of_numbers, check, check_value, count
from separatrix.core.protocols import Engine
from separatrix.core.row_vector import array_of
from separatrix.kernels.threads import one_blas_thread
from separatrix.models.draft import whole
from separatrix.models.labels import CLASS_WEIGHT, Target
from separatrix.models.ridge.estimator import PENALTY, LeastSquaresDecision, RidgeClassifier
from separatrix.models.ridge.left_out_scores import best_of, is_scorer, splits
from separatrix.models.ridge.problem import RidgeProblem, opened
from separatrix.models.ridge.solution import solve_ridge
from separatrix.terms.least_squares import NormalEquations, Spectrum, left_out, signs_of

RULES = {
    "alphas": ANYTHING,  # one penalty or several
    "fit_intercept": FLAG,
    "scoring": NONE | Rule(lambda name: callable(name) or is_scorer(name), "a scorer of scikit-learn or its name"),
    "cv": NONE | count(2) | Rule(splits, "a splitter, or a list of pairs of positions"),
    "class_weight": CLASS_WEIGHT,
    "store_cv_results": FLAG,
}


class RidgeClassifierCV(LeastSquaresDecision):
    """The best of many penalties by leave-one-out, in closed form from one decomposition.

    One pass gives the Gram matrix G = VΛVᵀ, another every row's leave-one-out residual for all penalties at once. Where
    the Gram matrix would lose its small eigenvalues, an orthogonal triangle of the rows takes its place, so that
    tiny penalties are safe.

    Parameters
    ----------
    alphas : array of penalties, default=(0.1, 1.0, 10.0)
        Each at least 0.
    fit_intercept, class_weight
        As in ``RidgeClassifier``.
    scoring : str, callable or None
        A scorer of scikit-learn for the left-out predictions; None for the mean squared error.
    cv : int, splitter or None
        None for leave-one-out; else scikit-learn's GridSearchCV over ``RidgeClassifier``.
    store_cv_results : bool, default=False
        Keep ``cv_results_`` (n, targets, penalties): squared left-out errors, or left-out scores with ``scoring``.

    Attributes
    ----------
    alpha_ : float
    best_score_ : float
        Minus the mean squared error (rows counted by weight), or the scorer's value, at ``alpha_``.
    coef_, intercept_, classes_, certificate_, n_parameters_, cv_results_
        As in ``RidgeClassifier`` and scikit-learn. With weights a single copy of a row is left out, so that weight two
        is the row twice; scikit-learn leaves the whole row out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RidgeClassifierCV(alphas=[1e-3, 1e-2, 1e-1, 1.0]).fit(X, y)
    >>> model.alpha_, round(model.score(X, y), 4)
    (0.01, 0.9631)
    """

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        class_weight: Any = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the penalty and fit; on any error the estimator stays as it was."""
        check(self, RULES)
        alphas = array_of_numbers(self.alphas, "alphas").ravel()
        for alpha in alphas:
            check_value("One of the alphas", float(alpha), PENALTY)
        if len(alphas) == 0:
            refuse("alphas is empty.", "give at least one penalty.")
        if self.cv is not None and self.store_cv_results:
            refuse("cv!=None and store_cv_results=True are incompatible.", "set cv=None.")
        _, target, factors, engine = opened(X, y, sample_weight, self.class_weight)
        with one_blas_thread(), np.errstate(all="ignore"):
            problem = RidgeProblem(target.classes, 0.0, bool(self.fit_intercept), factors)
            equations = problem.equations_of(engine)
            results: Any = None
            if self.cv is None:
                spectrum = Spectrum.of(engine, equations, float(alphas.min()))
                which, score, results = self._choose(engine, equations, spectrum, alphas, target)
            else:
                self._check_folds(target)
                which, score = self._search(X, y, sample_weight, alphas)
            problem = RidgeProblem(target.classes, float(alphas[which]), bool(self.fit_intercept), factors)
            solution = solve_ridge(engine, equations, problem.alpha)
            self._take(X, target, engine, problem, problem.certify(engine, equations, solution, X), solution)
        self.alpha_, self.best_score_ = problem.alpha, score
        if results is not None:
            self.cv_results_ = results
        elif hasattr(self, "cv_results_"):
            del self.cv_results_
        return self

    def _choose(
        self, engine: Engine, equations: NormalEquations, spectrum: Spectrum, alphas: Vector, target: Target
    ) -> tuple[int, float, AnyArray | None]:
        targets = spectrum.side.shape[1]
        keep = self.store_cv_results or self.scoring is not None
        errors = np.empty((engine.rows, targets, len(alphas))) if keep else None
        sums = np.zeros(len(alphas))
        done = 0
        for block in engine.blocks():
            for which, part in left_out(block, equations, spectrum, alphas):
                squares = np.square(np.where(np.isnan(part), np.inf, part)).sum(axis=1)
                sums += squares.sum(axis=0) if block.weights is None else block.weights[which] @ squares
                if errors is not None:
                    errors[done : done + len(part)] = part
                done += len(part)
        scores = -sums / (engine.weight * targets)
        stored = None
        if errors is not None:
            fitted = signs_of(len(target.classes))[target.codes][:, :, None] - errors
            if self.scoring is not None:
                scores = best_of(self.scoring, fitted, target, array_of(engine.row_weights))
            stored = np.square(errors) if self.scoring is None else fitted
        best = int(np.argmax(scores))
        return best, float(scores[best]), stored if self.store_cv_results else None

    def _check_folds(self, target: Target) -> None:
        most = int(np.bincount(target.codes).max())
        if is_count(self.cv) and self.cv > most:
            refuse(f"cv is {self.cv}, but no class has more than {most} rows.", "take fewer folds.")

    def _search(self, X: Any, y: Any, sample_weight: Any, alphas: Vector) -> tuple[int, float]:
        from sklearn.model_selection import GridSearchCV

        model = RidgeClassifier(fit_intercept=self.fit_intercept, class_weight=self.class_weight, store_loo=False)
        search = GridSearchCV(model, {"alpha": alphas.tolist()}, cv=self.cv, scoring=self.scoring, refit=False)
        fitted = search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        return int(fitted.best_index_), float(fitted.best_score_)
