"""separatrix: linear classification that proves how good its answer is.

>>> import separatrix
>>> separatrix.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).certificate_.met
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.core.errors import CertificateError, ConvergenceWarning, InputError, SeparationWarning
from separatrix.estimators.logistic import LogisticRegression
from separatrix.estimators.perceptron import Perceptron
from separatrix.estimators.separability import separability

if TYPE_CHECKING:
    from separatrix import display, optimize, probability, simulate
    from separatrix.estimators.basis import GaussianBasis, SigmoidBasis
    from separatrix.estimators.network import MLPClassifier

__version__ = "0.1.0"

__all__ = [
    "CertificateError",
    "ConvergenceWarning",
    "GaussianBasis",
    "InputError",
    "LogisticRegression",
    "MLPClassifier",
    "Perceptron",
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
_ELSEWHERE = {
    "GaussianBasis": "estimators.basis",
    "MLPClassifier": "estimators.network",
    "SigmoidBasis": "estimators.basis",
}


def __getattr__(name: str) -> Any:
    """Rooms and names that not everyone needs are imported when first used."""
    if name in _ON_DEMAND:
        return import_module(f"separatrix.{name}")
    if name in _ELSEWHERE:
        return getattr(import_module(f"separatrix.{_ELSEWHERE[name]}"), name)
    raise AttributeError(f"module 'separatrix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
