"""Whether columns hardly follow each other, by a glance at some rows.

Where they are independent the Hessian's diagonal is off by about √(p/n), less than that of a sample of m rows, √(p/m):
then a fit led by the diagonal needs fewer passes, and no sample. The correlations of p independent columns have squares
of 1/m on average in m rows. What the sum of all squares has beyond p²/m is about the squared distance of the true
correlations from none; where it is small, in units of what chance makes of it, √2·p/m, no direction is far from its
own.
"""

from dataclasses import replace

import numpy as np

from separatrix.terms.penalised import PenalisedLoss

FEWEST = 200
"""Columns from which on a sample costs enough for the question to matter."""

ROWS, PER_COLUMN = 2000, 8
"""Rows that are looked at: so many, and so many for each column."""

CHANCE = 3.0
"""How far beyond p²/m, in units of √2·p/m, the sum may be."""


def rows_that_prove(objective: PenalisedLoss) -> int:
    """Rows of a sample that shows it; their Hessian then proves the minimum, looser by n/m, which one pass pays for."""
    return max(ROWS, PER_COLUMN * objective.size)


def looks_independent(objective: PenalisedLoss, seed: int) -> bool:
    """Whether a sample shows no sign that columns follow each other; two classes and dense rows alone are looked at."""
    p = objective.size - int(objective.constant)
    rows = rows_that_prove(objective)
    if objective.outputs > 1 or objective.engine.sparse or p < FEWEST or 3 * rows > objective.engine.rows:
        return False
    drawn = objective.engine.sample(rows, seed)
    some = replace(objective, engine=drawn, strength=0.0, ranges=None)
    products = some.evaluate(np.zeros(some.size), curvature=True).hessian
    assert products is not None
    products = products[:p, :p]
    sizes = np.sqrt(products.diagonal())
    if not (sizes > 0.0).all():
        return False
    follow = products / np.outer(sizes, sizes)
    squares = float(np.square(follow).sum()) - len(sizes)
    weights = drawn.weights
    count = drawn.rows if weights is None else weights.sum() ** 2 / np.square(weights).sum()
    return bool(squares <= p * p / count + CHANCE * np.sqrt(2.0) * p / count)
