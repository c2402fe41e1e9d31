"""The linear program of separability in fractions, for rows that rounding cannot tell apart.

The simplex method with Bland's rule, which never cycles, on a table of fractions. It
is slow (seconds for fifty columns) and always right; it is asked only when floating
point in exact coordinates has failed.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from separatrix.core.errors import OutOfTime
from separatrix.exact.arithmetic import Integers

Rows = Sequence[Sequence[float | Fraction]]


@dataclass(frozen=True, slots=True)
class ExactAlternative:
    """Integer multipliers λ and an integer direction v: λᵢ > 0 or ⟨yᵢ, v⟩ > 0 for every row asked about, never both."""

    multipliers: Integers
    direction: Integers


def exact_alternative(rows: Rows, asked: Sequence[int], deadline: float) -> ExactAlternative:
    """Maximise Σ min(λᵢ, 1) over the rows ``asked``, subject to λ ≥ 0 and Σ λᵢyᵢ = 0 over all rows.

    A basic solution has at most r + len(asked) positive multipliers.

    >>> exact_alternative([[0.1, 0.0], [-0.3, 0.0], [0.0, 2.0]], range(3), float("inf")).direction
    [0, 1]
    """
    n, p = len(rows), len(rows[0])
    table, right, gain = _first_table(rows, list(asked))
    width = n + len(asked)
    basis: list[int] = [-1] * p + [width + k for k in range(len(asked))]
    for i in range(p):
        place = next((j for j in range(width) if table[i][j]), None)
        if place is not None:
            _pivot(table, right, gain, i, place)
            basis[i] = place
    while (
        enter := next((j for j in [*range(width), *range(width, width + len(asked))] if gain[j] > 0), None)
    ) is not None:
        if time.monotonic() > deadline:
            raise OutOfTime
        leave = min((right[i] / table[i][enter], basis[i], i) for i in range(len(table)) if table[i][enter] > 0)[2]
        _pivot(table, right, gain, leave, enter)
        basis[leave] = enter
    values = [Fraction(0)] * (width + len(asked))
    for i, j in enumerate(basis):
        if j >= 0:
            values[j] = right[i]
    multipliers = values[:n]
    for k, i in enumerate(asked):
        multipliers[i] += values[n + k]
    # what the equations' own columns have gained is minus the dual variables
    return ExactAlternative(_integers(multipliers), _integers([-gain[width + len(asked) + j] for j in range(p)]))


def _first_table(rows: Rows, asked: list[int]) -> tuple[list[list[Fraction]], list[Fraction], list[Fraction]]:
    """Columns: b of every row, a of the rows asked, slacks of a ≤ 1, and one per equation to read the dual from."""
    n, p = len(rows), len(rows[0])
    exact = [[Fraction(value) for value in row] for row in rows]
    zero, one = Fraction(0), Fraction(1)
    table = []
    for j in range(p):
        unit = [zero] * p
        unit[j] = one
        table.append([*(row[j] for row in exact), *(exact[i][j] for i in asked), *[zero] * len(asked), *unit])
    for k in range(len(asked)):
        limit = [zero] * (n + 2 * len(asked) + p)
        limit[n + k] = limit[n + len(asked) + k] = one
        table.append(limit)
    right = [zero] * p + [one] * len(asked)
    gain = [zero] * n + [one] * len(asked) + [zero] * (len(asked) + p)
    return table, right, gain


def _pivot(table: list[list[Fraction]], right: list[Fraction], gain: list[Fraction], i: int, j: int) -> None:
    factor = table[i][j]
    if factor != 1:
        table[i] = [value / factor if value else value for value in table[i]]
        right[i] /= factor
    row = table[i]
    used = [k for k, value in enumerate(row) if value]
    for target, times in [(k, other[j]) for k, other in enumerate(table) if k != i and other[j]]:
        other = table[target]
        for k in used:
            other[k] -= times * row[k]
        right[target] -= times * right[i]
    times = gain[j]
    if times:
        for k in used:
            gain[k] -= times * row[k]


def _integers(fractions: list[Fraction]) -> Integers:
    denominator = math.lcm(*(value.denominator for value in fractions))
    whole = [int(value * denominator) for value in fractions]
    divisor = math.gcd(*whole) or 1
    return [value // divisor for value in whole]
