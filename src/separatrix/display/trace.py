"""What happened pass by pass: the objective, its certified distance from the optimum, and ‖w‖."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.display import canvas


@dataclass
class TraceDisplay:
    """Objective, bound and ‖w‖ per pass.

    The objective is drawn above the smallest value seen, on a logarithmic scale, so
    that the last digits are visible; the bound must lie above it wherever it is finite.

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
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """The trace of a fitted model."""
        trace, certificate = estimator.trace_, estimator.certificate_
        # a network's certificate bounds no distance from an optimum
        bounded = hasattr(certificate, "tol") and hasattr(certificate, "objective") and certificate.kind != "stationary"
        tolerance = certificate.tol * min(certificate.objective, 1.0) if bounded else None
        return cls(trace.objective, trace.bound, trace.norm, tolerance)

    @property
    def passes(self) -> Vector:
        """1, 2, …: the horizontal axis."""
        return np.arange(1, len(self.objective) + 1, dtype=np.float64)

    @property
    def excess(self) -> Vector:
        """The objective above the smallest one seen; NaN where the difference is mere rounding."""
        above = self.objective - self.objective.min()
        return np.where(above > 1e-15 * np.abs(self.objective), above, np.nan)

    def plot(self, ax: Any = None) -> Self:
        """Draw two panels: distances on a logarithmic scale, and ‖w‖."""
        left, right = canvas.axes(ax, 2)
        left.semilogy(
            self.passes, self.excess, "o-", color=canvas.POSITIVE, ms=4, label="objective above the best seen"
        )
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
        left.set(xlabel="pass over the data", ylabel=distance, title=title)
        left.legend(frameon=False, fontsize=8)
        right.plot(self.passes, self.norm, "o-", color=canvas.INK, ms=4)
        right.set(xlabel="pass over the data", ylabel="‖w‖", title="Length of the weights")
        for panel in (left, right):
            canvas.tidy(panel)
            panel.xaxis.get_major_locator().set_params(integer=True)
        self.ax_, self.figure_ = np.array([left, right]), left.figure
        return self
