"""Which values the parameters of logistic regression may have, whatever the solver."""

import numpy as np

from separatrix.core.numbers import is_number
from separatrix.core.parameters import (
    ANYTHING,
    COUNT,
    FLAG,
    HOOK,
    JOBS,
    NONE,
    NOT_NEGATIVE,
    PART,
    POSITIVE,
    SEED,
    VERBOSITY,
    Rule,
    number,
    one_of,
)
from separatrix.models.labels import CLASS_WEIGHT
from separatrix.models.logistic.fitting import SCIKIT_LEARN_SOLVERS

DESCENT_SOLVERS = ("gd", "sgd")
OWN_SOLVERS = ("auto", "newton-cholesky", "newton-subsample", "newton-cg", "quasi-newton", *DESCENT_SOLVERS)
SCHEDULES = ("auto", "constant", "optimal", "invscaling", "adaptive")

SOLVER = Rule(one_of(*OWN_SOLVERS, *SCIKIT_LEARN_SOLVERS).holds, one_of(*OWN_SOLVERS).text, choice=True)

RULES = {
    "penalty": ANYTHING,  # see named_penalty
    "C": Rule(lambda C: is_number(C, 0.0) and float(C) > 0.0, "positive; np.inf means no penalty"),
    "l1_ratio": NONE | number("a number between 0 (L2) and 1 (L1)", 0.0, 1.0),
    "dual": FLAG,
    "tol": number("a positive number; 1e-8 is the default", 0.0, above=True),
    "fit_intercept": FLAG,
    "intercept_scaling": POSITIVE,
    "class_weight": CLASS_WEIGHT,
    "random_state": SEED,
    "solver": SOLVER,
    "max_iter": COUNT,
    "verbose": VERBOSITY,
    "warm_start": FLAG,
    "n_jobs": JOBS,
    "on_pass": HOOK,
    "firth": FLAG,
    "flic": FLAG,
    "on_separation": one_of("warn", "raise"),
    "learning_rate": one_of(*SCHEDULES) | Rule(callable, "a function of t = 1, 2, …"),
    "eta0": NONE | number("a positive, finite number", 0.0, above=True),
    "power_t": NOT_NEGATIVE,
    "batch_size": COUNT,
    "init": one_of("zeros", "random"),
    "shuffle": FLAG,
    "early_stopping": FLAG,
    "validation_fraction": PART,
    "n_iter_no_change": NONE | COUNT,
    "average": FLAG | COUNT,
    "keep_epochs": Rule(
        lambda kept: not isinstance(kept, (str, bytes)) and np.iterable(kept),
        "a sequence of numbers of epochs, for example (1, 1000, 10000)",
    ),
    "certify_every": NONE | COUNT,
}
"""A rule for each parameter; those of descent are looked at by other solvers too, so that a slip does not wait."""
