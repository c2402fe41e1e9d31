"""Descent on rows that come in pieces: one epoch over each."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names

from separatrix.certificates.gap import GapCertificate
from separatrix.certificates.optimum import OptimumCertificate
from separatrix.core.errors import NotFiniteError, refuse
from separatrix.core.parameters import NONE, POSITIVE, check_value, seed_of
from separatrix.core.trace import Trace
from separatrix.kernels.threads import one_blas_thread, thread_limit
from separatrix.models.decision import weights_of
from separatrix.models.labels import block_of, refuse_not_finite
from separatrix.models.pieces import check_width, classes_to_come
from separatrix.models.sgd.fitting import Progress, one_epoch
from separatrix.models.sgd.logistic_loss import OF_A_PERCEPTRON, stated
from separatrix.models.sgd.parameters import settings_of


def continue_logistic(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any, mean_weight: Any) -> None:
    """One epoch over these rows, and what it leaves on the model; see ``SGDClassifier.partial_fit``."""
    if model.early_stopping:
        refuse("partial_fit has no rows to hold out.", "set early_stopping=False.")
    if isinstance(model.class_weight, str):
        refuse('class_weight="balanced" needs all labels at once.', "give the factors as a dict.")
    check_value("mean_weight", mean_weight, NONE | POSITIVE)
    settings = settings_of(model)
    known = classes_to_come(getattr(model, "classes_", None), classes)
    first = not hasattr(model, "coef_")
    if not first:
        _check_feature_names(model, X, reset=False)
        check_width(model, block_of(X).shape[1])
    rows = stated(model, X, y, sample_weight, known)
    engine, problem = rows.engine, rows.problem
    raw = problem.objective(engine)
    raw.shift = np.zeros_like(raw.shift)
    progress: Progress | None = getattr(model, "_progress_", None)
    if progress is not None and progress.state.point.size != raw.size:
        refuse("fit_intercept is not what it was for the first rows.", "set it back, or call fit.")
    constant = bool(model.fit_intercept)
    start = None if first else np.column_stack([model.coef_, model.intercept_][: 1 + constant]).ravel()
    given = None if mean_weight is None else float(mean_weight)
    try:
        with one_blas_thread(), thread_limit(model.n_jobs), np.errstate(all="ignore"):
            seed = seed_of(model.random_state)
            point, progress, met = one_epoch(settings, raw, problem.alpha(engine), start, seed, progress, given)
    except NotFiniteError:
        refuse_not_finite(engine)
    if not (np.isfinite(point).all() and math.isfinite(met.objective)):
        with np.errstate(all="ignore"):
            try:
                raw.evaluate(np.zeros(raw.size))
            except NotFiniteError:
                refuse_not_finite(engine)
        refuse("The weights overflow: they left the range of floats.", "lower eta0, or leave it out.")
    point = raw.centred(point)
    # everything succeeded: only now does the estimator change
    if first:
        _check_feature_names(model, X, reset=True)
    for name in (*OF_A_PERCEPTRON, "kept_", "validation_scores_"):  # of a fit, whose epochs these are not
        vars(model).pop(name, None)
    model.n_features_in_ = engine.columns_count
    for name, value in weights_of(point, problem.outputs, engine.columns_count, constant).items():
        setattr(model, name, value)
    model.classes_ = known
    model._progress_ = progress
    model._settle(engine)
    model.n_iter_ = 1
    model.t_ = 1.0 + progress.state.steps
    model.n_parameters_ = raw.size
    before: Trace | None = getattr(model, "trace_", None)
    trace = Trace() if before is None else replace(before, passes=list(before.passes))
    trace.record(met.objective, math.inf, float(np.linalg.norm(model.coef_)), met.mistakes, point)
    model.trace_ = trace
    kind = GapCertificate if problem.l1_ratio > 0.0 else OptimumCertificate
    model.certificate_ = kind(math.inf, settings.tol, met.objective, point, problem)
