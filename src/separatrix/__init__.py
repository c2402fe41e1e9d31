"""separatrix: linear classification that proves how good its answer is.

>>> import separatrix
>>> separatrix.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).certificate_.met
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.core.errors import CertificateError, ConvergenceWarning, InputError, SeparationWarning
from separatrix.estimators.logistic import LogisticRegression

if TYPE_CHECKING:
    from separatrix import display, optimize, probability, simulate
    from separatrix.estimators.basis import GaussianBasis, SigmoidBasis
    from separatrix.estimators.bayes_decision import BayesDecisionClassifier
    from separatrix.estimators.bernoulli import BernoulliNB
    from separatrix.estimators.discriminant import LinearDiscriminantAnalysis
    from separatrix.estimators.network import MLPClassifier
    from separatrix.estimators.perceptron import Perceptron
    from separatrix.estimators.ridge import RidgeClassifier
    from separatrix.estimators.ridge_cv import RidgeClassifierCV
    from separatrix.estimators.separability import separability
    from separatrix.estimators.sgd import SGDClassifier

__version__ = "0.1.0"

__all__ = [
    "BayesDecisionClassifier",
    "BernoulliNB",
    "CertificateError",
    "ConvergenceWarning",
    "GaussianBasis",
    "InputError",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MLPClassifier",
    "Perceptron",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SeparationWarning",
    "SigmoidBasis",
    "__version__",
    "display",
    "optimize",
    "probability",
    "separability",
    "simulate",
]

_ON_DEMAND = ("display", "optimize", "probability", "simulate")
_HOMES = {
    "BayesDecisionClassifier": "bayes_decision",
    "BernoulliNB": "bernoulli",
    "GaussianBasis": "basis",
    "LinearDiscriminantAnalysis": "discriminant",
    "MLPClassifier": "network",
    "Perceptron": "perceptron",
    "RidgeClassifier": "ridge",
    "RidgeClassifierCV": "ridge_cv",
    "SGDClassifier": "sgd",
    "SigmoidBasis": "basis",
    "separability": "separability",
}


def __getattr__(name: str) -> Any:
    """Rooms and estimators that not everyone needs are imported when first used."""
    if name in _ON_DEMAND:
        return import_module(f"separatrix.{name}")
    if name in _HOMES:
        return getattr(import_module(f"separatrix.estimators.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'separatrix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
