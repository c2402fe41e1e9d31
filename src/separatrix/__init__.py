"""separatrix: linear classification that proves how good its answer is."""

from separatrix.estimators.logistic import LogisticRegression

__version__ = "0.1.0"

__all__ = ["LogisticRegression", "__version__"]
