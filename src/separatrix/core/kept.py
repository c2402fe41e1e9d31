"""A value computed when first asked for, and kept: ``functools.cached_property`` without its lock.

Until Python 3.12 that lock is one for all objects of a class, and a child forked while another thread holds it waits
for ever. Two threads that ask at once both compute here, and keep the same.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class kept(Generic[Value]):
    """A property that is computed once for each object.

    >>> class Square:
    ...     @kept
    ...     def area(self) -> float:
    ...         print("computed")
    ...         return 4.0
    >>> square = Square()
    >>> square.area + square.area
    computed
    8.0
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make, self._name, self.__doc__ = make, make.__name__, make.__doc__

    @overload
    def __get__(self, instance: None, owner: Any = None) -> "kept[Value]": ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Value: ...
    def __get__(self, instance: object | None, owner: Any = None) -> "kept[Value] | Value":
        if instance is None:
            return self
        value = self._make(instance)
        instance.__dict__[self._name] = value
        return value
