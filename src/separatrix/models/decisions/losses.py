"""Losses, risks and thresholds: what a decision costs, and where it changes.

The risk of action i at x is R(αᵢ | x) = Σⱼ Lᵢⱼ P(cⱼ | x). Of two classes with p = P(c₁ | x), action 1 is the better one
where p·(L₀₁ − L₁₁) ≥ (1 − p)·(L₁₀ − L₀₀): a threshold on p.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.arrays import UNIT_ROUNDOFF, AnyArray, Matrix, Vector
from separatrix.core.errors import refuse


@dataclass(frozen=True, slots=True)
class Threshold:
    """Of two classes and two actions: take ``above`` where P(class 1 | x) ≥ ``value`` (or >), else ``below``.

    >>> str(Threshold(0.25, "treat", "wait"))
    'Take treat where the probability of class 1 is at least 0.25, else wait.'
    """

    value: float
    above: Any
    below: Any
    inclusive: bool = True

    def __str__(self) -> str:
        side = "at least" if self.inclusive else "above"
        return f"Take {self.above} where the probability of class 1 is {side} {self.value:.6g}, else {self.below}."


@dataclass(frozen=True, slots=True)
class OverallRisk:
    """The mean loss of the decisions on labelled rows, with its standard error."""

    value: float
    standard_error: float
    rows: float

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.standard_error:.2g} per row, over {self.rows:g} rows"


def mean_loss(losses: Vector, counts: Vector) -> OverallRisk:
    """Weighted mean and its standard error; a weight counts copies of a row."""
    rows = float(counts.sum())
    if rows == 0.0:
        return OverallRisk(0.0, 0.0, 0.0)
    value = float(counts @ losses) / rows
    spread = float(counts @ np.square(losses - value)) / max(rows - 1.0, 1.0)
    return OverallRisk(value, float(np.sqrt(spread / rows)), rows)


def least_risk(shares: Matrix, losses: Matrix) -> AnyArray:
    """The action of least expected loss for each row; of those that tie the last.

    Probabilities carry a few roundings and a risk one more for each class, so risks within 8(K + 4)u of
    Σⱼ|Lᵢⱼ|P(cⱼ | x) tie: p = 0.1 ties at losses of 9 and 1, although 0.9·1 and 0.1·9 differ as floats.

    >>> least_risk(np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([[0.0, 9.0], [1.0, 0.0]]))
    array([1, 1])
    """
    risk = shares @ losses.T
    slack = 8.0 * (len(losses.T) + 4) * UNIT_ROUNDOFF * (shares @ np.abs(losses).T)
    tied = risk - slack <= (risk + slack).min(axis=1, keepdims=True)
    return np.asarray(risk.shape[1] - 1 - np.argmax(tied[:, ::-1], axis=1))


def reweighted(shares: Matrix, trained: Vector, deployed: Vector) -> Matrix:
    """P(cⱼ | x)·π′ⱼ/πⱼ, made to sum to one.

    >>> reweighted(np.array([[0.5, 0.5]]), np.array([0.5, 0.5]), np.array([0.9, 0.1]))
    array([[0.9, 0.1]])
    """
    if ((trained <= 0) & (deployed > 0)).any():
        refuse("A class with training prior 0 is expected in deployment.", "train with rows of every class.")
    factor = np.divide(deployed, trained, out=np.zeros_like(deployed), where=trained > 0)
    moved = shares * factor
    total = moved.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, moved / np.where(total > 0, total, 1.0), deployed))


def threshold_of(losses: Matrix, actions: AnyArray) -> Threshold | None:
    """Where the decision between two actions changes, as a probability of class 1.

    Action 1 is better where p·(L₀₁ − L₁₁) ≥ (1 − p)·(L₁₀ − L₀₀). If one action is never better there is no threshold.

    >>> threshold_of(np.array([[0.0, 9.0], [1.0, 0.0]]), np.array([0, 1])).value
    0.1
    """
    if losses.shape != (2, 2):
        return None
    gain, cost = losses[0, 1] - losses[1, 1], losses[1, 0] - losses[0, 0]
    if gain > 0 and cost > 0:
        return Threshold(float(cost / (cost + gain)), actions[1], actions[0])
    if gain < 0 and cost < 0:
        return Threshold(float(cost / (cost + gain)), actions[0], actions[1], inclusive=False)
    return None
