"""A fit of ``SGDClassifier`` to the log loss: from its parameters to weights with their certificate.

It solves the problem of ``LogisticRegression`` with C = 1/(alpha·S), so that both have the same certificates.
"""

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names, _get_feature_names

from separatrix.certificates.separability import Separability
from separatrix.core.arrays import Vector
from separatrix.core.errors import NotFiniteError
from separatrix.core.parameters import seed_of
from separatrix.core.protocols import Engine
from separatrix.core.row_vector import array_of
from separatrix.core.stop import Stop
from separatrix.core.trace import Hook, Trace
from separatrix.kernels.threads import one_blas_thread, thread_limit
from separatrix.models.callbacks import callback_tasks
from separatrix.models.class_rows import check_classes
from separatrix.models.decision import weights_of
from separatrix.models.labels import (
    block_of,
    class_factors,
    encode,
    open_engine,
    refuse_not_finite,
    sample_weights,
    weighted,
)
from separatrix.models.logistic.no_maximum import advice, verdict_in_time
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.models.logistic.statement import certificate_of, magnified
from separatrix.models.messages import print_pass
from separatrix.models.perceptron.lesson import placed
from separatrix.models.sgd.fitting import descend, start_of
from separatrix.models.sgd.parameters import Settings, inverse_strength, settings_of

OF_A_PERCEPTRON = ("mistakes_", "_states")
"""Attributes that a fit by the perceptron's rule leaves, and this one has not."""

REMEDY = "use a penalty, or LogisticRegression(C=np.inf, firth=True) for finite estimates of all weights"


@dataclass(frozen=True, slots=True)
class Stated:
    """The rows, and the problem that they pose."""

    engine: Engine
    problem: LogisticProblem


@dataclass(frozen=True, slots=True)
class Ended:
    """Why a descent stopped, and the verdict on separability, if one was asked for."""

    stop: Stop
    verdict: Separability | None

    @property
    def separated(self) -> Separability | None:
        """The verdict where no maximum exists."""
        return self.verdict if self.verdict is not None and self.verdict.kind in ("complete", "quasi") else None


def stated(model: Any, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Stated:
    """The problem in these rows; ``classes`` None takes those of the labels, and each needs a row."""
    block = block_of(X)
    target = encode(y, block.shape[0], classes)
    weights = sample_weights(sample_weight, block.shape[0])
    factors = class_factors(model.class_weight, target, weights)
    weights = weighted(target, weights, factors)
    if classes is None:
        check_classes(target.codes, target.classes, weights)
    engine = open_engine(block, target, weights)
    C, ratio = inverse_strength(model, engine.weight)
    return Stated(engine, LogisticProblem(C, bool(model.fit_intercept), target.classes, factors, ratio))


def fit_logistic(model: Any, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> Ended:
    """Descend, certify, and give the model its attributes; nobody is warned."""
    began = time.monotonic()
    settings, seed = settings_of(model), seed_of(model.random_state)
    _get_feature_names(X)  # refuses names of mixed types
    rows = stated(model, X, y, sample_weight)
    engine, problem = rows.engine, rows.problem
    objective, alpha = problem.objective(engine), problem.alpha(engine)
    outputs, columns = problem.outputs, engine.columns_count
    start = _start(model, settings, outputs, columns, seed, coef_init, intercept_init)

    def attributes(raw: Vector) -> dict[str, Any]:
        return weights_of(raw, outputs, columns, problem.fit_intercept) | {"classes_": problem.classes}

    trace = Trace()
    with callback_tasks(model, {"X": X, "y": y}, settings.max_iter, attributes) as tasks:
        trace.hooks = _hooks(model, tasks)
        try:
            with one_blas_thread(), thread_limit(model.n_jobs), np.errstate(all="ignore"):
                descended = descend(settings, objective, alpha, start, seed, trace)
        except NotFiniteError:
            refuse_not_finite(engine)
        solved = descended.solved
        if tasks is not None:
            tasks.close(solved.raw)
    trace.hooks = ()
    certificate: Any = certificate_of(solved, problem, objective, alpha, settings.tol, X)
    ended = Ended(solved.outcome.stop, None)
    if math.isinf(problem.C) and ended.stop is not Stop.ASKED and not certificate.proved:
        raises = model.on_separation == "raise"
        given = array_of(engine.row_weights)
        verdict = verdict_in_time(X, y, given, objective, began, model.n_jobs, raises, REMEDY)
        ended = Ended(ended.stop, verdict)
    # everything succeeded: only now does the estimator change
    _check_feature_names(model, X, reset=True)
    for name in OF_A_PERCEPTRON:
        vars(model).pop(name, None)
    model.n_features_in_ = columns
    for name, value in attributes(solved.raw).items():
        setattr(model, name, value)
    model._settle(engine, magnified=magnified(solved.outcome), bound=certificate.bound)
    model.n_iter_ = len(trace)
    model.t_ = 1.0 + descended.progress.state.steps
    model.certificate_ = certificate if ended.separated is None else ended.separated
    model.trace_ = trace
    model.n_parameters_ = objective.size
    model._progress_ = descended.progress
    kept = {epoch: attributes(point) for epoch, point in descended.kept.items()}
    model.kept_ = {epoch: (found["coef_"], found["intercept_"]) for epoch, found in kept.items()}
    model.validation_scores_ = descended.scores
    return ended


def advice_for(verdict: Separability) -> str:
    """The text of the warning that the likelihood has no maximum."""
    return advice(verdict, limit=False, remedy=REMEDY)


def _hooks(model: Any, tasks: Hook | None) -> tuple[Hook, ...]:
    hooks = (tasks, model.on_pass, print_pass if model.verbose else None)
    return tuple(hook for hook in hooks if hook is not None)


def _start(
    model: Any, settings: Settings, outputs: int, columns: int, seed: int, coef_init: Any, intercept_init: Any
) -> Vector | None:
    """Weights given; else those of the last fit, if asked for and of the right shape; else None."""
    constant = bool(model.fit_intercept)
    if coef_init is not None or intercept_init is not None:
        points = start_of(settings, outputs * (columns + constant), seed).reshape(outputs, -1)
        return placed(points, columns, constant, coef_init, intercept_init).ravel()
    if not (model.warm_start and hasattr(model, "coef_") and model.coef_.shape == (outputs, columns)):
        return None
    return np.column_stack([model.coef_, model.intercept_][: 1 + constant]).ravel()
