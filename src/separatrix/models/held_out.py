"""Rows held out of learning, and the score on them."""

from collections.abc import Callable

import numpy as np

from separatrix.core.arrays import Codes, Positions, Vector
from separatrix.core.errors import refuse
from separatrix.core.scores import last_of_highest
from separatrix.engines import Block, MemoryEngine, block_of
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


def held_out_engine(block: Block, codes: Codes, classes: int, weights: Vector | None, held: Positions) -> MemoryEngine:
    """The rows held out, with their weights."""
    some = None if weights is None else weights[held]
    if some is not None and not some.any():
        refuse("All rows held out have weight 0.", "set early_stopping=False.")
    return MemoryEngine(block_of(block.take(held)), codes[held], classes, some)


def accuracy(engine: MemoryEngine, outputs: int, constant: bool) -> Callable[[Vector], float]:
    """The weight of rows on their right side, as a share, at weights (outputs × p, flat)."""

    def score(point: Vector) -> float:
        scores = engine.map(Scores(constant), point.reshape(outputs, -1))
        found = scores[:, 0] >= 0.0 if outputs == 1 else last_of_highest(scores)
        right = found == engine.codes
        return float(np.mean(right) if engine.weights is None else engine.weights[right].sum() / engine.weight)

    return score
