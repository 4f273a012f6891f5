"""The schedule of a TSPDL tour: the room under each port's draft as a pale bar, the load at the port dark on it."""

import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes

from fairway.pictures import palette
from fairway.pictures.page import Page
from fairway.pictures.schedule import Rows, axis_over, last_telling, rows_on
from fairway.problems.tspdl import TSPDL
from fairway.verify import LoadSchedule

TITLES = {
    "growing": "growing load: with the port's own cargo, on top of all collected before",
    "shrinking": "shrinking load: on arrival, what is still to be delivered",
}


def order(instance: TSPDL, tour: tuple[int, ...] | None) -> Int[np.ndarray, " M"]:
    """The port of each row: the tour, or without one the ports by draft; the depot's draft counts for nothing."""
    return 1 + np.argsort(instance.draft[1:], kind="stable") if tour is None else np.array(tour)


def draw(axes: Axes, page: Page, instance: TSPDL, schedule: LoadSchedule | None) -> None:
    """Draw the drafts row by row, and the loads a tour calls with."""
    drafts = instance.draft[page.nodes]
    deepest = float(drafts.max())
    if schedule is None:
        rows = rows_on(axes, axis_over((0.0, last_telling(drafts, 0.0, 0.0)), (0.0, deepest)), page)
        axes.set_title("Drafts, the shallowest port on top", fontsize=10, loc="left")
        axes.set_xlabel(f"draft; {TITLES[instance.load]}", fontsize=9)
    else:
        rows = rows_on(axes, axis_over((0.0, float(schedule.load.max())), (0.0, deepest)), page)
        _loads(rows, schedule)
        axes.set_title("Load at each port, in tour order downward", fontsize=10, loc="left")
        axes.set_xlabel(TITLES[instance.load], fontsize=9)
    every = np.arange(page.rows)
    rows.bars(
        every,
        np.zeros(page.rows),
        drafts,
        "room",
        {"facecolor": palette.PALE, "edgecolor": "none", "zorder": 2},
    )
    look = {
        "colors": palette.INK,
        "linewidths": min(2.2, 0.3 * rows.mark),
        "zorder": 6,
        "capstyle": "butt",
    }
    rows.ticks(every, drafts, "drafts", look)
    rows.goes_on(every, np.zeros(page.rows), drafts)


def _loads(rows: Rows, schedule: LoadSchedule) -> None:
    row = np.arange(len(schedule))
    look = {"facecolor": palette.BLUE, "edgecolor": "none", "zorder": 3}
    rows.bars(
        row, np.zeros(len(row)), np.minimum(schedule.load, schedule.draft), "load", look, half=0.22
    )
    over = rows.page.wrong
    rows.excess(row[over], schedule.draft[over], schedule.load[over], "overloads")
