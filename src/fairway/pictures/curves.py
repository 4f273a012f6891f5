"""The curves of a training, over the instances it has seen: lengths and failures, and what PIP-D heads foresee."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from fairway.errors import InvalidFile
from fairway.pictures import palette
from fairway.pictures.sheet import LEGEND, dress, key_of_series, panels

MOST_POINTS, MOST_OF_HEADS = 300, 120
"""Of a curve; more would be a band of noise, so that neighbours are put together."""

HEADS = (
    "of the candidates that a PIP-D head was asked about, in percent, while it learnt from the mask"
)

Entries = Sequence[Mapping[str, Any]]
Points = tuple[Float[np.ndarray, " S"], Float[np.ndarray, " S"]]


class Curve(NamedTuple):
    """What a PIP-D head said, summed over pieces of its training."""

    instances: Float[np.ndarray, " S"]
    """Seen at the end of each piece."""
    accuracy: Float[np.ndarray, " S"]
    recall: Float[np.ndarray, " S"]
    """Of the candidates that doom a stop; NaN where there were none."""
    specificity: Float[np.ndarray, " S"]
    """Of those that do not."""


def draw_curves(log: Path, title: str) -> Figure:
    """A picture of a run's log: lengths on the left, shares of infeasible tours and instances on the right."""
    entries = _entries(log)
    training = [entry for entry in entries if entry.get("kind") == "record"]
    checked = [entry for entry in entries if entry.get("kind") == "validation"]
    with palette.settings():
        figure = panels((title, _standing(checked)), ("length", "infeasible"), (4.4, 2.6), series=8)
        left, right = figure.axes
        _trained(left, _points(training, "length"), palette.BLUE, "training, mean of sampled tours")
        _checked(left, _points(checked, "length"), "o", palette.BLUE, "validation, best of 8 views")
        for name, mark, colour in (("sol", "o", palette.BLUE), ("inst", "s", palette.ORANGE)):
            field, word = f"{name}_infeasible", f"{name.capitalize()}."
            _trained(right, _points(training, field), colour, f"{word} in training")
            _checked(right, _points(checked, field), mark, colour, f"{word} in validation")
        right.set_ylim(bottom=0.0)
        for axes, label in ((left, "length"), (right, "infeasible, %")):
            _dress(axes, label)
            if axes.lines:
                axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.2), ncols=2, **LEGEND)
    return figure


def _entries(log: Path) -> Entries:
    try:
        entries = [json.loads(line) for line in log.read_text().splitlines()]
    except OSError as error:
        raise InvalidFile(f"{log}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise InvalidFile(f"{log}: is no log of a training ({error})") from error
    if not all(isinstance(entry, dict) for entry in entries):
        raise InvalidFile(f"{log}: is no log of a training; expected one JSON object per line")
    return entries


def _standing(validations: Entries) -> str:
    """What the last validation found, in words."""
    if not validations:
        return "no validation yet"
    last = validations[-1]
    length = last.get("length")
    shown = "none feasible" if length is None or math.isnan(length) else f"length {length:.4f}"
    return (
        f"after {last['instances']:,} instances:  Sol. {last['sol_infeasible']:.2f} %  and "
        f"Inst. {last['inst_infeasible']:.2f} %  infeasible,  {shown}"
    )


def _points(entries: Entries, field: str) -> Points:
    """Instances seen and the values of a field, where it has one; long series are averaged in pieces."""
    means = [piece.mean(0) for piece in _pieces(entries, ("instances", field), MOST_POINTS)]
    seen, values = np.array(means).reshape(-1, 2).T
    return seen, values


def _pieces(entries: Entries, fields: tuple[str, ...], most: int) -> list[Float[np.ndarray, "_ F"]]:
    """The entries that have all the fields, as tables of neighbours."""
    rows = [[entry.get(field) for field in fields] for entry in entries]
    table = np.array([row for row in rows if None not in row], float).reshape(-1, len(fields))
    return np.array_split(table, min(len(table), most)) if len(table) else []


def _trained(axes: Axes, points: Points, colour: str, label: str) -> None:
    if len(points[0]):
        axes.plot(*points, color=colour, linewidth=1.0, alpha=0.45, label=label)


def _checked(axes: Axes, points: Points, mark: str, colour: str, label: str) -> None:
    look = {"marker": mark, "markeredgecolor": "white", "markeredgewidth": 0.6}
    size = 4.5 if len(points[0]) < 40 else 0.0
    if len(points[0]):
        axes.plot(*points, color=colour, linewidth=1.8, markersize=size, label=label, **look)


def _dress(axes: Axes, label: str) -> None:
    dress(axes, "instances seen", label)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_major_locator(MaxNLocator(6))


def curve_of(entries: Entries) -> Curve | None:
    """How well a PIP-D head foresaw the mask, by the records of a log; None where no head was learning."""
    fields = ("instances", "doomed_found", "doomed", "sound_found", "sound")
    records = [
        entry
        for entry in entries
        if entry.get("kind") == "record"
        and ((entry.get("doomed") or 0) + (entry.get("sound") or 0))
    ]
    pieces = _pieces(records, fields, MOST_OF_HEADS)
    if not pieces:
        return None
    sums = np.array([piece[:, 1:].sum(0) for piece in pieces])
    found, asked = sums[:, 0::2], sums[:, 1::2]
    shares = 100 * np.divide(found, asked, out=np.full_like(found, np.nan), where=asked > 0)
    seen = np.array([piece[-1, 0] for piece in pieces])
    return Curve(seen, 100 * found.sum(1) / asked.sum(1), shares[:, 0], shares[:, 1])


def draw_foresight(title: str, curves: Sequence[tuple[str, Curve]]) -> Figure:
    """A picture of what PIP-D heads foresee: accuracy, recall and specificity, a line per training; at least one."""
    names = ("accuracy", "recall", "specificity")
    with palette.settings():
        figure = panels((title, HEADS), names, (3.4, 2.6), series=len(curves))
        for axes, name in zip(figure.axes, names, strict=True):
            for place, (label, curve) in enumerate(curves):
                colour, _, dash = palette.LOOKS[place % len(palette.LOOKS)]
                look = {"color": colour, "linestyle": dash, "linewidth": 1.6}
                axes.plot(curve.instances, getattr(curve, name), label=label, **look)
            _dress(axes, f"{name}, %")
            axes.set_ylim(top=100.5)
        key_of_series(figure)
    return figure
