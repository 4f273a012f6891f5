"""What figures of results have in common: the lines above them, dressed axes, and looks that tell series apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairway.pictures import palette
from fairway.pictures.lettering import EM, shortened, width

POINTS = 72.0
"""Points in an inch."""

TITLE, AXIS, MARGIN = 0.85, 0.6, 0.3
"""Inches above the axes, below them, and at the sides."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one of several series is drawn; no two share a colour, and neighbours share no marker or dash."""

    colour: str
    marker: str
    dash: str


LOOKS = (
    Look(palette.BLUE, "o", "-"),
    Look(palette.VERMILLION, "s", "--"),
    Look("#009e73", "^", "-."),
    Look(palette.ORANGE, "D", "-"),
    Look("#cc79a7", "v", "--"),
    Look(palette.INK, "P", "-."),
    Look("#56b4e9", "X", ":"),
)


def look(place: int) -> Look:
    """Of the series at a place; beyond what colours there are, they come round again."""
    return LOOKS[place % len(LOOKS)]


def sheet(size: tuple[float, float], title: str, words: str) -> Figure:
    """A figure with the two lines above it that every picture has."""
    figure = Figure(figsize=size, facecolor="white")
    wide, tall = size
    left, room = MARGIN / wide, (wide - 2 * MARGIN) * POINTS
    figure.text(
        left, 1 - 0.14 / tall, shortened(title, int(room / (0.66 * 12))),
        va="top", fontsize=12, fontweight="bold",
    )  # fmt: skip
    figure.text(
        left, 1 - 0.44 / tall, shortened(words, int(room / (0.56 * 9.5))),
        va="top", fontsize=9.5, color=palette.INK,
    )  # fmt: skip
    return figure


def axes_at(figure: Figure, label: str, box: tuple[float, float, float, float]) -> Axes:
    """Axes at left, bottom, width and height in inches."""
    wide, tall = figure.get_size_inches()
    left, bottom, width, height = box
    place = (left / wide, bottom / tall, width / wide, height / tall)
    return figure.add_axes(place, label=label)


def dress(axes: Axes, x: str, y: str) -> None:
    """Labels, a quiet grid, and no box around it all."""
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(color=palette.GRID, linewidth=0.7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def gutter(labels: Sequence[str], font: float = 8.5) -> float:
    """Inches that labels left of an axis need."""
    return (EM * max(map(width, labels), default=0) * font + 10) / POINTS


def key(figure: Figure, axes: Axes, columns: int) -> None:
    """The meaning of the series in one place below all axes."""
    handles, labels = axes.get_legend_handles_labels()
    wide, tall = figure.get_size_inches()
    figure.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(MARGIN / wide, 0.1 / tall), ncols=columns,
        fontsize=8, frameon=False, borderaxespad=0, borderpad=0, columnspacing=1.4,
    )  # fmt: skip
