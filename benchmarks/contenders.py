"""The contenders: every library told to minimise the same ``Problem``.

Each function gives a list, empty where the library is not installed. Libraries are
imported here and not inside what is timed.
"""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import Contender, Fit, Role
from benchmarks.problem import Problem, SoftmaxProblem

PENALISED = "penalises b"


def separatrix(problem: Problem | SoftmaxProblem) -> list[Contender]:
    from separatrix import LogisticRegression

    def run() -> Fit:
        model = LogisticRegression(C=problem.C, l1_ratio=problem.l1_ratio, fit_intercept=problem.fit_intercept).fit(
            problem.X, problem.y
        )
        return Fit(model.coef_, model.intercept_, model.certificate_.relative, int(model.n_iter_[0]))

    return [Contender("**separatrix**", run, Role.OURS)]


def scikit_learn(problem: Problem | SoftmaxProblem, name: str = "", X: Any = None, **options: Any) -> list[Contender]:
    """LogisticRegression with options, on another form of X if one is given; the default without any."""
    from sklearn.linear_model import LogisticRegression

    rows = problem.X if X is None else X

    def model() -> Any:
        return LogisticRegression(
            C=problem.C, l1_ratio=problem.l1_ratio, fit_intercept=problem.fit_intercept, **options
        ).fit(rows, problem.y)

    role = Role.PEER if options else Role.DEFAULT
    return [Contender(f"scikit-learn {name or 'default (lbfgs)'}", _weights(model), role)]


def liblinear(problem: Problem, X: Any = None, **options: Any) -> list[Contender]:
    """The intercept is the weight of one more column in liblinear, and so penalised."""
    name = _remark("liblinear dual" if options.get("dual") else "liblinear", problem)
    return scikit_learn(problem, name, X, solver="liblinear", **options)


def glum(problem: Problem) -> list[Contender]:
    """Half the *mean* deviance + alpha ‖w‖²/2 is what glum minimises: F/(n·C) at alpha = 1/(n·C)."""
    try:
        from glum import GeneralizedLinearRegressor
    except ImportError:
        return _absent("glum")
    # In float32 the gradient's rounding stays above 1e-8: all 100 iterations would run for nothing.
    gradient_tol = 1e-6 if problem.X.dtype == np.float32 else 1e-8

    def model() -> Any:
        return GeneralizedLinearRegressor(
            family="binomial",
            alpha=1.0 / (problem.X.shape[0] * problem.C),
            l1_ratio=0,
            fit_intercept=problem.fit_intercept,
            gradient_tol=gradient_tol,
        ).fit(problem.X, problem.y)

    return [Contender(f"glum gradient_tol={gradient_tol:.0e}", _weights(model))]


def snapml(problem: Problem, n_jobs: int = 1, **options: Any) -> list[Contender]:
    """A regularizer of 1/C; the intercept is the weight of an appended column, and so penalised."""
    try:
        from snapml import LogisticRegression
    except ImportError:
        return _absent("snapml")

    def model() -> Any:
        return LogisticRegression(
            regularizer=1.0 / problem.C, fit_intercept=problem.fit_intercept, n_jobs=n_jobs, **options
        ).fit(problem.X, problem.y)

    name = " ".join(["snapml", f"n_jobs={n_jobs}", *(f"{key}={value:g}" for key, value in options.items())])
    return [Contender(_remark(name, problem), _weights(model))]


def snapml_variants(problem: Problem) -> list[Contender]:
    """On one thread, which is the default of snapml, on all, and on all until it is exact."""
    threads = os.cpu_count() or 1
    return [*snapml(problem), *snapml(problem, threads), *snapml(problem, threads, tol=1e-6)]


def skglm(problem: Problem, X: Any, *tolerances: float) -> list[Contender]:
    """The *mean* loss + alpha ‖w‖₁ is what skglm minimises: F/(n·C) at alpha = 1/(n·C).

    It wants X by columns (CSC with 32-bit indices), which is made beforehand. The first
    call compiles; it is made here, once, and printed, not timed.
    """
    try:
        from skglm import SparseLogisticRegression
    except ImportError:
        return _absent("skglm")

    def entry(tol: float) -> Contender:
        def model() -> Any:
            return SparseLogisticRegression(
                alpha=1.0 / (X.shape[0] * problem.C), tol=tol, max_iter=200, fit_intercept=problem.fit_intercept
            ).fit(X, problem.y)

        return Contender(f"skglm tol={tol:.0e}", _weights(model))

    entries = [entry(tol) for tol in tolerances]
    start = time.perf_counter()
    entries[0].run()
    print(f"\nskglm's first call here took {time.perf_counter() - start:.2g} s, and is not timed.", flush=True)
    return entries


def statsmodels(problem: Problem) -> list[Contender]:
    """Logit has no penalty: its optimum is another, though close where n·C is large."""
    try:
        from statsmodels.api import Logit, add_constant
    except ImportError:
        return _absent("statsmodels")

    def run() -> Fit:
        parameters = Logit(problem.y, add_constant(problem.X)).fit(disp=0).params
        return Fit(parameters[1:], float(parameters[0]))

    return [Contender("statsmodels Logit (no penalty)", run)]


def on_one_blas_thread(entries: list[Contender]) -> list[Contender]:
    """The same contenders again, BLAS on one thread: on a busy machine its threads can wait for each other."""

    def limited(entry: Contender) -> Contender:
        def run() -> Fit | None:
            with threadpool_limits(1, user_api="blas"):
                return entry.run()

        return Contender(f"{entry.name}, BLAS on 1 thread", run)

    return [limited(entry) for entry in entries]


def _weights(model: Callable[[], Any]) -> Callable[[], Fit]:
    def run() -> Fit:
        fitted = model()
        return Fit(fitted.coef_, np.ravel(fitted.intercept_))

    return run


def _remark(name: str, problem: Problem) -> str:
    return f"{name} ({PENALISED})" if problem.fit_intercept else name


def _absent(package: str) -> list[Contender]:
    print(f"\nskipped {package}: it is not installed")
    return []
