"""Where tours fail: for each method, how many first pass a limit at which stop."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from fairway.pictures import palette
from fairway.pictures.lettering import shortened
from fairway.pictures.panels import AXIS, MARGIN, TITLE, axes_at, dress, sheet

COLUMNS = 3
WIDE, HIGH = 3.1, 1.75
ACROSS, DOWN = 0.75, 0.8
"""Inches between the panels."""


def draw_breaks(title: str, counts: Sequence[tuple[str, Int[np.ndarray, " _"]]]) -> Figure:
    """A picture with a panel a method, all on the same axes, the counts on a logarithmic one.

    Args:
        title: What is above it.
        counts: Methods with the numbers of tours that fail first at stop 1, 2, ...; at least one.
    """
    columns = min(COLUMNS, len(counts))
    lines = ceil(len(counts) / columns)
    size = (
        max(2 * MARGIN + ACROSS + columns * (WIDE + ACROSS) - ACROSS, 7.0),
        TITLE + 0.15 + lines * (HIGH + DOWN) - DOWN + AXIS,
    )
    last = max(len(each) for _, each in counts)
    most = max(int(each.max(initial=1)) for _, each in counts)
    with palette.settings():
        figure = sheet(size, title, "tours by the stop at which they first pass a limit")
        for place, (label, each) in enumerate(counts):
            line, column = divmod(place, columns)
            left = MARGIN + ACROSS + column * (WIDE + ACROSS)
            bottom = AXIS + (lines - 1 - line) * (HIGH + DOWN)
            axes = axes_at(figure, label, (left, bottom, WIDE, HIGH))
            _bars(axes, each)
            axes.set_xlim(0.3, last + 0.7)
            axes.set_ylim(0.6, 2.5 * most)
            total = f"{shortened(label, 26)}:  {int(each.sum()):,} tours"
            axes.set_title(total, fontsize=9, loc="left")
    return figure


def _bars(axes: Axes, counts: Int[np.ndarray, " _"]) -> None:
    stops = np.arange(1, len(counts) + 1)
    seen = counts > 0
    axes.bar(stops[seen], counts[seen], width=0.9, color=palette.BLUE, linewidth=0)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    dress(axes, "stop", "tours")
