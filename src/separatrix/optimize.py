"""Descent on any function: the public face of the solvers.

>>> from separatrix import optimize
>>> optimize.gradient_descent(lambda x: 2 * x - 6, start=0.0, rate=0.25).point
2.99999999...
"""

from separatrix.solvers.gradient_descent import gradient_descent
from separatrix.solvers.rates import Decaying
from separatrix.solvers.step_rules import Adam, Momentum, Nesterov, Plain
from separatrix.solvers.stochastic_descent import epoch_order, stochastic_gradient_descent
from separatrix.solvers.walk import Descent, DescentStop, Path

__all__ = [
    "Adam",
    "Decaying",
    "Descent",
    "DescentStop",
    "Momentum",
    "Nesterov",
    "Path",
    "Plain",
    "epoch_order",
    "gradient_descent",
    "stochastic_gradient_descent",
]
