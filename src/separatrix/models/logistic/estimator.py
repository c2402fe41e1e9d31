"""Logistic regression for two classes or more, with a certificate."""

import math
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_feature_names, _get_feature_names

from separatrix.certificates.duality import probabilities
from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import NotFiniteError, SeparationWarning, refuse
from separatrix.core.parameters import check, seed_of
from separatrix.core.stop import Stop
from separatrix.core.trace import Hook, Pass, Trace
from separatrix.kernels.threads import one_blas_thread, thread_limit
from separatrix.models.callbacks import CallbackSupport, callback_tasks
from separatrix.models.class_rows import check_classes
from separatrix.models.decision import LinearDecision, log_probabilities, weights_of
from separatrix.models.draft import whole
from separatrix.models.labels import (
    Target,
    block_of,
    class_factors,
    encode,
    open_engine,
    open_table,
    refuse_not_finite,
    sample_weights,
    weighted,
)
from separatrix.models.logistic.fitting import SCIKIT_LEARN_SOLVERS, Solved, solve
from separatrix.models.logistic.parameters import RULES, check_solver
from separatrix.models.logistic.penalty_name import UNSET, check_penalty_name, strength_and_ratio
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.models.logistic.statement import certificate_of, magnified
from separatrix.models.messages import print_pass, warn_unless_good
from separatrix.terms.penalised import PenalisedLoss

if TYPE_CHECKING:  # what most fits do not need is imported by those that do: a first fit should be quick
    from separatrix.certificates.separability import Separability
    from separatrix.models.logistic.firth import FirthSolved
    from separatrix.models.logistic.no_maximum import Limit


class LogisticRegression(CallbackSupport, LinearDecision, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """p(class 1 | x) = σ(⟨w, x⟩ + b), fitted to a certified distance from the optimum.

    Minimises the average over rows

        F(w, b) = (1/S) Σ aᵢ log(1 + exp(−sᵢ(⟨w, xᵢ⟩ + b))) + (ρ‖w‖₁ + (1−ρ)‖w‖²/2)/(C·S),   S = Σ aᵢ,

    which is scikit-learn's objective divided by C·S, with ρ = ``l1_ratio``. ``C=np.inf`` is
    maximum likelihood. The intercept is never penalised. Columns need no scaling.

    More than two classes have a weight vector each and p(k | x) ∝ exp(⟨wₖ, x⟩ + bₖ)
    (softmax). For two classes the single w is the difference of the two: a fit by
    softmax with C equals a fit here with 2C under the L2 penalty, with C under L1.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet"} or None
        Deprecated, as in scikit-learn: leave it out. "l1" means ``l1_ratio=1``, "l2" ``l1_ratio=0``, "elasticnet" the
        ``l1_ratio`` given, None ``C=np.inf``; it wins over them, with a FutureWarning.
    C : float, default=1.0
        Inverse of the penalty, as in scikit-learn; ``np.inf`` for none.
    l1_ratio : float, default=0.0
        0 for an L2 penalty (a Gaussian prior on the weights), 1 for L1 (a Laplace prior:
        many weights become exactly zero), between for both.
    tol : float, default=1e-8
        Stop when the *certified* F − F* ≤ tol·min(F, 1). Second-order solvers then take
        one more step, and small problems run on to the floor that rounding sets, so
        the result is usually far closer. In scikit-learn ``tol`` bounds a gradient and
        says nothing about the distance from the optimum.
    fit_intercept : bool, default=True
        Whether to fit b.
    class_weight : dict, "balanced" or None
        Factors on the rows' weights by class.
    solver : str, default="auto"
        "newton-cholesky" (full Hessian), "newton-subsample" (Hessian of some rows, exact gradients), "newton-cg"
        (Hessian times vectors), "quasi-newton" (gradients, led by a curvature that is renewed where it pays), or
        "auto": what costs least at this shape; ``trace_.solver`` and ``trace_.reason`` tell. scikit-learn's other
        names are accepted and mean "auto": all reach the same minimum. With an L1 part it is always proximal
        Newton on working sets. Gradient descent, with all rows or in batches, is ``SGDClassifier``.
    max_iter : int, default=100
        Most passes over the data that evaluate F; products in "newton-cg" not counted.
    random_state : int, RandomState, Generator or None
        Chooses the sub-sample's rows; None means 0, so that a fit repeats itself.
    warm_start : bool, default=False
        Begin at the weights of the last fit.
    n_jobs : int or None
        Most threads; None for all. It never changes a result.
    verbose : int, default=0
        1 prints a line per pass.
    on_pass : callable or None
        Called after every pass with a ``Pass``; returning True stops the fit. What it raises, StopIteration too, passes
        through unchanged and leaves the estimator as it was.
    firth : bool, default=False
        Maximise Firth's penalised likelihood, ℓ + ½ log det I, instead: no first-order bias, and finite
        weights also where the classes are separated. Needs ``C=np.inf``, two classes, no L1 part. Sample
        weights count rows. The fit ends when half the squared decrement is at most ``tol``.
    flic : bool, default=False
        With ``firth``: refit the intercept so that the mean prediction is the mean outcome.
    on_separation : "warn" or "raise", default="warn"
        What to do where maximum likelihood has no maximum (``C=np.inf``, separable classes). The verdict on that may
        take as long as the fit itself took, or two seconds; past that the fit says that it is not decided.
    dual, intercept_scaling
        Accepted and without effect.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn; ``n_iter_`` counts passes.
    certificate_ : OptimumCertificate, or with an L1 part SubgradientCertificate or GapCertificate
        How far F is from its minimum, at most; ``certificate_.verify(X, y)`` proves it again.
        With ``firth`` a StationaryCertificate: how small the modified score is, and no more.
        Where no maximum exists (``C=np.inf``) the verdict, a ``Separability``; ``coef_`` is then the finite part
        of the limit, ``direction_`` what runs to infinity and decides wherever it is not zero.
    trace_ : Trace
        Objective, bound, ‖w‖, mistakes and seconds per pass.
    n_parameters_ : int
        Weights that were fitted, intercept included.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.certificate_.met
    True
    >>> model.certificate_.verify(X, y).kind
    'optimum'
    """

    def __init__(
        self,
        penalty: str | None = UNSET,
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-8,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        on_pass: Callable[[Pass], bool] | None = None,
        firth: bool = False,
        flic: bool = False,
        on_separation: str = "warn",
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.on_pass = on_pass
        self.firth = firth
        self.flic = flic
        self.on_separation = on_separation

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not self.firth
        return tags

    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X and labels y; on any error the estimator stays as it was."""
        began = time.monotonic()
        self._check_parameters()
        block = block_of(X)
        nameless = isinstance(X, np.ndarray) or scipy.sparse.issparse(
            X
        )  # to look for names takes a tenth of a small fit
        if not nameless:
            _get_feature_names(X)  # refuses names of mixed types
        target = encode(y, block.shape[0])
        self._check_firth(target)
        weights = sample_weights(sample_weight, block.shape[0])
        factors = class_factors(self.class_weight, target, weights)
        weights = weighted(target, weights, factors)
        check_classes(target.codes, target.classes, weights)
        C, ratio = strength_and_ratio(self)
        problem = LogisticProblem(C, bool(self.fit_intercept), target.classes, factors, ratio)
        engine = open_engine(block, target, weights)
        if not math.isfinite(1.0 / (problem.C * engine.weight)):
            refuse(f"C is {self.C!r}: 1/(C times the sum of the weights) overflows.", "raise C or the weights.")
        objective, alpha = problem.objective(engine), problem.alpha(engine)

        def attributes(raw: Vector) -> dict[str, Any]:
            found = weights_of(raw, problem.outputs, block.shape[1], bool(self.fit_intercept))
            return found | {"classes_": target.classes}

        trace = Trace()
        with callback_tasks(self, {"X": X, "y": y}, self.max_iter, attributes) as tasks:
            trace.hooks = self._hooks(tasks)
            try:
                with one_blas_thread(), thread_limit(self.n_jobs), np.errstate(all="ignore"):
                    start = self._start(problem.outputs, block.shape[1])
                    solved: Solved | FirthSolved
                    if self.firth:
                        from separatrix.models.logistic.firth import solve_firth

                        solved = solve_firth(objective, start, self.tol, self.max_iter, self.flic, trace)
                    else:
                        seed = seed_of(self.random_state)
                        solved = solve(objective, alpha, self._solver(), start, self.tol, self.max_iter, seed, trace)
            except NotFiniteError:
                refuse_not_finite(engine)
            if tasks is not None:
                tasks.close(solved.raw)
        trace.hooks = ()
        certificate: Any = (
            certificate_of(solved, problem, objective, alpha, float(self.tol), X)
            if isinstance(solved, Solved)
            else solved.certificate(problem, float(self.tol), X)
        )
        judged = self._verdict(X, y, weights, objective, certificate, solved.outcome.stop, began)
        verdict = judged if judged is not None and judged.kind in ("complete", "quasi") else None
        limit = None if verdict is None else self._limit(objective, verdict)
        raw = solved.raw if limit is None else limit.finite.ravel()
        # everything succeeded: only now does the estimator change
        if not nameless or hasattr(self, "feature_names_in_"):
            _check_feature_names(self, X, reset=True)
        self.n_features_in_ = block.shape[1]
        for name, value in attributes(raw).items():
            setattr(self, name, value)
        self._limit_: Limit | None = limit
        self._settle(engine, magnified=magnified(solved.outcome), bound=certificate.bound)
        if verdict is not None:
            certificate = verdict
        self.n_iter_ = np.array([len(trace)], dtype=np.int32)
        self.certificate_ = certificate
        self.trace_ = trace
        self.n_parameters_ = objective.size
        if verdict is not None:
            from separatrix.models.logistic.no_maximum import advice

            warnings.warn(advice(verdict), SeparationWarning, stacklevel=3)
        elif self.firth:
            from separatrix.models.logistic.firth import warn_unless_stationary

            warn_unless_stationary(solved.outcome.stop, certificate)
        else:
            warn_unless_good(solved.outcome.stop, certificate, "" if judged is None else judged.kind)
        return self

    @property
    def direction_(self) -> Matrix | None:
        """Where no maximum exists: the weights that run to infinity, as a direction (rows as in ``coef_``, b last)."""
        return None if self._limit_ is None else self._limit_.direction

    def _boundary(self) -> tuple[Vector, float]:
        """Where no maximum exists the direction has the boundary: its weights grow without end, the others do not."""
        if self.direction_ is None:
            return super()._boundary()
        direction = self.direction_[0]
        return direction[: self.n_features_in_], float(direction[-1]) if self.fit_intercept else 0.0

    def _along(self, X: Any) -> Vector:
        limit: Limit | None = getattr(self, "_limit_", None)
        if limit is None:
            return super()._along(X)
        w, b = self._boundary()
        along = self._linear(X, w[None], np.array([b]))[:, 0]
        return np.where(limit.undecided(block_of(X), bool(self.fit_intercept)), 0.0, along)

    def _verdict(
        self,
        X: Any,
        y: Any,
        weights: Vector | None,
        objective: PenalisedLoss,
        certificate: Any,
        stop: Stop,
        began: float,
    ) -> "Separability | None":
        """The verdict where existence of a maximum was not proved; it may take as long as the fit did."""
        if not math.isinf(strength_and_ratio(self)[0]) or self.firth or stop is Stop.ASKED or certificate.proved:
            return None
        from separatrix.models.logistic.no_maximum import verdict_in_time

        raises = self.on_separation == "raise"
        return verdict_in_time(X, y, weights, objective, began, self.n_jobs, raises)

    def _limit(self, objective: PenalisedLoss, verdict: "Separability") -> "Limit":
        from separatrix.models.logistic.no_maximum import limit_of

        with one_blas_thread(), thread_limit(self.n_jobs), np.errstate(all="ignore"):
            return limit_of(objective, verdict)

    def _score(self, X: Any, probabilities: bool) -> Matrix:
        limit: Limit | None = getattr(self, "_limit_", None)
        if limit is None:
            return super()._score(X, probabilities)
        from separatrix.models.logistic.no_maximum import limit_probabilities

        finite = self._linear(X, self.coef_, self.intercept_)
        block = block_of(X)
        scores = limit.scores(block, finite, bool(self.fit_intercept))
        assert self._rounding_ is not None
        self._rounding_.settle(open_table(block), self.coef_, self.intercept_, scores)
        return limit_probabilities(scores) if probabilities else scores

    def predict_proba(self, X: Any) -> Matrix:
        """Probabilities of the classes (n × K); each tail keeps its digits near zero."""
        if self._outputs() == 1:
            return self._score(X, probabilities=True)
        return probabilities(self._score(X, probabilities=False)) if self._limit_ is None else self._score(X, True)

    def predict_log_proba(self, X: Any) -> Matrix:
        """Logarithms of the probabilities, exact where those underflow."""
        return log_probabilities(self._score(X, probabilities=False))

    def _hooks(self, tasks: Hook | None) -> tuple[Hook, ...]:
        hooks = (tasks, self.on_pass, print_pass if self.verbose else None)
        return tuple(hook for hook in hooks if hook is not None)

    def _check_parameters(self) -> None:
        check_solver(self.solver)
        check(self, RULES)
        check_penalty_name(self)
        self._check_firth()

    def _check_firth(self, target: Target | None = None) -> None:
        if self.firth or self.flic:
            from separatrix.models.logistic.firth import check_firth

            check_firth(self, target)

    def _solver(self) -> str:
        return SCIKIT_LEARN_SOLVERS.get(self.solver, self.solver)

    def _start(self, outputs: int, columns: int) -> Vector | None:
        """Weights of the last fit, if asked for and of the right shape."""
        if not (self.warm_start and hasattr(self, "coef_") and self.coef_.shape == (outputs, columns)):
            return None
        return np.column_stack([self.coef_, self.intercept_][: 1 + self.fit_intercept]).ravel()
