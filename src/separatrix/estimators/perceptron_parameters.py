"""Which values the perceptron's parameters may have."""

import math
from numbers import Integral, Real
from typing import Any

from separatrix.core.errors import refuse


def check_parameters(model: Any) -> None:
    """Refuse parameters that mean nothing."""

    def number(
        name: str, low: float, rule: str, kind: Any = Real, open_end: bool = False, high: float = math.inf
    ) -> None:
        value = getattr(model, name)
        good = isinstance(value, kind) and not isinstance(value, bool)
        if not (good and (low < value if open_end else low <= value) and value <= high and value < math.inf):
            refuse(f"{name} is {value!r}.", f"{name} must be {rule}.")

    def choice(name: str, options: tuple[Any, ...]) -> None:
        if getattr(model, name) not in options:
            refuse(f"{name} is {getattr(model, name)!r}.", f"choose one of {', '.join(map(repr, options))}.")

    choice("penalty", (None, "l2", "l1", "elasticnet"))
    choice("rule", ("sample", "batch"))
    choice("init", ("zeros", "random"))
    if not callable(model.learning_rate):
        choice("learning_rate", ("constant", "invscaling"))
    number("alpha", 0.0, "a number of at least 0")
    number("l1_ratio", 0.0, "a number between 0 and 1", high=1.0)
    number("eta0", 0.0, "a positive number", open_end=True)
    number("margin", 0.0, "a number of at least 0")
    number("power_t", 0.0, "a number of at least 0")
    number("max_iter", 1, "a whole number of at least 1", Integral)
    number("n_iter_no_change", 1, "a whole number of at least 1", Integral)
    number("validation_fraction", 0.0, "a number between 0 and 1, neither of them", open_end=True, high=1 - 1e-12)
    if model.tol is not None and model.tol != -math.inf:
        number("tol", 0.0, "None or a number of at least 0")
    for name in ("error_threshold", "loss_threshold"):
        if getattr(model, name) is not None:
            number(name, 0.0, "None or a number of at least 0")
    if model.verdict_after is not None:
        number("verdict_after", 1, "None or a whole number of at least 1", Integral)
    if not isinstance(model.average, bool):
        number("average", 1, "a bool or a whole number of at least 1", Integral)
    if not (model.random_state is None or isinstance(model.random_state, Integral)) and not hasattr(
        model.random_state, "randint"
    ):
        refuse(f"random_state is {model.random_state!r}.", "use a whole number, a RandomState or None.")
