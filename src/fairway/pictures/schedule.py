"""The rows beside the map, one a stop: what is allowed is pale, what happens dark on it, what is too much hatched."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from fairway.pictures import palette
from fairway.pictures.page import POINTS, Page

HALF = 0.36
"""Half the height of a bar, in rows."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The stretch of time or load that is shown; bars that leave it are cut just outside."""

    low: float
    high: float

    def cut(self, values: Float[np.ndarray, " R"]) -> Float[np.ndarray, " R"]:
        """The values, those out of sight brought to just outside."""
        margin = 0.05 * (self.high - self.low)
        return values.clip(self.low - margin, self.high + margin)


def axis_over(happens: tuple[float, float], allowed: tuple[float, float]) -> Axis:
    """All that happens, and of what is allowed around it no more than leaves the former readable."""
    low, high = happens
    span = high - low
    start = max(min(allowed[0], low), low - 0.15 * span)
    end = min(max(allowed[1], high), high + 0.15 * span)
    if end <= start:
        return Axis(start - 0.5, end + 0.5)
    margin = 0.02 * (end - start)
    return Axis(start - margin, end + margin)


def last_telling(limits: Float[np.ndarray, " R"], first: float, last: float) -> float:
    """The largest limit that does not dwarf those below it: 100000, where the rest end by 500, stands for 'none'."""
    for limit in np.sort(limits).tolist():
        if last > first and limit - first > 4 * (last - first):
            break
        last = max(last, limit)
    return last


@dataclass(frozen=True, slots=True)
class Panel:
    """The axes of one span of rows with the measures its marks need; every mark bears its meaning as label."""

    axes: Axes
    axis: Axis
    rows: Int[np.ndarray, " R"]
    mark: float
    """The size of a marker in points: most of a row's height, but never too small to see."""

    def bars(
        self,
        rows: Int[np.ndarray, " R"],
        ends: tuple[Float[np.ndarray, " R"], Float[np.ndarray, " R"]],
        means: str,
        look: dict[str, Any],
        half: float = HALF,
    ) -> None:
        """Horizontal bars; one of no length is still seen where it has an edge."""
        if not len(rows):
            return
        a, b = self.axis.cut(ends[0]), self.axis.cut(ends[1])
        corners = [(a, rows - half), (b, rows - half), (b, rows + half), (a, rows + half)]
        boxes = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
        self.axes.add_collection(PolyCollection(list(boxes), label=means, **look))

    def excess(
        self,
        wrong: Bool[np.ndarray, " R"],
        limit: Float[np.ndarray, " R"],
        value: Float[np.ndarray, " R"],
        means: str,
    ) -> None:
        """What goes beyond a limit in the wrong rows: hatched from the limit on, with a cross at its end."""
        rows, ends = self.rows[wrong], (limit[wrong], value[wrong])
        look = {
            "facecolor": "white",
            "edgecolor": palette.VERMILLION,
            "linewidth": 0.8,
            "zorder": 5,
        }
        self.bars(rows, ends, means, look | {"hatch": palette.HATCH})
        self._dots(rows, ends[1], f"{means}-ends", "X", palette.VERMILLION, 1.15)

    def ticks(self, at: Float[np.ndarray, " R"], means: str, look: dict[str, Any]) -> None:
        """Upright strokes a little taller than the bars, one a row."""
        tall = HALF + 0.1
        at = self.axis.cut(at)
        ends = np.stack((at, self.rows - tall), -1), np.stack((at, self.rows + tall), -1)
        self.axes.add_collection(LineCollection(list(np.stack(ends, axis=1)), label=means, **look))

    def goes_on(self, left: Float[np.ndarray, " R"], right: Float[np.ndarray, " R"]) -> None:
        """Arrowheads on the edges of the axes for the bars that do not end within sight."""
        low, high = np.full(len(self.rows), self.axis.low), np.full(len(self.rows), self.axis.high)
        before, after = left < low, right > high
        self._dots(self.rows[before], low[before], "goes-on", "<", palette.BLUE, 0.8)
        self._dots(self.rows[after], high[after], "goes-on", ">", palette.BLUE, 0.8)

    def _dots(
        self,
        rows: Int[np.ndarray, " R"],
        at: Float[np.ndarray, " R"],
        means: str,
        marker: str,
        colour: str,
        scale: float,
    ) -> None:
        if len(rows):
            look = {
                "c": colour,
                "edgecolors": "white",
                "linewidths": 0.06 * self.mark,
                "zorder": 9,
                "clip_on": False,
            }
            self.axes.scatter(
                at, rows, s=(scale * self.mark) ** 2, marker=marker, label=means, **look
            )


def panel_on(axes: Axes, axis: Axis, page: Page, span: slice) -> Panel:
    """Axes with a labelled row for each stop of a span; where rows are too thin for letters, some go without."""
    axes.set_xlim(axis.low, axis.high)
    axes.set_ylim(span.start + page.spans[0].stop - 0.2, span.start - 0.8)
    spacing = 1.12 * page.font / (page.row * POINTS)
    lettered = [span.start + row for row in labelled(page.wrong[span], spacing)]
    axes.set_yticks(lettered, [page.labels[row] for row in lettered], fontsize=page.font)
    for row, text in zip(lettered, axes.get_yticklabels(), strict=True):
        if page.wrong[row]:
            text.set(color=palette.VERMILLION, fontweight="bold")
    axes.tick_params(axis="x", labelsize=8, length=2.5)
    axes.tick_params(axis="y", length=1.5, pad=4)
    axes.locator_params(axis="x", nbins=8 if len(page.spans) == 1 else 4)
    axes.grid(color=palette.GRID, linewidth=0.6)
    mark = float(np.clip(0.5 * page.row * POINTS, 3.0, 8.0))
    return Panel(axes, axis, np.arange(page.rows)[span], mark)


def labelled(wrong: Bool[np.ndarray, " R"], spacing: float) -> list[int]:
    """The rows to label so that labels are `spacing` rows apart: the last, then the violated, then any from the top."""
    chosen: list[int] = []
    for row in (len(wrong) - 1, *np.flatnonzero(wrong).tolist(), *range(len(wrong))):
        if all(abs(row - other) >= spacing for other in chosen):
            chosen.append(row)
    return sorted(chosen)
