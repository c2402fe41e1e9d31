"""What happened pass by pass, or epoch by epoch: the objective, its bound, ‖w‖ and a validation score."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.display import canvas

MANY = 500
"""More epochs than this are drawn on a logarithmic axis."""


@dataclass
class TraceDisplay:
    """Objective, bound and ‖w‖ per pass, of a descent per epoch.

    The objective is drawn above the smallest value seen, on a logarithmic scale, so that the last digits are visible;
    the bound must lie above it wherever it is finite (of batches the mean loss met on the way is drawn, which may lie
    above the bound). On completely separable data without a penalty the infimum is
    known to be 0, and the objective itself is drawn. With rows held out a third panel shows their score.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from separatrix import LogisticRegression
    >>> model = LogisticRegression().fit(*load_breast_cancer(return_X_y=True))
    >>> display = TraceDisplay.from_estimator(model)
    >>> bool((display.bound[np.isfinite(display.bound)] >= 0).all())
    True
    """

    objective: Vector
    bound: Vector
    norm: Vector
    tolerance: float | None = None
    scores: Vector | None = None
    step: str = "pass over the data"
    value: str = "objective"
    infimum: float | None = None
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """The trace of a fitted model."""
        trace, certificate = estimator.trace_, estimator.certificate_
        # a network's certificate bounds no distance from an optimum
        bounded = (
            hasattr(certificate, "tol")
            and hasattr(certificate, "objective")
            and certificate.kind not in ("stationary", "network")
        )
        tolerance = certificate.tol * min(certificate.objective, 1.0) if bounded else None
        scores = getattr(estimator, "validation_scores_", None)
        descent = hasattr(estimator, "_progress_")
        batches = estimator.batch_size != "all" if descent else getattr(estimator, "solver", "") == "sgd"
        return cls(
            trace.objective,
            trace.bound,
            trace.norm,
            tolerance,
            None if scores is None else np.asarray(scores, dtype=np.float64),
            "epoch" if descent else "pass over the data",
            "mean loss met" if batches else "objective",
            0.0 if descent and getattr(certificate, "kind", "") == "complete" else None,
        )

    @property
    def passes(self) -> Vector:
        """1, 2, …: the horizontal axis."""
        return np.arange(1, len(self.objective) + 1, dtype=np.float64)

    @property
    def excess(self) -> Vector:
        """The objective above its infimum or the smallest one seen; NaN where the difference is mere rounding."""
        above = self.objective - (self.objective.min() if self.infimum is None else self.infimum)
        return np.where(above > 1e-15 * np.abs(self.objective), above, np.nan)

    def plot(self, ax: Any = None) -> Self:
        """Draw two panels, distances on a logarithmic scale and ‖w‖; a third for a validation score."""
        panels = canvas.axes(ax, 2 if self.scores is None else 3)
        left, right = panels[:2]
        marks = "o-" if len(self.objective) <= 60 else "-"
        label = f"{self.value} above the best seen" if self.infimum is None else f"{self.value}; the infimum is 0"
        left.semilogy(self.passes, self.excess, marks, color=canvas.POSITIVE, ms=4, label=label)
        finite = np.isfinite(self.bound) & (self.bound > 0)
        if finite.any() or self.tolerance is not None:
            left.semilogy(
                self.passes[finite],
                self.bound[finite],
                "s--",
                color=canvas.BOUND,
                ms=4,
                label="certified bound on F − F*",
            )
        if self.tolerance is not None:
            left.axhline(self.tolerance, color=canvas.FAINT, lw=1, ls=":")
            left.annotate(
                "tol · min(F, 1)",
                (self.passes[0], self.tolerance),
                xytext=(0, 3),
                textcoords="offset points",
                color=canvas.FAINT,
                fontsize=8,
            )
        distance = "distance from the optimum" if self.tolerance is not None else "above the best seen"
        title = "How far from the optimum" if self.tolerance is not None else "The objective"
        left.set(xlabel=self.step, ylabel=distance, title=title)
        left.legend(frameon=False, fontsize=8)
        right.plot(self.passes, self.norm, marks, color=canvas.INK, ms=4)
        right.set(xlabel=self.step, ylabel="‖w‖", title="Length of the weights")
        if self.scores is not None:
            best = int(np.argmax(self.scores))
            panels[2].plot(self.passes, self.scores, marks, color=canvas.POSITIVE, ms=4)
            panels[2].plot(self.passes[best], self.scores[best], "o", color=canvas.BOUND, ms=8, label="best")
            panels[2].set(xlabel=self.step, ylabel="score", title="Score on rows held out")
            panels[2].legend(frameon=False, fontsize=8)
        for panel in panels:
            canvas.tidy(panel)
            if len(self.objective) > MANY:
                panel.set_xscale("log")
            else:
                panel.xaxis.get_major_locator().set_params(integer=True)
        self.ax_, self.figure_ = np.array(panels), left.figure
        return self
