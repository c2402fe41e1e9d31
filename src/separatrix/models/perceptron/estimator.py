"""The perceptron, with a proof of where it ended."""

import math
from collections.abc import Callable, Iterator
from typing import Any, Never, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_feature_names

from separatrix.certificates.one_against_rest import OneAgainstRest
from separatrix.certificates.separator import UnprovedCertificate
from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import NotFiniteError, refuse
from separatrix.core.parameters import seed_of
from separatrix.core.protocols import Readable
from separatrix.core.sweeping import SweepState
from separatrix.core.trace import Pass, Trace
from separatrix.kernels.threads import one_blas_thread, thread_limit
from separatrix.models.class_rows import class_counts
from separatrix.models.decision import LinearDecision
from separatrix.models.draft import whole
from separatrix.models.labels import (
    Target,
    block_of,
    class_factors,
    encode,
    largest_value,
    open_engine,
    sample_weights,
    weighted,
)
from separatrix.models.messages import print_epoch, warn_unless_ended
from separatrix.models.perceptron.batch_rule import BatchRule
from separatrix.models.perceptron.lesson import Lesson, Step, Taught, starting_point
from separatrix.models.perceptron.parameters import check_parameters
from separatrix.models.pieces import check_width, classes_to_come
from separatrix.models.separability.problem import plain_labels
from separatrix.solvers.perceptron import End, Patience
from separatrix.terms.perceptron import PerceptronRule, Schedule

LARGE = 1e50
"""Where weights overflow, a column beyond this is to blame, and below it the rate."""


class Perceptron(LinearDecision, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """w ← w + η·s·x at every mistake, until there is none or a proof that there always will be.

    A row x of sign s = ±1 is a mistake when s(⟨w, x⟩ + b) ≤ ``margin``; rows on the boundary are mistakes, and
    ``predict`` gives them to the positive class. If the classes can be separated the rule stops after at most
    R²‖w*‖²/γ² mistakes (for a start at zero; ``certificate_`` has the bound for any). If they cannot it would never
    stop: then it ends with a proof of that, or at ``max_iter``, and gives the pocket's weights, the best ones it
    met. More than two classes: each against the rest, the highest score decides.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None
    alpha : float, default=1e-4
    l1_ratio : float, default=0.15
        As in scikit-learn: the penalty alpha·(ρ‖w‖₁ + (1−ρ)‖w‖²/2), a part of every visit. The intercept has none.
    fit_intercept : bool, default=True
        Whether a constant 1 belongs to every row; b is its weight.
    max_iter : int, default=1000
        Most epochs.
    tol : float or None, default=None
        Stop when the summed error of an epoch has not fallen by more than tol per row for ``n_iter_no_change`` epochs.
        None (scikit-learn: 1e-3) goes on to a separator, a proof or ``max_iter``.
    shuffle : bool, default=True
        A new order in every epoch; False visits rows as they stand.
    verbose : int, default=0
        1 prints a line per epoch.
    eta0 : float, default=1.0
        The rate η, or the first one.
    n_jobs : int or None
        Most threads for passes that count; sweeps are sequential by nature. It never changes a result.
    random_state : int, RandomState, Generator or None, default=0
        Decides the orders and the random start; with None every fit has its own.
    early_stopping, validation_fraction, n_iter_no_change
        As in scikit-learn: hold out a share of each class and stop when its score has not risen by tol for
        so many epochs. The pocket then keeps the weights of the best score.
    class_weight : dict, "balanced" or None
        Factors on η by class.
    warm_start : bool, default=False
        Begin at the weights of the last fit.
    rule : {"sample", "batch"}
        Row by row, or one step per epoch against the gradient of J_p(w) = Σ −s⟨w, x⟩ over the mistakes.
    margin : float, default=0.0
        Rows count as mistakes up to this signed score.
    learning_rate : "constant", "invscaling" or callable
        η = eta0, eta0/t^power_t, or a function of t, the number of the visit (batch: of the epoch), from 1.
    power_t : float, default=0.5
    init : {"zeros", "random"}
        The start; "random" draws from a normal of deviation 0.01. ``fit`` also takes ``coef_init``, ``intercept_init``.
    average : bool or int, default=False
        The mean of the weights after each visit (batch: epoch), from the first or from that many on.
    pocket : bool, default=True
        Without a separator, give the best weights met instead of the last.
    error_threshold : float or None
        Stop after an epoch whose summed error Σ a·|y − ŷ| is less than this, with y and ŷ = ±1 as each visit
        predicted: two for every wrong row, whatever the scale of X.
    loss_threshold : float or None
        Stop after an epoch whose summed loss Σ a·(margin − s·z) over its mistakes is at most this.
    verdict_after : int or None, default=10
        Ask ``separability`` once, after so many epochs with mistakes (or at the end, if that is earlier), whether a
        separator exists. If none does, learning ends as soon as ``n_iter_no_change`` epochs bring no lower error;
        None never asks. The answer may take as long as the epochs have taken, and half a second at least; if it is
        not there by then, learning goes on and the certificate says that it was not decided.
    on_pass : callable or None
        Called after every epoch with a ``Pass``; returning True stops the fit. What it raises, StopIteration too,
        passes through unchanged and leaves the estimator as it was.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_, n_features_in_, feature_names_in_
        As in scikit-learn; ``n_iter_`` is the most epochs of any class, ``t_`` counts visits, from 1.
    certificate_ : SeparatorCertificate, Separability, UnprovedCertificate or OneAgainstRest
        A separator with the bound on mistakes, the proof that none exists, or no claim; one for each of K > 2 classes.
    trace_ : Trace
        Summed error, ‖w‖, mistakes and seconds per epoch; of K classes one after the other.
    mistakes_ : int
        Updates that were made.
    n_parameters_ : int

    Examples
    --------
    >>> X, y = [[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]], [-1, -1, 1, 1]
    >>> model = Perceptron(shuffle=False).fit(X, y, coef_init=[[0.0, 1.0]], intercept_init=[1.0])
    >>> model.intercept_, model.coef_
    (array([0.]), array([[ 1., -1.]]))
    >>> print(model.certificate_.verify(X, y))
    Every row is on its right side, by at least 1; 1 mistakes led there, as told, and there can be at most 20.
    """

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 1e-4,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        rule: str = "sample",
        margin: float = 0.0,
        learning_rate: str | Callable[[int], float] = "constant",
        power_t: float = 0.5,
        init: str = "zeros",
        average: bool | int = False,
        pocket: bool = True,
        error_threshold: float | None = None,
        loss_threshold: float | None = None,
        verdict_after: int | None = 10,
        on_pass: Callable[[Pass], bool] | None = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.rule = rule
        self.margin = margin
        self.learning_rate = learning_rate
        self.power_t = power_t
        self.init = init
        self.average = average
        self.pocket = pocket
        self.error_threshold = error_threshold
        self.loss_threshold = loss_threshold
        self.verdict_after = verdict_after
        self.on_pass = on_pass

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @whole
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X and labels y; on any error the estimator stays as it was."""
        warn_unless_ended(self._learn(X, y, coef_init, intercept_init, sample_weight))
        return self

    def _learn(self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> list[Taught]:
        """A fit, and what it gave for each classifier; nobody is warned."""
        check_parameters(self)
        lesson = self._lesson(X, y, sample_weight)
        start = self._start(lesson, coef_init, intercept_init, warm=self.warm_start)
        trace = Trace(hooks=self._hooks())
        try:
            with one_blas_thread(), thread_limit(self.n_jobs), np.errstate(all="ignore"):
                taught = [lesson.teach(k, start[k], self._rule(k), self._patience(), trace) for k in range(len(start))]
        except NotFiniteError:
            _refuse_overflow(lesson.engine)
        points = np.array([t.point for t in taught])
        _check_scores(lesson, points)
        trace.hooks = ()
        # everything succeeded: only now does the estimator change
        _check_feature_names(self, X, reset=True)
        self._take(lesson, points)
        self.trace_ = trace
        self.n_iter_ = max(t.epochs for t in taught)
        self.t_ = 1.0 + sum(t.visits for t in taught) / len(taught)
        self.mistakes_ = sum(t.mistakes for t in taught)
        certificates = tuple(t.certificate for t in taught)
        classes = tuple(plain_labels(lesson.target.classes))
        self.certificate_ = certificates[0] if len(certificates) == 1 else OneAgainstRest(classes, certificates)
        self._states: list[SweepState] | None = None
        return taught

    @whole
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these rows, from where the last call left off; ``classes`` at the first call."""
        check_parameters(self)
        if self.early_stopping:
            refuse("partial_fit has no rows to hold out.", "set early_stopping=False.")
        if isinstance(self.class_weight, str):
            refuse('class_weight="balanced" needs all labels at once.', "give the factors as a dict.")
        every = classes_to_come(getattr(self, "classes_", None), classes)
        first = not hasattr(self, "coef_")
        if not first:
            _check_feature_names(self, X, reset=False)
            check_width(self, block_of(X).shape[1])
        lesson = self._lesson(X, y, sample_weight, every)
        start = self._start(lesson, None, None, warm=True)
        states = getattr(self, "_states", None) or [None] * len(start)
        seed = getattr(self, "t_", 1.0)
        try:
            with one_blas_thread(), thread_limit(self.n_jobs), np.errstate(all="ignore"):
                rules = [self._rule(k) for k in range(len(start))]
                learned = [lesson.continue_with(k, start[k], rules[k], states[k], int(seed)) for k in range(len(start))]
        except NotFiniteError:
            _refuse_overflow(lesson.engine)
        points = np.array([r.average(s) for r, s in zip(rules, learned, strict=True)])
        _check_scores(lesson, points)
        if first:
            _check_feature_names(self, X, reset=True)
        self._states = learned
        self._take(lesson, points)
        self.n_iter_ = 1
        self.t_ = 1.0 + learned[0].visits
        self.mistakes_ = sum(state.mistakes for state in learned)
        self.certificate_ = UnprovedCertificate(End.PIECE.value, self.mistakes_)
        return self

    def steps(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Iterator[Step]:
        """Every visit of a fit, one at a time, until an epoch passes without a mistake; nothing is kept.

        Two classes, the sample rule. The weights are written (w₀, w₁, …), the constant's first.
        """
        check_parameters(self)
        if self.rule != "sample":
            refuse("A batch epoch is one step.", 'see trace_, or set rule="sample".')
        lesson = self._lesson(X, y, sample_weight)
        if len(lesson.target.classes) != 2:
            refuse(f"There are {len(lesson.target.classes)} classes.", "steps shows one classifier: pass y == label.")
        start = self._start(lesson, coef_init, intercept_init, warm=False)
        return lesson.walk(start[0], self._rule(0), int(self.max_iter))

    def __getattr__(self, name: str) -> Never:
        if name in ("predict_proba", "predict_log_proba"):
            raise AttributeError(
                f"A perceptron has no {name}: its scores are no probabilities.\n\n"
                "Hint: use separatrix.LogisticRegression, or calibrate with sklearn.calibration.CalibratedClassifierCV."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _lesson(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Lesson:
        block = block_of(X)
        target = encode(y, block.shape[0], classes)
        weights = sample_weights(sample_weight, block.shape[0])
        weights = weighted(target, weights, class_factors(self.class_weight, target, weights))
        if classes is None:
            _check_classes(target, weights)
        seed = None if self.random_state is None else seed_of(self.random_state)
        generator = np.random.default_rng(seed)
        held_out = float(self.validation_fraction) if self.early_stopping else 0.0
        engine = open_engine(block, target, weights)
        return Lesson(engine, target, weights, bool(self.fit_intercept), bool(self.shuffle), generator, held_out)

    def _rule(self, k: int) -> PerceptronRule:
        penalised = self.penalty is not None
        ratio = {"l2": 0.0, "l1": 1.0}.get(str(self.penalty), float(self.l1_ratio))
        average = -1 if self.average is False else 0 if self.average is True else int(self.average) - 1
        kind = BatchRule if self.rule == "batch" else PerceptronRule
        return kind(
            positive=k,
            constant=bool(self.fit_intercept),
            schedule=Schedule(float(self.eta0), self.learning_rate, float(self.power_t)),
            margin=float(self.margin),
            shrink=float(self.alpha) * (1.0 - ratio) if penalised else 0.0,
            truncate=float(self.alpha) * ratio if penalised else 0.0,
            average_from=average,
        )

    def _patience(self) -> Patience:
        return Patience(
            max_iter=int(self.max_iter),
            tol=None if self.tol is None or self.tol == -math.inf else float(self.tol),
            n_iter_no_change=int(self.n_iter_no_change),
            error_threshold=self.error_threshold,
            loss_threshold=self.loss_threshold,
            pocket=bool(self.pocket),
            verdict_after=self.verdict_after,
        )

    def _start(self, lesson: Lesson, coef: Any, intercept: Any, warm: bool) -> list[Vector]:
        outputs, d = lesson.outputs, lesson.engine.columns_count
        if coef is None and intercept is None and warm and hasattr(self, "coef_") and self.coef_.shape == (outputs, d):
            coef, intercept = self.coef_, self.intercept_
        return starting_point(outputs, d, lesson, coef, intercept, self.init == "random")

    def _take(self, lesson: Lesson, points: Any) -> None:
        d = lesson.engine.columns_count
        self.n_features_in_ = d
        self.classes_ = lesson.target.classes
        self.coef_ = points[:, :d].copy()
        self.intercept_ = points[:, d].copy() if self.fit_intercept else np.zeros(len(points))
        self.n_parameters_ = int(points.size)
        # one update changes a score by η‖x‖²
        with np.errstate(all="ignore"):
            self._settle(lesson.engine, unit=float(self.eta0) * lesson.mean_square)

    def _hooks(self) -> tuple[Callable[[Pass], bool], ...]:
        return tuple(hook for hook in (self.on_pass, print_epoch if self.verbose else None) if hook is not None)


def _check_scores(lesson: Lesson, points: Matrix) -> None:
    """Refuse weights whose scores of the very rows they were learned from may overflow: no label follows from them."""
    with np.errstate(all="ignore"):
        most = lesson.longest * float(np.abs(points).sum(axis=1).max())
    if not math.isfinite(most):
        _refuse_overflow(lesson.engine)


def _check_classes(target: Target, weights: Vector | None) -> None:
    seen = class_counts(target.codes, max(len(target.classes), 1), None if weights is None else weights > 0) > 0
    if len(target.classes) < 2 or seen.sum() == 1:
        refuse(
            "This classifier needs samples of at least 2 classes in the data, but there is only one class: "
            f"{target.classes[int(seen.argmax())]!r}.",
            "check how the rows were selected; with one class there is no boundary.",
        )
    if not seen.all():
        refuse(f"The class {target.classes[int((~seen).argmax())]!r} has no row of positive weight.", "leave it out.")


def _refuse_overflow(rows: Readable) -> Never:
    largest, where = largest_value(rows)
    refuse(
        f"The weights overflow: they left the range of floats. {rows.column_name(where)} reaches {largest:.3g}.",
        "divide that column by a power of ten." if largest > LARGE else "lower eta0.",
    )
