"""The marks of a column of rows: bars, strokes, ticks and dots on axes with a labelled row for each stop."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Real
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from fairway.pictures import palette
from fairway.pictures.page import Page
from fairway.pictures.sheet import POINTS

Look = dict[str, Any]
Places = Real[np.ndarray, " K"]
Values = Float[np.ndarray, " K"]
Flags = Bool[np.ndarray, " R"]

HALF = 0.36
"""Half the height of a bar, in rows."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The axes of one span of rows with the measures its marks need; every mark bears its meaning as label."""

    axes: Axes
    mark: float
    """The size of a marker in points: most of a row's height, but never too small to see."""

    def bars(
        self, rows: Places, ends: tuple[Values, Values], means: str, look: Look, half: float = HALF
    ) -> None:
        """Horizontal bars, cut just out of sight; one of no length is still seen where it has an edge."""
        if len(rows):
            a, b = map(self._cut, ends)
            corners = (a, rows - half, b, rows - half, b, rows + half, a, rows + half)
            boxes = np.stack(corners, axis=-1).reshape(-1, 4, 2)
            self.axes.add_collection(PolyCollection(list(boxes), label=means, **look))

    def strokes(self, ends: tuple[np.ndarray, ...], means: str, look: Look) -> None:
        """Lines; of all of them the first x, then the first y, the second x and the second y."""
        if len(ends[0]):
            lines = list(np.stack(ends, axis=-1).reshape(-1, 2, 2))
            self.axes.add_collection(LineCollection(lines, label=means, **look))

    def ticks(self, rows: Places, at: Values, means: str, width: float) -> None:
        """Upright strokes a little taller than the bars, one per row."""
        at, tall = self._cut(at), HALF + 0.1
        look = {"colors": palette.INK, "linewidths": width, "zorder": 6}
        self.strokes((at, rows - tall, at, rows + tall), means, look)

    def dots(self, rows: Places, at: Values, means: str, look: tuple[str, str, float]) -> None:
        """Markers; the look is marker, colour and size over that of a mark."""
        if len(rows):
            marker, colour, scale = look
            self.axes.scatter(
                at, rows, s=(scale * self.mark) ** 2, c=colour, marker=marker, label=means,
                edgecolors="white", linewidths=0.06 * self.mark, zorder=9, clip_on=False,
            )  # fmt: skip

    def excess(self, rows: Places, limit: Values, value: Values, means: str) -> None:
        """What goes beyond a limit: hatched from the limit on, with a cross at its end."""
        look = {"facecolor": "white", "edgecolor": palette.VERMILLION, "hatch": palette.HATCH}
        self.bars(rows, (limit, value), means, {**look, "linewidth": 0.8, "zorder": 5})
        self.dots(rows, value, f"{means}-ends", ("X", palette.VERMILLION, 1.15))

    def goes_on(self, rows: Places, left: Values, right: Values) -> None:
        """Arrowheads on the edges of the axes for the bars that do not end within sight."""
        low, high = self.axes.get_xlim()
        before, after = left < low, right > high
        edges = (before, low, "<"), (after, high, ">")
        for beyond, edge, marker in edges:
            at = np.full(int(beyond.sum()), edge)
            self.dots(rows[beyond], at, "goes-on", (marker, palette.BLUE, 0.8))

    def words(self, row: int, at: float, text: str, colour: str) -> None:
        """A short text right of a place in a row; left of it near the right edge."""
        low, high = self.axes.get_xlim()
        turned = bool(at > low + 0.88 * (high - low))
        paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}
        self._text(row, at, text, {"color": colour, "bbox": paper}, turned)

    def on_bar(self, row: int, end: float, text: str) -> None:
        """A short text at the beginning of a bar, or beyond its end where the bar is too short for it."""
        low, high = self.axes.get_xlim()
        fits = end > 0.3 * (high - low)
        colour = {"color": "white" if fits else palette.INK}
        self._text(row, 0.0 if fits else end, text, colour, turned=False)

    def _text(self, row: int, at: float, text: str, look: Look, turned: bool) -> None:
        shift = (-0.75 if turned else 0.75) * self.mark
        self.axes.annotate(
            text, (at, row), (shift, 0), textcoords="offset points", zorder=10, va="center",
            ha="right" if turned else "left", annotation_clip=True,
            fontsize=max(5.5, 0.95 * self.mark), **look,
        )  # fmt: skip

    def _cut(self, values: Values) -> Values:
        low, high = self.axes.get_xlim()
        margin = 0.05 * (high - low)
        return values.clip(low - margin, high + margin)


def panel_on(axes: Axes, axis: tuple[float, float], page: Page, span: slice) -> Panel:
    """Axes with a row for each of a span, and a quiet grid."""
    axes.set_xlim(*axis)
    axes.set_ylim(span.start + max(page.spans[0].stop, 1) - 0.2, span.start - 0.8)
    axes.tick_params(axis="x", labelsize=8, length=2.5)
    axes.grid(color=palette.GRID, linewidth=0.6)
    return Panel(axes, float(np.clip(0.5 * page.row * POINTS, 3.0, 8.0)))


def letter(axes: Axes, page: Page, span: slice, wrong: Flags, faint: Flags) -> None:
    """Label the rows of a span; where they are too thin for letters, some go without."""
    lettered = lettered_rows(page, span, wrong)
    axes.set_yticks(lettered, [page.labels[row] for row in lettered], fontsize=page.font)
    for row, text in zip(lettered, axes.get_yticklabels(), strict=True):
        if wrong[row]:
            text.set(color=palette.VERMILLION, fontweight="bold")
        elif faint[row]:
            text.set(color=palette.FAINT, fontstyle="italic")
    axes.tick_params(axis="y", length=1.5, pad=4)


def lettered_rows(page: Page, span: slice, wrong: Flags) -> list[int]:
    """The rows of a span that have room for letters."""
    spacing = 1.12 * page.font / (page.row * POINTS)
    return [span.start + row for row in labelled(wrong[span], spacing)]


def labelled(wrong: Flags, spacing: float) -> list[int]:
    """The rows to label so that labels are `spacing` rows apart: the last, then the violated, then any from the top."""
    chosen: list[int] = []
    if not len(wrong):
        return chosen
    for row in (len(wrong) - 1, *np.flatnonzero(wrong).tolist(), *range(len(wrong))):
        if all(abs(row - other) >= spacing for other in chosen):
            chosen.append(row)
    return sorted(chosen)


def axis_over(happens: tuple[float, float], allowed: tuple[float, float]) -> tuple[float, float]:
    """The ends of an axis: all that happens, and of what is allowed no more than leaves the former readable."""
    low, high = happens
    span = high - low
    start = max(min(allowed[0], low), low - 0.15 * span)
    end = min(max(allowed[1], high), high + 0.15 * span)
    margin = 0.02 * (end - start) if end > start else 0.5
    return start - margin, end + margin


def last_telling(limits: Values, first: float, last: float) -> float:
    """The largest limit that does not dwarf those below it: 100000, where the rest end by 500, stands for 'none'."""
    for limit in np.sort(limits).tolist():
        if last > first and limit - first > 4 * (last - first):
            break
        last = max(last, limit)
    return last
