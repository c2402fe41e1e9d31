"""The perceptron step by step: the boundary before and after each of the first mistakes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import AnyArray, Matrix, Positions, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas
from separatrix.display.boundary import COMPARABLE
from separatrix.display.plane import Line, around, table
from separatrix.models.labels import encode


@dataclass
class StepsDisplay:
    """One small panel for each of the first mistakes: w ← w + ηsx turns the boundary towards the row.

    Weights are written (w₀, w₁, w₂), the constant's first. Weights that are zero have no boundary. An update
    helps the row that was visited; it may take another one over to the wrong side.

    >>> from separatrix import Perceptron
    >>> X, y = [[-1.0, 2.0], [-2.0, 2.0], [1.0, 0.0], [2.0, 1.0]], [-1, -1, 1, 1]
    >>> steps = Perceptron(shuffle=False).steps(X, y, coef_init=[[0.0, 1.0]], intercept_init=[1.0])
    >>> display = StepsDisplay.from_steps(X, y, steps)
    >>> display.before, display.after, display.rows
    (array([[1., 0., 1.]]), array([[ 0.,  1., -1.]]), array([0]))
    >>> display.lines(0)[1].normal
    array([ 1., -1.])
    """

    points: Matrix
    codes: AnyArray
    labels: tuple[str, str]
    names: tuple[str, str]
    visits: Positions
    rows: Positions
    scores: Vector
    before: Matrix
    after: Matrix
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_steps(cls, X: Any, y: Any, steps: Iterable[Any], mistakes: int = 6) -> Self:
        """The first mistakes of ``Perceptron.steps(X, y)``; no more steps are taken than these need."""
        if mistakes < 1:
            refuse(f"mistakes is {mistakes!r}.", "ask for one panel at least.")
        values, names = table(X)
        if values.shape[1] != 2:
            refuse(f"X has {values.shape[1]} columns, and a picture has two.", "learn from two columns: X[:, :2].")
        target = encode(y, len(values))
        if len(target.classes) != 2:
            refuse(f"There are {len(target.classes)} classes.", "steps shows one classifier: pass y == label.")
        made = []
        for step in steps:
            if step.mistake:
                made.append(step)
            if len(made) == mistakes:
                break
        if not made:
            refuse("No step was a mistake: the start separates the data.", "begin at other weights.")
        return cls(
            values,
            target.codes,
            (str(target.classes[0]), str(target.classes[1])),
            (names[0], names[1]),
            np.array([step.visit for step in made]),
            np.array([step.row for step in made]),
            np.array([step.z for step in made]),
            np.array([step.before for step in made]),
            np.array([step.after for step in made]),
        )

    def lines(self, mistake: int) -> tuple[Line, Line]:
        """The boundary before and after a mistake; of length zero where there is none."""
        both = [self.before[mistake], self.after[mistake]]
        lines = [Line(w[-2:], float(w[0]) if len(w) == 3 else 0.0) for w in both]
        return lines[0], lines[1]

    def _box(self) -> Matrix:
        """Around all rows, and around the boundaries that pass not far from them."""
        inner, outer = around(self.points, 0.2), around(self.points, 0.7)
        near = [self.points.mean(axis=0)]
        for line in (line for k in range(len(self.rows)) for line in self.lines(k) if line.length > 0.0):
            foot = line.feet(near[0][None])[0]
            if ((outer[0] <= foot) & (foot <= outer[1])).all():
                near.append(foot)
        room = 0.06 * (inner[1] - inner[0])
        return np.array([np.minimum(inner[0], np.min(near, axis=0) - room),
                         np.maximum(inner[1], np.max(near, axis=0) + room)])  # fmt: skip

    def plot(self, ax: Any = None) -> Self:
        """Draw a panel per mistake: dashed before, solid after, the row visited in a circle."""
        count = len(self.rows)
        box = self._box()
        spans = box[1] - box[0]
        one_scale = bool(spans.max() <= COMPARABLE * spans.min())
        height = 3.1 * float(np.clip(spans[1] / spans[0], 0.4, 1.2)) if one_scale else 2.6
        panels = canvas.axes(
            ax, count, size=(3.1 if count > 1 else 4.2, height + 0.5), columns=3 if count > 4 or count == 3 else 2
        )
        reach = 0.2 * float(spans.min())
        colours = (canvas.NEGATIVE, canvas.POSITIVE)
        for k, panel in enumerate(panels):
            for line, style, colour in zip(self.lines(k), ("--", "-"), (canvas.FAINT, canvas.INK), strict=True):
                ends = line.ends(box)
                if ends is None:
                    continue
                panel.plot(*ends.T, ls=style, color=colour, lw=1.6, label="before" if style == "--" else "after")
                foot = ends.mean(axis=0)
                canvas.arrow(panel, foot, foot + reach * line.normal / line.length, colour,
                             "w" if style == "-" else "")  # fmt: skip
            for code in (0, 1):
                mine = self.codes == code
                panel.scatter(*self.points[mine].T, s=26, color=colours[code], edgecolor="white", linewidth=0.5,
                              zorder=3, label=f"class {self.labels[code]}")  # fmt: skip
            here = self.points[self.rows[k]]
            panel.scatter(*here, s=130, facecolor="none", edgecolor=canvas.BOUND, linewidth=2, zorder=4,
                          label="row visited")  # fmt: skip
            panel.set(xlim=box[:, 0], ylim=box[:, 1])
            panel.set_aspect("equal" if one_scale else "auto")
            panel.set_title(
                f"mistake {k + 1}, visit {self.visits[k]}: f(x) = {canvas.number(self.scores[k])}", fontsize=9
            )
            panel.tick_params(labelsize=7)
            canvas.tidy(panel)
        figure = panels[0].figure
        if ax is None:
            entries = {}
            for panel in panels:  # a first panel may have no line before
                entries.update(dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True)))
            order = sorted(entries, key=lambda name: (name != "before", name != "after", name == "row visited", name))
            figure.legend([entries[name] for name in order], order, loc="outside lower center",
                          ncols=5 if count > 1 else 3, fontsize=8, frameon=False)  # fmt: skip
        self.ax_, self.figure_ = np.array(panels), figure
        return self
