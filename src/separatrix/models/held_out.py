"""Rows held out of learning, and the score on them."""

from collections.abc import Callable

import numpy as np

from separatrix.core.arrays import Codes, Positions, Vector, Visits
from separatrix.core.errors import refuse
from separatrix.core.protocols import Engine
from separatrix.core.scores import last_of_highest
from separatrix.terms.logistic import Scores


def hold_out(codes: Codes, classes: int, share: float, generator: np.random.Generator) -> tuple[Positions, Positions]:
    """Rows to learn from and rows held out, a share of each class; both in ascending order."""
    held = []
    for code in range(classes):
        members = np.flatnonzero(codes == code)
        held.append(generator.permutation(members)[: round(share * len(members))])
    out = np.sort(np.concatenate(held))
    train = np.setdiff1d(np.arange(len(codes)), out).astype(np.int64)
    if len(out) == 0 or len(np.unique(codes[train])) < classes:
        refuse(
            f"validation_fraction={share} of {len(codes)} rows leaves nothing on one side.",
            "raise the number of rows, or set early_stopping=False.",
        )
    return train, out.astype(np.int64)


def held_out_engine(engine: Engine, held: Positions) -> Engine:
    """The rows held out, with their weights."""
    some = engine.picked(held)
    if not some.weight > 0.0:
        refuse("All rows held out have weight 0.", "set early_stopping=False.")
    return some


def only(engine: Engine, which: Visits) -> Engine:
    """The same rows; those that are not listed have no weight."""
    stay = np.zeros(engine.rows)
    stay[which] = 1.0
    given = engine.row_weights
    return engine.reweighted(engine.laid(stay) if given is None else given.each(np.multiply, engine.laid(stay)))


def accuracy(engine: Engine, outputs: int, constant: bool) -> Callable[[Vector], float]:
    """The weight of rows on their right side, as a share, at weights (outputs × p, flat)."""

    def score(point: Vector) -> float:
        right = 0.0
        for block in engine.blocks():
            scores = block.numbers(Scores(constant), point.reshape(outputs, -1))
            found = scores[:, 0] >= 0.0 if outputs == 1 else last_of_highest(scores)
            own = found == block.codes
            right += float(np.count_nonzero(own) if block.weights is None else block.weights[own].sum())
        return right / engine.weight

    return score
