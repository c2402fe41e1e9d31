"""Where a score is zero: within the rounding that it carries.

On the boundary f(x) = ⟨w, x⟩ + b is zero, but what is computed is not: a fit to data that mirror each other gives
b = −4e-17 in place of 0. So a score counts as zero, and two scores as equal, when it is within its rounding. With
u = 2⁻⁵³ and γ = 2(d + 4)u that has two parts:

* **evaluation**: the sum is off by at most γ(Σ|xⱼ||wⱼ| + |b|);
* **the fit**: sums over rows and the equations solved with them are off by γ of the scores they are made of. Let sⱼ
  be the mean |xⱼ| of the training rows and S = A·(Σ sⱼ|wⱼ| + |b| + 1) the size of their scores, 1 for the targets
  (log-odds or ±1; the perceptron: what one update does to a score). A ≥ 1 is how far columns that nearly depend on each
  other magnify an error: the largest Hⱼⱼ(H⁻¹)ⱼⱼ, or the condition number. Then b is known to γS, and wⱼ to γS/(d·sⱼ).
  An iteration that ends at F − F* ≤ β is off by about √(8β) too (a row's curvature is at most ¼), which counts up to
  2⁻³³ of S/A and no further: a fit that stops far from its optimum has a boundary all the same.

Together |f(x)| ≤ γ[Σ|xⱼ|(|wⱼ| + S/(d·sⱼ)) + |b| + S] is a tie. Of K classes those tie whose scores are within the sum
of both tolerances of the highest: they get its score, and the last of them, which wins, a few roundings more. So the
probabilities are equal to sixteen digits, and whoever takes the largest score or probability finds the same class.

Hardly any row is that near, so the tolerance is computed only for rows within ``reach``: a thousand times the tolerance
of a typical row. A row a thousand times larger than those of the fit is taken at its computed score.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.core.arrays import UNIT_ROUNDOFF, Matrix, Positions, Vector
from separatrix.core.protocols import Engine
from separatrix.core.scores import FEW_CLASSES, last_of_highest
from separatrix.terms.logistic import Scores

MOST_MAGNIFIED = 1e6
"""A larger magnification would call clear scores ties."""

MOST_DISTANCE = 2.0**-33
"""As a share of S/A: what the distance from the optimum may add."""

BEYOND = 1024.0
"""How much larger than a typical row a row may be."""

AHEAD = 8.0
"""Roundings by which the last of the classes that tie is ahead: enough to show in a probability."""

PIECE = 2**14
"""Scores that are looked at in one go."""

PORTION = 2**20
"""Numbers that are copied at once."""

NOWHERE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Rounding:
    """How well a fit knows its scores: S, sⱼ (0 for a column that no sampled row has), and where to look closer."""

    size: float
    columns: Vector
    reach: float

    @classmethod
    def of(
        cls,
        engine: Engine,
        coef: Matrix,
        intercept: Vector,
        unit: float = 1.0,
        magnified: float = 1.0,
        bound: float = 0.0,
    ) -> "Rounding":
        """From rows of the fit, its weights, and how it was reached."""
        columns = engine.typical_sizes
        magnified = min(max(magnified, 1.0), MOST_MAGNIFIED) if magnified == magnified else MOST_MAGNIFIED
        with np.errstate(all="ignore"):
            largest = float((np.abs(coef) @ columns + np.abs(intercept)).max())
            size = magnified * (largest + unit)
            size += min((8.0 * bound) ** 0.5, MOST_DISTANCE * (largest + unit)) / gamma(len(columns))
            reach = BEYOND * 2.0 * gamma(len(columns)) * (largest + 2.0 * size)
        return cls(size, columns, reach if np.isfinite(reach) else 0.0)

    def tolerances(self, coef: Matrix, intercept: Vector) -> Matrix:
        """γ(|wⱼ| + S/(d·sⱼ)) and, last, γ(|b| + S), for every output: times |x| and 1 they add up to the tolerance."""
        d = len(self.columns)
        known = self.columns > 0.0
        of_fit = np.divide(self.size / d, self.columns, out=np.zeros(d), where=known)
        out = np.empty((len(coef), d + 1))
        out[:, :d] = np.abs(coef) + of_fit
        out[:, d] = np.abs(intercept) + self.size
        return gamma(d) * out

    def clear(self, row: list[float]) -> bool:
        """Whether one row's score, scores or two probabilities are far from a tie: it should not wait for more."""
        if len(row) == 1:
            return abs(row[0]) > self.reach
        row.sort()
        return row[-1] - row[-2] > self.reach

    def settle(self, engine: Engine, coef: Matrix, intercept: Vector, scores: Matrix) -> None:
        """Make scores that tie equal, in place: to 0, of K classes to the highest, the last of them a hair ahead."""
        near = self.near(scores)
        for which in _portions(near, engine.columns_count):
            part = engine.picked(which)
            settle_rows(scores, which, tolerance_of_rows(part, self.tolerances(coef, intercept)))

    def settle_shares(self, engine: Engine, coef: Matrix, intercept: Vector, shares: Matrix) -> None:
        """Give both classes ½ where the score ties, in place; |p₁ − p₀| = tanh(|f|/2)."""
        near = _within(lambda first, last: shares[first:last, 1] - shares[first:last, 0], len(shares), self.reach)
        for which in _portions(near, engine.columns_count):
            part = engine.picked(which)
            scores: Matrix = part.map(Scores(True), np.column_stack([coef, intercept])).array()
            self.settle(part, coef, intercept, scores)
            shares[which[scores[:, 0] == 0.0]] = 0.5

    def near(self, scores: Matrix) -> Positions:
        """Rows whose score, or whose two highest, are too close to go by their digits."""
        if scores.shape[1] == 1:
            return _within(lambda first, last: scores[first:last, 0], len(scores), self.reach)
        return _within(lambda first, last: lead(scores[first:last]), len(scores), self.reach)


def _within(values: Callable[[int, int], Vector], n: int, reach: float) -> Positions:
    """Positions of values of size at most ``reach``; looked at in pieces that stay in the cache."""
    found = []
    for first in range(0, n, PIECE):
        size = np.abs(values(first, min(first + PIECE, n)))
        if size.min() <= reach:
            found.append(first + np.flatnonzero(size <= reach))
    return np.concatenate(found) if found else NOWHERE


def _portions(which: Positions, columns: int) -> list[Positions]:
    """Rows a few at a time: where all tie, a copy of all would be a copy of the data."""
    step = max(1, PORTION // columns)
    return [which[first : first + step] for first in range(0, len(which), step)]


def gamma(columns: int) -> float:
    """Relative error of a score, at most."""
    return 2.0 * (columns + 4) * UNIT_ROUNDOFF


def lead(scores: Matrix) -> Vector:
    """By how much the highest score of each row exceeds the second.

    >>> lead(np.array([[1.0, 3.0, 2.5], [0.0, 0.0, -1.0]]))
    array([0.5, 0. ])
    """
    if scores.shape[1] > FEW_CLASSES:
        two = np.partition(scores, scores.shape[1] - 2, axis=1)[:, -2:]
        return np.asarray(two[:, 1] - two[:, 0])
    first, second = np.maximum(scores[:, 0], scores[:, 1]), np.minimum(scores[:, 0], scores[:, 1])
    for k in range(2, scores.shape[1]):
        column = scores[:, k]
        np.maximum(second, np.minimum(first, column), out=second)
        np.maximum(first, column, out=first)
    return np.asarray(first - second)


def tolerance_of_rows(rows: Engine, tolerances: Matrix) -> Matrix:
    """Σⱼ τⱼ|xⱼ| + τ₀ of every row and output (n × K)."""
    out = np.empty((rows.rows, len(tolerances)))
    for k, each in enumerate(tolerances):
        for which, _, sizes in rows.brackets(np.ascontiguousarray(each), constant=True):
            out[which, k] = sizes
    return out


def settle_rows(scores: Matrix, which: Positions, tolerances: Matrix) -> None:
    """Make scores of these rows that are within their tolerances equal, in place; of K > 2 the last is ahead."""
    part = scores[which]
    if part.shape[1] == 1:
        part[np.abs(part) <= tolerances] = 0.0
        scores[which] = part
        return
    highest = part.argmax(axis=1)[:, None]
    top = np.take_along_axis(part, highest, axis=1)
    tied = part >= top - (np.take_along_axis(tolerances, highest, axis=1) + tolerances)
    part = np.where(tied, top, part)
    if part.shape[1] > 2:
        several = np.flatnonzero(tied.sum(axis=1) > 1)
        last = last_of_highest(part[several])
        part[several, last] += AHEAD * UNIT_ROUNDOFF * np.maximum(np.abs(part[several, last]), 1.0)
    scores[which] = part
