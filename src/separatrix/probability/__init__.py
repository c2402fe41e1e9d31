"""From scores to probabilities and back, and what a margin costs. Knows no other room.

Every function works value by value, on a number or on anything NumPy reads as an
array, and answers in float64: an array of the same shape, or a number for a number.
Over all finite arguments the answer is within 4 units in the last place of the true
value, infinities give the limit, NaN gives NaN, and nothing warns.
"""

from separatrix.probability.losses import (
    hinge_loss,
    log_loss,
    log_loss_curvature,
    log_loss_slope,
    perceptron_loss,
    squared_loss,
    zero_one_loss,
)
from separatrix.probability.sigmoid import log_sigmoid, logit, sigmoid, sigmoid_slope

__all__ = [
    "hinge_loss",
    "log_loss",
    "log_loss_curvature",
    "log_loss_slope",
    "log_sigmoid",
    "logit",
    "perceptron_loss",
    "sigmoid",
    "sigmoid_slope",
    "squared_loss",
    "zero_one_loss",
]
