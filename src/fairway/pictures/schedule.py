"""The rows beside the map: one a stop, in tour order downward, with what is allowed pale and what happens dark on it."""

from dataclasses import dataclass

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

    @property
    def margin(self) -> float:
        """A little of its length."""
        return 0.02 * (self.high - self.low)

    def cut(self, values: Float[np.ndarray, " R"]) -> Float[np.ndarray, " R"]:
        """The values, those out of sight brought to just outside."""
        return values.clip(self.low - 2 * self.margin, self.high + 2 * self.margin)


def axis_over(happens: tuple[float, float], allowed: tuple[float, float]) -> Axis:
    """All that happens, and of what is allowed around it no more than leaves the former readable."""
    low, high = happens
    span = high - low
    start = max(min(allowed[0], low), low - 0.08 * span)
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
class Rows:
    """The axes of a schedule with the measures its marks need."""

    axes: Axes
    axis: Axis
    page: Page

    @property
    def mark(self) -> float:
        """The size of a marker in points: a row's height, but never too small to see."""
        return float(np.clip(0.62 * self.page.row * POINTS, 3.2, 8.0))

    def bars(
        self,
        rows: Int[np.ndarray, " R"],
        left: Float[np.ndarray, " R"],
        right: Float[np.ndarray, " R"],
        gid: str,
        look: dict[str, object],
        half: float = HALF,
    ) -> None:
        """Horizontal bars; one of no length is still seen by its edge."""
        if not len(rows):
            return
        a, b = self.axis.cut(left), self.axis.cut(right)
        corners = [(a, rows - half), (b, rows - half), (b, rows + half), (a, rows + half)]
        boxes = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
        self.axes.add_collection(PolyCollection(list(boxes), gid=gid, **look))

    def excess(
        self,
        rows: Int[np.ndarray, " R"],
        limit: Float[np.ndarray, " R"],
        value: Float[np.ndarray, " R"],
        gid: str,
    ) -> None:
        """What goes beyond a limit: hatched from the limit on, with a cross at its end."""
        look = {
            "facecolor": "white",
            "edgecolor": palette.VERMILLION,
            "hatch": palette.HATCH,
            "linewidth": 0.8,
            "zorder": 5,
        }
        self.bars(rows, limit, value, gid, look)
        if len(rows):
            self.axes.scatter(
                value,
                rows,
                s=(1.15 * self.mark) ** 2,
                marker="X",
                c=palette.VERMILLION,
                edgecolors="white",
                linewidths=0.5,
                zorder=8,
                clip_on=False,
                gid=f"{gid}-ends",
            )

    def ticks(
        self,
        rows: Int[np.ndarray, " R"],
        at: Float[np.ndarray, " R"],
        gid: str,
        look: dict[str, object],
    ) -> None:
        """Upright strokes a little taller than the bars."""
        tall = HALF + 0.1
        strokes = np.stack(
            (np.stack((at, rows - tall), -1), np.stack((at, rows + tall), -1)), axis=1
        )
        self.axes.add_collection(LineCollection(list(strokes), gid=gid, **look))

    def goes_on(
        self,
        rows: Int[np.ndarray, " R"],
        left: Float[np.ndarray, " R"],
        right: Float[np.ndarray, " R"],
    ) -> None:
        """Arrowheads on the axes' edge for the bars that do not end within sight."""
        for beyond, edge, marker, gid in (
            (right > self.axis.high, self.axis.high, ">", "goes-on"),
            (left < self.axis.low, self.axis.low, "<", "goes-on-left"),
        ):
            if beyond.any():
                self.axes.scatter(
                    np.full(beyond.sum(), edge),
                    rows[beyond],
                    s=(0.8 * self.mark) ** 2,
                    marker=marker,
                    c=palette.BLUE,
                    edgecolors="white",
                    linewidths=0.3,
                    clip_on=False,
                    zorder=9,
                    gid=gid,
                )


def rows_on(axes: Axes, axis: Axis, page: Page) -> Rows:
    """Axes with one labelled row a stop; where rows are too thin for letters, violations keep theirs and others are thinned."""
    axes.set_xlim(axis.low, axis.high)
    axes.set_ylim(page.rows - 0.2, -0.8)
    lettered = labelled(page.wrong, spacing=1.12 * page.font / (page.row * POINTS))
    axes.set_yticks(lettered, [page.labels[row] for row in lettered], fontsize=page.font)
    for row, text in zip(lettered, axes.get_yticklabels(), strict=True):
        if page.wrong[row]:
            text.set(color=palette.VERMILLION, fontweight="bold")
    tall = page.rows > 60
    axes.tick_params(axis="x", labelsize=8, length=2.5, labeltop=tall, top=tall)
    axes.tick_params(axis="y", length=1.5, pad=4)
    axes.locator_params(axis="x", nbins=8)
    axes.grid(color=palette.GRID, linewidth=0.6)
    return Rows(axes, axis, page)


def labelled(wrong: Bool[np.ndarray, " R"], spacing: float) -> list[int]:
    """The rows to label so that labels are `spacing` rows apart: the last and the violated first, then from the top down."""
    first = [len(wrong) - 1, *np.flatnonzero(wrong).tolist()]
    chosen: list[int] = []
    for row in (*first, *range(len(wrong))):
        if all(abs(row - other) >= spacing for other in chosen):
            chosen.append(row)
    return sorted(chosen)
