"""Scores and probabilities, what a margin costs, laws, information, networks. Knows no other room.

The sigmoid, its relatives and the losses work value by value, on a number or on anything
NumPy reads as an array, and answer in float64: an array of the same shape, or a number
for a number. Over all finite arguments the answer is within 4 units in the last place of
the true value, infinities give the limit, NaN gives NaN, and nothing warns.

Laws hold their parameters and can be drawn from and fitted by maximum likelihood;
logarithms are natural. What cannot be a probability is refused with a ``ValueError``.
"""

from separatrix.probability.bernoulli import Bernoulli
from separatrix.probability.categorical import Categorical
from separatrix.probability.central_limit import standardised_means
from separatrix.probability.information import cross_entropy, entropy, kl_divergence, self_information
from separatrix.probability.information_projection import KLFit, fit_kl
from separatrix.probability.losses import (
    hinge_loss,
    log_loss,
    log_loss_curvature,
    log_loss_slope,
    perceptron_loss,
    squared_loss,
    zero_one_loss,
)
from separatrix.probability.multivariate import MultivariateNormal
from separatrix.probability.network import BayesNet
from separatrix.probability.normal import Normal
from separatrix.probability.sigmoid import log_sigmoid, logit, sigmoid, sigmoid_slope

__all__ = [
    "BayesNet",
    "Bernoulli",
    "Categorical",
    "KLFit",
    "MultivariateNormal",
    "Normal",
    "cross_entropy",
    "entropy",
    "fit_kl",
    "hinge_loss",
    "kl_divergence",
    "log_loss",
    "log_loss_curvature",
    "log_loss_slope",
    "log_sigmoid",
    "logit",
    "perceptron_loss",
    "self_information",
    "sigmoid",
    "sigmoid_slope",
    "squared_loss",
    "standardised_means",
    "zero_one_loss",
]
