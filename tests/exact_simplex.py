"""An exact oracle for separability: the simplex method in fractions, with Bland's rule."""

from fractions import Fraction
from typing import Any


def maximise(equations: list[list[Fraction]], gain: list[Fraction], most: list[Fraction | None]) -> list[Fraction]:
    """max Σ gainⱼxⱼ with Σ equationsᵢⱼxⱼ = 0 and 0 ≤ xⱼ ≤ mostⱼ (None: no limit), from x = 0.

    Upper limits become rows of their own, with a slack; every step is exact.
    """
    variables = len(gain)
    limited = [j for j in range(variables) if most[j] is not None]
    rows = [[*row, *[Fraction(0)] * len(limited)] for row in equations]
    right = [Fraction(0)] * len(equations)
    for k, j in enumerate(limited):
        row = [Fraction(0)] * (variables + len(limited))
        row[j] = row[variables + k] = Fraction(1)
        rows.append(row)
        right.append(Fraction(most[j] or 0))
    cost = [*gain, *[Fraction(0)] * len(limited)]
    # artificial variables at zero begin the basis of the equations; they may never rise
    width = len(cost)
    basis = [-1] * len(equations) + [variables + k for k in range(len(limited))]
    for i in range(len(equations)):
        place = next((j for j in range(width) if rows[i][j] != 0), None)
        if place is not None:
            _pivot(rows, right, cost, i, place)
            basis[i] = place
    while True:
        enter = next((j for j in range(width) if cost[j] > 0), None)
        if enter is None:
            break
        ratios = [(right[i] / rows[i][enter], basis[i], i) for i in range(len(rows)) if rows[i][enter] > 0]
        leave = min(ratios)[2]
        _pivot(rows, right, cost, leave, enter)
        basis[leave] = enter
    solution = [Fraction(0)] * width
    for i, j in enumerate(basis):
        if j >= 0:
            solution[j] = right[i]
    return solution[:variables]


def _pivot(rows: list[list[Fraction]], right: list[Fraction], cost: list[Fraction], i: int, j: int) -> None:
    factor = rows[i][j]
    rows[i] = [value / factor for value in rows[i]]
    right[i] /= factor
    for k in range(len(rows)):
        if k != i and rows[k][j] != 0:
            times = rows[k][j]
            rows[k] = [a - times * b for a, b in zip(rows[k], rows[i], strict=True)]
            right[k] -= times * right[i]
    times = cost[j]
    if times != 0:
        cost[:] = [a - times * b for a, b in zip(cost, rows[i], strict=True)]


def exact_verdict(X: Any, y: Any, fit_intercept: bool = True) -> tuple[str, set[int]]:
    """ "complete", "quasi" or "overlap", and the rows that can be separated.

    λᵢ = aᵢ + bᵢ with 0 ≤ aᵢ ≤ 1, b ≥ 0 and Σ λᵢyᵢ = 0: the largest Σ aᵢ has aᵢ = 1 for just the
    rows that no direction separates.
    """
    signed = [
        [(1 if label else -1) * Fraction(float(value)) for value in [*row, *([1.0] if fit_intercept else [])]]
        for row, label in zip(X, y, strict=True)
    ]
    n, p = len(signed), len(signed[0])
    equations = [[signed[i][j] for i in range(n)] * 2 for j in range(p)]
    solution = maximise(
        equations,
        [Fraction(1)] * n + [Fraction(0)] * n,
        [*[Fraction(1)] * n, *[None] * n],
    )
    separated = {i for i in range(n) if solution[i] + solution[n + i] == 0}
    kind = "complete" if len(separated) == n else "quasi" if separated else "overlap"
    # rows of zeros cannot be separated; without others the classes overlap
    return kind, separated


def exact_rank(matrix: Any) -> int:
    """The rank of a matrix of floats, by elimination in fractions."""
    rows = [[Fraction(float(value)) for value in row] for row in matrix]
    rank = 0
    for j in range(matrix.shape[1]):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][j] / rows[rank][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank
