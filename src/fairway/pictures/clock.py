"""A time axis: plain numbers, or times of day where the instance came in so."""

import numpy as np
from matplotlib.axes import Axes

from fairway.problems.instance import Instance

MINUTE, HOUR, DAY = 60, 3600, 86_400
STEPS = (
    1, 5, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
    HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY, 365 * DAY,
)  # fmt: skip
"""Seconds between the ticks of a clock axis."""


def dress(axes: Axes, instance: Instance, ticks: int) -> None:
    """Ticks at round times, at most about `ticks` of them, and the axis's name."""
    source = instance.source
    if source is None or source.clock is None:
        axes.locator_params(axis="x", nbins=ticks)
        axes.set_xlabel("time", fontsize=9)
        return
    clock = source.clock
    low, high = (clock.unit * end for end in axes.get_xlim())
    step = next((each for each in STEPS if (high - low) / each <= ticks), (high - low) / ticks)
    at = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step / clock.unit
    axes.set_xticks(at, [clock.show(float(each)).replace(" ", "\n") for each in at])
    axes.set_xlabel(
        "time of day" if clock.origin is None else f"time of day, from {clock.origin}", fontsize=9
    )
