"""Directions that often tell many classes apart, at the price of a few reads of the table.

With K classes there are K − 1 signed rows for each row, of (K − 1)·p columns: a sample of them soon is larger than
memory. Scores that are linear in x need no signed rows. Two kinds are tried:

- **least squares** from the rows to the classes' indicators, in the smaller of the two Gram matrices: with more columns
  than rows it puts every row on its side, almost always;
- **nearest means** ⟨S⁻¹μₖ, x⟩ − ½⟨S⁻¹μₖ, μₖ⟩, with S the scatter within classes: right where classes are clusters,
  however many there are.

Whether a direction separates is multiplied out exactly, by whoever asks.
"""

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from separatrix.core.arrays import Codes, Matrix, Vector

RIDGE = 1e-10
LEAST = 1e-290
"""A mean square below this is none."""


def directions(rows: Matrix, codes: Codes, classes: int, constant: bool) -> Iterator[Vector]:
    """Scores of the classes but the first, relative to it, one class after the other; rows (n × p) unsigned.

    >>> X = np.array([[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    >>> [v.reshape(2, 2).shape for v in directions(X, np.arange(3), 3, True)]
    [(2, 2), (2, 2)]
    """
    scale = np.abs(rows).max(axis=0)
    scale[scale == 0.0] = 1.0
    rows = rows / scale
    for scores in (_least_squares(rows, codes, classes), _nearest_means(rows, codes, classes, constant)):
        if scores is not None and np.isfinite(scores).all():
            yield np.ravel((scores[1:] - scores[0]) / scale)


def _sums(rows: Matrix, codes: Codes, classes: int) -> Matrix:
    """Sums of the rows of each class (K × p)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(classes))
    return np.asarray(np.add.reduceat(rows[order], starts, axis=0))  # every class has a row


def _solve(gram: Matrix, right: Matrix) -> Matrix | None:
    size = float(np.trace(gram)) / len(gram)
    if not size > LEAST:  # no spread to measure by
        return None
    gram = gram + RIDGE * size * np.eye(len(gram))
    try:
        return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(gram, check_finite=False), right))
    except (scipy.linalg.LinAlgError, ValueError):
        return None


def _least_squares(rows: Matrix, codes: Codes, classes: int) -> Matrix | None:
    n, p = rows.shape
    if n > p:
        found = _solve(rows.T @ rows, _sums(rows, codes, classes).T)
        return None if found is None else found.T
    own = np.zeros((n, classes))
    own[np.arange(n), codes] = 1.0
    found = _solve(rows @ rows.T, own)
    return None if found is None else found.T @ rows


def _nearest_means(rows: Matrix, codes: Codes, classes: int, constant: bool) -> Matrix | None:
    if not constant:
        return None
    values = rows[:, :-1]
    means = _sums(values, codes, classes) / np.bincount(codes, minlength=classes)[:, None]
    middle = means.mean(axis=0)
    means = means - middle
    inner = values - middle - means[codes]
    weights = _solve(inner.T @ inner, means.T)
    if weights is None:  # no spread within the classes: distances as they are
        weights = means.T
    thresholds = -0.5 * np.einsum("kj,jk->k", means, weights) - weights.T @ middle
    return np.column_stack([weights.T, thresholds])
