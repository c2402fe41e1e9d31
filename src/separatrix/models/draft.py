"""A fit as one step: the estimator is as it was, or as it will be, and never between.

A fit changes many attributes. An interrupt between two of them, or a warning that a filter turns into an error, would
leave the weights of one fit beside the columns of another. So the method runs on a draft, a shallow copy, and when it
has ended the estimator takes over all of the draft's attributes by a single assignment. Whatever is raised on the
way, the estimator keeps its own. Values that a method goes on from (states of a stream, a trace) it must copy before it
changes them.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

Options = ParamSpec("Options")
Estimator = TypeVar("Estimator")


def whole(
    method: Callable[Concatenate[Estimator, Options], Any],
) -> Callable[Concatenate[Estimator, Options], Estimator]:
    """The method, taking effect at once or not at all; it returns the estimator.

    >>> class Model:
    ...     @whole
    ...     def fit(self, X):
    ...         self.rows_ = len(X)
    ...         self.first_ = X[0]
    >>> model = Model().fit([1, 2])
    >>> model.fit([])
    Traceback (most recent call last):
        ...
    IndexError: list index out of range
    >>> model.rows_
    2
    """

    @wraps(method)
    def fitted(self: Estimator, *args: Options.args, **options: Options.kwargs) -> Estimator:
        draft = object.__new__(type(self))
        draft.__dict__ = dict(vars(self))
        method(draft, *args, **options)
        self.__dict__ = draft.__dict__
        return self

    return cast(Callable[Concatenate[Estimator, Options], Estimator], fitted)
