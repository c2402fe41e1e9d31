"""The parameters of a network as users give them, checked."""

import math
from numbers import Integral
from typing import Any

import numpy as np

from separatrix.core.errors import refuse
from separatrix.core.numbers import is_count, is_number, is_positive

ACTIVATIONS = ("relu", "tanh", "logistic", "identity")
SOLVERS = ("adam", "sgd", "lbfgs")
SCHEDULES = ("constant", "invscaling", "adaptive")


def hidden_sizes(model: Any) -> tuple[int, ...]:
    """``hidden_layer_sizes`` as whole numbers; a single one is a layer."""
    sizes = model.hidden_layer_sizes
    return tuple(int(size) for size in (sizes if np.iterable(sizes) else [sizes]))


def seed_of(model: Any) -> int:
    """``random_state`` as a seed; None is 0, so that a fit repeats itself."""
    if model.random_state is None:
        return 0
    if isinstance(model.random_state, Integral):
        return int(model.random_state)
    return int(model.random_state.randint(2**31 - 1))


def check_parameters(model: Any) -> None:
    """Refuse what cannot be used, before anything is read or changed."""
    sizes = model.hidden_layer_sizes
    if not all(is_count(size) for size in (sizes if np.iterable(sizes) else [sizes])):
        refuse(f"hidden_layer_sizes must be > 0, got {sizes!r}.", "give whole numbers, () for no hidden layer.")
    for name, choices in (("activation", ACTIVATIONS), ("solver", SOLVERS), ("learning_rate", SCHEDULES)):
        if getattr(model, name) not in choices:
            refuse(f"{name} is {getattr(model, name)!r}.", f"choose one of {', '.join(choices)}.")
    if model.batch_size != "auto" and not is_count(model.batch_size):
        refuse(f"batch_size is {model.batch_size!r}.", 'give a whole number of at least 1, or "auto".')
    for name in ("learning_rate_init", "epsilon"):
        if not is_positive(getattr(model, name)):
            refuse(f"{name} is {getattr(model, name)!r}.", f"{name} must be positive and finite.")
    for name, most in (("alpha", 1e300), ("power_t", 1e300), ("tol", math.inf), ("momentum", 1.0)):
        if not is_number(getattr(model, name), 0.0, most):
            refuse(f"{name} is {getattr(model, name)!r}.", f"{name} is a number from 0 to {most:g}.")
    for name in ("validation_fraction", "beta_1", "beta_2"):
        if not is_number(getattr(model, name), 0.0, 1.0) or getattr(model, name) == 1:
            refuse(f"{name} is {getattr(model, name)!r}.", f"{name} lies in [0, 1).")
    for name in ("max_iter", "max_fun", "n_iter_no_change"):
        count = getattr(model, name)
        if not is_count(count) and not (name == "n_iter_no_change" and count == np.inf):
            refuse(f"{name} is {count!r}.", f"{name} must be a whole number of at least 1.")
    seed = model.random_state
    if not (seed is None or hasattr(seed, "randint") or (is_count(seed, 0) and seed < 2**32)):
        refuse(f"random_state is {seed!r}.", "give a whole number from 0 to 2³² − 1, a RandomState, or None.")
