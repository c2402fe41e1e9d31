"""Which values the parameters of ``SGDClassifier`` may have, which of them go together, and what they ask for."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.errors import refuse
from separatrix.core.numbers import is_count, is_flag
from separatrix.core.parameters import (
    COUNT,
    FLAG,
    HOOK,
    JOBS,
    NONE,
    NOT_NEGATIVE,
    PART,
    SEED,
    SHARE,
    VERBOSITY,
    Rule,
    check,
    number,
    one_of,
    shown,
)
from separatrix.models.labels import CLASS_WEIGHT

SCHEDULES = ("auto", "constant", "optimal", "invscaling", "adaptive")

ELSEWHERE = (
    "hinge", "modified_huber", "squared_hinge", "squared_error", "huber", "epsilon_insensitive",
    "squared_epsilon_insensitive",
)  # fmt: skip
"""Losses that scikit-learn's class of the same name has, and this one has not."""

TOL = 1e-8
"""What tol=None is for the log loss, as in ``LogisticRegression``."""

_ALL = Rule(lambda size: isinstance(size, str) and size == "all", '"all"')

RULES = {
    "loss": one_of("log_loss", "perceptron"),
    "penalty": one_of(None, "l2", "l1", "elasticnet"),
    "alpha": NOT_NEGATIVE,
    "l1_ratio": NONE | SHARE,
    "fit_intercept": FLAG,
    "max_iter": COUNT,
    "tol": NONE | number("a positive number; of the log loss None means 1e-8", 0.0, above=True),
    "shuffle": FLAG,
    "verbose": VERBOSITY,
    "epsilon": NOT_NEGATIVE,
    "n_jobs": JOBS,
    "random_state": SEED,
    "learning_rate": one_of(*SCHEDULES) | Rule(callable, "a function of t = 1, 2, …"),
    "eta0": NONE | number("a positive, finite number", 0.0, above=True),
    "power_t": NOT_NEGATIVE,
    "early_stopping": FLAG,
    "validation_fraction": PART,
    "n_iter_no_change": NONE | COUNT,
    "class_weight": CLASS_WEIGHT,
    "warm_start": FLAG,
    "average": FLAG | COUNT,
    "batch_size": COUNT | _ALL,
    "init": one_of("zeros", "random"),
    "keep_epochs": Rule(
        lambda kept: not isinstance(kept, (str, bytes, Iterator)) and np.iterable(kept),  # read more than once
        "a sequence of numbers of epochs, for example (1, 1000, 10000)",
    ),
    "certify_every": NONE | COUNT,
    "on_separation": one_of("warn", "raise"),
    "on_pass": HOOK,
}
"""A rule for each parameter."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked of a descent.

    ``batch`` is None for steps over all rows, ``average_from`` None for no average, ``idle`` None for no patience and
    ``held_out`` 0 for learning from all rows.
    """

    batch: int | None
    learning_rate: str | Callable[[int], float]
    eta0: float | None
    power_t: float
    random_start: bool
    shuffle: bool
    average_from: int | None
    tol: float
    max_iter: int
    idle: int | None
    held_out: float
    keep_epochs: frozenset[int]
    certify_every: int | None

    @property
    def noisy(self) -> bool:
        """Whether epochs are compared by means; a rate that adapts is only lowered by chance, and better too soon."""
        return self.batch is not None and self.learning_rate != "adaptive"


def settings_of(model: Any) -> Settings:
    """The parameters of a model, checked before, as a descent over the logistic loss has them."""
    average = model.average
    without = is_flag(average) and not average
    return Settings(
        batch=None if all_rows(model) else int(model.batch_size),
        learning_rate=model.learning_rate,
        eta0=None if model.eta0 is None else float(model.eta0),
        power_t=float(model.power_t),
        random_start=model.init == "random",
        shuffle=bool(model.shuffle),
        average_from=None if without else 0 if is_flag(average) else int(average) - 1,
        tol=TOL if model.tol is None else float(model.tol),
        max_iter=int(model.max_iter),
        idle=None if model.n_iter_no_change is None else int(model.n_iter_no_change),
        held_out=float(model.validation_fraction) if model.early_stopping else 0.0,
        keep_epochs=frozenset(int(epoch) for epoch in model.keep_epochs),
        certify_every=None if model.certify_every is None else int(model.certify_every),
    )


def all_rows(model: Any) -> bool:
    """Whether a step is over all rows."""
    return isinstance(model.batch_size, str)


def alpha_and_ratio(model: Any) -> tuple[float, float]:
    """(alpha, ρ) that the fit uses: "l1" is ratio 1, "l2" ratio 0, "elasticnet" ``l1_ratio``; None is alpha 0."""
    if model.penalty is None:
        return 0.0, 0.0
    return float(model.alpha), {"l2": 0.0, "l1": 1.0}.get(str(model.penalty), float(model.l1_ratio or 0.0))


def inverse_strength(model: Any, weight: float) -> tuple[float, float]:
    """(C, ρ), with C = 1/(alpha·S) for rows of this total weight S, and infinite without a penalty."""
    alpha, ratio = alpha_and_ratio(model)
    if alpha == 0.0:
        return math.inf, 0.0
    size = alpha * weight
    C = 1.0 / size if size > 0.0 else math.inf
    if not (0.0 < C < math.inf and math.isfinite(1.0 / (C * weight))):
        refuse(
            f"alpha is {shown(model.alpha)}: times the sum of the weights, {weight:.6g}, it leaves the floats.",
            "choose an alpha nearer to 1, or penalty=None.",
        )
    return C, ratio


def check_parameters(model: Any) -> None:
    """Refuse what means nothing, and what contradicts itself."""
    if isinstance(model.loss, str) and model.loss in ELSEWHERE:
        refuse(
            f"loss is {str(model.loss)!r}, and certificates are known here for two others.",
            'choose "log_loss" or "perceptron"; sklearn.linear_model.SGDClassifier has the others.',
        )
    check(model, RULES)
    if model.penalty == "elasticnet" and model.l1_ratio is None:
        refuse('l1_ratio must be specified when penalty is "elasticnet".', "set l1_ratio between 0 and 1.")
    (_check_perceptron if model.loss == "perceptron" else _check_descent)(model)


def check_batch(settings: Settings, rows: int) -> None:
    """Refuse a batch with more rows than there are to learn from."""
    if settings.batch is not None and settings.batch > rows:
        refuse(
            f"batch_size is {settings.batch}, but there are {rows} rows to learn from.",
            'use at most all rows, or batch_size="all".',
        )


def _check_descent(model: Any) -> None:
    if _scheduled(model, "optimal") and alpha_and_ratio(model)[0] == 0.0:
        refuse('learning_rate="optimal" needs a penalty, and there is none.', 'use "auto", or a positive alpha.')
    if model.n_iter_no_change is None and model.early_stopping:
        refuse("early_stopping has no patience: n_iter_no_change is None.", "set n_iter_no_change, for example to 5.")
    if model.n_iter_no_change is None and _scheduled(model, "adaptive"):
        refuse('learning_rate="adaptive" needs patience, and n_iter_no_change is None.', "set it, for example to 5.")
    for epoch in model.keep_epochs:
        if not is_count(epoch) or epoch > model.max_iter:
            refuse(
                f"keep_epochs holds {shown(epoch)}.", f"epochs are whole numbers from 1 to max_iter = {model.max_iter}."
            )


def _check_perceptron(model: Any) -> None:
    """Refuse what the perceptron's rule has not."""
    for name in ("optimal", "adaptive"):
        if _scheduled(model, name):
            refuse(
                f'learning_rate="{name}" is no rate of the perceptron\'s.',
                'use "constant", "invscaling" or a function of t; "auto" is constant.',
            )
    if all_rows(model) or model.batch_size != 1:
        refuse(
            f"batch_size is {shown(model.batch_size)}, and the perceptron learns from one row at a time.",
            'leave batch_size at 1; Perceptron(rule="batch") steps against the sum over all mistakes.',
        )
    if model.n_iter_no_change is None:
        refuse(
            "n_iter_no_change is None, and the perceptron needs patience.",
            "set it, for example to 5; with tol=None alone it goes on.",
        )
    if len(tuple(model.keep_epochs)):
        refuse("keep_epochs is for the log loss.", "leave it empty; on_pass sees the perceptron's weights.")
    if model.certify_every is not None:
        refuse("certify_every is for the log loss.", "leave it None; a separator or a proof ends the perceptron.")
    if model.__dict__.get("_skl_callbacks"):
        refuse('loss="perceptron" calls no callbacks of scikit-learn\'s.', "use on_pass.")


def _scheduled(model: Any, name: str) -> bool:
    return isinstance(model.learning_rate, str) and model.learning_rate == name
