"""Pictures in scikit-learn's Display manner: each holds its numbers first and draws later.

matplotlib is imported only when something is drawn.
"""

from separatrix.display.basis import BasisDisplay
from separatrix.display.bayes_net import BayesNetDisplay
from separatrix.display.boundary import BoundaryDisplay
from separatrix.display.central_limit import CentralLimitDisplay
from separatrix.display.decision_history import DecisionHistoryDisplay
from separatrix.display.descent import DescentDisplay
from separatrix.display.divergence import KLDisplay
from separatrix.display.gaussian import GaussianDisplay
from separatrix.display.losses import LossDisplay
from separatrix.display.mistakes import MistakesDisplay
from separatrix.display.network import NetworkDisplay
from separatrix.display.outliers import OutlierDisplay
from separatrix.display.risk import RiskDisplay
from separatrix.display.separability import SeparabilityDisplay
from separatrix.display.sigmoid import SigmoidDisplay
from separatrix.display.steps import StepsDisplay
from separatrix.display.trace import TraceDisplay
from separatrix.display.weight_space import WeightSpaceDisplay

__all__ = [
    "BasisDisplay",
    "BayesNetDisplay",
    "BoundaryDisplay",
    "CentralLimitDisplay",
    "DecisionHistoryDisplay",
    "DescentDisplay",
    "GaussianDisplay",
    "KLDisplay",
    "LossDisplay",
    "MistakesDisplay",
    "NetworkDisplay",
    "OutlierDisplay",
    "RiskDisplay",
    "SeparabilityDisplay",
    "SigmoidDisplay",
    "StepsDisplay",
    "TraceDisplay",
    "WeightSpaceDisplay",
]
