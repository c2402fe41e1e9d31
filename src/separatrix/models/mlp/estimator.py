"""A multi-layer perceptron for two classes or more."""

import math
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names

from separatrix.certificates.mlp import NetworkCertificate
from separatrix.core.arrays import AnyArray, Matrix, Vector
from separatrix.core.errors import ConvergenceWarning, refuse
from separatrix.core.parameters import seed_of
from separatrix.core.row_vector import RowVector
from separatrix.core.stop import Stop
from separatrix.core.trace import Hook, Pass, Trace
from separatrix.kernels.threads import one_blas_thread, thread_limit
from separatrix.models.callbacks import CallbackSupport, callback_tasks
from separatrix.models.draft import whole
from separatrix.models.labels import block_of, open_table
from separatrix.models.mlp.fitting import Training, new_update, train_epochs, train_lbfgs
from separatrix.models.mlp.parameters import check_parameters, hidden_sizes
from separatrix.models.mlp.problem import Labelled, NetworkProblem, check_finite
from separatrix.models.mlp.scores import codes_of, log_shares_of, reach_of, settle, shares_of
from separatrix.models.pieces import classes_to_come
from separatrix.solvers.network_epochs import History
from separatrix.terms.architecture import Architecture
from separatrix.terms.mlp import scores


def _has_epochs(model: Any) -> bool:
    if model.solver == "lbfgs":
        raise AttributeError(f"partial_fit needs a solver with epochs; solver is {model.solver!r}.")
    return True


class MLPClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Hidden layers hₖ = φ(hₖ₋₁Wₖ + bₖ) that feed one sigmoid, or a softmax for more than two classes.

    Minimises the average over rows

        F = (1/S)[Σ aᵢ·(−log p(yᵢ | xᵢ)) + (α/2) Σ ‖Wₖ‖²],   S = Σ aᵢ,

    scikit-learn's objective. A step on a batch takes F of the batch: its rows, its S. With
    ``hidden_layer_sizes=()`` there is no hidden layer, and F is logistic regression's with
    C = 1/α: then it is convex, and ``solver="lbfgs"`` finds its minimum. With hidden
    layers F has many minima; which one is reached depends on the start, and the
    certificate says only how flat F is there.

    An array of float32 is computed with in float32 (not by "lbfgs"), all else in float64.
    The same seed gives the same start as scikit-learn's; the order of the rows differs. Results
    have the same bits for any number of threads. Columns should be on one scale.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
        Units of each hidden layer.
    activation : {"relu", "tanh", "logistic", "identity"}
        φ.
    solver : {"adam", "sgd", "lbfgs"}
        Adam, gradient descent with momentum, both on batches; or SciPy's L-BFGS-B on all rows.
    alpha : float, default=1e-4
        α, the L2 penalty; constants are not penalised.
    batch_size : int or "auto"
        Rows per step; "auto" is min(200, n).
    learning_rate : {"constant", "invscaling", "adaptive"}
        For "sgd": the rate stays, is divided by (rows seen + 1)^power_t, or by 5 whenever nothing improves.
    learning_rate_init, power_t : float
        The first rate, and the power of "invscaling".
    max_iter : int
        Most epochs; for "lbfgs" most iterations.
    shuffle : bool
        A new order of the rows in every epoch, a function of (seed, epoch) alone.
    random_state : int, RandomState, Generator or None
        The seed of start, order and validation rows; None means 0, so that a fit repeats itself.
    tol : float
        What counts as an improvement of the loss or the validation score; for "lbfgs" the
        largest slope at the end.
    verbose : bool or int
        Print a line per epoch.
    warm_start : bool
        Begin at the weights of the last fit.
    momentum, nesterovs_momentum
        For "sgd".
    early_stopping, validation_fraction
        Hold out a share of every class, watch its accuracy, and return the weights that had the best.
    beta_1, beta_2, epsilon
        For "adam".
    n_iter_no_change : int or np.inf
        Stop when more than so many epochs in a row bring no improvement.
    max_fun : int
        For "lbfgs": most evaluations.
    n_jobs : int or None
        Most threads; None for all. It never changes a result.
    on_pass : callable or None
        Called after every epoch with a ``Pass``; returning True stops the fit. What it raises, StopIteration too,
        passes through unchanged and leaves the estimator as it was.

    Attributes
    ----------
    coefs_, intercepts_ : list of arrays
        The Wₖ (inputs × outputs) and bₖ.
    classes_, n_features_in_, feature_names_in_, n_iter_, n_layers_, n_outputs_, out_activation_, t_
        As in scikit-learn.
    loss_, best_loss_, loss_curve_, validation_scores_, best_validation_score_
        As in scikit-learn: the loss of an epoch is the mean over its batches, each before its step.
    certificate_ : NetworkCertificate
        F and its gradient over all rows at the end; ``certificate_.verify(X, y)`` computes both again.
    trace_ : Trace
        Objective, ‖W‖, mistakes (as met) and seconds per epoch.
    n_parameters_ : int
        Weights and constants.

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = MLPClassifier((4,), activation="tanh", solver="lbfgs", random_state=1).fit(X, y)
    >>> model.predict(X)
    array([0, 1, 1, 0])
    >>> model.describe()
    layer       units  weights    parameters  activation
    input           2
    hidden 1        4  2 × 4              12  tanh
    output          1  4 × 1               5  logistic
    total                                 17
    """

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: str = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: Any = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: Any = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: Any = 10,
        max_fun: int = 15000,
        n_jobs: int | None = None,
        on_pass: Callable[[Pass], bool] | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.n_jobs = n_jobs
        self.on_pass = on_pass

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @whole
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X and labels y; on any error the estimator stays as it was."""
        check_parameters(self)
        data = Labelled.of(X, y, sample_weight)
        data.check_classes()
        if self.batch_size != "auto" and self.batch_size > data.count:
            warnings.warn(
                f"batch_size is {self.batch_size}, but there are {data.count} rows: all are taken at once.",
                UserWarning,
                stacklevel=3,
            )
        problem = self._problem(data, data.target.classes)
        training = self._begin(problem, data, goes_on=bool(self.warm_start) and hasattr(self, "coefs_"))
        stop = self._train(X, y, data, problem, training, int(self.max_iter))
        ran_out = stop in (Stop.MAX_ITER, Stop.EVALUATIONS)
        if stop is not Stop.ASKED and (ran_out or not self.certificate_.met):
            warnings.warn(_how_far(self, stop), ConvergenceWarning, stacklevel=3)
        return self

    @available_if(_has_epochs)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    @whole
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Self:
        """One epoch over these rows, going on from where the last call ended.

        The first call needs ``classes``: all labels that will ever come.
        """
        check_parameters(self)
        if self.early_stopping:
            refuse("partial_fit does not support early_stopping=True.", "hold rows out and score them yourself.")
        every = classes_to_come(getattr(self, "classes_", None), classes)
        data = Labelled.of(X, y, sample_weight, every)
        problem = self._problem(data, every)
        if hasattr(self, "coefs_"):
            self._check_columns(data.engine.columns_count)
            _check_feature_names(self, X, reset=False)
        training = self._begin(problem, data, goes_on=hasattr(self, "coefs_"), same_update=True)
        self._train(X, y, data, problem, training, 1)
        return self

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; ties go to the later class."""
        found = codes_of(self._scores(X))
        labels: AnyArray = self.classes_[found]
        return labels

    def predict_proba(self, X: Any) -> Matrix:
        """Probabilities of the classes (n × K)."""
        return shares_of(self._scores(X))

    def predict_log_proba(self, X: Any) -> Matrix:
        """Logarithms of the probabilities, exact where those underflow."""
        return log_shares_of(self._scores(X))

    def describe(self) -> None:
        """Print the layers, the shapes of their weights and how many parameters each has."""
        self._check_fitted()
        print(self._architecture().table())  # noqa: T201  what was asked for

    def _problem(self, data: Labelled, classes: AnyArray) -> NetworkProblem:
        outputs = 1 if len(classes) == 2 else len(classes)
        units = (data.engine.columns_count, *hidden_sizes(self), outputs)
        return NetworkProblem(Architecture(units, self.activation), float(self.alpha), classes)

    def _begin(self, problem: NetworkProblem, data: Labelled, goes_on: bool, same_update: bool = False) -> Training:
        """Where training starts: drawn weights, or those of the last call in a copy."""
        architecture = problem.architecture
        dtype = np.float64 if self.solver == "lbfgs" else data.engine.natural_type
        before: Training | None = getattr(self, "_training", None) if goes_on else None
        if before is not None and not np.array_equal(problem.classes, self.classes_):
            refuse(
                f"The last fit had the classes {self.classes_.tolist()}, this one has {problem.classes.tolist()}.",
                "warm_start needs the same classes; set warm_start=False.",
            )
        if before is None or self._architecture() != architecture:
            return Training(
                architecture.draw(seed_of(self.random_state), dtype),
                new_update(self, architecture.parameters, dtype),
                History.fresh(bool(self.early_stopping)),
            )
        if same_update:
            dtype = before.weights.dtype
        training = before.copy()
        training.weights = architecture.packed(self.coefs_, self.intercepts_).astype(dtype)
        if training.update is None or not same_update:
            training.update = new_update(self, architecture.parameters, dtype)
        if (training.history.scores is not None) != bool(self.early_stopping):
            training.history = History.fresh(bool(self.early_stopping))
        return training

    def _train(
        self, X: Any, y: Any, data: Labelled, problem: NetworkProblem, training: Training, max_epochs: int
    ) -> Stop:
        """Train, certify, and only then change the estimator."""
        architecture, trace = problem.architecture, Trace()

        def attributes(flat: AnyArray) -> dict[str, Any]:
            return {
                "coefs_": [part.copy() for part in architecture.matrices(flat)],
                "intercepts_": [part.copy() for part in architecture.constants(flat)],
                "classes_": problem.classes,
                "_activation": architecture.activation,
                "n_layers_": architecture.layers + 1,
                "n_outputs_": architecture.outputs,
                "out_activation_": "logistic" if architecture.outputs == 1 else "softmax",
            }

        with callback_tasks(self, {"X": X, "y": y}, max_epochs, attributes) as tasks:
            trace.hooks = self._hooks(tasks)
            with (
                one_blas_thread(),
                thread_limit(self.n_jobs),
                np.errstate(all="ignore"),
            ):
                if self.solver == "lbfgs":
                    stop = train_lbfgs(self, problem, data, training, trace)
                else:
                    stop = train_epochs(self, problem, data, training, seed_of(self.random_state), max_epochs, trace)
                dtype = training.weights.dtype
                point: Vector = training.weights.astype(np.float64)
                value, gradient = problem.objective(data).evaluate(point)
            if not math.isfinite(value) or not np.isfinite(gradient).all():
                refuse(
                    "The weights ran away: the loss is no longer a number.",
                    "lower learning_rate_init, or bring the columns to one scale.",
                )
            if tasks is not None:
                tasks.close(training.weights)
        trace.hooks = ()
        # everything succeeded: only now does the estimator change
        _check_feature_names(self, X, reset=True)
        self.n_features_in_ = data.engine.columns_count
        for name, found in attributes(training.weights).items():
            setattr(self, name, found)
        history = training.history
        self.n_iter_ = max(len(trace), 1)
        self.t_ = history.seen
        self.loss_ = history.losses[-1]
        self.loss_curve_ = history.losses
        self.best_loss_ = min(history.losses) if self.solver == "lbfgs" else history.best_loss
        self.validation_scores_ = history.scores
        self.best_validation_score_ = history.best_score
        self.n_parameters_ = architecture.parameters
        self.trace_ = trace
        self.certificate_ = NetworkCertificate.at(value, gradient, float(self.tol), point, problem, dtype.name)
        self._training = training
        self._reach = reach_of(architecture, training.weights, data.engine)
        return stop

    def _scores(self, X: Any) -> Matrix:
        """The output before its sigmoid or softmax (n × outputs)."""
        self._check_fitted()
        # arrays have no names to compare, and the check costs as much as a prediction
        if type(X) is not np.ndarray or hasattr(self, "feature_names_in_"):
            _check_feature_names(self, X, reset=False)
        engine = open_table(block_of(X))
        self._check_columns(engine.columns_count)
        check_finite(engine)
        architecture = self._architecture()
        dtype = np.result_type(self.coefs_[0].dtype, engine.natural_type)
        flat = architecture.packed(self.coefs_, self.intercepts_).astype(dtype, copy=False)
        with one_blas_thread(), thread_limit(self.n_jobs), np.errstate(all="ignore"):
            blocks = (scores(architecture, flat, block.typed(dtype)) for block in engine.blocks())
            found: Matrix = RowVector(tuple(blocks)).array()
        if not np.isfinite(found).all():
            refuse("The scores overflow.", "bring the columns to the scale the network was fitted on.")
        settle(architecture, flat, engine, found, getattr(self, "_reach", 0.0))
        return found

    def _architecture(self) -> Architecture:
        units = (self.coefs_[0].shape[0], *(matrix.shape[1] for matrix in self.coefs_))
        return Architecture(units, self._activation)

    def _hooks(self, tasks: Hook | None) -> tuple[Hook, ...]:
        hooks = (tasks, self.on_pass, _print_epoch if self.verbose else None)
        return tuple(hook for hook in hooks if hook is not None)

    def _check_fitted(self) -> None:
        if not hasattr(self, "coefs_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )

    def _check_columns(self, columns: int) -> None:
        expected = self.coefs_[0].shape[0]
        if columns != expected:
            refuse(
                f"X has {columns} features, but {type(self).__name__} is expecting {expected} features as input.",
                "pass the columns the model was fitted on, in the same order.",
            )


def _how_far(model: MLPClassifier, stop: Stop) -> str:
    """The text of the warning: how long, how flat, and what to do."""
    found = model.certificate_
    reason = Stop.FLOOR if stop is Stop.CERTIFIED else stop  # the last look at the slope saw its rounding
    still = ", still improving" if stop is Stop.MAX_ITER else f": {reason.fact}"
    remedy = reason.remedy
    if stop is Stop.PATIENCE:
        remedy = 'lower learning_rate_init, raise n_iter_no_change, use solver="lbfgs", or loosen tol'
    return (
        f"The fit stopped after {model.n_iter_} {'iterations' if model.solver == 'lbfgs' else 'epochs'} at average "
        f"objective {found.objective:.6g}{still}. The largest entry of the gradient is {found.bound:.1e} (tol asks for "
        f"{found.tol:.1e}).\n\nHint: {remedy}."
    )


def _print_epoch(entry: Pass) -> bool:
    print(  # noqa: T201  what verbose asks for
        f"epoch {entry.number:3d}  objective {entry.objective:.8g}  |W| {entry.norm:.4g}  {entry.seconds:.3f} s"
    )
    return False
