"""The way a descent took, on the curve or the contour lines of its function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from separatrix.core.arrays import Matrix, Vector
from separatrix.core.errors import refuse
from separatrix.display import canvas

GRID = {1: 400, 2: 100}
LEVELS = 18


@dataclass
class DescentDisplay:
    """Paths of one or more descents, a panel each, over the function they walked on.

    A function of one number is drawn as a curve, one of two as contour lines. Values
    are shown on the scale of the function; contour levels are closer near the bottom.

    >>> from separatrix.optimize import gradient_descent
    >>> walk = gradient_descent(lambda x: 2 * x - 6, 0.0, 0.9, keep_path=True)
    >>> display = DescentDisplay.from_descents(lambda x: x**2 - 6 * x + 9, {"rate 0.9": walk})
    >>> display.paths["rate 0.9"].shape, display.values["rate 0.9"][:2]
    ((92, 1), array([9.  , 5.76]))
    """

    grids: tuple[Vector, ...]
    heights: Matrix
    paths: Mapping[str, Matrix]
    values: Mapping[str, Vector]
    names: Sequence[str] = ("x", "y")
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_descents(
        cls,
        function: Callable[[Any], Any],
        descents: Mapping[str, Any],
        *,
        limits: Sequence[tuple[float, float]] | None = None,
        names: Sequence[str] = ("x", "y"),
    ) -> Self:
        """Descents by name, each made with ``keep_path=True``; ``limits`` per coordinate."""
        if not descents:
            refuse("There is no descent to draw.", 'give some: {"rate 0.1": gradient_descent(…, keep_path=True)}.')
        paths = {}
        scalar = False
        for name, descent in descents.items():
            if descent.path is None:
                refuse(f"The descent {name!r} kept no path.", "run it with keep_path=True.")
            points = np.asarray(descent.path.points, dtype=np.float64)
            scalar = points.ndim == 1
            paths[name] = points.reshape(len(points), -1)
        widths = {points.shape[1] for points in paths.values()}
        if len(widths) > 1 or widths.pop() not in GRID:
            refuse("The points do not all have one or two coordinates.", "a picture has room for no more.")
        every = np.concatenate(list(paths.values()))
        count = GRID[every.shape[1]]
        grids = tuple(_range(column, None if limits is None else limits[k], count) for k, column in enumerate(every.T))

        def at(place: Vector) -> float:
            return float(function(float(place[0]) if scalar else place))

        mesh = np.stack([part.ravel() for part in np.meshgrid(*grids)], axis=1)
        heights = np.array([at(place) for place in mesh]).reshape(tuple(len(grid) for grid in grids[::-1]))
        values = {name: np.array([at(place) for place in points]) for name, points in paths.items()}
        return cls(grids, heights, paths, values, names)

    def levels(self) -> Vector:
        """Heights of the contour lines: quadratic in their number, so that the bottom is drawn too."""
        low, high = float(np.nanmin(self.heights)), float(np.nanquantile(self.heights, 0.98))
        return low + (high - low) * (np.arange(1, LEVELS + 1) / LEVELS) ** 2

    def plot(self, ax: Any = None) -> Self:
        """Draw a panel for each descent; the start is hollow, the end filled."""
        panels = canvas.axes(ax, len(self.paths), size=(4.6, 3.8))
        for panel, (name, points), colour in zip(
            panels, self.paths.items(), canvas.SERIES * len(self.paths), strict=False
        ):
            if len(self.grids) == 1:
                panel.plot(self.grids[0], self.heights, color=canvas.FAINT, lw=1.5)
                across, up = points[:, 0], self.values[name]
                panel.set(xlabel=self.names[0], ylabel="value")
            else:
                panel.contour(*self.grids, self.heights, levels=self.levels(), colors=[canvas.FAINT], linewidths=0.7)
                across, up = points.T
                panel.set(xlabel=self.names[0], ylabel=self.names[1])
            small = 4.0 if len(points) <= 60 else 2.0
            panel.plot(across, up, "o-", color=colour, ms=small, lw=1.0, alpha=0.85)
            panel.plot(across[0], up[0], "o", mfc="white", mec=colour, ms=7, mew=1.8, label="start")
            panel.plot(across[-1], up[-1], "o", color=canvas.INK, ms=7, label=f"after {len(points) - 1} steps")
            panel.set_title(name, fontsize=10)
            panel.legend(frameon=len(self.grids) == 2, fontsize=8)
            canvas.tidy(panel)
            if len(self.grids) == 2:
                panel.grid(False)
        self.ax_, self.figure_ = np.array(panels), panels[0].figure
        return self


def _range(values: Vector, limits: tuple[float, float] | None, count: int) -> Vector:
    """What an axis shows: the limits given, or the path with some room about it."""
    if limits is not None:
        return np.linspace(*limits, count)
    low, high = float(values.min()), float(values.max())
    room = 0.15 * (high - low) or 1.0
    return np.linspace(low - room, high + room, count)
