"""Labelled data from a known truth: what a classifier could know at best. Knows only probability.

Each function draws ``rows`` rows and returns a ``Sample``, which unpacks as X, y and the
truth: its ``parameters``, the true ``posterior(X)``, and ``bayes_risk``, the share of
mistakes nobody can beat, which says how it was found. Row i depends on the model and
the seed alone: ``truth.rows(start, stop)`` gives any rows, and ``truth.blocks(rows, size)``
all of them piece by piece, for data larger than memory, with the same bits.

>>> from separatrix import simulate
>>> X, y, truth = simulate.logistic(1000, columns=3, seed=4)
>>> X.shape, truth.posterior(X).shape
((1000, 3), (1000, 2))
>>> print(truth.bayes_risk)
0.22201 (quadrature)
>>> import numpy as np
>>> parts = [part.X for part in truth.blocks(1000, size=300)]
>>> bool((np.concatenate(parts) == X).all())
True
"""

from separatrix.simulate.bernoulli import BernoulliModel, bernoulli_classes
from separatrix.simulate.gaussian import GaussianModel, gaussian_classes
from separatrix.simulate.logistic import LogisticModel, logistic
from separatrix.simulate.model import Model, Risk, Sample
from separatrix.simulate.perceptron import PerceptronModel, perceptron

__all__ = [
    "BernoulliModel",
    "GaussianModel",
    "LogisticModel",
    "Model",
    "PerceptronModel",
    "Risk",
    "Sample",
    "bernoulli_classes",
    "gaussian_classes",
    "logistic",
    "perceptron",
]
