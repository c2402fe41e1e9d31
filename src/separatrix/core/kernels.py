"""The one seam to the compiled kernels, and the table of which kernel serves what.

Every kernel reads rows through the compiled ``Rows``, which brings a chunk of any
layout to float64 in cache; so one kernel serves all layouts it is listed for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.core import _kernels
from separatrix.core.arrays import AnyArray, Codes, Matrix, Positions, Vector, Visits
from separatrix.core.lanes import THREAD_WORK, Span, spans
from separatrix.core.sweeping import Sketch, SweepState
from separatrix.core.threads import thread_count
from separatrix.core.total import CompensatedTotal, Total

if TYPE_CHECKING:
    from separatrix.core.protocols import Rule

Rows = _kernels.Rows


@dataclass(frozen=True, slots=True)
class Labels:
    """What belongs to the rows beside their columns: class codes, weights, folds."""

    codes: Codes
    weights: Vector | None = None
    folds: Codes | None = None
    fold_count: int = 1


def threads_for(span: Span) -> int:
    """One thread for little work, all for more; never a matter of the result."""
    return thread_count() if span.work >= THREAD_WORK else 1


def _logistic(rows: Rows, labels: Labels, points: Matrix, options: Mapping[str, Any], span: Span) -> Total:
    sums, maxima = _kernels.logistic(
        rows,
        labels.codes,
        1,
        labels.weights,
        labels.folds,
        labels.fold_count,
        points,
        options["shift"],
        options["constant"],
        options["curvature"],
        options["diagonal"],
        options["ranges"],
        options["row_curvature"],
        span.first,
        span.last,
        span.lanes,
        threads_for(span),
    )
    return Total(sums, maxima)


def _product(rows: Rows, labels: Labels, points: Matrix, options: Mapping[str, Any], span: Span) -> Total:
    sums = _kernels.product(
        rows,
        options["row_weights"],
        points,
        options["constant"],
        span.first,
        span.last,
        span.lanes,
        threads_for(span),
    )
    return Total(sums[None], np.empty(0))


def _softmax(rows: Rows, labels: Labels, points: Matrix, options: Mapping[str, Any], span: Span) -> Total:
    sums, maxima = _kernels.softmax(
        rows,
        labels.codes,
        options["classes"],
        labels.weights,
        points,
        options["shift"],
        options["constant"],
        options["curvature"],
        options["blocks"],
        options["diagonal"],
        options["weighted_rows"],
        options["scores"],
        options["ranges"],
        options["row_probabilities"],
        span.first,
        span.last,
        span.lanes,
        threads_for(span),
    )
    return Total(sums[None, None], maxima)


def _softmax_product(rows: Rows, labels: Labels, points: Matrix, options: Mapping[str, Any], span: Span) -> Total:
    sums = _kernels.softmax_product(
        rows,
        options["classes"],
        labels.weights,
        options["row_probabilities"],
        points,
        options["constant"],
        span.first,
        span.last,
        span.lanes,
        threads_for(span),
    )
    return Total(sums[None, None], np.empty(0))


def _combine(rows: Rows, labels: Labels, points: Matrix, options: Mapping[str, Any], span: Span) -> Total:
    sums = _kernels.combine(
        rows, options["factors"], options["constant"], span.first, span.last, span.lanes, threads_for(span)
    )
    return CompensatedTotal(sums.reshape(1, 2, -1), np.empty(0))


def _moments(rows: Rows, labels: Labels, points: Matrix, options: Mapping[str, Any], span: Span) -> Total:
    shift = options["shift"]
    sums = _kernels.moments(
        rows,
        labels.codes,
        len(shift),
        labels.weights,
        shift,
        options["each"],
        span.first,
        span.last,
        span.lanes,
        threads_for(span),
    )
    return Total(sums[None, None], np.empty(0))


def _counts(rows: Rows, labels: Labels, points: Matrix, options: Mapping[str, Any], span: Span) -> Total:
    sums = _kernels.counts(
        rows,
        labels.codes,
        options["classes"],
        labels.weights,
        options["threshold"],
        options["binary"],
        span.first,
        span.last,
        span.lanes,
        threads_for(span),
    )
    return Total(sums[None, None], np.empty(0))


TotalKernel = Callable[[Rows, Labels, Matrix, Mapping[str, Any], Span], Total]

EVERY_LAYOUT = ("dense", "columns", "csr", "csc")

TOTAL_KERNELS: dict[str, dict[str, TotalKernel]] = {
    "logistic": dict.fromkeys(EVERY_LAYOUT, _logistic),
    "product": dict.fromkeys(EVERY_LAYOUT, _product),
    "softmax": dict.fromkeys(EVERY_LAYOUT, _softmax),
    "softmax_product": dict.fromkeys(EVERY_LAYOUT, _softmax_product),
    "combine": dict.fromkeys(EVERY_LAYOUT, _combine),
    "moments": dict.fromkeys(EVERY_LAYOUT, _moments),
    "counts": dict.fromkeys(EVERY_LAYOUT, _counts),
}
"""Kernel for a term's name and a block's layout."""


def total_kernel(name: str, layout: str) -> TotalKernel:
    """The kernel that adds up a term over a layout.

    >>> total_kernel("logistic", "csr").__name__
    '_logistic'
    """
    try:
        return TOTAL_KERNELS[name][layout]
    except KeyError:
        raise LookupError(f"No kernel adds up {name!r} over {layout!r} rows.") from None


def _perceptron(
    rows: Rows, labels: Labels, rule: "Rule", state: SweepState, order: Visits | None, first: int, last: int
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
    rows: Rows, labels: Labels, rule: "Rule", state: SweepState, order: Visits | None, first: int, last: int
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


SweepKernel = Callable[[Rows, Labels, "Rule", SweepState, Visits | None, int, int], None]

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


def lengths(rows: Rows, constant: bool, out: Vector, entries_per_row: float) -> None:
    """Write ‖x‖ of every row, rounded up, with 1 for the constant counted in."""
    for span in spans(rows.n, entries_per_row + 8.0, 1):
        _kernels.row_lengths(rows, constant, out, span.first, span.last, span.lanes, threads_for(span))


def leeways(rows: Rows, labels: Labels, rule: "Rule", state: SweepState, entries_per_row: float) -> None:
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


def score(rows: Rows, points: Matrix, constant: bool, probabilities: bool, out: Matrix, entries_per_row: float) -> None:
    """Write the scores of every row at each point, or both probabilities at one point."""
    for span in spans(rows.n, (entries_per_row + 8.0) * len(points), 1):
        _kernels.score(rows, points, constant, probabilities, out, span.first, span.last, span.lanes, threads_for(span))


def spreads(
    rows: Rows, codes: Codes, centre: Matrix, scale: Matrix, full: AnyArray | None, out: Vector, entries_per_row: float
) -> None:
    """Write Σⱼ(scaleₖⱼ(xⱼ − centreₖⱼ))² of every row, k its class; ``full`` columns are stored by every row of k."""
    whole = None if full is None else np.ascontiguousarray(full, dtype=np.float64)
    for span in spans(rows.n, 2 * entries_per_row + 8.0, 1):
        _kernels.spreads(rows, codes, centre, scale, whole, out, span.first, span.last, span.lanes, threads_for(span))


def bracket(rows: Rows, point: Vector, constant: bool, entries_per_row: float) -> tuple[Vector, Vector]:
    """Every row's ⟨v, x⟩ and Σ|vⱼxⱼ|, which times (p + 2)·2⁻⁵³ bounds the error of the first."""
    product, magnitude = np.empty(rows.n), np.empty(rows.n)
    for span in spans(rows.n, 2 * entries_per_row + 8.0, 2):
        _kernels.bracket(
            rows, point, constant, product, magnitude, span.first, span.last, span.lanes, threads_for(span)
        )
    return product, magnitude


def exact_products(rows: Rows, which: Positions, vectors: Matrix, constant: bool) -> Matrix:
    """Chosen rows times vectors (vectors × parts × p), rounded once: zeros and signs are exact."""
    which = np.ascontiguousarray(which, dtype=np.int64)
    pieces = [np.empty((0, len(vectors)))]
    for span in spans(len(which), 8.0 * vectors.size, len(vectors)):
        part = which[span.first : span.last]
        pieces.append(_kernels.exact_products(rows, part, vectors, constant, span.lanes, threads_for(span)))
    return np.concatenate(pieces)


def eliminate(matrix: Matrix, prime: int) -> tuple[tuple[int, ...], tuple[int, ...], Positions]:
    """Pivot rows, pivot columns and the reduced echelon form modulo a prime (rank × p)."""
    rows, columns, reduced = _kernels.eliminate(matrix, prime)
    return tuple(rows), tuple(columns), np.array(reduced, dtype=np.int64).reshape(len(rows), matrix.shape[1])


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
    """How to start quickly: see ``estimators.quick_start``, and ``cpp/kernels/quick_start.hpp`` for each number."""

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


def descend_quadratic(
    hessian: Matrix, gradient: Vector, point: Vector, penalty: Vector, tol: float, most_sweeps: int
) -> Vector:
    """The step d that minimises ⟨g, d⟩ + dᵀHd/2 + Σ penaltyⱼ|wⱼ + dⱼ|, by coordinate descent."""
    step: Vector = _kernels.descend_quadratic(hessian, gradient, point, penalty, tol, most_sweeps)[0]
    return step


def dense_rows(array: AnyArray) -> Rows:
    """A two-dimensional numeric array, wherever it lies."""
    return Rows.dense(array)


def sparse_rows(starts: AnyArray, indices: AnyArray, values: AnyArray, shape: tuple[int, int], by_rows: bool) -> Rows:
    """A compressed sparse matrix, by rows or by columns."""
    return Rows.sparse(starts, indices, values, shape[0], shape[1], by_rows)


def column_rows(pieces: list[list[tuple[int, Any, int]]], n: int) -> Rows:
    """Columns of their own types; each a list of (first row, array, bit offset or −1)."""
    return Rows.columns(pieces, n)


def sparse_fault(rows: Rows, stored: int) -> str:
    """'' or what is wrong with a sparse matrix of so many numbers: 'starts', 'range' or 'order'."""
    return str(rows.fault(MOST_CHECK_LANES, thread_count() if stored >= THREAD_WORK else 1))


MOST_CHECK_LANES = 16


def gather(rows: Rows, which: Positions) -> Matrix:
    """Dense rows by number, as a float64 copy."""
    copied: Matrix = rows.gather(which)
    return copied


ACTIVATIONS = ("identity", "relu", "tanh", "logistic")
"""In the order of the kernels' enumeration."""


def activate(kind: str, scores: AnyArray, constants: AnyArray) -> None:
    """H = φ(z + b) for rows z, in place."""
    _kernels.activate(scores, constants, ACTIVATIONS.index(kind))
