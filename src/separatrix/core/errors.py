"""Errors and warnings. Each text is a fact, a rule and a way out."""

from typing import Never

from sklearn.exceptions import ConvergenceWarning as _ConvergenceWarning


class InputError(ValueError):
    """The data or a parameter cannot be used; nothing was changed."""


class InputTypeError(InputError, TypeError):
    """The data is of a type that cannot be read."""


class NoSuchAttributeError(InputError, AttributeError):
    """A model of this kind has no such attribute: ``hasattr`` says so, and notebooks leave it out."""


class NotFiniteError(ArithmeticError):
    """A first pass over the data met a NaN, an infinity or an overflow; its finder names the place."""


class OutOfTime(Exception):
    """A deadline passed before the answer was found."""


class CertificateError(ValueError):
    """A certificate's claim does not hold for the data it was checked against."""


class UncheckableError(CertificateError, InputError):
    """A certificate cannot be checked against this data: it has other columns, labels or types."""


class ConvergenceWarning(_ConvergenceWarning):  # type: ignore[misc]  # scikit-learn is untyped
    """A fit stopped before its bound fell below the tolerance."""


class SeparationWarning(ConvergenceWarning):
    """The likelihood has no maximum, as far as can be seen: the classes can be separated."""


def refuse(fact: str, hint: str, error: type[InputError] = InputError) -> Never:
    """Raise ``error`` with a fact, a blank line and a hint.

    >>> refuse("C is 0.", "C must be positive.")
    Traceback (most recent call last):
        ...
    separatrix.core.errors.InputError: C is 0.
    <BLANKLINE>
    Hint: C must be positive.
    """
    raise error(f"{fact}\n\nHint: {hint}")
