"""Which parameters of descent do not go together; each alone has its rule in ``logistic_parameters``."""

import math
from typing import Any

from separatrix.core.errors import refuse
from separatrix.core.numbers import is_count
from separatrix.core.parameters import shown
from separatrix.models.logistic.parameters import DESCENT_SOLVERS
from separatrix.models.logistic.penalty_name import strength_and_ratio

ADJUSTED = ("adaptive", "optimal")
"""Schedules that need patience, or a penalty."""


def check_descent(model: Any) -> None:
    """Refuse what contradicts itself; other solvers do not look at it."""
    if model.solver not in DESCENT_SOLVERS:
        return
    if model.firth:
        refuse("firth=True has no descent.", 'leave solver at "auto".')
    adaptive, optimal = (isinstance(model.learning_rate, str) and model.learning_rate == name for name in ADJUSTED)
    if optimal and math.isinf(strength_and_ratio(model)[0]):
        refuse('learning_rate="optimal" needs a penalty, and C is infinite.', 'use "auto", or a finite C.')
    if model.n_iter_no_change is None and model.early_stopping:
        refuse("early_stopping has no patience: n_iter_no_change is None.", "set n_iter_no_change, for example to 5.")
    if model.n_iter_no_change is None and adaptive:
        refuse('learning_rate="adaptive" needs patience, and n_iter_no_change is None.', "set it, for example to 5.")
    for epoch in model.keep_epochs:
        if not is_count(epoch) or epoch > model.max_iter:
            refuse(
                f"keep_epochs holds {shown(epoch)}.", f"epochs are whole numbers from 1 to max_iter = {model.max_iter}."
            )


def check_batch(model: Any, rows: int) -> None:
    """Refuse a batch with more rows than there are to learn from."""
    if model.solver == "sgd" and model.batch_size > rows:
        refuse(
            f"batch_size is {model.batch_size}, but there are {rows} rows to learn from.",
            'use at most all rows, or solver="gd".',
        )
