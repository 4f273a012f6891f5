"""The rows beside the map, one per stop: what is allowed is pale, what happens dark on it, what is too much hatched."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from fairway.judge import Rejection, Solution
from fairway.pictures import palette
from fairway.pictures.sheet import AXIS, MARGIN, POINTS, TITLE, axes_at, gutter
from fairway.problems.instance import Instance

Look = dict[str, Any]
Rows = Int[np.ndarray, " R"]
Values = Float[np.ndarray, " R"]
Flags = Bool[np.ndarray, " R"]
Happens = Float[np.ndarray, "K R"]

KEY, BETWEEN = 0.5, 0.3

PANEL = 55
"""Rows in one column of rows, until there are four columns; beyond, rows get thinner."""

HALF = 0.36
"""Half the height of a bar, in rows."""

COUNTED = {
    "growing": "growing load: the port's own cargo included",
    "shrinking": "shrinking load: on arrival, the port's own cargo still on board",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What the rows of a picture stand for, and the measures that follow from it."""

    nodes: Rows
    labels: list[str]
    wrong: Flags
    """The rows in which a limit is broken."""
    has_map: bool

    @property
    def spans(self) -> list[slice]:
        """The rows of each panel: a long schedule is broken into columns, as a long text is."""
        rows = len(self.nodes)
        each = ceil(rows / min(4, ceil(rows / PANEL)))
        return [slice(first, min(first + each, rows)) for first in range(0, rows, each)]

    @property
    def row(self) -> float:
        """The height of one row: less and less as rows are added, so that all of them fit."""
        return min(0.27, 9.6 / (self.spans[0].stop + 0.6))

    @property
    def font(self) -> float:
        """The size of row labels in points; where rows are thinner than letters, fewer rows are labelled."""
        return min(8.5, max(6.0, 0.62 * self.row * POINTS))

    @property
    def side(self) -> float:
        """The side of the square map."""
        return min(8.8, max(4.8, self._height))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the whole picture."""
        tallest = max(self._height, self.side) if self.has_map else self._height
        wide = self._left(len(self.spans)) - BETWEEN + MARGIN
        return max(wide, 9.0), TITLE + tallest + AXIS + KEY

    def map(self, figure: Figure) -> Axes:
        """A square on the left, below the title."""
        bottom = self.size[1] - TITLE - self.side
        return axes_at(figure, "map", (MARGIN + AXIS, bottom, self.side, self.side))

    def panels(self, figure: Figure) -> list[tuple[Axes, slice]]:
        """Axes for each span of rows, side by side to the right of the map and level with its top."""
        labels, bottom = gutter(self.labels, self.font), self.size[1] - TITLE - self._height
        boxes = [
            (self._left(panel) + labels, bottom, self._width, self._height)
            for panel in range(len(self.spans))
        ]
        return [(axes_at(figure, "schedule", b), s) for b, s in zip(boxes, self.spans, strict=True)]

    @property
    def _height(self) -> float:
        return (self.spans[0].stop + 0.6) * self.row

    @property
    def _width(self) -> float:
        return (7.0 if self.has_map else 9.4) / len(self.spans) + 0.32 * (len(self.spans) - 1)

    def _left(self, panel: int) -> float:
        """Where the labels of a panel begin."""
        first = MARGIN + (AXIS + self.side + BETWEEN if self.has_map else 0.0)
        return first + panel * (gutter(self.labels, self.font) + self._width + BETWEEN)


def order(instance: Instance, tour: tuple[int, ...] | None) -> Rows:
    """The node of each row: the tour, or without one the least limit first; the depot last, if it has a window."""
    stops = np.array(tour or range(1, instance.nodes))
    stops = stops[np.lexsort(_limits(instance, stops))] if tour is None else stops
    return np.append(stops, 0) if instance.timed else stops


def _limits(instance: Instance, nodes: Rows) -> tuple[Values, Values]:
    """From where to where is allowed: the windows, or zero up to the drafts."""
    if instance.timed:
        return instance.opens[nodes], instance.closes[nodes]
    return np.zeros(len(nodes)), instance.draft[nodes]


def draw(
    figure: Figure, page: Page, instance: Instance, judged: Solution | Rejection | None
) -> None:
    """Draw windows or drafts row by row, and what a tour makes of them where there is one."""
    timed, (low, high) = instance.timed, _limits(instance, page.nodes)
    happens = None if judged is None else _happens(instance, judged)
    counted = COUNTED[instance.load] if len(page.spans) == 1 else f"{instance.load} load"
    unit = "time" if timed else "draft" if judged is None else counted
    for axes, span in page.panels(figure):
        scale = span if timed else slice(None)  # time goes on from panel to panel
        first, last = low[scale].min(), high[scale].max()
        seen = first, last_telling(high[scale], first, low[scale].max())
        if happens is not None:
            seen = happens[:, scale].min(), happens[:, scale].max()
        panel = panel_on(axes, axis_over(seen, (first, last)), page, span)
        _allowed(panel, low[span], high[span], timed)
        if happens is not None:
            draw_rows, means = (_visits, "late") if timed else (_loads, "overloads")
            draw_rows(panel, happens[:, span])
            panel.excess(page.wrong[span], high[span], happens[-1, span], means)
        axes.set_xlabel(unit, fontsize=9)
    title = ("Drafts, the shallowest port on top", "Load at each port, in tour order downward")
    if timed:
        title = (
            "Windows, the first to close on top",
            "Schedule, in tour order downward; the last row is the return",
        )
    first = figure.axes[-len(page.spans)]
    first.set_title(title[judged is not None], fontsize=10, loc="left")


def _happens(instance: Instance, judged: Solution | Rejection) -> Happens:
    """By row, zero, what is within the draft, and the load; or departure before, arrival, departure, and start."""
    schedule, back = judged.schedule, judged.makespan
    assert schedule is not None, "what is drawn visits every stop once"
    assert back is not None
    if not instance.timed:
        load = schedule.load
        return np.stack((np.zeros(len(load)), np.minimum(load, schedule.draft), load))
    before = np.append(instance.opens[0] + instance.service[0], schedule.departure)
    times = (schedule.arrival, schedule.departure, schedule.start)
    return np.stack((before, *(np.append(column, back) for column in times)))


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


@dataclass(frozen=True, slots=True)
class Panel:
    """The axes of one span of rows with the measures its marks need; every mark bears its meaning as label."""

    axes: Axes
    rows: Rows
    stops: Flags
    """The rows of stops, not of the return."""
    mark: float
    """The size of a marker in points: most of a row's height, but never too small to see."""

    def bars(
        self, rows: Rows, ends: tuple[Values, Values], means: str, look: Look, half: float = HALF
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

    def ticks(self, at: Values, means: str, width: float) -> None:
        """Upright strokes a little taller than the bars, one per row."""
        at, tall = self._cut(at), HALF + 0.1
        look = {"colors": palette.INK, "linewidths": width, "zorder": 6}
        self.strokes((at, self.rows - tall, at, self.rows + tall), means, look)

    def dots(self, chosen: Flags, at: Values, means: str, look: tuple[str, str, float]) -> None:
        """Markers in the chosen rows; the look is marker, colour and size over that of a mark."""
        if chosen.any():
            marker, colour, scale = look
            self.axes.scatter(
                at[chosen], self.rows[chosen], s=(scale * self.mark) ** 2, c=colour, marker=marker,
                label=means, edgecolors="white", linewidths=0.06 * self.mark, zorder=9, clip_on=False,
            )  # fmt: skip

    def excess(self, wrong: Flags, limit: Values, value: Values, means: str) -> None:
        """What goes beyond a limit in the wrong rows: hatched from the limit on, with a cross at its end."""
        look = {"facecolor": "white", "edgecolor": palette.VERMILLION, "hatch": palette.HATCH}
        ends = limit[wrong], value[wrong]
        self.bars(self.rows[wrong], ends, means, {**look, "linewidth": 0.8, "zorder": 5})
        self.dots(wrong, value, f"{means}-ends", ("X", palette.VERMILLION, 1.15))

    def goes_on(self, left: Values, right: Values) -> None:
        """Arrowheads on the edges of the axes for the bars that do not end within sight."""
        low, high = self.axes.get_xlim()
        self.dots(left < low, np.full_like(left, low), "goes-on", ("<", palette.BLUE, 0.8))
        self.dots(right > high, np.full_like(left, high), "goes-on", (">", palette.BLUE, 0.8))

    def _cut(self, values: Values) -> Values:
        low, high = self.axes.get_xlim()
        margin = 0.05 * (high - low)
        return values.clip(low - margin, high + margin)


def _allowed(panel: Panel, low: Values, high: Values, timed: bool) -> None:
    look = {"facecolor": palette.PALE, "edgecolor": palette.BLUE if timed else "none", "zorder": 2}
    edge = min(0.6, 0.1 * panel.mark)
    means = "windows" if timed else "room"
    panel.bars(panel.rows, (low, high), means, {**look, "linewidth": edge})
    if not timed:
        panel.ticks(high, "drafts", min(2.2, 0.3 * panel.mark))
    panel.goes_on(low, high)


def _loads(panel: Panel, happens: Happens) -> None:
    look = {"facecolor": palette.BLUE, "edgecolor": "none", "zorder": 3}
    panel.bars(panel.rows, (happens[0], happens[1]), "load", look, half=0.22)


def _visits(panel: Panel, happens: Happens) -> None:
    """The way from the row above, and at each stop arrival, waiting, and service, which may be a dot alone."""
    (before, arrival, departure, start), rows, mark = happens, panel.rows, panel.mark
    thin = {"colors": palette.FAINT, "linewidths": min(0.8, 0.15 * mark), "zorder": 3}
    panel.strokes((before, rows - 1.0, arrival, rows), "travel", thin)
    waits, serves = arrival < start, start < departure
    bold = {"colors": palette.ORANGE, "linewidths": min(1.8, 0.3 * mark), "zorder": 4}
    waiting = arrival[waits], rows[waits], start[waits], rows[waits]
    panel.strokes(waiting, "waiting", bold)
    look = {"facecolor": palette.NAVY, "edgecolor": palette.NAVY, "linewidth": 0.3, "zorder": 6}
    panel.bars(rows[serves], (start[serves], departure[serves]), "service", look, half=0.2)
    panel.ticks(arrival, "arrivals", min(1.5, 0.17 * mark))
    panel.dots(panel.stops, start, "starts", ("o", palette.NAVY, 0.6))


def panel_on(axes: Axes, axis: tuple[float, float], page: Page, span: slice) -> Panel:
    """Axes with a labelled row for each stop of a span; where rows are too thin for letters, some go without."""
    axes.set_xlim(*axis)
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
    return Panel(axes, np.arange(span.start, span.stop), page.nodes[span] > 0, mark)


def labelled(wrong: Flags, spacing: float) -> list[int]:
    """The rows to label so that labels are `spacing` rows apart: the last, then the violated, then any from the top."""
    chosen: list[int] = []
    for row in (len(wrong) - 1, *np.flatnonzero(wrong).tolist(), *range(len(wrong))):
        if all(abs(row - other) >= spacing for other in chosen):
            chosen.append(row)
    return sorted(chosen)
