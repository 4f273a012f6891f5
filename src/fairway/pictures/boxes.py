"""Boxplots of gaps, a row a method, with stars between rows that differ by more than chance."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from fairway.pictures import palette
from fairway.pictures.lettering import shortened
from fairway.pictures.panels import AXIS, MARGIN, TITLE, axes_at, dress, gutter, sheet

ROW = 0.42
STEP = 0.34
"""Inches that each bracket needs beside the boxes."""

WIDE = 6.2
WORDS = "quartiles, median, mean (diamond), 5 % and 95 %;  *** p < 0.001,  ** < 0.01,  * < 0.05"

LINEAR_UP_TO = 30.0
"""How many times the smallest box the largest may be before the axis is bent."""


def draw_boxes(
    title: str,
    gaps: Sequence[tuple[str, Float[np.ndarray, " _"]]],
    stars: Sequence[tuple[int, int, str]],
) -> Figure:
    """A picture of gaps in percent.

    Args:
        title: What is above it.
        gaps: Methods from the top down, with the gaps of the instances that each solves; at least one.
        stars: Which two rows differ, and by how many stars; those with none are not drawn.
    """
    labels = [shortened(label, 30) for label, _ in gaps]
    lanes = bracket_lanes([pair for pair in stars if pair[2]])
    left, high = MARGIN + gutter(labels), ROW * len(gaps) + 0.1
    beside = 0.15 + STEP * (1 + max((lane for *_, lane in lanes), default=-1))
    size = (left + WIDE + beside + MARGIN, TITLE + high + AXIS)
    with palette.settings():
        figure = sheet(size, title, WORDS)
        axes = axes_at(figure, "gaps", (left, AXIS, WIDE, high))
        _boxes(axes, gaps)
        axes.set_yticks(range(len(gaps)), labels, fontsize=8.5)
        axes.set_ylim(len(gaps) - 0.45, -0.55)
        dress(axes, "gap, %", "")
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


def _boxes(axes: Axes, gaps: Sequence[tuple[str, Float[np.ndarray, " _"]]]) -> None:
    rows = np.arange(len(gaps))
    axes.use_sticky_edges = False  # a box that begins at zero is not to touch the axis
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    low, q1, median, q3, high = np.array([np.quantile(each, levels) for _, each in gaps]).T
    means = [each.mean() for _, each in gaps]
    look = {"facecolor": palette.PALE, "edgecolor": palette.BLUE, "linewidth": 0.9}
    axes.hlines(rows, low, high, color=palette.BLUE, linewidth=0.9, zorder=2, label="whiskers")
    for end in (low, high):
        axes.vlines(end, rows - 0.13, rows + 0.13, color=palette.BLUE, linewidth=0.9, zorder=2)
    axes.barh(rows, q3 - q1, left=q1, height=0.52, zorder=3, label="quartiles", **look)
    axes.vlines(
        median, rows - 0.26, rows + 0.26, color=palette.NAVY, linewidth=2, zorder=4, label="medians"
    )
    dots = {"s": 36, "marker": "D", "color": palette.ORANGE, "edgecolor": "white", "linewidth": 0.7}
    axes.scatter(means, rows, zorder=5, label="means", **dots)
    sizes = np.maximum(np.abs(low), np.abs(high))
    if sizes.max() > LINEAR_UP_TO * max(sizes.min(), 1e-3):
        # Bent, not cut: gaps may be zero, and below where the reference is not optimal.
        axes.set_xscale("symlog", linthresh=max(float(sizes.min()), 0.01))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda gap, _: f"{gap:g}"))


def _bracket(axes: Axes, one: int, other: int, mark: str, out: float) -> None:
    """A bracket right of the axes from row to row; its ends keep off those of the next."""
    across = axes.get_yaxis_transform()
    start, end, tick = one + 0.12, other - 0.12, 0.012
    axes.plot(
        [1 + out - tick, 1 + out, 1 + out, 1 + out - tick], [start, start, end, end],
        transform=across, color=palette.INK, linewidth=0.9, clip_on=False, label="differs",
    )  # fmt: skip
    axes.text(
        1 + out + 0.006, (one + other) / 2, mark, transform=across, rotation=90,
        ha="left", va="center", fontsize=9, color=palette.INK, label="stars",
    )  # fmt: skip
