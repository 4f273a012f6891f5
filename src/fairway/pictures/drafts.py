"""The schedule of a TSPDL tour: the room under each port's draft as a pale bar, the load at the port dark on it."""

import numpy as np
from jaxtyping import Float, Int
from matplotlib.figure import Figure

from fairway.judge import Schedule
from fairway.pictures import palette
from fairway.pictures.page import Page
from fairway.pictures.schedule import Panel, axis_over, last_telling, panel_on
from fairway.problems.instance import Instance

COUNTED = {
    "growing": "growing load: the port's own cargo included",
    "shrinking": "shrinking load: on arrival, the port's own cargo still on board",
}


def order(instance: Instance, tour: tuple[int, ...] | None) -> Int[np.ndarray, " M"]:
    """The port of each row: the tour, or without one the ports by draft; the depot's draft counts for nothing."""
    return 1 + np.argsort(instance.draft[1:], kind="stable") if tour is None else np.array(tour)


def draw(figure: Figure, page: Page, instance: Instance, schedule: Schedule | None) -> None:
    """Draw the drafts row by row on one scale, and the loads where there is a tour."""
    drafts = instance.draft[page.nodes]
    most = last_telling(drafts, 0.0, 0.0) if schedule is None else float(schedule.load.max())
    axis = axis_over((0.0, most), (0.0, float(drafts.max())))
    several = len(page.spans) > 1
    counted = f"{instance.load} load" if several else COUNTED[instance.load]
    for axes, span in page.panels(figure):
        panel = panel_on(axes, axis, page, span)
        _room(panel, drafts[span])
        if schedule is not None:
            _loads(panel, schedule.load[span], drafts[span], page.wrong[span])
        axes.set_xlabel("draft" if schedule is None else counted, fontsize=9)
    title = "Load at each port, in tour order downward"
    if schedule is None:
        title = "Drafts, the shallowest port on top"
    figure.axes[-len(page.spans)].set_title(title, fontsize=10, loc="left")


def _room(panel: Panel, drafts: Float[np.ndarray, " R"]) -> None:
    floor = np.zeros(len(drafts))
    panel.bars(
        panel.rows,
        (floor, drafts),
        "room",
        {"facecolor": palette.PALE, "edgecolor": "none", "zorder": 2},
    )
    panel.ticks(
        drafts,
        "drafts",
        {"colors": palette.INK, "linewidths": min(2.2, 0.3 * panel.mark), "zorder": 6},
    )
    panel.goes_on(floor, drafts)


def _loads(
    panel: Panel, load: Float[np.ndarray, " R"], drafts: Float[np.ndarray, " R"], wrong: np.ndarray
) -> None:
    look = {"facecolor": palette.BLUE, "edgecolor": "none", "zorder": 3}
    panel.bars(panel.rows, (np.zeros(len(load)), np.minimum(load, drafts)), "load", look, half=0.22)
    panel.excess(wrong, drafts, load, "overloads")
