"""Pictures in scikit-learn's Display manner: each holds its numbers first and draws later.

matplotlib is imported only when something is drawn.
"""

from separatrix.display.boundary import BoundaryDisplay
from separatrix.display.gaussian import GaussianDisplay
from separatrix.display.losses import LossDisplay
from separatrix.display.outliers import OutlierDisplay
from separatrix.display.risk import RiskDisplay
from separatrix.display.sigmoid import SigmoidDisplay
from separatrix.display.trace import TraceDisplay

__all__ = [
    "BoundaryDisplay",
    "GaussianDisplay",
    "LossDisplay",
    "OutlierDisplay",
    "RiskDisplay",
    "SigmoidDisplay",
    "TraceDisplay",
]
