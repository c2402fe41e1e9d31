"""Both ways to be near: the normal laws with the least KL(p‖q) and the least KL(q‖p)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.display import canvas
from separatrix.probability import KLFit, Normal, fit_kl
from separatrix.probability.density import density_of


@dataclass
class KLDisplay:
    """A target density with its forward and reverse fit, and the reverse fits that are only locally best.

    >>> def hills(x):
    ...     return 0.6 * Normal(-2, 0.25).pdf(x) + 0.4 * Normal(2, 0.25).pdf(x)
    >>> display = KLDisplay.from_target(hills, interval=(-np.inf, np.inf))
    >>> round(display.forward.law.mean, 6), display.reverse.n_minima
    (-0.4, 3)
    """

    x: Vector
    target: Vector
    forward: KLFit
    reverse: KLFit
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_target(
        cls,
        target: Any,
        *,
        interval: tuple[float, float] | None = None,
        log: bool = False,
        points: Sequence[float] = (),
        count: int = 601,
    ) -> Self:
        """Fit a density, as ``fit_kl`` takes it, in both directions."""
        common: dict[str, Any] = {"interval": interval, "log": log, "points": points}
        forward, reverse = fit_kl(target, Normal, "forward", **common), fit_kl(target, Normal, "reverse", **common)
        reach = 3.2 * forward.law.standard_deviation
        x = np.linspace(forward.law.mean - reach, forward.law.mean + reach, count)
        with np.errstate(under="ignore"):
            height = np.exp(density_of(target, interval, log, points, "target").at(x))
        return cls(x, height, forward, reverse)

    def plot(self, ax: Any = None) -> Self:
        """Draw the target as an area, the fits as curves."""
        (panel,) = canvas.axes(ax, size=(6.4, 3.8))
        panel.fill_between(self.x, self.target, color="#d9dee4", lw=0, label="target p")
        panel.plot(self.x, self.target, color=canvas.FAINT, lw=1)
        for fit, colour, name in (
            (self.forward, canvas.POSITIVE, "argmin KL(p‖q): covers"),
            (self.reverse, canvas.NEGATIVE, "argmin KL(q‖p): settles on a peak"),
        ):
            panel.plot(self.x, fit.law.pdf(self.x), color=colour, lw=2, label=f"{name}\nKL = {fit.divergence:.3f}")
        for k, (law, divergence) in enumerate(self.reverse.minima[1:]):
            label = "other local minima of KL(q‖p)" if k == 0 else None
            panel.plot(self.x, law.pdf(self.x), color=canvas.NEGATIVE, lw=1, ls=":", label=label)
            if self.x[0] < law.mean < self.x[-1]:
                panel.annotate(f"{divergence:.3f}", (law.mean, float(law.pdf(law.mean))), xytext=(0, 3), ha="center",
                               textcoords="offset points", fontsize=7, color=canvas.NEGATIVE)  # fmt: skip
        panel.set(xlabel="x", ylabel="density", xlim=(self.x[0], self.x[-1]))
        tops = [self.target.max(), *(law.pdf(law.mean) for law, _ in self.reverse.minima)]
        panel.set_ylim(0, 1.5 * max(tops))
        panel.set_title("The nearest normal law, in both directions", fontsize=10)
        panel.legend(frameon=False, fontsize=8, loc="upper center", ncols=2)
        canvas.tidy(panel)
        self.ax_, self.figure_ = panel, panel.figure
        return self
