"""Where pictures are drawn: matplotlib on demand, and the colours all pictures share."""

from typing import Any

INK = "#22313f"
FAINT = "#9aa5b1"
NEGATIVE = "#c8553d"
POSITIVE = "#2a6f97"
BOUND = "#e09f3e"
SERIES = (POSITIVE, NEGATIVE, BOUND, "#588157", "#7b5ea7")


def axes(ax: Any, count: int = 1, size: tuple[float, float] = (5.0, 3.6)) -> list[Any]:
    """Axes to draw on: those given, or ``count`` new ones side by side.

    A single ``ax`` serves a picture of one panel; a picture of several takes a
    sequence of axes.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed.\n\nHint: pip install 'separatrix[plot]'."
        ) from error
    if ax is None:
        _, made = pyplot.subplots(1, count, figsize=(size[0] * count, size[1]), squeeze=False, layout="constrained")
        return list(made[0])
    given = list(ax) if hasattr(ax, "__len__") else [ax]
    if len(given) != count:
        raise ValueError(f"This picture has {count} panels, but {len(given)} axes were given.\n\nHint: leave ax out.")
    return given


def tidy(ax: Any) -> None:
    """No box, faint grid: the data is what stands out."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(True, color="#e6e9ed", linewidth=0.7)
    ax.set_axisbelow(True)
