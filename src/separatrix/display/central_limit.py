"""The central limit theorem: standardised means of more and more draws beside the normal law."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.display import canvas
from separatrix.probability import Normal, standardised_means

LATTICE = 60
"""Different values up to which each has a bar of its own."""


@dataclass
class CentralLimitDisplay:
    """Histograms of √n (x̄ − μ)/σ for several n, with the largest difference from Φ.

    >>> from separatrix.probability import Bernoulli
    >>> display = CentralLimitDisplay.from_law(Bernoulli(0.2), sizes=(1, 100), draws=5_000, seed=1)
    >>> [round(d, 2) for d in display.distances]
    [0.49, 0.06]
    """

    sizes: Sequence[int]
    means: Sequence[Vector]
    name: str = ""
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_law(cls, law: Any, sizes: Sequence[int] = (1, 5, 50), draws: int = 50_000, seed: int | None = 0) -> Self:
        """Draw ``draws`` means of each size from a law on the line."""
        return cls(tuple(sizes), [standardised_means(law, n, draws, seed) for n in sizes], str(law))

    @property
    def distances(self) -> list[float]:
        """The largest difference of the distribution functions, for each size."""
        answers = []
        for z in self.means:
            sorted_ = np.sort(z)
            phi = Normal().cdf(sorted_)
            steps = np.arange(len(z) + 1) / len(z)
            answers.append(float(max(np.abs(steps[1:] - phi).max(), np.abs(phi - steps[:-1]).max())))
        return answers

    def bars(self, k: int) -> tuple[Vector, Vector, float]:
        """Middles, heights (as a density) and width of the bars for size number k."""
        z = self.means[k]
        values, counts = np.unique(z.round(9), return_counts=True)
        if len(values) <= LATTICE:  # draws on a lattice: bars that stand on it
            width = float(np.diff(values).min()) if len(values) > 1 else 1.0
            return values, counts / len(z) / width, width
        counts, edges = np.histogram(z, bins=np.linspace(-4.0, 4.0, 41))
        width = float(edges[1] - edges[0])
        return (edges[:-1] + edges[1:]) / 2, counts / len(z) / width, width

    def plot(self, ax: Any = None) -> Self:
        """Draw one panel for each size."""
        panels = canvas.axes(ax, len(self.sizes), size=(3.3, 3.0))
        grid = np.linspace(-4.0, 4.0, 321)
        for k, (panel, n, distance) in enumerate(zip(panels, self.sizes, self.distances, strict=True)):
            middles, heights, width = self.bars(k)
            panel.bar(middles, heights, 0.92 * width, color="#a9c5d6", label="√n (x̄ − μ)/σ")
            panel.plot(grid, Normal().pdf(grid), color=canvas.NEGATIVE, lw=1.8, label="N(0, 1)")
            panel.set(xlim=(-4, 4), ylim=(0, max(0.5, 1.1 * float(heights.max()))), xlabel="standardised mean")
            panel.set_title(f"n = {n}: distance {distance:.3f}", fontsize=9)
            canvas.tidy(panel)
        panels[0].set_ylabel("density")
        panels[-1].legend(frameon=False, fontsize=8, loc="upper right")
        panels[0].figure.suptitle(f"Means of n draws from {self.name}", fontsize=10)
        self.ax_, self.figure_ = panels, panels[0].figure
        return self
