"""Sums of products of tables, one variable at a time: exact inference without the joint table.

A factor is a table over some variables. To sum a variable out, multiply the factors that
have it, sum over it, and keep the result as a new factor: the joint table of all
variables is never formed. The cost is the largest table on the way, which depends on the
order; min-fill takes next the variable whose neighbours need fewest new links. It is
optimal on chains and trees.

Tables are scaled by their largest entry and the logarithm of the scale is kept, so long
evidence does not underflow.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from separatrix.probability.sigmoid import Vector
from separatrix.probability.simplex import refuse

LARGEST = 2**24
"""Entries of the largest table that is formed: 128 megabytes."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A table with one axis for each of its variables, times exp(log_scale)."""

    scope: tuple[str, ...]
    table: Vector
    log_scale: float = 0.0

    def given(self, evidence: dict[str, int]) -> "Factor":
        """The slice at known states; the known variables leave the scope."""
        index = tuple(evidence.get(name, slice(None)) for name in self.scope)
        return Factor(tuple(name for name in self.scope if name not in evidence), self.table[index], self.log_scale)

    def over(self, scope: Sequence[str]) -> Vector:
        """The table with the axes of ``scope``, of length one where the factor has none."""
        order = [self.scope.index(name) for name in scope if name in self.scope]
        shape = [self.table.shape[self.scope.index(name)] if name in self.scope else 1 for name in scope]
        return self.table.transpose(order).reshape(shape)


def product(factors: Sequence[Factor], scope: Sequence[str]) -> Factor:
    """One factor over ``scope``, the union of all scopes, scaled to a largest entry of one."""
    sizes = {name: n for factor in factors for name, n in zip(factor.scope, factor.table.shape, strict=True)}
    entries = math.prod(sizes[name] for name in scope)
    if entries > LARGEST or len(scope) > 60:
        refuse(
            f"The query needs a table over {len(scope)} variables with {entries} entries.",
            "give evidence that cuts the network, or ask for fewer variables at once.",
        )
    table, log_scale = np.ones([sizes[name] for name in scope]), 0.0
    for factor in sorted(factors, key=lambda factor: factor.table.size):
        table = table * factor.over(scope)
        largest = float(table.max())
        log_scale += factor.log_scale
        if largest > 0.0:
            table = table / largest
            log_scale += math.log(largest)
    return Factor(tuple(scope), table, log_scale)


def eliminate(factors: Iterable[Factor], keep: Sequence[str]) -> Factor:
    """Sum all variables but ``keep`` out of the product of the factors; axes in the order of ``keep``."""
    left = list(factors)
    for name in elimination_order([factor.scope for factor in left], keep):
        mine = [factor for factor in left if name in factor.scope]
        left = [factor for factor in left if name not in factor.scope]
        scope = tuple(dict.fromkeys(other for factor in mine for other in factor.scope if other != name))
        joined = product(mine, (*scope, name))
        left.append(Factor(scope, joined.table.sum(axis=-1), joined.log_scale))
    return product(left, tuple(keep))


def elimination_order(scopes: Iterable[Sequence[str]], keep: Sequence[str]) -> list[str]:
    """Min-fill: next the variable whose neighbours lack fewest links, then the one with fewest neighbours.

    >>> elimination_order([("a", "b"), ("b", "c"), ("c", "d")], keep=["d"])
    ['a', 'b', 'c']
    """
    links: dict[str, set[str]] = {}
    for scope in scopes:
        for name in scope:
            links.setdefault(name, set()).update(other for other in scope if other != name)
    open_ = {name: _missing(links, name) for name in links if name not in keep}
    order = []
    while open_:
        name = min(open_, key=lambda other: (open_[other], len(links[other])))
        around = links.pop(name)
        del open_[name]
        order.append(name)
        touched = set(around)
        for other in around:
            links[other].discard(name)
            links[other] |= around - {other}
        # only neighbours, and neighbours of new links, see another fill
        for other in around:
            touched |= links[other]
        for other in touched & open_.keys():
            open_[other] = _missing(links, other)
    return order


def _missing(links: dict[str, set[str]], name: str) -> int:
    return sum(b not in links[a] for a, b in combinations(links[name], 2))
