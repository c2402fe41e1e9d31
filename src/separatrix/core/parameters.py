"""The one rule for parameters: what each may be, seen to before anything is read or changed.

A ``Rule`` holds for some values and says in words which. An estimator has a table of them, a rule for each parameter
of its constructor, and ``check`` refuses the first value that breaks its rule: the fact, the rule, and so the way out.
Rules are joined by ``|``. What depends on several parameters, or on the data, the estimator sees to itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from separatrix.core.arrays import AnyArray, Vector
from separatrix.core.errors import refuse
from separatrix.core.numbers import LARGEST_COUNT, is_count, is_flag, is_number

LARGEST_SEED = 2**32 - 1
"""What scikit-learn and NumPy's RandomState take."""

LONGEST_SHOWN = 80
"""Characters of a value that an error shows."""


@dataclass(frozen=True, slots=True)
class Rule:
    """``holds`` says of a value whether it may be; ``text`` says of all that may, after "must be" or "choose".

    >>> rule = NONE | COUNT
    >>> rule.holds(3), rule.holds(None), rule.holds(2.5)
    (True, True, False)
    >>> rule.hint("patience")
    'patience must be None or a whole number of at least 1, below 2⁶³.'
    """

    holds: Callable[[Any], bool]
    text: str
    choice: bool = False

    def __or__(self, other: "Rule") -> "Rule":
        def either(value: Any) -> bool:
            return self.holds(value) or other.holds(value)

        return Rule(either, f"{self.text} or {other.text}", self.choice)

    def hint(self, name: str) -> str:
        """The rule as a sentence."""
        return f"choose {self.text}." if self.choice else f"{name} must be {self.text}."


def check(model: Any, rules: Mapping[str, Rule]) -> None:
    """Refuse the first parameter of the model that breaks its rule."""
    for name, rule in rules.items():
        check_value(name, getattr(model, name), rule)


def check_value(name: str, value: Any, rule: Rule) -> None:
    """Refuse a value that breaks its rule.

    >>> check_value("fit_intercept", "False", FLAG)
    Traceback (most recent call last):
        ...
    separatrix.core.errors.InputError: fit_intercept is 'False'.
    <BLANKLINE>
    Hint: fit_intercept must be True or False.
    """
    if not rule.holds(value):
        refuse(f"{name} is {shown(value)}.", rule.hint(name))


def shown(value: Any) -> str:
    """A value for an error's text: on one line, not long, whatever it is.

    >>> shown("two"), shown(10**5000)
    ("'two'", 'an int too long to print')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a value may print itself by any code
        kind = type(value).__name__
        return f"an {kind} too long to print" if isinstance(value, Integral) else f"a {kind} that cannot be printed"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def number(
    text: str, least: float = -np.inf, most: float = np.inf, *, above: bool = False, below: bool = False
) -> Rule:
    """A finite number from ``least`` to ``most``, neither of them if ``above`` and ``below``.

    >>> share = number("a number from 0 to below 1", 0, 1, below=True)
    >>> share.holds(0), share.holds(1), share.holds(0.5), share.holds(float("nan"))
    (True, False, True, False)
    """

    def holds(value: Any) -> bool:
        inside = is_number(value, least, most) and abs(float(value)) < np.inf
        return inside and not (above and float(value) == least) and not (below and float(value) == most)

    return Rule(holds, text)


def count(least: int = 1) -> Rule:
    """A whole number of at least ``least`` that the kernels can count to."""
    return Rule(lambda value: is_count(value, least), f"a whole number of at least {least}, below 2⁶³")


def one_of(*choices: Any) -> Rule:
    """One of a few texts, NumPy's too, or None.

    >>> rule = one_of("sgd", None)
    >>> rule.holds(np.str_("sgd")), rule.holds(None), rule.holds(b"sgd")
    (True, True, False)
    """

    def holds(value: Any) -> bool:
        return any(isinstance(value, type(choice)) and value == choice for choice in choices)

    return Rule(holds, f"one of {', '.join(map(str, choices))}", choice=True)


def _is_seed(value: Any) -> bool:
    given = isinstance(value, (np.random.RandomState, np.random.Generator))
    return value is None or given or (is_count(value, 0) and value <= LARGEST_SEED)


def _is_jobs(value: Any) -> bool:
    whole = isinstance(value, Integral) and not is_flag(value) and value != 0
    return value is None or (whole and abs(int(value)) <= LARGEST_COUNT)


NONE = Rule(lambda value: value is None, "None")
ANYTHING = Rule(lambda value: True, "anything")
"""What is read together with the data, or has a check of its own."""
FLAG = Rule(is_flag, "True or False")
COUNT = count()
POSITIVE = number("positive and finite", 0.0, above=True)
NOT_NEGATIVE = number("a number of at least 0", 0.0)
SECONDS = Rule(lambda seconds: is_number(seconds, 0.0), "a number of seconds, at least 0")
SHARE = number("a number between 0 and 1", 0.0, 1.0)
BELOW_ONE = number("a number in [0, 1)", 0.0, 1.0, below=True)
PART = number("a number between 0 and 1, neither of them", 0.0, 1.0, above=True, below=True)
VERBOSITY = FLAG | count(0)
FUNCTION = Rule(callable, "a function")
HOOK = NONE | Rule(callable, "a function of a Pass that returns True to stop")
JOBS = Rule(_is_jobs, "None or a whole number other than 0; -1 means all")
SEED = Rule(_is_seed, "None, a whole number from 0 to 4294967295, a RandomState or a Generator")

ESTIMATOR = Rule(
    lambda value: hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, type),
    "an estimator as scikit-learn has them",
)


def seed_of(random_state: Any) -> int:
    """A seed from what ``SEED`` allows; None is 0, so that a fit repeats itself.

    >>> seed_of(None), seed_of(7), seed_of(np.random.default_rng(0))
    (0, 7, 1826701614)
    """
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


def called_rates(schedule: Callable[[int], Any], first: int, count: int, rule: Rule, hint: str) -> Vector:
    """What a user's function says of the steps first, first + 1, …, each as the rule has it.

    >>> called_rates(lambda t: 1 / t, 1, 2, POSITIVE, "a rate is positive.")
    array([1. , 0.5])
    """
    rates = np.empty(count)
    for k in range(count):
        value = schedule(first + k)
        if not rule.holds(value):
            refuse(f"learning_rate({first + k}) is {shown(value)}.", hint)
        rates[k] = value
    return rates


def array_of_numbers(values: Any, name: str) -> AnyArray:
    """A parameter that holds real numbers, as float64 of any shape; they may be infinite or NaN.

    >>> array_of_numbers("many", "alpha")
    Traceback (most recent call last):
        ...
    separatrix.core.errors.InputError: alpha is 'many'.
    <BLANKLINE>
    Hint: alpha must be a number or an array of numbers.
    """
    try:
        given = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
        real = given.dtype.kind in "iuf" or (given.dtype.kind == "O" and all(map(is_number, given.ravel())))
        found = np.asarray(given, dtype=np.float64) if real else None
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None:
        refuse(f"{name} is {shown(values)}.", f"{name} must be a number or an array of numbers.")
    return found
