"""Where pictures are drawn: matplotlib on demand, and the colours all pictures share."""

from typing import Any

INK = "#22313f"
FAINT = "#9aa5b1"
NEGATIVE = "#c8553d"
POSITIVE = "#2a6f97"
BOUND = "#e09f3e"
SERIES = (POSITIVE, NEGATIVE, BOUND, "#588157", "#7b5ea7")


def axes(ax: Any, count: int = 1, size: tuple[float, float] = (5.0, 3.6), columns: int | None = None) -> list[Any]:
    """Axes to draw on: those given, or ``count`` new ones side by side, ``columns`` to a row.

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
        across = min(columns or count, count)
        down = -(-count // across)
        _, made = pyplot.subplots(down, across, figsize=(size[0] * across, size[1] * down), squeeze=False,
                                  layout="constrained")  # fmt: skip
        for spare in made.flat[count:]:
            spare.set_visible(False)
        return list(made.flat[:count])
    given = list(getattr(ax, "flat", ax)) if hasattr(ax, "__len__") else [ax]
    if len(given) != count:
        raise ValueError(f"This picture has {count} panels, but {len(given)} axes were given.\n\nHint: leave ax out.")
    return given


def tidy(ax: Any) -> None:
    """No box, faint grid: the data is what stands out."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(True, color="#e6e9ed", linewidth=0.7)
    ax.set_axisbelow(True)


def arrow(ax: Any, start: Any, end: Any, colour: str = INK, label: str = "", **style: Any) -> None:
    """An arrow between two points of the data, with a word at its head."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6, "shrinkA": 0, "shrinkB": 0,
                                            **style}, zorder=5)  # fmt: skip
    if label:
        ax.annotate(label, end, xytext=(4, 4), textcoords="offset points", color=colour, fontsize=10, zorder=6,
                    bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7})  # fmt: skip


def legend_below(ax: Any, columns: int = 3) -> None:
    """A legend under the axis label, where it hides no data, however high the panel is."""
    from matplotlib.transforms import ScaledTranslation

    under = ax.transAxes + ScaledTranslation(0.0, -0.48, ax.figure.dpi_scale_trans)
    ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=under,
              ncols=columns)  # fmt: skip


def number(value: float) -> str:
    """Three digits, with a minus sign and not a hyphen."""
    return f"{value:.3g}".replace("-", "−")
