"""Small studies as bars: the settings from the top down, and a panel for each figure that they move."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from fairway.pictures import palette
from fairway.pictures.lettering import shortened
from fairway.pictures.panels import AXIS, MARGIN, TITLE, axes_at, dress, gutter, sheet

PANELS = (("sol", "Sol. infeasible, %"), ("inst", "Inst. infeasible, %"), ("gap", "gap, %"))
WIDE, ROW, ACROSS, KEY = 2.9, 0.32, 0.45, 0.3


@dataclass(frozen=True, slots=True)
class Bar:
    """One row: a setting and its figures in percent; None where there is no figure."""

    label: str
    sol: float | None
    inst: float | None
    gap: float | None
    published: bool


def draw_bars(title: str, words: str, bars: Sequence[Bar]) -> Figure:
    """A picture of a study; at least one row."""
    labels = [shortened(bar.label, 44) for bar in bars]
    left, high, below = MARGIN + gutter(labels), ROW * len(bars) + 0.15, AXIS + KEY
    size = (max(left + len(PANELS) * (WIDE + ACROSS), 8.0) + 0.15, TITLE + high + below)
    with palette.settings():
        figure = sheet(size, title, words)
        for column, (field, name) in enumerate(PANELS):
            at = left + column * (WIDE + ACROSS)
            axes = axes_at(figure, field, (at, below, WIDE, high))
            _bars(axes, bars, field)
            dress(axes, name, "")
            axes.grid(visible=False, axis="y")
            axes.set_ylim(len(bars) - 0.45, -0.55)
            axes.set_yticks(range(len(bars)), labels if column == 0 else [], fontsize=8.5)
        _key(figure, bars)
    return figure


def _bars(axes: Axes, bars: Sequence[Bar], field: str) -> None:
    """Each with its number behind it; a setting without the figure has the paper's stroke instead."""
    values = [getattr(bar, field) for bar in bars]
    longest = max((abs(value) for value in values if value is not None), default=0.0) or 1.0
    for place, (bar, value) in enumerate(zip(bars, values, strict=True)):
        if value is not None:
            axes.barh(place, value, height=0.66, **_look(bar.published))
        text = "/" if value is None else f"{value:.2f}"
        end = max(value or 0.0, 0.0)
        axes.text(end + 0.02 * longest, place, text, va="center", fontsize=7.5, color=palette.INK)
    axes.set_xlim(min(0.0, *(1.1 * (value or 0.0) for value in values)), 1.2 * longest)


def _look(published: bool) -> dict[str, Any]:
    if published:
        return {"facecolor": palette.PALE, "edgecolor": palette.BLUE, "linewidth": 0.8}
    return {"facecolor": palette.BLUE, "edgecolor": palette.BLUE, "linewidth": 0.8}


def _key(figure: Figure, bars: Sequence[Bar]) -> None:
    kinds = [kind for kind in (True, False) if any(bar.published == kind for bar in bars)]
    wide, tall = figure.get_size_inches()
    figure.legend(
        [Patch(**_look(kind)) for kind in kinds],
        ["published" if kind else "measured" for kind in kinds],
        loc="lower left", bbox_to_anchor=(MARGIN / wide, 0.1 / tall), ncols=2, fontsize=8,
        frameon=False, borderaxespad=0, borderpad=0,
    )  # fmt: skip
