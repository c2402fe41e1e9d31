"""Which values the perceptron's parameters may have."""

import math
from typing import Any

from separatrix.core.parameters import (
    COUNT,
    FLAG,
    HOOK,
    JOBS,
    NONE,
    NOT_NEGATIVE,
    PART,
    POSITIVE,
    SEED,
    SHARE,
    VERBOSITY,
    Rule,
    check,
    one_of,
)
from separatrix.models.labels import CLASS_WEIGHT

RULES = {
    "penalty": one_of(None, "l2", "l1", "elasticnet"),
    "alpha": NOT_NEGATIVE,
    "l1_ratio": SHARE,
    "fit_intercept": FLAG,
    "max_iter": COUNT,
    "tol": NONE | NOT_NEGATIVE | Rule(lambda tol: isinstance(tol, float) and tol == -math.inf, "-np.inf"),
    "shuffle": FLAG,
    "verbose": VERBOSITY,
    "eta0": POSITIVE,
    "n_jobs": JOBS,
    "random_state": SEED,
    "early_stopping": FLAG,
    "validation_fraction": PART,
    "n_iter_no_change": COUNT,
    "class_weight": CLASS_WEIGHT,
    "warm_start": FLAG,
    "rule": one_of("sample", "batch"),
    "margin": NOT_NEGATIVE,
    "learning_rate": one_of("constant", "invscaling") | Rule(callable, "a function of t = 1, 2, …"),
    "power_t": NOT_NEGATIVE,
    "init": one_of("zeros", "random"),
    "average": FLAG | COUNT,
    "pocket": FLAG,
    "error_threshold": NONE | NOT_NEGATIVE,
    "loss_threshold": NONE | NOT_NEGATIVE,
    "verdict_after": NONE | COUNT,
    "on_pass": HOOK,
}


def check_parameters(model: Any) -> None:
    """Refuse parameters that mean nothing."""
    check(model, RULES)
