"""Gaussian classes with one covariance: their ellipses, the posteriors between them, the regions they win."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas
from separatrix.display.boundary import BoundaryDisplay


@dataclass
class GaussianDisplay:
    """Ellipses of one, two and three standard deviations about each mean, over regions and posteriors.

    The ellipse (x − μ)ᵀΣ⁻¹(x − μ) = r² is the same for all classes but for its centre; that is why the boundaries are
    straight. Columns that are not shown are held at their mean, and Σ is that of the two shown.

    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> display = GaussianDisplay.from_estimator(LinearDiscriminantAnalysis().fit(X[:, 2:], y), X[:, 2:], y)
    >>> display.means.shape, display.ellipse(0, 2.0).shape
    ((3, 2), (200, 2))
    """

    background: BoundaryDisplay
    means: Matrix
    covariance: Matrix
    radii: Sequence[float] = (1.0, 2.0, 3.0)
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, columns: tuple[int, int] | None = None) -> Self:
        """Means and covariance of a fitted LinearDiscriminantAnalysis, over two of its columns."""
        if not hasattr(estimator, "covariance_") or not hasattr(estimator, "means_"):
            refuse(f"{type(estimator).__name__} has no means and covariance.", "fit a LinearDiscriminantAnalysis.")
        background = BoundaryDisplay.from_estimator(estimator, X, y, columns)
        shown = list(columns or (0, 1))
        return cls(background, estimator.means_[:, shown], estimator.covariance_[np.ix_(shown, shown)])

    def ellipse(self, k: int, radius: float, count: int = 200) -> Matrix:
        """Points μₖ + radius·Σ^½(cos t, sin t)."""
        values, axes = np.linalg.eigh(self.covariance)
        angle = np.linspace(0.0, 2.0 * np.pi, count)
        circle = np.column_stack([np.cos(angle), np.sin(angle)]) * np.sqrt(np.maximum(values, 0.0))
        return np.asarray(self.means[k] + radius * circle @ axes.T)

    def plot(self, ax: Any = None) -> Self:
        """Draw the regions and the data, then the ellipses and the means."""
        (panel,) = canvas.axes(ax, size=(5.8, 4.6))
        self.background.plot(panel)
        colours: Any = self.background.colours()
        limits: tuple[Vector, Vector] = panel.get_xlim(), panel.get_ylim()
        for k in range(len(self.means)):
            for radius in self.radii:
                curve = self.ellipse(k, radius)
                panel.plot(curve[:, 0], curve[:, 1], color=0.75 * colours[k], lw=1.6 if radius == 1 else 0.9)
            panel.plot(*self.means[k], marker="X", ms=9, color=0.75 * colours[k], mec="white", mew=1.2, zorder=5)
        panel.set(xlim=limits[0], ylim=limits[1])
        steps = ", ".join(f"{radius:g}" for radius in self.radii)
        held = f"\n{self.background.held} other columns at their mean" if self.background.held else ""
        panel.set_title(f"Gaussian classes: ellipses at {steps} standard deviations{held}", fontsize=10)
        self.ax_, self.figure_ = panel, panel.figure
        return self
