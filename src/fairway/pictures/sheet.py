"""What all pictures have in common: words cut to fit, the lines above, axes placed in inches, the legend below."""

from collections.abc import Sequence
from math import ceil
from typing import Any
from unicodedata import east_asian_width

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairway.pictures import palette

EM = 0.64
"""The width of a digit over the size of its font; most letters are narrower."""
POINTS = 72.0
"""Points in an inch."""

TITLE, AXIS, MARGIN = 0.95, 0.6, 0.3
"""Inches above the axes, below them, and at the sides."""

NOTE = 0.2
"""Inches for each further line above."""

BETWEEN, DOWN = 0.75, 0.8
"""Inches between panels side by side, and between lines of them."""

LEGEND: dict[str, Any] = {
    "fontsize": 8, "frameon": False, "borderaxespad": 0, "borderpad": 0, "columnspacing": 1.4
}  # fmt: skip

SERIES = 4
"""In one line of the legend."""


def shortened(text: str, limit: int) -> str:
    """A name on one line of at most `limit` letter widths; what cannot be printed becomes a blank."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    if width(plain) <= limit:
        return plain
    kept = ""
    for letter in plain:
        if width(kept + letter) > limit - 1:
            break
        kept += letter
    return kept + "…"


def width(text: str) -> int:
    """How many ordinary letters wide a text is; those of Chinese, Japanese and Korean count twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def gutter(labels: Sequence[str], font: float = 8.5) -> float:
    """Inches that labels left of an axis need."""
    return (EM * max(map(width, labels), default=0) * font + 10) / POINTS


def sheet(
    size: tuple[float, float],
    title: str,
    words: str,
    *,
    refused: bool = False,
    notes: Sequence[str] = (),
) -> Figure:
    """A figure with two lines above, and smaller ones below them, all cut to its width."""
    figure = Figure(figsize=size, facecolor="white")
    wide, tall = size
    left, room = MARGIN / wide, (wide - 2 * MARGIN) * POINTS
    title, words = shortened(title, int(room / (0.66 * 12))), shortened(words, int(room / 5.5))
    figure.text(left, 1 - 0.14 / tall, title, fontsize=12, va="top", fontweight="bold")
    second = figure.text(left, 1 - 0.43 / tall, words, fontsize=9.5, va="top")
    for line, note in enumerate(notes):
        text = shortened(note, int(room / 5.2))
        height = 1 - (0.68 + NOTE * line) / tall
        figure.text(left, height, text, fontsize=8.5, va="top", color=palette.QUIET)
    if refused:
        second.set(color=palette.VERMILLION, fontweight="bold")
    return figure


def axes_at(figure: Figure, label: str, box: tuple[float, float, float, float]) -> Axes:
    """Axes at left, bottom, width and height in inches."""
    wide, tall = figure.get_size_inches()
    left, bottom, width, height = box
    place = (left / wide, bottom / tall, width / wide, height / tall)
    return figure.add_axes(place, label=label)


def panels(
    lines: tuple[str, str],
    names: Sequence[str],
    box: tuple[float, float],
    series: int = 0,
    beside: tuple[float, float] = (BETWEEN, 0.0),
) -> Figure:
    """A figure of equal panels.

    Args:
        lines: The two above it.
        names: Of the panels, at most three of which stand side by side.
        box: Width and height of a panel, in inches.
        series: How many the legend names.
        beside: Inches left of the first panel for its labels, and right of the last.
    """
    (wide, high), columns = box, min(3, len(names))
    rows, below = ceil(len(names) / columns), AXIS + 0.18 * ceil(series / SERIES)
    below += 0.27 if series else 0.0
    width = 2 * MARGIN + sum(beside) + columns * (wide + BETWEEN) - BETWEEN
    figure = sheet((max(width, 7.0), TITLE + rows * (high + DOWN) - DOWN + below), *lines)
    for place, name in enumerate(names):
        row, column = divmod(place, columns)
        left = MARGIN + beside[0] + column * (wide + BETWEEN)
        axes_at(figure, name, (left, below + (rows - 1 - row) * (high + DOWN), wide, high))
    return figure


def dress(axes: Axes, x: str, y: str) -> None:
    """Labels, a quiet grid, and no box around it all."""
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(color=palette.GRID, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)


def key(figure: Figure, samples: Sequence[Any], words: Sequence[str], columns: int) -> None:
    """The meaning of marks or series, in one place below all axes."""
    wide, tall = figure.get_size_inches()
    look = {"handlelength": 2.2, "bbox_to_anchor": (MARGIN / wide, 0.1 / tall), **LEGEND}
    figure.legend(samples, words, loc="lower left", ncols=columns, **look)


def key_of_series(figure: Figure) -> None:
    """The meaning of every series that some panel shows."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        samples, words = axes.get_legend_handles_labels()
        found |= dict(zip(words, samples, strict=True))
    key(figure, list(found.values()), list(found), SERIES)
