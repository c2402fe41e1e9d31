"""Data drawn from logistic models with known weights; the seed fixes every bit."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

INTERCEPT = 0.5


def dense(rows: int, columns: int, seed: int = 1, decades: float = 0.0) -> tuple[Any, Any]:
    """Standard normal X (float64), weights N(0, 0.2²); labels 0 and 1.

    The columns are then put in other units, from 10^−decades to 10^decades.
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, columns))
    y = _labels(X @ random.normal(0.0, 0.2, columns) + INTERCEPT, random)
    X *= np.geomspace(10.0**-decades, 10.0**decades, columns)
    return X, y


def classes(rows: int, columns: int, count: int, seed: int = 5) -> tuple[Any, Any]:
    """Standard normal X (float64), a weight vector N(0, 0.4²) per class; labels 0 to count − 1 from softmax."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, columns))
    score = X @ random.normal(0.0, 0.4, (columns, count))
    return X, np.argmax(score + random.gumbel(size=score.shape), axis=1)


def words(rows: int, columns: int, length: int, seed: int = 3) -> tuple[Any, Any]:
    """Word counts of ``rows`` texts of ``length`` words, each row scaled to ‖x‖ = 1; weights N(0, 4²).

    Column j is drawn with a probability in proportion to 1/(j + 1), Zipf's law. The
    CSR is canonical with 32-bit indices; it is a csr_matrix, because snapml refuses
    a csr_array.
    """
    random = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, columns + 1)
    below = np.cumsum(share / share.sum())[:-1]
    drawn = np.searchsorted(below, random.random(rows * length)).astype(np.int32)
    ends = np.arange(0, rows * length + 1, length, dtype=np.int32)
    X = csr_matrix((np.ones(rows * length), drawn, ends), shape=(rows, columns))
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(norms, np.diff(X.indptr))
    return X, _labels(X @ random.normal(0.0, 4.0, columns) + INTERCEPT, random)


def _labels(score: Any, random: np.random.Generator) -> Any:
    return (random.random(len(score)) < 1.0 / (1.0 + np.exp(-score))).astype(np.int64)
