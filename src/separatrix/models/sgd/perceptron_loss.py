"""``SGDClassifier`` with the perceptron's loss: the rule, the rates and the certificates are those of ``Perceptron``.

Online gradient descent on max(0, −s·f(x)) moves w by η·s·x at every mistake and nowhere else: that is the perceptron's
rule, if a row on the boundary counts as a mistake.
"""

from typing import Any

from sklearn.utils.validation import _check_feature_names

from separatrix.engines import block_of
from separatrix.models.perceptron.estimator import Perceptron
from separatrix.models.perceptron.lesson import Taught
from separatrix.models.pieces import check_width

OF_A_DESCENT = ("kept_", "validation_scores_", "_progress_")
"""Attributes that a fit to the log loss leaves, and this one has not."""

_AUTO = {"auto": "constant"}


def perceptron_of(model: Any) -> Perceptron:
    """The perceptron of the same parameters, fitted as far as the model is."""
    named = isinstance(model.learning_rate, str)
    perceptron = Perceptron(
        penalty=model.penalty,
        alpha=model.alpha,
        l1_ratio=model.l1_ratio or 0.0,
        fit_intercept=model.fit_intercept,
        max_iter=model.max_iter,
        tol=model.tol,
        shuffle=model.shuffle,
        verbose=model.verbose,
        eta0=1.0 if model.eta0 is None else model.eta0,
        n_jobs=model.n_jobs,
        random_state=0 if model.random_state is None else model.random_state,
        early_stopping=model.early_stopping,
        validation_fraction=model.validation_fraction,
        n_iter_no_change=model.n_iter_no_change,
        class_weight=model.class_weight,
        warm_start=model.warm_start,
        learning_rate=_AUTO.get(model.learning_rate, model.learning_rate) if named else model.learning_rate,
        power_t=model.power_t,
        init=model.init,
        average=model.average,
        on_pass=model.on_pass,
    )
    own = model.get_params(deep=False)
    perceptron.__dict__ |= {name: value for name, value in vars(model).items() if name not in own}
    return perceptron


def fit_perceptron(model: Any, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any) -> list[Taught]:
    """Learn, and give the model its attributes; nobody is warned."""
    perceptron = perceptron_of(model)
    taught = perceptron._learn(X, y, coef_init, intercept_init, sample_weight)
    _take_over(model, perceptron)
    return taught


def continue_perceptron(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """One epoch over these rows, from where the last call left off."""
    if hasattr(model, "coef_"):
        _check_feature_names(model, X, reset=False)
        check_width(model, block_of(X).shape[1])
    perceptron = perceptron_of(model).partial_fit(X, y, classes, sample_weight)
    _take_over(model, perceptron)


def _take_over(model: Any, perceptron: Any) -> None:
    own = perceptron.get_params(deep=False)
    gone = {"feature_names_in_"} - set(vars(perceptron))
    for name in (*OF_A_DESCENT, *gone):
        vars(model).pop(name, None)
    for name, value in vars(perceptron).items():
        if name not in own and name not in OF_A_DESCENT:
            setattr(model, name, value)
