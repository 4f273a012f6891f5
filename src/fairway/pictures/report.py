"""The figures of the report: bars for small studies, boxes of gaps, where tours fail, and what more time buys."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from fairway.pictures import palette
from fairway.pictures.palette import LOOKS
from fairway.pictures.sheet import dress, gutter, key_of_series, panels, shortened

FIGURES = {"sol": "Sol. infeasible, %", "inst": "Inst. infeasible, %", "gap": "gap, %"}

STEP = 0.34
"""Inches that each bracket needs beside the boxes."""

WIDE = 6.2
"""Inches across the boxes."""

BOXES = "quartiles, median, mean (diamond), 5 % and 95 %;  *** p < 0.001,  ** < 0.01,  * < 0.05"
BUDGETS = "filled: measured here; hollow: published, on the machines of its authors"

LINEAR_UP_TO = 30.0
"""How many times the smallest box the largest may be before the axis is bent."""


class Bar(NamedTuple):
    """One row: a setting and its figures in percent; None where there is no figure."""

    label: str
    sol: float | None
    inst: float | None
    gap: float | None
    published: bool


class Point(NamedTuple):
    """One budget of a method."""

    series: str
    seconds: float
    inst: float | None
    gap: float | None
    objective: float | None
    published: bool


def draw_bars(title: str, words: str, bars: Sequence[Bar]) -> Figure:
    """A picture of a study, the settings from the top down, a panel for each figure they move; at least one row."""
    labels = [shortened(bar.label, 44) for bar in bars]
    box, beside = (2.9, 0.32 * len(bars) + 0.15), (gutter(labels), 0.0)
    with palette.settings():
        figure = panels((title, words), list(FIGURES), box, series=2, beside=beside)
        for axes, (field, name) in zip(figure.axes, FIGURES.items(), strict=True):
            _bars(axes, bars, field)
            dress(axes, name, "")
            axes.grid(visible=False, axis="y")
            _label_rows(axes, labels if field == "sol" else len(bars) * [""])
        key_of_series(figure)
    return figure


def _bars(axes: Axes, bars: Sequence[Bar], field: str) -> None:
    """Each with its number behind it; a setting without the figure has the paper's stroke instead."""
    values = [getattr(bar, field) for bar in bars]
    longest = max((abs(value) for value in values if value is not None), default=0.0) or 1.0
    for place, (bar, value) in enumerate(zip(bars, values, strict=True)):
        if value is not None:
            colour, means = (palette.BLUE, "measured")
            if bar.published:
                colour, means = (palette.PALE, "published")
            look = {"facecolor": colour, "edgecolor": palette.BLUE, "linewidth": 0.8}
            axes.barh(place, value, height=0.66, label=means, **look)
        text = "/" if value is None else f"{value:.2f}"
        end = max(value or 0.0, 0.0)
        axes.text(end + 0.02 * longest, place, text, va="center", fontsize=7.5, color=palette.INK)
    axes.set_xlim(min(0.0, *(1.1 * (value or 0.0) for value in values)), 1.2 * longest)


def _label_rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels, fontsize=8.5)
    axes.set_ylim(len(labels) - 0.45, -0.55)


def draw_boxes(
    title: str,
    gaps: Sequence[tuple[str, Float[np.ndarray, " _"]]],
    stars: Sequence[tuple[int, int, str]],
) -> Figure:
    """Boxplots of gaps in percent, with stars between rows that differ by more than chance.

    Args:
        title: What is above it.
        gaps: Methods from the top down, with the gaps of the instances that each solves; at least one.
        stars: Which two rows differ, and by how many stars; those with none are not drawn.
    """
    labels = [shortened(label, 30) for label, _ in gaps]
    lanes = bracket_lanes([pair for pair in stars if pair[2]])
    right = 0.15 + STEP * (1 + max((lane for *_, lane in lanes), default=-1))
    box, beside = (WIDE, 0.42 * len(gaps) + 0.1), (gutter(labels), right)
    with palette.settings():
        figure = panels((title, BOXES), ["gaps"], box, beside=beside)
        axes = figure.axes[0]
        _boxes(axes, [each for _, each in gaps])
        dress(axes, "gap, %", "")
        _label_rows(axes, labels)
        for one, other, mark, lane in lanes:
            _bracket(axes, one, other, mark, (0.12 + STEP * lane) / WIDE)
    return figure


def bracket_lanes(pairs: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str, int]]:
    """The pairs with how far out each bracket stands, so that no two lie on each other; short ones stand inside."""
    placed: list[tuple[int, int, str, int]] = []
    for one, other, mark in sorted(pairs, key=lambda pair: (pair[1] - pair[0], pair[0])):
        taken = {lane for a, b, _, lane in placed if one < b and a < other}
        free = next(lane for lane in range(len(placed) + 1) if lane not in taken)
        placed.append((one, other, mark, free))
    return placed


def _boxes(axes: Axes, gaps: Sequence[Float[np.ndarray, " _"]]) -> None:
    rows = np.arange(len(gaps))
    axes.use_sticky_edges = False  # a box that begins at zero is not to touch the axis
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    low, q1, median, q3, high = np.array([np.quantile(each, levels) for each in gaps]).T
    blue = {"color": palette.BLUE, "linewidth": 0.9, "zorder": 2}
    axes.hlines(rows, low, high, label="whiskers", **blue)
    for end in (low, high):
        axes.vlines(end, rows - 0.13, rows + 0.13, **blue)
    look = {"facecolor": palette.PALE, "edgecolor": palette.BLUE, "linewidth": 0.9, "zorder": 3}
    axes.barh(rows, q3 - q1, left=q1, height=0.52, label="quartiles", **look)
    navy = {"color": palette.NAVY, "linewidth": 2, "zorder": 4}
    axes.vlines(median, rows - 0.26, rows + 0.26, label="medians", **navy)
    dots = {"s": 36, "marker": "D", "color": palette.ORANGE, "edgecolor": "white", "linewidth": 0.7}
    axes.scatter([each.mean() for each in gaps], rows, zorder=5, label="means", **dots)
    sizes = np.maximum(np.abs(low), np.abs(high))
    if sizes.max() > LINEAR_UP_TO * max(sizes.min(), 1e-3):
        # Bent, not cut: gaps may be zero, and below where the reference is not optimal.
        axes.set_xscale("symlog", linthresh=max(float(sizes.min()), 0.01))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda gap, _: f"{gap:g}"))


def _bracket(axes: Axes, one: int, other: int, mark: str, out: float) -> None:
    """A bracket right of the axes from row to row; its ends keep off those of the next."""
    across = axes.get_yaxis_transform()
    start, end, tick = one + 0.12, other - 0.12, 1 + out - 0.012
    look = {"transform": across, "color": palette.INK}
    rows = [start, start, end, end]
    line = {"linewidth": 0.9, "clip_on": False, "label": "differs", **look}
    axes.plot([tick, 1 + out, 1 + out, tick], rows, **line)
    upright = {"rotation": 90, "ha": "left", "va": "center", "fontsize": 9, "label": "stars"}
    axes.text(1 + out + 0.006, (one + other) / 2, mark, **upright, **look)


def draw_breaks(title: str, counts: Sequence[tuple[str, Int[np.ndarray, " _"]]]) -> Figure:
    """A picture of where tours fail, a panel per method, all on the same axes, the counts on a logarithmic one.

    Args:
        title: What is above it.
        counts: Methods with the numbers of tours that fail first at stop 1, 2, ...; at least one.
    """
    last = max(len(each) for _, each in counts)
    most = max(int(each.max(initial=1)) for _, each in counts)
    words = "tours by the stop at which they first pass a limit"
    with palette.settings():
        figure = panels((title, words), [label for label, _ in counts], (3.1, 1.75))
        for axes, (label, each) in zip(figure.axes, counts, strict=True):
            seen = np.flatnonzero(each)
            axes.bar(1 + seen, each[seen], width=0.9, color=palette.BLUE, linewidth=0)
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
            axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
            dress(axes, "stop", "tours")
            axes.set_xlim(0.3, last + 0.7)
            axes.set_ylim(0.6, 2.5 * most)
            total = f"{shortened(label, 26)}:  {int(each.sum()):,} tours"
            axes.set_title(total, fontsize=9, loc="left")
    return figure


def draw_budgets(title: str, points: Sequence[Point]) -> Figure:
    """A picture of methods over seconds per instance; where no gap is known, lengths stand in for gaps."""
    quality = "gap" if any(point.gap is not None for point in points) else "objective"
    series = list(dict.fromkeys((point.series, point.published) for point in points))
    names = list(dict.fromkeys(name for name, _ in series))
    fields = ("inst", quality)
    with palette.settings():
        figure = panels((title, BUDGETS), fields, (4.6, 2.9), series=len(series))
        for axes, field in zip(figure.axes, fields, strict=True):
            for one in series:
                own = [point for point in points if (point.series, point.published) == one]
                _line(axes, own, field, names.index(one[0]))
            _dress_budgets(axes, field)
        figure.axes[1].set_xlim(figure.axes[0].get_xlim())
        key_of_series(figure)
    return figure


def _line(axes: Axes, points: Sequence[Point], field: str, place: int) -> None:
    """One method by ascending budgets; drawn also where it has no points, so that the key is whole."""
    known = sorted((p.seconds, getattr(p, field)) for p in points if getattr(p, field) is not None)
    published, (colour, marker, _) = points[0].published, LOOKS[place % len(LOOKS)]
    fill, edge = ("white", colour) if published else (colour, "white")
    axes.plot(
        [seconds for seconds, _ in known], [value for _, value in known], color=colour,
        linestyle=":" if published else "-", linewidth=1.5, marker=marker, markersize=6.5,
        markerfacecolor=fill, markeredgecolor=edge,
        label=f"{points[0].series}, {'published' if published else 'measured'}",
    )  # fmt: skip


def _dress_budgets(axes: Axes, field: str) -> None:
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
