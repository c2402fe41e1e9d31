"""The parameters of a network as users give them, checked."""

import math
from typing import Any

import numpy as np

from separatrix.core.errors import refuse
from separatrix.core.numbers import is_count
from separatrix.core.parameters import (
    ANYTHING,
    BELOW_ONE,
    COUNT,
    FLAG,
    HOOK,
    JOBS,
    NOT_NEGATIVE,
    POSITIVE,
    SEED,
    SHARE,
    VERBOSITY,
    Rule,
    check,
    number,
    one_of,
    shown,
)

ACTIVATIONS = ("relu", "tanh", "logistic", "identity")
SOLVERS = ("adam", "sgd", "lbfgs")
SCHEDULES = ("constant", "invscaling", "adaptive")

_INFINITE = Rule(lambda value: isinstance(value, float) and value == math.inf, "np.inf")

RULES = {
    "hidden_layer_sizes": ANYTHING,  # see below
    "activation": one_of(*ACTIVATIONS),
    "solver": one_of(*SOLVERS),
    "alpha": number("a number from 0 to 1e+100", 0.0, 1e100),  # squares of what it is multiplied with are added up
    "batch_size": COUNT | Rule(lambda size: isinstance(size, str) and size == "auto", '"auto"'),
    "learning_rate": one_of(*SCHEDULES),
    "learning_rate_init": POSITIVE,
    "power_t": NOT_NEGATIVE,
    "max_iter": COUNT,
    "shuffle": FLAG,
    "random_state": SEED,
    "tol": NOT_NEGATIVE | _INFINITE,
    "verbose": VERBOSITY,
    "warm_start": FLAG,
    "momentum": SHARE,
    "nesterovs_momentum": FLAG,
    "early_stopping": FLAG,
    "validation_fraction": BELOW_ONE,
    "beta_1": BELOW_ONE,
    "beta_2": BELOW_ONE,
    "epsilon": POSITIVE,
    "n_iter_no_change": COUNT | _INFINITE,
    "max_fun": COUNT,
    "n_jobs": JOBS,
    "on_pass": HOOK,
}

MOST_UNITS = 2**31 - 1
"""Units of a layer: BLAS counts rows and columns in 32 bits."""


def hidden_sizes(model: Any) -> tuple[int, ...]:
    """``hidden_layer_sizes`` as whole numbers; a single one is a layer."""
    sizes = model.hidden_layer_sizes
    return tuple(int(size) for size in (sizes if np.iterable(sizes) else [sizes]))


def check_parameters(model: Any) -> None:
    """Refuse what cannot be used, before anything is read or changed."""
    sizes = model.hidden_layer_sizes
    listed = np.iterable(sizes) and not isinstance(sizes, (str, bytes, dict))
    if not all(is_count(size) and size <= MOST_UNITS for size in (sizes if listed else [sizes])):
        refuse(f"hidden_layer_sizes must be > 0, got {shown(sizes)}.", "give whole numbers, () for no hidden layer.")
    check(model, RULES)
