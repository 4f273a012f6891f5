"""What more time buys: infeasible instances and gaps, or lengths, over the seconds that an instance is given."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from fairway.pictures import palette
from fairway.pictures.panels import AXIS, MARGIN, TITLE, axes_at, dress, key, look, sheet

WIDE, HIGH, ACROSS, KEY = 4.6, 2.9, 0.85, 0.45
WORDS = "filled: measured here; hollow: published, on the machines of its authors"


@dataclass(frozen=True, slots=True)
class Point:
    """One budget of a method."""

    series: str
    seconds: float
    inst: float | None
    gap: float | None
    objective: float | None
    published: bool


def draw_budgets(title: str, points: Sequence[Point]) -> Figure:
    """A picture of methods under budgets; where no gap is known, lengths stand in for gaps."""
    quality = "gap" if any(point.gap is not None for point in points) else "objective"
    series = list(dict.fromkeys((point.series, point.published) for point in points))
    names = list(dict.fromkeys(name for name, _ in series))
    lines = -(-len(series) // 4)
    below = AXIS + KEY + 0.18 * (lines - 1)
    size = (MARGIN + 2 * (ACROSS + WIDE) + MARGIN, TITLE + HIGH + below)
    with palette.settings():
        figure = sheet(size, title, WORDS)
        for column, field in enumerate(("inst", quality)):
            left = MARGIN + ACROSS + column * (WIDE + ACROSS) - 0.1
            axes = axes_at(figure, field, (left, below, WIDE, HIGH))
            for name, published in series:
                own = [p for p in points if (p.series, p.published) == (name, published)]
                _line(axes, own, field, names.index(name))
            _dress(axes, field)
        figure.axes[1].set_xlim(figure.axes[0].get_xlim())
        key(figure, figure.axes[0], 4)
    return figure


def _line(axes: Axes, points: Sequence[Point], field: str, place: int) -> None:
    """One method by ascending budgets; drawn also where it has no points, so that the key is whole."""
    style = look(place)
    known = sorted((p.seconds, getattr(p, field)) for p in points if getattr(p, field) is not None)
    published = points[0].published
    axes.plot(
        [seconds for seconds, _ in known], [value for _, value in known], color=style.colour,
        linestyle=":" if published else "-", linewidth=1.5, marker=style.marker, markersize=6.5,
        markerfacecolor="white" if published else style.colour,
        markeredgecolor=style.colour if published else "white",
        label=f"{points[0].series}, {'published' if published else 'measured'}",
    )  # fmt: skip


def _dress(axes: Axes, field: str) -> None:
    names = {"inst": "instances without a tour, %", "gap": "gap, %", "objective": "mean length"}
    dress(axes, "seconds per instance", names[field])
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high < 100 * low:  # too short for powers of ten alone
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if field == "inst":
        axes.set_ylim(bottom=min(0.0, *axes.get_ylim()))
