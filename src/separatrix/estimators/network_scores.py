"""Scores of a network's output as codes and probabilities."""

import numpy as np
from scipy.special import expit

from separatrix.certificates.duality import probabilities
from separatrix.core.arrays import AnyArray, Matrix


def codes_of(scores: AnyArray) -> AnyArray:
    """The class of each row: the positive one where z ≥ 0; of K classes the last of the highest.

    >>> codes_of(np.array([[0.0], [-1.0]])), codes_of(np.array([[1.0, 1.0, 0.0]]))
    (array([1, 0]), array([1]))
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0.0).astype(np.intp)
    return np.asarray(scores.shape[1] - 1 - np.argmax(scores[:, ::-1], axis=1))


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
