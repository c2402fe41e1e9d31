"""A linear classifier by stochastic gradient descent, with a certificate."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from separatrix.certificates.duality import probabilities
from separatrix.core.arrays import Matrix
from separatrix.core.errors import SeparationWarning, refuse
from separatrix.core.trace import Pass
from separatrix.models.callbacks import CallbackSupport
from separatrix.models.decision import LinearDecision, log_probabilities
from separatrix.models.draft import whole
from separatrix.models.messages import warn_unless_ended, warn_unless_good
from separatrix.models.sgd.parameters import check_parameters


def _has_probabilities(model: Any) -> bool:
    if model.loss != "perceptron":
        return True
    raise AttributeError(
        "Scores of the perceptron's loss are no probabilities.\n\n"
        'Hint: set loss="log_loss", or calibrate with sklearn.calibration.CalibratedClassifierCV.'
    )


class SGDClassifier(CallbackSupport, LinearDecision, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Steps against the gradient of a loss, row by row, in batches or over all rows, and how far they have led.

    With ``loss="log_loss"`` it minimises, f(x) = ⟨w, x⟩ + b and s = ±1 the sign of a row's class,

        F(w, b) = (1/S) Σ aᵢ log(1 + exp(−sᵢf(xᵢ))) + alpha·(ρ‖w‖₁ + (1−ρ)‖w‖²/2),   S = Σ aᵢ,

    as ``LogisticRegression`` does with C = 1/(alpha·S), for more than two classes by softmax; ρ = ``l1_ratio``. With
    ``loss="perceptron"`` the loss is max(0, −sf(x)), and a step is the perceptron's rule: see ``Perceptron``. The
    intercept is never penalised. Scale the columns: a descent, unlike Newton's method, depends on their units.

    Parameters
    ----------
    loss : {"log_loss", "perceptron"}
        scikit-learn's default is "hinge", for which no certificate is known here.
    penalty : {"l2", "l1", "elasticnet"} or None
        "l2" means ρ = 0, "l1" ρ = 1, "elasticnet" the ``l1_ratio`` given, None ``alpha=0``.
    alpha : float, default=1e-4
        The penalty's factor, beside the mean loss.
    l1_ratio : float, default=0.15
        ρ of "elasticnet".
    fit_intercept : bool, default=True
        Whether to fit b.
    max_iter : int, default=1000
        Most epochs. scikit-learn's as a rule stops long before, by its ``tol``; here ``tol`` is a promise, and a
        descent that does not keep it goes on.
    tol : float or None, default=None
        Of the log loss as in ``LogisticRegression``: ``certificate_.met`` asks for F − F* ≤ tol·min(F, 1), None for
        1e-8; see also ``n_iter_no_change``. Of the perceptron's as in ``Perceptron``: stop when the error per row no
        longer falls by more than tol; None goes on to a separator or a proof that there is none. scikit-learn's
        1e-3 is of the mean loss met in an epoch.
    shuffle : bool, default=True
        A new order of the rows in every epoch.
    verbose : int, default=0
        1 prints a line per epoch.
    epsilon : float, default=0.1
        Accepted and without effect: for losses that are not here.
    n_jobs : int or None
        Most threads; None for all. It never changes a result.
    random_state : int, RandomState, Generator or None
        Decides orders, rows held out and a random start; None means 0, so that a fit repeats itself.
    learning_rate : {"auto", "constant", "optimal", "invscaling", "adaptive"} or callable
        The step length η(t) at step t = 1, 2, …; all but "auto" are scikit-learn's. "auto" is constant for steps over
        all rows and for the perceptron, else eta0/(1 + (t − 1)/T)^¾ with T = 512 or five times the coefficients, if
        more, over batch_size^¾. See ``terms.sgd``. The perceptron has no "optimal" and no "adaptive".
    eta0 : float or None
        The first step length. None takes 1/L, with L the curvature that a step can meet in these data; with the
        perceptron's loss, which has no curvature, 1.
    power_t : float, default=0.5
        The power of "invscaling".
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of each class, stop when its score no longer rises, and give the weights
        of the best score. The certificate is about F over all rows.
    validation_fraction : float, default=0.1
    n_iter_no_change : int or None, default=5
        Patience: epochs without an improvement by more than tol·min(F, 1); None for no such rule. Epochs over rows
        or batches are noisy, so there means over many of them are compared, see ``solvers.certified_epochs``. With the
        default ``tol`` a descent that still moves hardly ever stops by it, and one that crawls on for ever ends
        at ``max_iter``. What ends with the bound above tol warns.
    class_weight : dict, "balanced" or None
        Factors on the rows' weights by class.
    warm_start : bool, default=False
        Begin at the weights of the last fit.
    average : bool or int, default=False
        Give the mean of the weights after each step, from the first or from that many on.
    batch_size : int or "all", default=1
        Rows per step: 1 is online learning, "all" gradient descent.
    init : {"zeros", "random"}
        The start; "random" draws from a normal of deviation 0.01. ``fit`` also takes ``coef_init``, ``intercept_init``.
    keep_epochs : sequence of int
        Epochs after which the weights are kept, in ``kept_``.
    certify_every : int or None
        Compute the bound also after every so many epochs, and stop once it is below tol; it costs a pass or more.
        None computes it at the end only.
    on_separation : "warn" or "raise", default="warn"
        What to do where the likelihood has no maximum: without a penalty, for classes that can be separated.
    on_pass : callable or None
        Called after every epoch with a ``Pass``; returning True stops the fit. What it raises, StopIteration too,
        passes through unchanged and leaves the estimator as it was.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_, n_features_in_, feature_names_in_
        As in scikit-learn; ``n_iter_`` counts epochs, ``t_`` steps, from 1. More than two classes: softmax has a weight
        vector each, the perceptron one against the rest.
    certificate_ : OptimumCertificate, AnchoredCertificate, SubgradientCertificate, GapCertificate or Separability
        How far F is from its minimum, at most, or the verdict that it has none; ``certificate_.verify(X, y)`` proves
        it again. With the perceptron's loss that of ``Perceptron``: a separator, the proof that there is none, or no
        claim.
    trace_ : Trace
        Objective, bound, ‖w‖, mistakes and seconds per epoch, of batches with the loss as it was met.
    kept_ : dict
        Of the log loss: (coef, intercept) after each of ``keep_epochs`` that was reached.
    validation_scores_ : list or None
        Of the log loss with ``early_stopping``: the score after each epoch.
    mistakes_ : int
        Of the perceptron's loss: updates that were made.
    n_parameters_ : int
        Weights that were fitted, intercept included.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SGDClassifier(alpha=0.01, tol=0.01, certify_every=1).fit(scale(X), y)
    >>> model.certificate_.met
    True
    >>> print(model.certificate_.verify(scale(X), y))
    The average objective 0.1... is within ...e-04 of the smallest possible (relative ...e-03), and a minimiser exists.
    """

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        penalty: str | None = "l2",
        alpha: float = 1e-4,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str | Callable[[int], float] = "auto",
        eta0: float | None = None,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
        batch_size: int | str = 1,
        init: str = "zeros",
        keep_epochs: Sequence[int] = (),
        certify_every: int | None = None,
        on_separation: str = "warn",
        on_pass: Callable[[Pass], bool] | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.batch_size = batch_size
        self.init = init
        self.keep_epochs = keep_epochs
        self.certify_every = certify_every
        self.on_separation = on_separation
        self.on_pass = on_pass

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @whole
    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows X and labels y; on any error the estimator stays as it was."""
        check_parameters(self)
        if self.loss == "perceptron":
            from separatrix.models.sgd.perceptron_loss import fit_perceptron

            warn_unless_ended(fit_perceptron(self, X, y, coef_init, intercept_init, sample_weight))
            return self
        from separatrix.models.sgd.logistic_loss import advice_for, fit_logistic

        ended = fit_logistic(self, X, y, coef_init, intercept_init, sample_weight)
        if ended.separated is not None:
            warnings.warn(advice_for(ended.separated), SeparationWarning, stacklevel=3)
        else:
            kind = "" if ended.verdict is None else ended.verdict.kind
            warn_unless_good(ended.stop, self.certificate_, kind, callable(self.learning_rate))
        return self

    @whole
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, mean_weight: float | None = None
    ) -> Self:
        """One epoch over these rows, from where the last call, or a fit, left off; ``classes`` at the first call.

        k calls on the same rows are a fit of k epochs to the log loss, bit for bit, unless the rate is "adaptive",
        which only a fit lowers. Of the perceptron they leave the last weights, where a fit gives the best met. To the
        log loss, step lengths and averaging are those of the first piece. Weights count beside the mean weight of all
        rows that will ever come: ``mean_weight``; None takes that of these rows, a step over all rows always does, and
        the perceptron's rule takes weights as they are. Nothing is proved: ``certificate_`` claims nothing until the
        next ``fit``.
        """
        check_parameters(self)
        if self.loss == "perceptron":
            from separatrix.models.sgd.perceptron_loss import continue_perceptron

            if mean_weight is not None:
                refuse("mean_weight is given, and the perceptron's rule takes weights as they are.", "leave it out.")
            continue_perceptron(self, X, y, classes, sample_weight)
        else:
            from separatrix.models.sgd.pieces import continue_logistic

            continue_logistic(self, X, y, classes, sample_weight, mean_weight)
        return self

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> Matrix:
        """Probabilities of the classes (n × K); each tail keeps its digits near zero."""
        if self._outputs() == 1:
            return self._score(X, probabilities=True)
        return probabilities(self._score(X, probabilities=False))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_log_proba(self, X: Any) -> Matrix:
        """Logarithms of the probabilities, exact where those underflow."""
        return log_probabilities(self._score(X, probabilities=False))
