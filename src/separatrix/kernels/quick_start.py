"""The first passes of a penalised logistic fit in one call."""

from dataclasses import dataclass, field

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.lanes import Span
from separatrix.kernels import _kernels
from separatrix.kernels.rows import Labels, Rows, threads_for


@dataclass(frozen=True, slots=True)
class Started:
    """What a quick start saw: (w, b′) of each pass or of the last, F, ‖w‖ and mistakes of each, and what it learnt.

    That is the inverse of the Hessian's diagonal where it began, if that led it; the last secants; the offer that
    pays, −1 for none; whether it came near.
    """

    points: Matrix
    values: Vector
    norms: Vector
    mistakes: Vector
    inverse: Vector
    steps: Matrix
    changes: Matrix
    taken: int
    near: bool


@dataclass(frozen=True, slots=True)
class QuickWay:
    """How to start quickly: see ``models.logistic.quick_start``, and for each number ``quick_start.hpp``."""

    newton: bool
    goal: float
    tol: float = 1.0
    proof: float = 0.0
    lower: Matrix | None = None
    prices: Vector = field(default_factory=lambda: np.empty(0))
    rates: Vector = field(default_factory=lambda: np.empty(0))
    spent: float = 0.0
    unknown: float = 1.0
    most: int = 60
    memory: int = 30
    keep: bool = True


def quick_start(
    rows: Rows,
    labels: Labels,
    begin: Vector,
    shift: Vector | None,
    constant: bool,
    weight: float,
    strength: float,
    way: QuickWay,
    span: Span,
) -> Started:
    """The first passes of a penalised logistic fit of two classes."""
    found = _kernels.quick_start(
        rows,
        labels.codes,
        1,
        labels.weights,
        shift,
        constant,
        begin,
        weight,
        strength,
        way.newton,
        way.lower,
        way.goal,
        way.tol,
        way.proof,
        way.prices,
        way.rates,
        way.spent,
        way.unknown,
        way.most,
        way.memory,
        way.keep,
        span.lanes,
        threads_for(span),
    )
    return Started(*found)
