"""separatrix: linear classification that proves how good its answer is.

>>> import separatrix
>>> separatrix.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).certificate_.met
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.core.errors import CertificateError, ConvergenceWarning, InputError, SeparationWarning
from separatrix.models.logistic.estimator import LogisticRegression

if TYPE_CHECKING:
    from separatrix import display, optimize, probability, simulate
    from separatrix.models.basis.estimator import GaussianBasis, SigmoidBasis
    from separatrix.models.bernoulli.estimator import BernoulliNB
    from separatrix.models.decisions.estimator import BayesDecisionClassifier
    from separatrix.models.discriminant.estimator import LinearDiscriminantAnalysis
    from separatrix.models.mlp.estimator import MLPClassifier
    from separatrix.models.perceptron.estimator import Perceptron
    from separatrix.models.ridge.choice_of_penalty import RidgeClassifierCV
    from separatrix.models.ridge.estimator import RidgeClassifier
    from separatrix.models.separability.question import separability
    from separatrix.models.sgd.estimator import SGDClassifier

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
    "BayesDecisionClassifier": "decisions.estimator",
    "BernoulliNB": "bernoulli.estimator",
    "GaussianBasis": "basis.estimator",
    "LinearDiscriminantAnalysis": "discriminant.estimator",
    "MLPClassifier": "mlp.estimator",
    "Perceptron": "perceptron.estimator",
    "RidgeClassifier": "ridge.estimator",
    "RidgeClassifierCV": "ridge.choice_of_penalty",
    "SGDClassifier": "sgd.estimator",
    "SigmoidBasis": "basis.estimator",
    "separability": "separability.question",
}


def __getattr__(name: str) -> Any:
    """Rooms and estimators that not everyone needs are imported when first used."""
    if name in _ON_DEMAND:
        return import_module(f"separatrix.{name}")
    if name in _HOMES:
        return getattr(import_module(f"separatrix.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'separatrix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
