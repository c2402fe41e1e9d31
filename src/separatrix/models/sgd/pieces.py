"""Descent on rows that come in pieces: one epoch over each."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names

from separatrix.certificates.gap import GapCertificate
from separatrix.certificates.optimum import OptimumCertificate
from separatrix.core.arrays import Vector
from separatrix.core.errors import NotFiniteError, refuse
from separatrix.core.numbers import is_positive
from separatrix.core.parameters import shown
from separatrix.core.trace import Trace
from separatrix.kernels.threads import one_blas_thread, thread_limit
from separatrix.models.draft import whole
from separatrix.models.labels import (
    block_of,
    class_factors,
    encode,
    open_engine,
    refuse_not_finite,
    sample_weights,
    weighted,
)
from separatrix.models.logistic.parameters import DESCENT_SOLVERS
from separatrix.models.logistic.penalty_name import strength_and_ratio
from separatrix.models.logistic.problem import LogisticProblem

if TYPE_CHECKING:
    from separatrix.models.sgd.fitting import Descended, Progress


def _descends(model: Any) -> bool:
    if model.solver in DESCENT_SOLVERS:
        return True
    raise AttributeError(
        f'partial_fit belongs to descent, and solver is {model.solver!r}.\n\nHint: set solver="sgd" or "gd".'
    )


class PartialFit:
    """``partial_fit`` for an estimator with the parameters of ``LogisticRegression``."""

    _limit_: Any

    @available_if(_descends)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @whole
    def partial_fit(
        self: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, total_weight: Any = None
    ) -> Any:
        """One epoch over these rows, from where the last call, or a fit, left off; ``classes`` at the first call.

        k calls on the same rows are a fit of k epochs, bit for bit. F averages over all rows that will ever
        come, so the penalty 1/(C·S) needs their number: ``total_weight`` is S, the sum of their weights, and weights
        are then taken as they are; None takes every piece for the whole. A step length that is left to the data is
        taken from the first piece. Nothing is proved: ``certificate_`` claims nothing until the next ``fit``.
        """
        self._check_parameters()
        if self.early_stopping:
            refuse("partial_fit has no rows to hold out.", "set early_stopping=False.")
        if isinstance(self.class_weight, str):
            refuse('class_weight="balanced" needs all labels at once.', "give the factors as a dict.")
        block = block_of(X)
        known = _classes(self, classes)
        first = not hasattr(self, "coef_")
        if not first:
            _check_feature_names(self, X, reset=False)
            if block.shape[1] != self.coef_.shape[1]:
                refuse(
                    f"X has {block.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.coef_.shape[1]} features as input.",
                    "pass the columns of the first call, in the same order.",
                )
        target = encode(y, block.shape[0], known)
        weights = sample_weights(sample_weight, block.shape[0])
        factors = class_factors(self.class_weight, target, weights)
        weights = weighted(target, weights, factors)
        C, ratio = strength_and_ratio(self)
        problem = LogisticProblem(C, bool(self.fit_intercept), known, factors, ratio)
        engine = open_engine(block, target, weights)
        whole = _total(total_weight, engine.weight)
        share = engine.weight / whole
        raw = problem.objective(engine)
        raw.shift = np.zeros_like(raw.shift)
        raw.strength *= share
        from separatrix.models.sgd.fitting import one_epoch

        progress: Progress | None = getattr(self, "_progress_", None)
        start = None if first else np.column_stack([self.coef_, self.intercept_][: 1 + self.fit_intercept]).ravel()
        try:
            with one_blas_thread(), thread_limit(self.n_jobs), np.errstate(all="ignore"):
                given = None if total_weight is None else 1.0
                point, progress, met = one_epoch(
                    self, raw, problem.alpha(engine) * share, start, self._seed(), progress, given
                )
        except NotFiniteError:
            refuse_not_finite(block)
        if not (np.isfinite(point).all() and math.isfinite(met.objective)):
            with np.errstate(all="ignore"):
                try:
                    raw.evaluate(np.zeros(raw.size))
                except NotFiniteError:
                    refuse_not_finite(block)
            refuse("The weights overflow: they left the range of floats.", "lower eta0, or leave it out.")
        point = raw.centred(point)
        # everything succeeded: only now does the estimator change
        if first:
            _check_feature_names(self, X, reset=True)
        self.n_features_in_ = block.shape[1]
        for name, value in weights_of(point, problem.outputs, block.shape[1], bool(self.fit_intercept)).items():
            setattr(self, name, value)
        self.classes_ = known
        self._progress_ = progress
        self._limit_ = None
        self._settle(block)
        self.n_iter_ = np.array([1], dtype=np.int32)
        self.n_parameters_ = raw.size
        before: Trace | None = getattr(self, "trace_", None)
        trace = Trace() if before is None else replace(before, passes=list(before.passes))
        trace.record(met.objective, math.inf, float(np.linalg.norm(self.coef_)), met.mistakes, point)
        self.trace_ = trace
        kind = GapCertificate if problem.l1_ratio > 0.0 else OptimumCertificate
        self.certificate_ = kind(math.inf, float(self.tol), met.objective, point, problem)
        return self

    def _keep(self: Any, descended: "Descended | None", attributes: Any) -> None:
        """Store what a descent leaves beside its weights; other solvers leave nothing."""
        self._progress_ = None if descended is None else descended.progress
        for name in ("kept_", "validation_scores_"):
            if hasattr(self, name):
                delattr(self, name)
        if descended is not None:
            kept = {epoch: attributes(point) for epoch, point in descended.kept.items()}
            self.kept_ = {epoch: (found["coef_"], found["intercept_"]) for epoch, found in kept.items()}
            self.validation_scores_ = descended.scores


def weights_of(raw: Vector, outputs: int, columns: int, constant: bool) -> dict[str, Any]:
    """The fitted attributes in a raw point."""
    rows = raw.reshape(outputs, -1)
    intercept = rows[:, columns] if constant else np.zeros(outputs)
    return {"coef_": rows[:, :columns].copy(), "intercept_": intercept.copy()}


def _classes(model: Any, classes: Any) -> Any:
    known = getattr(model, "classes_", None)
    if known is None and classes is None:
        refuse("classes must be passed on the first call to partial_fit.", "pass classes=np.unique(all_labels).")
    given = None if classes is None else np.unique(np.asarray(classes))
    if known is None:
        assert given is not None
        if len(given) < 2:
            refuse(f"classes holds only {given.tolist()}.", "there must be at least 2 classes.")
        return given
    if given is not None and not np.array_equal(given, known):
        refuse(f"`classes={classes!r}` is not the same as on last call to partial_fit.", f"it was {known.tolist()}.")
    return known


def _total(total: Any, piece: float) -> float:
    if total is None:
        return piece
    if not is_positive(total):
        refuse(f"total_weight is {shown(total)}.", "it is the sum of the weights of all rows that will come: positive.")
    return float(total)
