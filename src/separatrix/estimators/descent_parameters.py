"""Which values the parameters of descent may have."""

import math
from numbers import Integral, Real
from typing import Any

from separatrix.core.errors import refuse
from separatrix.estimators.named_penalty import strength_and_ratio

DESCENT_SOLVERS = ("gd", "sgd")

SCHEDULES = ("auto", "constant", "optimal", "invscaling", "adaptive")


def check_descent(model: Any) -> None:
    """Refuse parameters that mean nothing; other solvers do not look at them."""
    if model.solver not in DESCENT_SOLVERS:
        return

    def number(name: str, good: bool, rule: str, kind: Any = Real) -> None:
        value = getattr(model, name)
        if not isinstance(value, kind) or isinstance(value, bool) or not good:
            refuse(f"{name} is {value!r}.", f"{name} must be {rule}.")

    def holds(name: str, low: float, high: float = math.inf) -> bool:
        value: Any = getattr(model, name)
        return isinstance(value, Real) and low <= float(value) < high

    if model.firth:
        refuse("firth=True has no descent.", 'leave solver at "auto".')
    if not callable(model.learning_rate) and model.learning_rate not in SCHEDULES:
        refuse(
            f"learning_rate is {model.learning_rate!r}.",
            f"choose one of {', '.join(map(repr, SCHEDULES))}, or give a function of t = 1, 2, ….",
        )
    if model.learning_rate == "optimal" and math.isinf(strength_and_ratio(model)[0]):
        refuse('learning_rate="optimal" needs a penalty, and C is infinite.', 'use "auto", or a finite C.')
    if model.eta0 is not None:
        number("eta0", holds("eta0", 5e-324), "a positive, finite number, or None to take it from the data")
    number("power_t", holds("power_t", 0.0), "a number of at least 0")
    number("batch_size", holds("batch_size", 1), "a whole number of at least 1", Integral)
    number(
        "validation_fraction", holds("validation_fraction", 5e-324, 1.0), "a number between 0 and 1, neither of them"
    )
    if model.n_iter_no_change is not None:
        number("n_iter_no_change", holds("n_iter_no_change", 1), "None or a whole number of at least 1", Integral)
    elif model.early_stopping:
        refuse("early_stopping has no patience: n_iter_no_change is None.", "set n_iter_no_change, for example to 5.")
    elif model.learning_rate == "adaptive":
        refuse('learning_rate="adaptive" needs patience, and n_iter_no_change is None.', "set it, for example to 5.")
    if model.certify_every is not None:
        number("certify_every", holds("certify_every", 1), "None or a whole number of at least 1", Integral)
    if not isinstance(model.average, bool):
        number("average", holds("average", 1), "a bool or a whole number of at least 1", Integral)
    if model.init not in ("zeros", "random"):
        refuse(f"init is {model.init!r}.", 'choose "zeros" or "random".')
    kept = model.keep_epochs
    if isinstance(kept, (str, bytes)) or not hasattr(kept, "__iter__"):
        refuse(f"keep_epochs is {kept!r}.", "give numbers of epochs, for example (1, 1000, 10000).")
    for epoch in kept:
        if isinstance(epoch, bool) or not isinstance(epoch, Integral) or not 1 <= int(epoch) <= model.max_iter:
            refuse(f"keep_epochs holds {epoch!r}.", f"epochs are whole numbers from 1 to max_iter = {model.max_iter}.")


def check_batch(model: Any, rows: int) -> None:
    """Refuse a batch with more rows than there are to learn from."""
    if model.solver == "sgd" and model.batch_size > rows:
        refuse(
            f"batch_size is {model.batch_size}, but there are {rows} rows to learn from.",
            'use at most all rows, or solver="gd".',
        )
