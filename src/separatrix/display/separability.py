"""The verdict on separability, seen: a corridor, a common point of two hulls, or a line with rows on it."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.certificates.separability import Separability
from separatrix.core.arrays import AnyArray, Matrix, Positions, Vector
from separatrix.core.errors import CertificateError, refuse
from separatrix.display import canvas
from separatrix.display.boundary import COMPARABLE
from separatrix.display.plane import Line, around, cut, hull, table
from separatrix.models.separability.problem import TwoClassProblem
from separatrix.models.separability.question import separability

BARS = 40


@dataclass
class SeparabilityDisplay:
    """Why the classes can be parted, or cannot.

    - **complete**: the widest corridor without a row inside; ``marked`` are the rows on its edge that carry it.
    - **overlap**: λ > 0 on the ``marked`` rows has Σ λᵢsᵢ(xᵢ, 1) = 0. Divided by their sum in either class, the λ are
      ``shares`` that add up to one, and Σ shareᵢxᵢ is the same point for both classes: ``common`` lies in both convex
      hulls, so no line has them on two sides. (Without a constant: the point is common to the cones from the origin.)
    - **quasi**: a line with no row on a wrong side, but the ``marked`` rows on it, which nothing can move off it.

    Two columns are drawn in the plane. Of any other number the signed distances from the
    hyperplane are counted (complete, quasi), or the shares of the proof's rows are shown (overlap).

    >>> display = SeparabilityDisplay.from_data([[0.0, 0.0], [2.0, 2.0], [0.0, 2.0], [2.0, 0.0]], [0, 0, 1, 1])
    >>> display.kind, display.common, display.shares
    ('overlap', array([1., 1.]), array([0.5, 0.5, 0.5, 0.5]))
    >>> display = SeparabilityDisplay.from_data([[0.0, 0.0], [0.0, 3.0], [4.0, 1.0]], [0, 0, 1])
    >>> round(display.margin, 9), display.marked
    (2.0, array([0, 1, 2]))
    """

    kind: str
    points: Matrix
    positive: AnyArray
    labels: tuple[str, str]
    names: list[str]
    marked: Positions
    shares: Vector | None = None
    common: Vector | None = None
    direction: Vector | None = None
    constant: float = 0.0
    margin: float = 0.0
    numbers: Positions | None = None
    cones: bool = False
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_data(cls, X: Any, y: Any, fit_intercept: bool = True) -> Self:
        """Ask for the verdict and show it."""
        return cls.from_verdict(separability(X, y, fit_intercept), X, y)

    @classmethod
    def from_verdict(cls, verdict: Separability, X: Any, y: Any) -> Self:
        """The picture of a verdict of two classes on its data; rows are counted within these two."""
        problem = verdict.problem
        if not isinstance(problem, TwoClassProblem):
            refuse("The verdict is about more than two classes.", "show a pair: verdict.pairs[0, 1].")
        if verdict.kind == "undecided":
            refuse("The verdict is undecided.", "raise the budget of separability.")
        if len(problem.negative) == 0:
            refuse("There is one class only.", "a picture needs two classes.")
        values, names = table(X)
        labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        members = np.arange(len(values)) if verdict.members is None else verdict.members
        if len(labels) != len(values) or len(members) != verdict.count or members.max() >= len(values):
            refuse(f"The verdict is about {verdict.count} rows; X has {len(values)}.", "pass the data it was made of.")
        values, positive = values[members], np.isin(labels[members], problem.positive)
        texts = ("not " + str(problem.positive[0]) if len(problem.negative) > 1 else str(problem.negative[0]),
                 str(problem.positive[0]))  # fmt: skip
        made = cls(verdict.kind, values, positive, texts, names, np.empty(0, dtype=np.int64), numbers=members)
        if verdict.kind == "overlap":
            made._balance(verdict, problem.fit_intercept)
            return made
        direction, margin = verdict.direction, verdict.margin
        if verdict.kind == "complete":
            try:
                widest = verdict.max_margin(X, labels)
                direction, margin, made.marked = widest.direction, widest.margin, np.sort(widest.support)
            except CertificateError:  # a corridor as narrow as rounding: show the one that is proved
                pass
        else:
            assert verdict.separated is not None
            made.marked = np.setdiff1d(np.arange(verdict.count), verdict.separated)
        assert direction is not None
        weights = direction[:-1] if problem.fit_intercept else direction
        made.direction = weights / np.linalg.norm(weights)
        made.constant = float(direction[-1] / np.linalg.norm(weights)) if problem.fit_intercept else 0.0
        made.margin = float(margin)
        return made

    def _balance(self, verdict: Separability, has_constant: bool) -> None:
        assert verdict.balance is not None
        order = np.argsort(verdict.balance.rows)
        self.marked, weights = verdict.balance.rows[order], verdict.balance.multipliers[order]
        upper = self.positive[self.marked]
        totals = [weights[~upper].sum(), weights[upper].sum()]
        self.cones = not has_constant
        if self.cones:  # one common factor
            totals = [weights.sum(), weights.sum()]
        self.shares = weights / np.where(upper, totals[1], totals[0])
        self.common = self.shares[upper] @ self.points[self.marked[upper]]

    @property
    def distances(self) -> Vector:
        """Signed distances of all rows from the hyperplane, positive on the positive side."""
        if self.direction is None:
            refuse("Overlapping classes have no hyperplane between them.", "see common and shares.")
        return np.asarray(self.points @ self.direction + self.constant)

    def plot(self, ax: Any = None) -> Self:
        """Draw the plane, the distances or the shares."""
        flat = self.points.shape[1] == 2
        (panel,) = canvas.axes(ax, size=(5.6, 4.6) if flat else (6.0, 3.8))
        if flat:
            self._draw_plane(panel)
        elif self.kind == "overlap":
            self._draw_shares(panel)
        else:
            self._draw_distances(panel)
        panel.set_title({"complete": f"Completely separable: largest margin {self.margin:.3g}",
                         "quasi": f"Quasi-completely separable: {len(self.marked)} of {len(self.points)} rows "
                                  "cannot leave the boundary",
                         "overlap": f"Overlap, proved by {len(self.marked)} rows"}[self.kind], fontsize=10)  # fmt: skip
        canvas.tidy(panel)
        self.ax_, self.figure_ = panel, panel.figure
        return self

    def _draw_plane(self, panel: Any) -> None:
        box = around(np.vstack([self.points, np.zeros((int(self.cones), 2))]), 0.12)
        if self.kind == "overlap":
            self._draw_common(panel)
        else:
            assert self.direction is not None
            line = Line(self.direction, self.constant)
            self._draw_corridor(panel, line, box)
        for upper, colour in ((False, canvas.NEGATIVE), (True, canvas.POSITIVE)):
            mine = self.positive == upper
            panel.scatter(*self.points[mine].T, s=24, color=colour, edgecolor="white", linewidth=0.5, zorder=3,
                          label=f"class {self.labels[upper]}")  # fmt: skip
        what = {"complete": "rows that carry the corridor", "quasi": "rows on the boundary",
                "overlap": "rows of the proof"}[self.kind]  # fmt: skip
        panel.scatter(*self.points[self.marked].T, s=85, facecolor="none", edgecolor=canvas.INK, linewidth=1.2,
                      label=what, zorder=4)  # fmt: skip
        panel.set(xlim=box[:, 0], ylim=box[:, 1], xlabel=self.names[0], ylabel=self.names[1])
        panel.set_aspect("equal" if self._one_scale(box) else "auto")
        canvas.legend_below(panel)

    @staticmethod
    def _one_scale(box: Matrix) -> bool:
        spans = box[1] - box[0]
        return bool(spans.max() <= COMPARABLE * spans.min())

    def _draw_corridor(self, panel: Any, line: Line, box: Matrix) -> None:
        if self.kind == "complete":
            square = np.array([box[0], [box[1, 0], box[0, 1]], box[1], [box[0, 0], box[1, 1]]])
            for sign in (1.0, -1.0):
                square = cut(square, sign * line.normal, sign * line.constant + self.margin)
            panel.fill(*square.T, color=canvas.BOUND, alpha=0.18, lw=0, label="corridor of largest margin")
            for side, colour in ((-1, canvas.NEGATIVE), (1, canvas.POSITIVE)):
                edge = line.moved(side * self.margin).ends(box)
                if edge is not None:
                    panel.plot(*edge.T, color=colour, ls="--", lw=1.2)
        ends = line.ends(box)
        if ends is not None:
            panel.plot(*ends.T, color=canvas.INK, lw=1.6, label="boundary", zorder=2)
        if ends is not None and self._one_scale(box):  # else a right angle would not look like one
            foot = ends.mean(axis=0)
            reach = self.margin if self.kind == "complete" else 0.15 * float((box[1] - box[0]).min())
            head = foot + reach * line.normal
            canvas.arrow(panel, foot, head, label="" if self.kind == "complete" else "w")
            if self.kind == "complete":
                panel.annotate("margin", (foot + head) / 2, xytext=(4, -12), textcoords="offset points", fontsize=8,
                               color=canvas.INK)  # fmt: skip

    def _draw_common(self, panel: Any) -> None:
        assert self.shares is not None
        assert self.common is not None
        for upper, colour in ((False, canvas.NEGATIVE), (True, canvas.POSITIVE)):
            if not self.cones:
                corners = hull(self.points[self.positive == upper])
                panel.fill(*corners.T, facecolor=colour, edgecolor=colour, alpha=0.13, lw=1.2)
        for row, share in zip(self.marked, self.shares, strict=True):
            colour = canvas.POSITIVE if self.positive[row] else canvas.NEGATIVE
            other = np.zeros(2) if self.cones else self.common
            panel.plot(*np.array([self.points[row], other]).T, color=colour, lw=0.8 + 3.0 * share, zorder=2)
        panel.scatter(*self.common, marker="*", s=190, color=canvas.BOUND, edgecolor=canvas.INK, linewidth=0.8,
                      zorder=5, label=f"point of both {'cones from 0' if self.cones else 'hulls'}")  # fmt: skip

    def _draw_distances(self, panel: Any) -> None:
        at, off = self.distances, np.ones(len(self.points), dtype=bool)
        if self.kind == "quasi":
            off[self.marked] = False
        width = float(np.ptp(at)) / BARS or 1.0
        for upper, colour in ((False, canvas.NEGATIVE), (True, canvas.POSITIVE)):
            own = np.abs(at[(self.positive == upper) & off])
            # bars begin at the margin: none reaches into the corridor
            bins = max(int((own.max(initial=0.0) - self.margin) / width), 0) + 1
            edges = self.margin * (1.0 - 1e-9) + width * np.arange(bins + 1)
            counts, _ = np.histogram(own, edges)
            panel.bar((edges[:-1] + width / 2) * (1 if upper else -1), counts, 0.96 * width, color=colour, alpha=0.8,
                      label=f"class {self.labels[upper]}")  # fmt: skip
        if self.kind == "quasi":
            panel.bar(0.0, len(self.marked), 0.96 * width, color=canvas.FAINT, label="both classes, on the boundary")
        panel.axvline(0.0, color=canvas.INK, lw=1.6, label="boundary")
        if self.kind == "complete":
            panel.axvspan(-self.margin, self.margin, color=canvas.BOUND, alpha=0.3, lw=0, label="corridor")
        panel.set(xlabel="signed distance from the hyperplane", ylabel="rows")
        canvas.legend_below(panel, 4)

    def _draw_shares(self, panel: Any) -> None:
        assert self.shares is not None
        assert self.numbers is not None
        upper = self.positive[self.marked]
        order = np.lexsort((-self.shares, upper))
        heights = np.where(upper, self.shares, -self.shares)[order]
        place = np.arange(len(order))
        for side, colour in ((False, canvas.NEGATIVE), (True, canvas.POSITIVE)):
            mine = upper[order] == side
            panel.bar(place[mine], heights[mine], color=colour, label=f"class {self.labels[side]}")
        panel.axhline(0.0, color=canvas.INK, lw=1)
        if len(place) <= BARS:
            panel.set_xticks(place, [str(row) for row in self.numbers[self.marked[order]]], rotation=90, fontsize=7)
        else:
            panel.set_xticks([])
        panel.set(xlabel="rows of the proof", ylabel="s · share of the common point")
        panel.legend(fontsize=8, frameon=False)
