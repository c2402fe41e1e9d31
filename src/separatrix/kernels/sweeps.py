"""Ordered passes: the table of kernels by rule and layout, what spares them rows, and the order of an epoch."""

from collections.abc import Callable

import numpy as np

from separatrix.core.arrays import Visits
from separatrix.core.lanes import spans
from separatrix.core.protocols import Rule
from separatrix.core.sweeping import Sketch, SweepState
from separatrix.kernels import _kernels
from separatrix.kernels.rows import Labels, Rows, threads_for


def _perceptron(
    rows: Rows, labels: Labels, rule: Rule, state: SweepState, order: Visits | None, first: int, last: int
) -> None:
    options = rule.options()
    _kernels.perceptron(
        rows,
        labels.codes,
        options["positive"],
        labels.weights,
        order,
        options["constant"],
        options["rate"],
        rule.rates(state.visits + 1, last - first),
        options["margin"],
        options["shrink"],
        options["truncate"],
        options["average_from"],
        state.point,
        state.counters,
        state.run_point,
        state.total,
        state.lost,
        state.leeway,
        None if state.leeway is None else state.lengths,
        state.reference,
        state.sketch,
        first,
        last,
    )


def _descent(
    rows: Rows, labels: Labels, rule: Rule, state: SweepState, order: Visits | None, first: int, last: int
) -> None:
    options = rule.options()
    steps = -(-(last - first) // rule.batch)
    rates = rule.rates(state.steps + 1, steps)
    assert rates is not None
    _kernels.descent(
        rows,
        labels.codes,
        labels.weights,
        order,
        options["outputs"],
        options["constant"],
        options["hard"],
        rule.batch,
        options["mean_weight"],
        rates,
        options["shrink"],
        options["truncate"],
        max(0, options["average_from"] - state.steps),
        state.point,
        state.counters,
        state.total,
        first,
        last,
    )
    state.steps += steps


SweepKernel = Callable[[Rows, Labels, Rule, SweepState, Visits | None, int, int], None]


BY_ROWS = ("dense", "columns", "csr")


SWEEP_KERNELS: dict[str, dict[str, SweepKernel]] = {
    "perceptron": dict.fromkeys(BY_ROWS, _perceptron),
    "descent": dict.fromkeys(BY_ROWS, _descent),
}
"""Kernel for a rule's name and a block's layout; columns that are compressed are turned into rows first."""


def sweep_kernel(name: str, layout: str) -> SweepKernel:
    """The kernel that visits rows of a layout in order.

    >>> sweep_kernel("perceptron", "csr").__name__
    '_perceptron'
    """
    try:
        return SWEEP_KERNELS[name][layout]
    except KeyError:
        raise LookupError(f"No kernel visits {layout!r} rows by the rule {name!r}.") from None


def leeways(rows: Rows, labels: Labels, rule: Rule, state: SweepState, entries_per_row: float) -> None:
    """Take the state's point as its reference: write every row's leeway there, and its length."""
    options = rule.options()
    assert state.leeway is not None
    assert state.lengths is not None
    for span in spans(rows.n, 2 * entries_per_row + 8.0, 1):
        _kernels.leeways(
            rows,
            labels.codes,
            options["positive"],
            options["constant"],
            options["margin"],
            state.point,
            state.leeway,
            state.lengths,
            span.first,
            span.last,
            span.lanes,
            threads_for(span),
        )
    state.reference = state.point.copy()


def sketch(rows: Rows, columns: int, entries_per_row: float) -> Sketch:
    """Every row as a step times whole numbers up to 127, a byte each, and how far that is off."""
    made = np.empty(_kernels.sketch_size(rows.n, columns), np.int8)
    for span in spans(rows.n, 3 * entries_per_row + 8.0, 1):
        _kernels.sketch(rows, made, span.first, span.last, span.lanes, threads_for(span))
    return made


def shuffle(order: Visits, seed: int) -> None:
    """Put row numbers into an order that the seed decides, in place."""
    _kernels.shuffle(order, seed)
