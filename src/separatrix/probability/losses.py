"""Losses as functions of the margin m = s·z: the label s ∈ {−1, +1} times the score z.

A margin is positive where the score has the label's sign. Every loss but the count
of mistakes is convex, and the hinge, the squared loss and log(1 + exp(−m))/log 2 lie
above that count: to make them small is to make few mistakes.
"""

import numpy as np
from numpy.typing import ArrayLike

from separatrix.probability.sigmoid import Vector, log_sigmoid, sigmoid, sigmoid_slope


def log_loss(margins: ArrayLike) -> Vector:
    """log(1 + exp(−m)) = −log σ(m), exact for |m| up to 1e308.

    ``margins`` of any shape; the same shape back.

    >>> log_loss([0.0, -600.0])
    array([  0.69314718, 600.        ])
    """
    loss: Vector = 0.0 - log_sigmoid(margins)  # 0 − x, for −x would end in −0 at large margins
    return loss


def log_loss_slope(margins: ArrayLike) -> Vector:
    """d/dm log(1 + exp(−m)) = −σ(−m): from −1 for a gross mistake to 0 for a sure success.

    ``margins`` of any shape; the same shape back.

    >>> log_loss_slope([-800.0, 0.0, np.log(3.0)])
    array([-1.  , -0.5 , -0.25])
    """
    m = np.asarray(margins, dtype=np.float64)
    slope: Vector = -sigmoid(-m)
    return slope


def log_loss_curvature(margins: ArrayLike) -> Vector:
    """d²/dm² log(1 + exp(−m)) = σ(m)σ(−m): the sigmoid's slope, at most 1/4.

    ``margins`` of any shape; the same shape back.

    >>> log_loss_curvature([-np.log(3.0), 0.0, 800.0])
    array([0.1875, 0.25  , 0.    ])
    """
    return sigmoid_slope(margins)


def perceptron_loss(margins: ArrayLike) -> Vector:
    """max(0, −m): how far a mistake is from being none; 0 on the boundary.

    ``margins`` of any shape; the same shape back.

    >>> perceptron_loss([-2.0, 0.0, 3.0])
    array([2., 0., 0.])
    """
    m = np.asarray(margins, dtype=np.float64)
    loss: Vector = np.maximum(0.0 - m, 0.0)  # 0 − m, for −m would leave a −0 on the boundary
    return loss


def hinge_loss(margins: ArrayLike) -> Vector:
    """max(0, 1 − m): the perceptron's loss, asking for a margin of 1.

    ``margins`` of any shape; the same shape back.

    >>> hinge_loss([-2.0, 0.0, 0.75, 3.0])
    array([3.  , 1.  , 0.25, 0.  ])
    """
    m = np.asarray(margins, dtype=np.float64)
    loss: Vector = np.maximum(1.0 - m, 0.0)
    return loss


def zero_one_loss(margins: ArrayLike) -> Vector:
    """1 where m < 0, else 0: the count of mistakes.

    A margin of 0 costs nothing here. Prediction gives ties to the positive class, so
    that is right for a positive row; a negative row on the boundary is a mistake which
    its margin, ±0 alike, cannot tell.
    ``margins`` of any shape; the same shape back.

    >>> zero_one_loss([-2.0, 0.0, 3.0])
    array([1., 0., 0.])
    """
    m = np.asarray(margins, dtype=np.float64)
    loss: Vector = np.heaviside(-m, 0.0)
    return loss


def squared_loss(margins: ArrayLike) -> Vector:
    """(1 − m)²: least squares on the labels ±1; it also charges margins beyond 1.

    For s² = 1 it is (s − z)². Beyond |m| ≈ 1.3e154 it exceeds every float and is ∞.
    ``margins`` of any shape; the same shape back.

    >>> squared_loss([-2.0, 0.0, 3.0])
    array([9., 1., 4.])
    """
    m = np.asarray(margins, dtype=np.float64)
    with np.errstate(over="ignore"):
        loss: Vector = np.square(1.0 - m)
    return loss
