"""What each classifier pays for a margin: the losses of the lectures in one picture."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Vector
from separatrix.display import canvas
from separatrix.probability import log_loss, perceptron_loss, squared_loss, zero_one_loss


def lecture_losses(margins: Vector) -> dict[str, Vector]:
    """The four losses at the margins m = s·f(x); the logistic one in bits, so that it is 1 at m = 0."""
    return {
        "0–1: mistakes": zero_one_loss(margins),
        "perceptron: max(0, −m)": perceptron_loss(margins),
        "logistic: log₂(1 + e⁻ᵐ)": log_loss(margins) / np.log(2.0),
        "least squares: (1 − m)²": squared_loss(margins),
    }


@dataclass
class LossDisplay:
    """Losses against the margin.

    >>> display = LossDisplay.from_margins(np.array([-1.0, 0.0, 2.0]))
    >>> display.losses["least squares: (1 − m)²"]
    array([4., 1., 1.])
    """

    margins: Vector
    losses: Mapping[str, Vector]
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_margins(cls, margins: Vector | None = None) -> Self:
        """The losses over a range of margins, −2.5 to 2.5 if not given."""
        at = np.linspace(-2.5, 2.5, 501) if margins is None else np.asarray(margins, dtype=np.float64)
        return cls(at, lecture_losses(at))

    def plot(self, ax: Any = None) -> Self:
        """Draw one curve per loss."""
        (panel,) = canvas.axes(ax, size=(6.0, 3.8))
        for (name, values), colour in zip(self.losses.items(), (canvas.INK, *canvas.SERIES), strict=False):
            panel.plot(self.margins, values, color=colour, lw=2, label=name)
        panel.axvline(0.0, color=canvas.FAINT, lw=1, ls="--")
        panel.set(xlabel="margin  m = s · f(x)", ylabel="loss", ylim=(-0.1, 5.0), title="What a margin costs")
        panel.text(-0.06, 4.75, "← wrong side", color=canvas.FAINT, ha="right", fontsize=8)
        panel.text(0.06, 4.75, "right side →", color=canvas.FAINT, ha="left", fontsize=8)
        panel.legend(frameon=False, fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 0.93))
        canvas.tidy(panel)
        self.ax_, self.figure_ = panel, panel.figure
        return self
