"""The convergence theorem at work: mistakes under their bound, and the angle to w* under its own."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.certificates.separator import clearance, mistake_bound
from separatrix.core.arrays import Positions, Vector
from separatrix.core.errors import CertificateError, refuse
from separatrix.display import canvas
from separatrix.display.plane import table
from separatrix.models.labels import encode
from separatrix.models.perceptron.estimator import Perceptron
from separatrix.models.perceptron.separator_rows import OneSide
from separatrix.models.separability.question import separability


@dataclass
class MistakesDisplay:
    """Mistakes per visit, and the angle between w and w* after each update.

    w* is the direction of largest margin of the rows as the perceptron sees them, the constant counted in:
    s⟨w*, x⟩ ≥ γ‖w*‖ for all rows, ‖x‖ ≤ R. From a start w₀ with rate η and margin β, k mistakes give (u = w*/‖w*‖)

        cos ∠(w, w*)  ≥  (⟨w₀, u⟩ + kηγ) / √(‖w₀‖² + k(η²R² + 2ηβ)),

    for a zero start √k·γ/R. The angle itself may grow at an update; what the theorem promises is that this lower bound
    of its cosine rises (from another start, in the end). No cosine passes 1, so there are at most ``bound`` mistakes.
    Weights of zero have no angle: NaN.

    >>> X, y = [[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]], [-1, -1, 1, 1]
    >>> display = MistakesDisplay.from_perceptron(X, y, Perceptron(shuffle=False))
    >>> display.visits, display.epochs, display.bound
    (array([1, 3]), 2, 6.0)
    >>> display.angle.round(1), display.most_angle.round(1)
    (array([nan, 60., 30.]), array([ nan, 65.9, 54.7]))
    """

    visits: Positions
    total_visits: int
    per_epoch: int
    angle: Vector
    most_angle: Vector
    bound: float
    gamma: float
    R: float
    finished: bool = True
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_perceptron(
        cls,
        X: Any,
        y: Any,
        model: Perceptron | None = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        max_visits: int = 100_000,
    ) -> Self:
        """The visits of a perceptron (sample rule, constant rate) over rows that can be separated.

        After ``max_visits`` the picture ends, with ``finished`` False if mistakes were still being made.
        """
        model = Perceptron() if model is None else model
        _check_theorem(model)
        values, _ = table(X)
        target = encode(y, len(values))
        if len(target.classes) != 2:
            refuse(f"There are {len(target.classes)} classes.", "the theorem is about two: pass y == label.")
        seen = np.column_stack([values, np.ones(len(values))]) if model.fit_intercept else values
        verdict = separability(seen, target.codes, fit_intercept=False)
        if verdict.kind != "complete":
            refuse(f"The rows cannot be separated ({verdict.kind}).", "without a separator no bound exists.")
        try:
            star = verdict.max_margin().direction
        except CertificateError:
            assert verdict.direction is not None
            star = verdict.direction
        made: list[int] = []
        points: list[Vector] = []
        last = 0
        for step in model.steps(X, y, coef_init, intercept_init):
            if not points:
                points.append(step.before)
            if step.mistake:
                made.append(step.visit)
                points.append(step.after)
            last = step.visit
            if last >= max_visits:
                break
        weights = np.roll(np.array(points), -1, axis=1) if model.fit_intercept else np.array(points)
        clear = clearance(OneSide(bool(model.fit_intercept), target.classes, 1).restate(X, y, None), star)
        eta, margin, unit = float(model.eta0), float(model.margin), star / np.linalg.norm(star)
        gamma = clear.gamma / float(np.linalg.norm(star))
        k = np.arange(len(points))
        with np.errstate(invalid="ignore", divide="ignore"):
            cosine = weights @ unit / np.linalg.norm(weights, axis=1)
            least = (weights[0] @ unit + k * eta * gamma) / np.sqrt(
                weights[0] @ weights[0] + k * (eta**2 * clear.R**2 + 2 * eta * margin)
            )
        return cls(
            np.array(made, dtype=np.int64),
            last,
            len(values),
            np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))),
            np.degrees(np.arccos(np.clip(least, -1.0, 1.0))),
            mistake_bound(weights[0], star, clear.gamma, clear.R, eta, margin),
            gamma,
            clear.R,
            not made or last - made[-1] >= len(values),
        )

    @property
    def mistakes(self) -> int:
        """How many there were."""
        return len(self.visits)

    @property
    def epochs(self) -> int:
        """Epochs walked, the last without a mistake."""
        return -(-self.total_visits // self.per_epoch)

    def plot(self, ax: Any = None) -> Self:
        """Draw two panels: mistakes under their bound, and the angle under its own."""
        left, right = canvas.axes(ax, 2, size=(5.2, 3.8))
        at = np.concatenate([[0], self.visits, [self.total_visits]])
        count = np.concatenate([np.arange(self.mistakes + 1), [self.mistakes]])
        if self.epochs <= 60:
            for epoch in range(1, self.epochs + 1):
                left.axvline(epoch * self.per_epoch, color="#dde2e7", lw=0.9, zorder=0)
        left.step(at, count, where="post", color=canvas.POSITIVE, lw=2, label=f"mistakes: {self.mistakes}")
        left.axhline(self.bound, color=canvas.BOUND, lw=1.6, ls="--", label=f"at most {self.bound:.0f}")
        left.set(xlabel=f"visit ({self.epochs} epochs of {self.per_epoch} rows)", ylabel="mistakes so far")
        if self.bound > 20 * max(self.mistakes, 1):
            left.set_yscale("symlog", linthresh=1)
        left.set_ylim(0, 1.25 * self.bound if self.bound <= 20 * max(self.mistakes, 1) else 4 * self.bound)
        left.ticklabel_format(axis="x", style="plain")
        unfinished = "" if self.finished else f" (first {self.total_visits} visits)"
        left.set_title(f"Mistakes and their bound{unfinished}", fontsize=10)
        updates = np.arange(len(self.angle))
        right.plot(updates, self.most_angle, "--", color=canvas.BOUND, lw=1.6, label="the theorem's bound")
        few = len(updates) <= 80
        rises = np.flatnonzero(np.diff(self.angle) > 1e-9) + 1
        grew = f"grew {len(rises)} times"
        name = "angle to w*" if few or not len(rises) else f"angle to w*, {grew}"
        right.plot(updates, self.angle, "o-" if few else "-", color=canvas.POSITIVE, ms=4, lw=1.4, label=name)
        if len(rises) and few:
            right.plot(rises, self.angle[rises], "o", color=canvas.NEGATIVE, ms=5, label=grew)
        right.set(xlabel="update", ylabel="degrees")
        right.set_ylim(bottom=0)
        right.set_title("The angle between w and w*", fontsize=10)
        for panel in (left, right):
            canvas.tidy(panel)
            panel.xaxis.get_major_locator().set_params(integer=True)
            canvas.legend_below(panel)
        left.grid(visible=False, axis="x")
        self.ax_, self.figure_ = np.array([left, right]), left.figure
        return self


def _check_theorem(model: Perceptron) -> None:
    plain = {"rule": "sample", "learning_rate": "constant", "penalty": None, "class_weight": None}
    for name, value in plain.items():
        if getattr(model, name) != value:
            refuse(f"{name} is {getattr(model, name)!r}.", f"the theorem needs {name}={value!r}.")
