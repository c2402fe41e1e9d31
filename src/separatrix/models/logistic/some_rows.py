"""Which rows' Hessian proves a fit of many classes, where rounding forbids a proof by the gradient alone.

The Hessian of m of n rows, unscaled, is a lower bound of the whole one. In it both the length of the gradient's
rounding and the reach of a row grow as √(n/m), and only a product of the two below one proves anything. So the more
rows there are the larger a part of them must be: four times as many are tried until they do. Large parts are every
k-th row, where they lie: a copy would take memory.
"""

from collections.abc import Iterator
from dataclasses import replace

from separatrix.models.logistic.choice import sample_rows
from separatrix.terms.penalised import PenalisedLoss

LARGER = 4
"""Times as many rows as did not do."""

WORTH = 3
"""All rows are looked at where one in so many did not do."""


def parts(objective: PenalisedLoss, seed: int) -> Iterator[PenalisedLoss]:
    """The objective over a few of the rows, over more, and so on; none where all rows cost little more."""
    engine, count = objective.engine, sample_rows(objective)
    copied = True
    while WORTH * count <= engine.rows:
        some = engine.sample(count, seed) if copied else engine.thinned(engine.rows // count)
        yield replace(objective, engine=some, ranges=None)
        count, copied = LARGER * count, False
