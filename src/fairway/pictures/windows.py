"""The schedule of a TSPTW tour: windows as pale bars, and on them arrival, waiting, service and lateness."""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from fairway.pictures import palette
from fairway.pictures.page import Page
from fairway.pictures.schedule import Axis, Rows, axis_over, last_telling, rows_on
from fairway.problems.tsptw import TSPTW
from fairway.verify import TimeSchedule


def order(instance: TSPTW, tour: tuple[int, ...] | None) -> Int[np.ndarray, " N"]:
    """The node of each row: the tour, or without one the stops by closing time; the depot always last."""
    stops = (
        1 + np.lexsort((instance.opens[1:], instance.closes[1:]))
        if tour is None
        else np.array(tour)
    )
    return np.append(stops, 0)


def draw(
    axes: Axes, page: Page, instance: TSPTW, schedule: TimeSchedule | None, back: float | None
) -> None:
    """Draw the windows row by row, and what a tour that is `back` at its end makes of them."""
    opens, closes = instance.opens[page.nodes], instance.closes[page.nodes]
    if schedule is None or back is None:
        rows = rows_on(axes, _axis_without_tour(instance), page)
        axes.set_title("Windows, the first to close on top", fontsize=10, loc="left")
    else:
        axis = axis_over(
            (float(instance.opens[0]), back), (float(opens.min()), float(closes.max()))
        )
        rows = rows_on(axes, axis, page)
        _tour(rows, instance, schedule, back)
        axes.set_title(
            "Schedule, in tour order downward; the last row is the return", fontsize=10, loc="left"
        )
    look = {
        "facecolor": palette.PALE,
        "edgecolor": palette.BLUE,
        "linewidth": min(0.6, 0.08 * rows.mark),
        "zorder": 2,
    }
    rows.bars(np.arange(page.rows), opens, closes, "windows", look)
    rows.goes_on(np.arange(page.rows), opens, closes)
    axes.set_xlabel("time", fontsize=9)


def _axis_without_tour(instance: TSPTW) -> Axis:
    first, last = float(instance.opens.min()), float(instance.opens.max())
    return axis_over(
        (first, last_telling(instance.closes, first, last)), (first, float(instance.closes.max()))
    )


def _tour(rows: Rows, instance: TSPTW, schedule: TimeSchedule, back: float) -> None:
    arrival, start = np.append(schedule.arrival, back), np.append(schedule.start, back)
    leaves = float(instance.opens[0] + instance.service[0])
    _travel(rows, np.append(leaves, schedule.departure), arrival)
    _stays(rows, schedule)
    look = {"colors": palette.INK, "linewidths": min(1.5, 0.22 * rows.mark), "zorder": 6}
    rows.ticks(np.arange(len(arrival)), arrival, "arrivals", look)
    late = np.flatnonzero(rows.page.wrong)
    rows.excess(late, instance.closes[rows.page.nodes[late]], start[late], "late")


def _travel(
    rows: Rows, departure: Float[np.ndarray, " N"], arrival: Float[np.ndarray, " N"]
) -> None:
    """A line from each departure down to the next row's arrival; the first comes from above, where the depot would be."""
    row = np.arange(len(arrival))
    ways = np.stack((np.stack((departure, row - 1.0), -1), np.stack((arrival, row), -1)), axis=1)
    rows.axes.add_collection(
        LineCollection(
            list(ways),
            colors=palette.FAINT,
            linewidths=min(0.8, 0.12 * rows.mark),
            zorder=3,
            gid="travel",
        )
    )


def _stays(rows: Rows, schedule: TimeSchedule) -> None:
    """At each stop the waiting, then the service; a service of no length is a dot alone."""
    row = np.arange(len(schedule))
    waits = schedule.wait > 0
    if waits.any():
        rows.axes.hlines(
            row[waits],
            schedule.arrival[waits],
            schedule.start[waits],
            colors=palette.ORANGE,
            linewidths=min(1.6, 0.25 * rows.mark),
            zorder=4,
            gid="waiting",
        )
    serves = schedule.departure > schedule.start
    look = {"facecolor": palette.NAVY, "edgecolor": palette.NAVY, "linewidth": 0.3, "zorder": 6}
    rows.bars(
        row[serves], schedule.start[serves], schedule.departure[serves], "service", look, half=0.2
    )
    rows.axes.scatter(
        schedule.start,
        row,
        s=(0.55 * rows.mark) ** 2,
        c=palette.NAVY,
        linewidths=0,
        zorder=7,
        gid="starts",
    )
