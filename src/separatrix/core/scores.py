"""From scores of classes to shares that add up to one, and to the class of the highest."""

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix

FEW_CLASSES = 16
"""Up to so many columns of scores are compared one after the other."""


def softmax(scores: Matrix) -> Matrix:
    """The share of each class, exp(z) over the sum of all of them.

    >>> softmax(np.array([[0.0, np.log(3.0)]])).round(12)
    array([[0.25, 0.75]])
    """
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def last_of_highest(scores: Matrix) -> AnyArray:
    """The position of the highest score in each row; of several the last.

    >>> last_of_highest(np.array([[1.0, 1.0, 0.0]]))
    array([1])
    """
    if not len(scores) > 1 or scores.shape[1] > FEW_CLASSES:
        return np.asarray(scores.shape[1] - 1 - np.argmax(scores[:, ::-1], axis=1))
    highest, codes = scores[:, 0].copy(), np.zeros(len(scores), dtype=np.intp)
    for k in range(1, scores.shape[1]):
        codes[scores[:, k] >= highest] = k
        np.maximum(highest, scores[:, k], out=highest)
    return codes
