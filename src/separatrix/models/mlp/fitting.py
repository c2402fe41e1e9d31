"""A network's fit, wired: rows, epochs, updates, patience; or L-BFGS on the whole objective."""

import copy
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.optimize

from separatrix.core.arrays import AnyArray
from separatrix.core.errors import refuse
from separatrix.core.stop import Stop
from separatrix.core.trace import Trace
from separatrix.models.mlp.epochs import Epochs
from separatrix.models.mlp.problem import Labelled, NetworkProblem, number_type
from separatrix.models.mlp.scores import codes_of
from separatrix.solvers.network_epochs import Epoch, History, Runaway, run_epochs
from separatrix.solvers.network_updates import AdamUpdate, MomentumUpdate
from separatrix.solvers.stochastic_descent import order_generator
from separatrix.terms.mlp import scores

VALIDATION_EPOCH = 2**63
"""The order that draws the validation rows: no epoch has this number."""


@dataclass(slots=True)
class Training:
    """What goes on from one call to the next: weights, the solver's state, the history."""

    weights: AnyArray
    update: Any
    history: History

    def copy(self) -> "Training":
        """So that an error leaves the estimator as it was."""
        update = copy.deepcopy(self.update)
        history = replace(self.history, losses=list(self.history.losses))
        if history.scores is not None:
            history.scores = list(history.scores)
        return Training(self.weights.copy(), update, history)


def new_update(model: Any, size: int, dtype: Any) -> Any:
    """The state of the model's solver at its first step; None for L-BFGS, which keeps none."""
    if model.solver == "adam":
        return AdamUpdate(
            size, dtype, float(model.learning_rate_init), float(model.beta_1), float(model.beta_2), float(model.epsilon)
        )
    if model.solver == "sgd":
        return MomentumUpdate(
            size,
            dtype,
            float(model.learning_rate_init),
            model.learning_rate,
            float(model.momentum),
            bool(model.nesterovs_momentum),
            float(model.power_t),
        )
    return None


def shuffled(data: Labelled, numbers: AnyArray | None, seed: int, epoch: int) -> AnyArray:
    """Rows by number, all where ``numbers`` is None, in the order of an epoch: ``numbers[epoch_order(…)]``."""
    rows = data.engine.rows
    order = np.arange(rows, dtype=number_type(rows)) if numbers is None else numbers.copy()
    order_generator(seed, epoch).shuffle(order)
    return order


def held_out(data: Labelled, fraction: float, seed: int) -> tuple[AnyArray, AnyArray]:
    """Rows to train on and to validate with: of every class the same share, at least one stays."""
    order = shuffled(data, data.kept, seed, VALIDATION_EPOCH)
    codes = data.target.codes[order]
    out = np.zeros(len(order), dtype=bool)
    for code in np.unique(codes):
        mine = np.flatnonzero(codes == code)
        out[mine[: min(round(fraction * len(mine)), len(mine) - 1)]] = True
    if out.sum() < 2:
        refuse(
            f"The validation set is too small: validation_fraction = {fraction:g} gives {int(out.sum())} of "
            f"{len(order)} rows.",
            "raise validation_fraction, or set early_stopping=False.",
        )
    return np.sort(order[~out]), order[out]


def train_epochs(
    model: Any,
    problem: NetworkProblem,
    data: Labelled,
    training: Training,
    seed: int,
    max_epochs: int,
    trace: Trace,
) -> Stop:
    """Run epochs on ``training``, in place."""
    kept, count, validation = data.kept, data.count, None
    if model.early_stopping:
        kept, validation = held_out(data, float(model.validation_fraction), seed)
        count = len(kept)
    size = min(200 if model.batch_size == "auto" else int(model.batch_size), count)
    epochs = Epochs(problem.architecture, training.weights, data.engine, problem.alpha, size)

    def epoch(number: int) -> Epoch:
        order = shuffled(data, kept, seed, number) if model.shuffle else kept
        objective, mistakes = epochs.run(order, training.update)
        return Epoch(objective, mistakes, count)

    held = None if validation is None else data.engine.picked(validation).typed(training.weights.dtype)

    def validate() -> float:
        assert held is not None
        found = codes_of(scores(problem.architecture, training.weights, held))
        right = found == data.target.codes[validation]
        return float(np.average(right, weights=None if data.weights is None else data.weights[validation]))

    try:
        stop = run_epochs(
            epoch,
            validate if validation is not None else None,
            training.update,
            training.weights,
            problem.architecture.weights_end,
            training.history,
            trace,
            max_epochs=max_epochs,
            tol=float(model.tol),
            patience=float(model.n_iter_no_change),
        )
    except Runaway as runaway:
        refuse(
            f"The weights ran away: in epoch {runaway.args[0] + 1} the loss is no longer a number.",
            "lower learning_rate_init, or bring the columns to one scale with sklearn.preprocessing.StandardScaler.",
        )
    if training.history.best_weights is not None:
        training.weights[:] = training.history.best_weights
    return stop


def train_lbfgs(model: Any, problem: NetworkProblem, data: Labelled, training: Training, trace: Trace) -> Stop:
    """SciPy's L-BFGS-B on the whole objective in float64, until no slope exceeds tol."""
    objective = problem.objective(data)
    end = problem.architecture.weights_end

    def evaluate(point: AnyArray) -> tuple[float, AnyArray]:
        value, gradient = objective.evaluate(point)
        if not math.isfinite(value) or not np.isfinite(gradient).all():
            refuse(
                "The loss is no longer a number: the data or the weights are too large.",
                "bring the columns to one scale with sklearn.preprocessing.StandardScaler.",
            )
        return value, gradient

    raised: list[StopIteration] = []

    def after_step(intermediate_result: Any) -> None:
        norm = float(np.linalg.norm(intermediate_result.x[:end]))
        try:
            asked = trace.record(float(intermediate_result.fun), math.inf, norm, math.nan, intermediate_result.x.copy())
        except StopIteration as error:  # SciPy takes any for its own
            raised.append(error)
            raise
        if asked:
            raise StopIteration

    found = scipy.optimize.minimize(
        evaluate,
        training.weights,
        jac=True,
        method="L-BFGS-B",
        callback=after_step,
        # by default SciPy also stops when the value falls little, long before the gradient is small
        options={
            "maxfun": int(model.max_fun),
            "maxiter": int(model.max_iter),
            "gtol": float(model.tol),
            "ftol": 1e-15,
        },
    )
    if raised:
        raise raised[0]
    training.weights = np.asarray(found.x)
    training.history.losses.append(float(found.fun))
    if found.status == 99:
        return Stop.ASKED
    if np.abs(found.jac).max() <= float(model.tol):
        return Stop.CERTIFIED
    if found.status == 1:  # one limit or the other
        return Stop.MAX_ITER if found.nit >= int(model.max_iter) else Stop.EVALUATIONS
    return Stop.FLOOR
