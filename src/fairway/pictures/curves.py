"""The learning curve of a run: how long its tours are and how many fail, against the instances it has seen."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from fairway.errors import InvalidFile
from fairway.pictures import palette
from fairway.pictures.lettering import shortened

SIZE = (11.0, 4.6)
MOST_POINTS = 300
"""Of a training curve; more would be a band of noise, so that neighbours are averaged."""

Entries = Sequence[dict[str, Any]]
Points = tuple[Float[np.ndarray, " S"], Float[np.ndarray, " S"]]


def draw_curves(log: Path, title: str) -> Figure:
    """A picture of a run's log: lengths on the left, shares of infeasible tours and instances on the right."""
    entries = _entries(log)
    training = [entry for entry in entries if entry.get("kind") == "record"]
    validation = [entry for entry in entries if entry.get("kind") == "validation"]
    with palette.settings():
        figure = Figure(figsize=SIZE, facecolor="white")
        left = figure.add_axes((0.07, 0.24, 0.40, 0.56), label="length")
        right = figure.add_axes((0.56, 0.24, 0.40, 0.56), label="infeasible")
        _trained(left, _points(training, "length"), palette.BLUE, "training, mean of sampled tours")
        _checked(
            left, _points(validation, "length"), palette.BLUE, "o", "validation, best of 8 views"
        )
        for name, colour, marker in (("sol", palette.BLUE, "o"), ("inst", palette.ORANGE, "s")):
            field, word = f"{name}_infeasible", f"{name.capitalize()}."
            _trained(right, _points(training, field), colour, f"{word} in training")
            _checked(right, _points(validation, field), colour, marker, f"{word} in validation")
        right.set_ylim(bottom=0.0)
        _dress(left, "length")
        _dress(right, "infeasible, %")
        _title(figure, title, validation)
    return figure


def _entries(log: Path) -> Entries:
    try:
        lines = log.read_text().splitlines()
    except OSError as error:
        raise InvalidFile(f"{log}: cannot be read ({error.strerror or error})") from error
    try:
        entries = [json.loads(line) for line in lines]
    except ValueError as error:
        raise InvalidFile(f"{log}: is no log of a training ({error})") from error
    if not all(isinstance(entry, dict) for entry in entries):
        raise InvalidFile(f"{log}: is no log of a training; expected one JSON object a line")
    return entries


def _points(entries: Entries, field: str) -> Points:
    """Instances seen and the values of a field, where it has one; long series are averaged in pieces."""
    known = [
        (entry["instances"], entry[field]) for entry in entries if entry.get(field) is not None
    ]
    table = np.array(known, dtype=float).reshape(-1, 2)
    pieces = np.array_split(table, min(len(table), MOST_POINTS)) if len(table) else []
    means = np.array([piece.mean(0) for piece in pieces]).reshape(-1, 2)
    return means[:, 0], means[:, 1]


def _trained(axes: Axes, points: Points, colour: str, label: str) -> None:
    if len(points[0]):
        axes.plot(*points, color=colour, linewidth=1.0, alpha=0.45, label=label)


def _checked(axes: Axes, points: Points, colour: str, marker: str, label: str) -> None:
    if len(points[0]):
        size = 4.5 if len(points[0]) < 40 else 0.0
        axes.plot(
            *points, color=colour, linewidth=1.8, marker=marker, markersize=size,
            markeredgecolor="white", markeredgewidth=0.6, label=label,
        )  # fmt: skip


def _dress(axes: Axes, label: str) -> None:
    axes.set_ylabel(label, fontsize=9)
    axes.set_xlabel("instances seen", fontsize=9)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.tick_params(labelsize=8)
    axes.grid(color=palette.GRID, linewidth=0.7)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if axes.lines:
        axes.legend(
            loc="upper left", bbox_to_anchor=(0.0, -0.20), ncols=2, fontsize=8, frameon=False,
            borderaxespad=0, borderpad=0, columnspacing=1.4,
        )  # fmt: skip


def _title(figure: Figure, title: str, validation: Entries) -> None:
    figure.text(0.03, 0.96, shortened(title, 90), va="top", fontsize=12, fontweight="bold")
    words = "no validation yet"
    if validation:
        last = validation[-1]
        length = last.get("length")
        shown = "none feasible" if length is None or math.isnan(length) else f"length {length:.4f}"
        words = (
            f"after {last['instances']:,} instances:  Sol. {last['sol_infeasible']:.2f} %  and "
            f"Inst. {last['inst_infeasible']:.2f} %  infeasible,  {shown}"
        )
    figure.text(0.03, 0.895, words, va="top", fontsize=9.5, color=palette.INK)
