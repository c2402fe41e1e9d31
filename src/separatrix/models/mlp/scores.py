"""Scores of a network's output as codes and probabilities, and where they tie.

The rounding of a score follows its way through the layers: with |φ′| ≤ 1, hₖ known to eₖ, and γ = 2(units + 4)u,

    eₖ = eₖ₋₁|Wₖ| + γ(|hₖ₋₁||Wₖ| + |bₖ|),   e₀ = u|x|.

A score within that of zero is zero, and scores within both their roundings are equal, as in ``ties``.
"""

from typing import Any

import numpy as np
from scipy.special import expit

from separatrix import kernels
from separatrix.certificates.duality import probabilities
from separatrix.core.arrays import AnyArray, Matrix
from separatrix.core.protocols import Engine
from separatrix.core.scores import last_of_highest
from separatrix.models.ties import BEYOND, lead, settle_rows
from separatrix.terms.architecture import Architecture

SAMPLE_ROWS = 64


def roundings(architecture: Architecture, weights: AnyArray, rows: Any, unit: float) -> Matrix:
    """How far the score of every row can be from its true value (n × outputs); ``unit`` is u."""
    values: AnyArray = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
    errors = unit * np.abs(values)
    wide = weights.astype(np.float64)
    layers = list(zip(architecture.matrices(wide), architecture.constants(wide), strict=True))
    for k, (matrix, constants) in enumerate(layers):
        sizes = np.abs(matrix)
        share = 2.0 * (len(matrix) + 4) * unit
        errors = errors @ sizes + share * (np.abs(values) @ sizes + np.abs(constants))
        values = values @ matrix
        if k + 1 < len(layers):
            kernels.activate(architecture.activation, values, constants)
            errors = errors + 4.0 * unit * np.abs(values)
    return errors


def reach_of(architecture: Architecture, weights: AnyArray, engine: Engine) -> float:
    """Up to which score a row is looked at more closely: a thousand times the rounding of a typical one."""
    n = engine.rows
    rows = engine.take(np.linspace(0, n - 1, min(n, SAMPLE_ROWS)).astype(np.int64))
    with np.errstate(all="ignore"):
        reach = 2.0 * BEYOND * float(roundings(architecture, weights, rows, unit_of(weights.dtype)).mean())
    return reach if np.isfinite(reach) else 0.0


def settle(architecture: Architecture, weights: AnyArray, engine: Engine, scores: Matrix, reach: float) -> None:
    """Make scores that tie equal, in place: to 0, of K classes to the highest."""
    near = np.flatnonzero((np.abs(scores[:, 0]) if scores.shape[1] == 1 else lead(scores)) <= reach)
    step = max(1, 2**22 // max(architecture.units))
    for first in range(0, len(near), step):
        which = near[first : first + step]
        errors = roundings(architecture, weights, engine.take(which), unit_of(weights.dtype))
        settle_rows(scores, which, errors)


def unit_of(dtype: Any) -> float:
    """Half the distance from 1 to the next number of this type."""
    return 0.5 * float(np.finfo(dtype).eps)


def codes_of(scores: AnyArray) -> AnyArray:
    """The class of each row: the positive one where z ≥ 0; of K classes the last of the highest.

    >>> codes_of(np.array([[0.0], [-1.0]])), codes_of(np.array([[1.0, 1.0, 0.0]]))
    (array([1, 0]), array([1]))
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0.0).astype(np.intp)
    return last_of_highest(scores)


def shares_of(scores: Matrix) -> Matrix:
    """Probabilities (n × K); each tail from its own score, so that neither loses digits near 0."""
    if scores.shape[1] == 1:
        return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
    return probabilities(scores)


def log_shares_of(scores: Matrix) -> Matrix:
    """Logarithms of the probabilities, exact where those underflow."""
    if scores.shape[1] == 1:
        return np.column_stack([-np.logaddexp(0.0, scores[:, 0]), -np.logaddexp(0.0, -scores[:, 0])])
    below = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))
