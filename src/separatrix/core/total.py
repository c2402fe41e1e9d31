"""A total: what a term adds up over rows, as an immutable value with a ``+``."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from separatrix.core.arrays import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Total:
    """Sums merge by addition, maxima by the larger one (minima are maxima of −x).

    ``sums`` has shape (folds, points, width); ``maxima`` is flat and may be empty.

    >>> a = Total(np.ones((1, 1, 2)), np.array([3.0]))
    >>> (a + a).sums.ravel(), (a + a).maxima
    (array([2., 2.]), array([3.]))
    """

    sums: Matrix
    maxima: Vector

    def __add__(self, other: Self) -> Self:
        return type(self)(self.sums + other.sums, np.maximum(self.maxima, other.maxima))


@dataclass(frozen=True, slots=True)
class CompensatedTotal(Total):
    """Sums with what additions lost beside them: ``sums`` is (1, 2, width), the high parts first.

    Adding two keeps what the addition of the high parts loses (Knuth's two-sum), so the error does not
    grow with the number of totals merged.

    >>> tiny = CompensatedTotal(np.array([[[1e-20], [0.0]]]), np.empty(0))
    >>> one = CompensatedTotal(np.array([[[1.0], [0.0]]]), np.empty(0))
    >>> (one + tiny).sums[0, 1]
    array([1.e-20])
    """

    def __add__(self, other: Self) -> Self:
        (a, lost_a), (b, lost_b) = self.sums[0], other.sums[0]
        high = a + b
        part = high - a
        lost = (a - (high - part)) + (b - part)
        return type(self)(np.stack([high, lost + (lost_a + lost_b)])[None], np.maximum(self.maxima, other.maxima))


def merge_tree(totals: Iterable[Total]) -> Total:
    """Merge in a fixed binary tree, holding only a logarithm of the totals at once.

    Neighbours of equal weight are merged first, as a binary counter carries, so
    the tree depends on the number of totals alone.
    """
    stack: list[tuple[int, Total]] = []
    for total in totals:
        rank, merged = 0, total
        while stack and stack[-1][0] == rank:
            merged = stack.pop()[1] + merged
            rank += 1
        stack.append((rank, merged))
    result = stack.pop()[1]
    while stack:
        result = stack.pop()[1] + result
    return result
