"""The schedule of a TSPTW tour: windows as pale bars, and on them arrival, waiting, service and lateness."""

from dataclasses import fields

import numpy as np
from jaxtyping import Float, Int
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from fairway.judge import Schedule
from fairway.pictures import palette
from fairway.pictures.page import Page
from fairway.pictures.schedule import Axis, Panel, axis_over, last_telling, panel_on
from fairway.problems.instance import Instance


def order(instance: Instance, tour: tuple[int, ...] | None) -> Int[np.ndarray, " N"]:
    """The node of each row: the tour, or without one the stops by closing time; the depot always last."""
    stops = (
        1 + np.lexsort((instance.opens[1:], instance.closes[1:]))
        if tour is None
        else np.array(tour)
    )
    return np.append(stops, 0)


def draw(figure: Figure, page: Page, instance: Instance) -> None:
    """Draw the windows of an instance without a tour."""
    opens, closes = instance.opens[page.nodes], instance.closes[page.nodes]
    for axes, span in page.panels(figure):
        first, last = float(opens[span].min()), float(opens[span].max())
        happens = first, last_telling(closes[span], first, last)
        panel = panel_on(axes, axis_over(happens, (first, float(closes[span].max()))), page, span)
        _windows(panel, opens[span], closes[span])
    figure.axes[-len(page.spans)].set_title(
        "Windows, the first to close on top", fontsize=10, loc="left"
    )


def draw_tour(
    figure: Figure, page: Page, instance: Instance, schedule: Schedule, back: float
) -> None:
    """Draw the windows in the order of a tour that is `back` at the depot at last, and what it makes of them."""
    opens, closes = instance.opens[page.nodes], instance.closes[page.nodes]
    leaves = float(instance.opens[0] + instance.service[0])
    before = np.append(leaves, schedule.departure)
    stays = _with_return(schedule, back)
    for axes, span in page.panels(figure):
        here = _part(stays, span)
        axis = _axis(before[span], here, (float(opens[span].min()), float(closes[span].max())))
        panel = panel_on(axes, axis, page, span)
        _windows(panel, opens[span], closes[span])
        _travel(panel, before[span], here.arrival)
        _stays(panel, here)
        panel.excess(page.wrong[span], closes[span], here.start, "late")
    title = "Schedule, in tour order downward; the last row is the return"
    figure.axes[-len(page.spans)].set_title(title, fontsize=10, loc="left")


def _with_return(schedule: Schedule, back: float) -> Schedule:
    """The schedule with the depot as its last visit, which neither waits nor takes time."""
    ends = (0, back, 0.0, back, back, 0.0, np.inf)
    columns = zip(_columns(schedule), ends, strict=True)
    return Schedule(*(np.append(column, end) for column, end in columns))


def _part(schedule: Schedule, span: slice) -> Schedule:
    return Schedule(*(column[span] for column in _columns(schedule)))


def _columns(schedule: Schedule) -> tuple[np.ndarray, ...]:
    return tuple(getattr(schedule, column.name) for column in fields(Schedule))


def _axis(before: Float[np.ndarray, " R"], stays: Schedule, windows: tuple[float, float]) -> Axis:
    return axis_over((float(before[0]), float(stays.departure[-1])), windows)


def _windows(panel: Panel, opens: Float[np.ndarray, " R"], closes: Float[np.ndarray, " R"]) -> None:
    edge = min(0.6, 0.1 * panel.mark)
    look = {"facecolor": palette.PALE, "edgecolor": palette.BLUE, "linewidth": edge, "zorder": 2}
    panel.bars(panel.rows, (opens, closes), "windows", look)
    panel.goes_on(opens, closes)
    panel.axes.set_xlabel("time", fontsize=9)


def _travel(
    panel: Panel, departure: Float[np.ndarray, " R"], arrival: Float[np.ndarray, " R"]
) -> None:
    """A line from each departure down to the next row's arrival; the first comes in from above."""
    ends = np.stack((departure, panel.rows - 1.0), -1), np.stack((arrival, panel.rows), -1)
    ways, thin = list(np.stack(ends, axis=1)), min(0.8, 0.15 * panel.mark)
    panel.axes.add_collection(
        LineCollection(ways, colors=palette.FAINT, linewidths=thin, zorder=3, label="travel")
    )


def _stays(panel: Panel, stays: Schedule) -> None:
    """At each stop the arrival, the waiting, and the service, which where it takes no time is a dot alone."""
    waits, serves, stops = stays.wait > 0, stays.departure > stays.start, stays.node > 0
    if waits.any():
        look = {"colors": palette.ORANGE, "linewidths": min(1.8, 0.3 * panel.mark), "zorder": 4}
        panel.axes.hlines(
            panel.rows[waits], stays.arrival[waits], stays.start[waits], label="waiting", **look
        )
    look = {"facecolor": palette.NAVY, "edgecolor": palette.NAVY, "linewidth": 0.3, "zorder": 6}
    panel.bars(
        panel.rows[serves],
        (stays.start[serves], stays.departure[serves]),
        "service",
        look,
        half=0.2,
    )
    dots = {"s": (0.55 * panel.mark) ** 2, "c": palette.NAVY, "linewidths": 0, "zorder": 7}
    if stops.any():
        panel.axes.scatter(stays.start[stops], panel.rows[stops], label="starts", **dots)
    panel.ticks(
        stays.arrival,
        "arrivals",
        {"colors": palette.INK, "linewidths": min(1.5, 0.17 * panel.mark), "zorder": 6},
    )
