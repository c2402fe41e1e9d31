"""Growth: seconds against rows and against columns, and the price of the solver that "auto" chose.

One grid of shapes, dense float64, in half decades. Where a neighbouring shape is fitted by another solver, that one is
asked for by name here too: *jump* is our time over its; above 1.5 the wrong one was chosen. ``results/growth.png`` has
the grid twice, log-log: a line for each width over the rows, and a line for each height over the columns.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.grid import Cell
from benchmarks.harness import Options, load, print_table
from separatrix import LogisticRegression
from separatrix.display.canvas import BOUND, FAINT, INK, NEGATIVE, POSITIVE, tidy

ROWS = (300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
COLUMNS = (3, 10, 30, 100, 300, 1_000, 3_000)
MOST_NUMBERS = 3 * 10**7
GOAL = 1.5
PICTURE = Path(__file__).parent / "results" / "growth.png"
MARKS = {"newton-cholesky": "o", "newton-subsample": "s", "quasi-newton": "^", "newton-cg": "D"}


@dataclass(slots=True)
class Place:
    """A shape, our time, who ran, and how long others take that neighbours were fitted by."""

    cell: Cell
    seconds: float
    solver: str
    others: dict[str, float] = field(default_factory=dict)

    @property
    def jump(self) -> float:
        """Our time over that of the quickest of the others."""
        return self.seconds / min(self.others.values(), default=math.inf)


def run(options: Options) -> None:
    found: dict[bool, dict[tuple[int, int], Place]] = {}
    for correlated in (False, True):
        found[correlated] = {
            (n, d): _timed(Cell(n, d, correlated), options)
            for n, d in product(ROWS, COLUMNS)
            if n * d <= (MOST_NUMBERS if not options.quick else 10**5)
        }
        for (n, d), place in found[correlated].items():
            near = [found[correlated].get(at) for at in _neighbours(n, d)]
            for other in {each.solver for each in near if each is not None} - {place.solver}:
                place.others[other] = _seconds(place.cell, options, other)[0]
    places = [place for grid in found.values() for place in grid.values()]
    worst = sorted((place for place in places if place.others), key=lambda place: -place.jump)[:8]
    rows = [
        (f"{p.cell.rows:,} × {p.cell.columns:,}", p.cell.kind.split(", ")[2], p.solver, f"{p.seconds:.3g}",
         ", ".join(f"{name} {seconds:.3g}" for name, seconds in p.others.items()), f"{p.jump:.2f}")
        for p in worst
    ]  # fmt: skip
    print_table(("shape", "columns", "auto took", "seconds", "neighbours' solvers", "jump"), rows)
    above = sum(place.jump > GOAL for place in places)
    print(f"\n{len(places)} shapes, {above} with a jump above {GOAL}; {load()}.")
    draw(found)


def _neighbours(n: int, d: int) -> list[tuple[int, int]]:
    i, j = ROWS.index(n), COLUMNS.index(d)
    rows = [(ROWS[k], d) for k in (i - 1, i + 1) if 0 <= k < len(ROWS)]
    return rows + [(n, COLUMNS[k]) for k in (j - 1, j + 1) if 0 <= k < len(COLUMNS)]


def _timed(cell: Cell, options: Options) -> Place:
    seconds, solver = _seconds(cell, options, "auto")
    return Place(cell, seconds, solver)


def _seconds(cell: Cell, options: Options, solver: str) -> tuple[float, str]:
    """The shortest of several fits, and who fitted."""
    problem = cell.problem()
    numbers = cell.rows * cell.columns
    taken, model = math.inf, LogisticRegression(solver=solver)
    for _ in range(options.rounds(12 if numbers <= 10**6 else 4) + 1):
        start = time.perf_counter()
        model.fit(problem.X, problem.y)
        taken = min(taken, time.perf_counter() - start)
    return taken, str(model.trace_.solver)


def draw(found: dict[bool, dict[tuple[int, int], Place]]) -> None:
    """Both views of both grids, a mark for each solver."""
    from matplotlib import pyplot
    from matplotlib.lines import Line2D

    figure, panels = pyplot.subplots(2, 2, figsize=(11.0, 7.6), layout="constrained", sharey=True)
    for row, correlated in enumerate((False, True)):
        grid = found[correlated]
        kind = "correlated, in units 0.1 … 10" if correlated else "unit columns"
        _panel(panels[row][0], grid, COLUMNS, lambda n, d: (n, d), "rows", "columns", kind)
        _panel(panels[row][1], grid, ROWS, lambda d, n: (n, d), "columns", "rows", kind)
        panels[row][0].set_ylabel("seconds")
    panels[0][0].set_ylim(bottom=3e-4)
    solvers = {place.solver for grid in found.values() for place in grid.values()}
    marks = [
        Line2D([], [], color=INK, marker=MARKS.get(name, "v"), linestyle="", label=name) for name in sorted(solvers)
    ]
    marks.append(Line2D([], [], color=FAINT, linestyle=":", label="one pass at 10 GB/s"))
    figure.legend(handles=marks, loc="outside lower center", ncols=len(marks), frameon=False)
    figure.suptitle("A proved fit: dense float64, C = 1", color=INK)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=80)
    pyplot.close(figure)
    print(f"The picture is in {PICTURE.name}.")


def _panel(ax: Any, grid: Any, fixed: Sequence[int], at: Any, across: str, along: str, kind: str) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("width", [POSITIVE, BOUND, NEGATIVE])
    moving = ROWS if across == "rows" else COLUMNS
    for place, value in enumerate(fixed):
        points = [(x, grid[at(x, value)]) for x in moving if at(x, value) in grid]
        if len(points) < 2:
            continue
        colour = colours(place / max(len(fixed) - 1, 1))
        x = [size for size, _ in points]
        y = [each.seconds for _, each in points]
        ax.plot(x, y, color=colour, linewidth=1.4)
        ax.plot(x, [size * value * 8e-10 for size in x], color=FAINT, linestyle=":", linewidth=0.8)
        for size, each in points:
            ax.plot(size, each.seconds, MARKS.get(each.solver, "v"), color=colour, markersize=4.5)
        ax.annotate(f"{value:,}", (x[-1], y[-1]), xytext=(5, 0), textcoords="offset points", color=colour, fontsize=8)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(across)
    ax.set_title(f"{kind}: a line for each number of {along}", fontsize=9, color=INK)
    tidy(ax)
