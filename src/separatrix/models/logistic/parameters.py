"""Which values the parameters of logistic regression may have, whatever the solver."""

from typing import Any

from separatrix.core.errors import refuse
from separatrix.core.numbers import is_number
from separatrix.core.parameters import (
    ANYTHING,
    COUNT,
    FLAG,
    HOOK,
    JOBS,
    NONE,
    POSITIVE,
    SEED,
    VERBOSITY,
    Rule,
    number,
    one_of,
)
from separatrix.models.labels import CLASS_WEIGHT
from separatrix.models.logistic.fitting import SCIKIT_LEARN_SOLVERS

OWN_SOLVERS = ("auto", "newton-cholesky", "newton-subsample", "newton-cg", "quasi-newton")

DESCENTS = {"gd": 'SGDClassifier(loss="log_loss", batch_size="all")', "sgd": 'SGDClassifier(loss="log_loss")'}
"""Names that once were solvers, and what does their work."""

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
}
"""A rule for each parameter."""


def check_solver(solver: Any) -> None:
    """Refuse descents by the name of the class that has them."""
    if isinstance(solver, str) and solver in DESCENTS:
        refuse(
            f"solver is {str(solver)!r}, and descent is a class of its own.",
            f"use separatrix.{DESCENTS[solver]} with alpha=1/(C·S), S the sum of the rows' weights: the same F, "
            'the same steps; or leave solver at "auto".',
        )
