"""How well PIP-D heads foresee the mask while they learn: accuracy, recall of what is doomed, and of what is not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from fairway.pictures import palette
from fairway.pictures.panels import AXIS, MARGIN, TITLE, axes_at, dress, key, look, sheet

WIDE, HIGH, ACROSS, KEY = 3.4, 2.6, 0.75, 0.45
WORDS = (
    "of the candidates that a PIP-D head was asked about, in percent, while it learnt from the mask"
)

MOST_POINTS = 120
"""Of a curve; neighbours are added up, so that batches with more candidates weigh more."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What a head said, summed over pieces of its training."""

    instances: Float[np.ndarray, " S"]
    """Seen at the end of each piece."""
    accuracy: Float[np.ndarray, " S"]
    recall: Float[np.ndarray, " S"]
    """Of the candidates that doom a stop; NaN where there were none."""
    specificity: Float[np.ndarray, " S"]
    """Of those that do not."""


def curve_of(entries: Sequence[Mapping[str, object]]) -> Curve | None:
    """The curve in the records of a training's log; None where no head was learning."""
    fields = ("instances", "doomed_found", "doomed", "sound_found", "sound")
    rows = [
        [entry[field] for field in fields]
        for entry in entries
        if entry.get("kind") == "record" and all(entry.get(field) is not None for field in fields)
    ]
    table = np.array(rows, float).reshape(-1, 5)
    table = table[table[:, 2] + table[:, 4] > 0]
    if not len(table):
        return None
    pieces = np.array_split(table, min(len(table), MOST_POINTS))
    sums = np.array([piece[:, 1:].sum(0) for piece in pieces])
    found, asked = sums[:, 0::2], sums[:, 1::2]
    shares = 100 * np.divide(found, asked, out=np.full_like(found, np.nan), where=asked > 0)
    accuracy = 100 * found.sum(1) / asked.sum(1)
    seen = np.array([piece[-1, 0] for piece in pieces])
    return Curve(seen, accuracy, shares[:, 0], shares[:, 1])


def draw_foresight(title: str, curves: Sequence[tuple[str, Curve]]) -> Figure:
    """A picture with a panel for each of the three, and a line a training; at least one."""
    panels = ("accuracy", "recall", "specificity")
    lines = -(-len(curves) // 4)
    below = AXIS + KEY + 0.18 * (lines - 1)
    size = (MARGIN + len(panels) * (ACROSS + WIDE) + MARGIN, TITLE + HIGH + below)
    with palette.settings():
        figure = sheet(size, title, WORDS)
        for column, panel in enumerate(panels):
            left = MARGIN + ACROSS + column * (WIDE + ACROSS) - 0.1
            axes = axes_at(figure, panel, (left, below, WIDE, HIGH))
            for place, (label, curve) in enumerate(curves):
                style = look(place)
                axes.plot(
                    curve.instances, getattr(curve, panel), color=style.colour,
                    linestyle=style.dash, linewidth=1.6, label=label,
                )  # fmt: skip
            _dress(axes, panel)
        key(figure, figure.axes[0], 4)
    return figure


def _dress(axes: Axes, panel: str) -> None:
    dress(axes, "instances seen", f"{panel}, %")
    axes.set_ylim(top=100.5)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_major_locator(MaxNLocator(6))
