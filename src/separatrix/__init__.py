"""separatrix: linear classification that proves how good its answer is.

>>> import separatrix
>>> separatrix.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).certificate_.met
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.core.errors import CertificateError, ConvergenceWarning, InputError, SeparationWarning
from separatrix.estimators.logistic import LogisticRegression
from separatrix.estimators.network import MLPClassifier

if TYPE_CHECKING:
    from separatrix import display, optimize, probability

__version__ = "0.1.0"

__all__ = [
    "CertificateError",
    "ConvergenceWarning",
    "InputError",
    "LogisticRegression",
    "MLPClassifier",
    "SeparationWarning",
    "__version__",
    "display",
    "optimize",
    "probability",
]

_ON_DEMAND = ("display", "optimize", "probability")


def __getattr__(name: str) -> Any:
    """Rooms that not everyone needs are imported when first used."""
    if name in _ON_DEMAND:
        return import_module(f"separatrix.{name}")
    raise AttributeError(f"module 'separatrix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
