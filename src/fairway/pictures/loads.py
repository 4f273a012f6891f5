"""The load row by row: the room under the draft is pale, the load dark on it, what is too much hatched."""

import math

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from fairway.outputs import words
from fairway.pictures import palette
from fairway.pictures.page import Page
from fairway.pictures.panel import Panel, axis_over, last_telling, panel_on
from fairway.pictures.rows import Rows
from fairway.problems.instance import Instance

Values = Float[np.ndarray, " R"]

NEAR = 1.6
"""A capacity of this many times the highest load is still shown."""
COUNTED = {
    "growing": "growing load: the port's own cargo included",
    "shrinking": "shrinking load: on arrival, the port's own cargo still on board",
    "signed": "load after each stop",
}


def draw(axes: Axes, page: Page, span: slice, instance: Instance, rows: Rows) -> None:
    """Draw drafts and capacity, and the load of a tour where there is one."""
    nodes, load = rows.nodes, rows.amounts("load")
    drafts = np.where(nodes > 0, instance.draft[nodes], math.inf)
    limits = np.minimum(drafts, np.where(nodes > 0, instance.capacity, math.inf))
    panel = panel_on(axes, _axis(instance, limits, load), page, span)
    at = np.arange(span.start, span.stop)
    served = np.array([row.kind not in ("break", "left out") for row in rows.rows])
    _limits(panel, instance, at, np.where(served, limits, math.nan)[span], drafts[span])
    shown = np.where(served, load, math.nan)[span]
    bars = np.isfinite(shown) & (nodes[span] > 0)
    look = {"facecolor": palette.BLUE, "edgecolor": "none", "zorder": 3}
    within = np.minimum(shown, limits[span]).clip(0.0)
    panel.bars(at[bars], (np.zeros(int(bars.sum())), within[bars]), "load", look, half=0.22)
    _excess(panel, at, rows, span, limits, load)
    if instance.load == "signed":
        _changes(panel, at[bars], within[bars], instance.demand[nodes[span][bars]])
    beside = "schedule" in page.parts and len(page.parts) > 1
    brief = beside or len(page.spans) > 1
    axes.locator_params(axis="x", nbins=8 if not brief else 4)
    counted = (
        f"{instance.load} load" if brief and instance.load != "signed" else COUNTED[instance.load]
    )
    axes.set_xlabel(
        counted if np.isfinite(load).any() else "most load" if beside else "draft", fontsize=9
    )


def _axis(instance: Instance, limits: Values, load: Values) -> tuple[float, float]:
    known, allowed = load[np.isfinite(load)], limits[np.isfinite(limits)]
    most = float(allowed.max()) if len(allowed) else 0.0
    if len(known):
        highest = float(max(known.max(), instance.aboard if instance.load == "signed" else 0.0))
        if instance.capacity <= NEAR * highest:
            highest = max(highest, instance.capacity)
        return axis_over((min(float(known.min()), 0.0), highest), (0.0, most))
    if not len(allowed):
        return 0.0, 1.0
    return axis_over((0.0, last_telling(allowed, 0.0, 0.0)), (0.0, most))


def _limits(
    panel: Panel, instance: Instance, at: np.ndarray, limits: Values, drafts: Values
) -> None:
    """The room of each row, a tick at its draft, and one line down all rows at the capacity."""
    room = np.isfinite(limits)
    look = {"facecolor": palette.PALE, "edgecolor": "none", "zorder": 2, "linewidth": 0.0}
    low = np.zeros(int(room.sum()))
    panel.bars(at[room], (low, limits[room]), "room", look)
    tight = room & (drafts <= instance.capacity)
    panel.ticks(at[tight], drafts[tight], "drafts", min(2.2, 0.3 * panel.mark))
    panel.goes_on(at[tight], np.zeros(int(tight.sum())), drafts[tight])
    if math.isfinite(instance.capacity) and instance.capacity <= panel.axes.get_xlim()[1]:
        ends = [
            np.array([each])
            for each in (instance.capacity, at[0] - 0.6, instance.capacity, at[-1] + 0.6)
        ]
        line = {"colors": palette.INK, "linewidths": 1.0, "linestyles": (0, (4, 2)), "zorder": 5}
        panel.strokes(tuple(ends), "capacity", line)


def _excess(
    panel: Panel, at: np.ndarray, rows: Rows, span: slice, limits: Values, load: Values
) -> None:
    """Loads over a limit, and below nothing."""
    wrong = rows.wrong & np.isfinite(load) & (rows.nodes > 0)
    over = (wrong & (load > limits))[span]
    panel.excess(at[over], limits[span][over], load[span][over], "overloads")
    under = (wrong & (load < 0))[span]
    panel.excess(at[under], np.zeros(int(under.sum())), load[span][under], "overloads")


def _changes(panel: Panel, at: np.ndarray, ends: Values, demand: Values) -> None:
    """What each stop adds or takes, in figures."""
    if panel.mark < 4:
        return
    for row, end, change in zip(at.tolist(), ends.tolist(), demand.tolist(), strict=True):
        if change:
            sign = "+" if change > 0 else "\N{MINUS SIGN}"
            panel.on_bar(row, end, f"{sign}{words.number(abs(change))}")
