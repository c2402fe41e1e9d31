"""Counts, flags and numbers of laws and simulated data: what is none is refused by name, in words of our own."""

import numpy as np
import pytest

from separatrix import simulate
from separatrix.probability import Bernoulli, Normal, entropy, kl_divergence

HUGE = [10**400, 10**5000]

CALLS = {
    "p": [lambda v: Bernoulli(v), lambda v: entropy([v, 1.0]), lambda v: kl_divergence([v, 1.0], [0.5, 0.5])],
    "mean": [lambda v: Normal(v, 1.0)],
    "variance": [lambda v: Normal(0.0, v)],
    "n": [lambda v: Normal().sample(v)],
    "rows": [
        lambda v: simulate.logistic(v, weights=[1.0]),
        lambda v: simulate.gaussian_classes(v, means=[[0.0], [1.0]]),
    ],
}
CASES = [(name, k) for name, calls in CALLS.items() for k in range(len(calls))]


@pytest.mark.parametrize("value", ["a", None, object(), float("nan"), *HUGE], ids=lambda value: str(type(value)))
@pytest.mark.parametrize(("name", "k"), CASES)
def test_what_is_no_number_is_named(name, k, value):
    with pytest.raises(ValueError, match=rf"{name}\b(.|\n)*\n\nHint: "):
        CALLS[name][k](value)


@pytest.mark.parametrize(
    "axis", ["0", None, 0.0, True, [0], 10**5000, np.array([0, 1])], ids=lambda value: str(type(value))
)
def test_axes_are_whole_numbers(axis):
    with pytest.raises(ValueError, match=r"axis is (.|\n)*\n\nHint: "):
        entropy([0.5, 0.5], axis)


@pytest.mark.parametrize("log", ["False", 0, 1, None])
def test_log_is_true_or_false(log):
    with pytest.raises(ValueError, match=r"log is .*\n\nHint: log must be True or False"):
        entropy(lambda x: 1.0, interval=(0, 1), log=log)


def test_a_seed_may_be_long():
    one, two = (simulate.logistic(5, weights=[1.0], seed=2**100 + 1) for _ in range(2))
    np.testing.assert_array_equal(one.X, two.X)
