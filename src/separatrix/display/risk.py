"""What a threshold costs: the mean loss on labelled rows for every threshold on the probability."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas


@dataclass
class RiskDisplay:
    """R(t) = Σᵢ aᵢ L(action at t, class) / Σ aᵢ against t: action 1 where P(class 1 | x) ≥ t.

    The cross marks the least risk on these rows, the dashed line the threshold that the loss matrix alone prescribes;
    they agree as far as the probabilities are right. Both kinds of mistakes are shown with their share of the risk.

    >>> display = RiskDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], loss_matrix=[[0, 5], [1, 0]])
    >>> display.best, round(float(display.risk.min()), 3)
    (0.35, 0.25)
    """

    thresholds: Vector
    risk: Vector
    parts: Matrix
    loss_matrix: Matrix
    prescribed: float | None
    labels: tuple[str, str] = ("0", "1")
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, sample_weight: Any = None, loss_matrix: Any = None) -> Self:
        """The risk of a fitted classifier of two classes; a BayesDecisionClassifier brings its loss matrix along."""
        losses = getattr(estimator, "loss_matrix_", None) if loss_matrix is None else loss_matrix
        positive = estimator.classes_[1]
        labels = (str(estimator.classes_[0]), str(positive))
        return cls.from_predictions(
            np.asarray(y) == positive, np.asarray(estimator.predict_proba(X))[:, 1], sample_weight, losses, labels
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        probabilities: Any,
        sample_weight: Any = None,
        loss_matrix: Any = None,
        labels: tuple[str, str] = ("0", "1"),
    ) -> Self:
        """The risk at every threshold where a decision changes, from probabilities of class 1."""
        losses = np.array([[0.0, 1.0], [1.0, 0.0]]) if loss_matrix is None else np.asarray(loss_matrix, float)
        if losses.shape != (2, 2):
            refuse(f"The loss matrix has shape {losses.shape}.", "a threshold belongs to two classes and two actions.")
        positive = np.asarray(y_true).astype(bool)
        shares = np.asarray(probabilities, dtype=np.float64)
        weights = np.ones(len(shares)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        cuts = np.unique(np.concatenate([[0.0], shares, [1.0]]))
        # weight of each class at or above every cut, from sums over the sorted rows
        order = np.argsort(shares, kind="stable")
        place = np.searchsorted(shares[order], cuts, side="left")
        parts = []
        for is_class, column in ((~positive, 0), (positive, 1)):
            below = np.append(0.0, np.cumsum(np.where(is_class, weights, 0.0)[order]))
            under = below[place]
            parts.append((under * losses[0, column] + (below[-1] - under) * losses[1, column]) / weights.sum())
        gain, cost = losses[0, 1] - losses[1, 1], losses[1, 0] - losses[0, 0]
        prescribed = float(cost / (cost + gain)) if gain > 0 and cost > 0 else None
        return cls(cuts, parts[0] + parts[1], np.array(parts), losses, prescribed, labels)

    @property
    def best(self) -> float:
        """The threshold of least risk on these rows, the largest of several."""
        return float(self.thresholds[len(self.risk) - 1 - int(np.argmin(self.risk[::-1]))])

    def at(self, threshold: float) -> float:
        """The risk at a threshold."""
        place = int(np.searchsorted(self.thresholds, threshold, side="left"))
        return float(self.risk[min(place, len(self.risk) - 1)])

    def plot(self, ax: Any = None) -> Self:
        """Draw the risk, its two parts, the optimum and the prescribed threshold."""
        (panel,) = canvas.axes(ax, size=(6.0, 3.8))
        for part, label, colour in zip(self.parts, self.labels, (canvas.NEGATIVE, canvas.POSITIVE), strict=True):
            panel.step(self.thresholds, part, where="pre", color=colour, lw=1.2, label=f"from class {label}")
        panel.step(self.thresholds, self.risk, where="pre", color=canvas.INK, lw=2.2, label="expected risk")
        low = float(self.risk.min())
        panel.plot([self.best], [low], marker="X", ms=10, color=canvas.BOUND, mec="white", ls="none", zorder=5,
                   label=f"least on these rows: {low:.3g} at {self.best:.3g}")  # fmt: skip
        if self.prescribed is not None:
            panel.axvline(self.prescribed, color=canvas.FAINT, ls="--", lw=1.2,
                          label=f"threshold of the losses: {self.prescribed:.3g}")  # fmt: skip
        panel.set(xlabel=f"threshold on the probability of class {self.labels[1]}", ylabel="mean loss per row")
        panel.set(xlim=(-0.02, 1.02), ylim=(min(0.0, float(self.parts.min())), None))
        panel.set_title("What a threshold costs")
        panel.legend(frameon=False, fontsize=8, loc="upper center")
        canvas.tidy(panel)
        self.ax_, self.figure_ = panel, panel.figure
        return self
