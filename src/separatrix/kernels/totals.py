"""What is added up over the rows: the table of kernels by term and layout."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from separatrix.core.arrays import Matrix
from separatrix.core.lanes import Span
from separatrix.core.total import CompensatedTotal, Total
from separatrix.kernels import _kernels
from separatrix.kernels.rows import Labels, Rows, threads_for


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


GROUPED = ("logistic",)
"""Kernels that add up for each of several groups of rows."""


def total_kernel(name: str, layout: str, grouped: bool = False) -> TotalKernel:
    """The kernel that adds up a term over a layout, for groups of rows if asked to.

    >>> total_kernel("logistic", "csr").__name__
    '_logistic'
    """
    if grouped and name not in GROUPED:
        raise LookupError(f"The kernel {name!r} adds up all rows, not groups of them.")
    try:
        return TOTAL_KERNELS[name][layout]
    except KeyError:
        raise LookupError(f"No kernel adds up {name!r} over {layout!r} rows.") from None
