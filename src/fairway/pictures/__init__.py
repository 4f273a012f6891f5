"""Pictures of instances and tours: the map on the left, and what the tour does with windows or drafts on the right."""

from collections.abc import Sequence
from io import BytesIO
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from fairway import atomic
from fairway.errors import InvalidFile, InvalidRequest, InvalidTour
from fairway.judge import Rejection, Solution, verify
from fairway.pictures import map, palette, schedule  # noqa: A004
from fairway.pictures.lettering import EM, POINTS, heading, stop_labels, verdict
from fairway.pictures.page import Page
from fairway.pictures.sheet import MARGIN, key, sheet
from fairway.problems.instance import Instance

FORMATS = (".png", ".svg")


def draw(instance: Instance, tour: Sequence[int] | None = None) -> Figure:
    """A picture of an instance, or of a tour with all that the judge finds wrong with it.

    Args:
        instance: What is drawn; without coordinates there is no map, and the rows take the whole width.
        tour: The customers in order, depot 0 left out at both ends; feasible or not, but each exactly once.
    """
    if not isinstance(instance, Instance):
        raise InvalidRequest("a picture is of one instance; index a set to get one")
    judged = None if tour is None else _judged(instance, tour)
    stops = None if judged is None else judged.tour
    refused, wrong = isinstance(judged, Rejection), np.zeros(instance.nodes, bool)
    if isinstance(judged, Rejection):
        wrong[[violation.node for violation in judged.violations]] = True
    nodes, labels = schedule.order(instance, stops), stop_labels(instance, 22)
    points = instance.coordinates
    page = Page(nodes, [labels[node] for node in nodes], wrong[nodes], points is not None)
    with palette.settings():
        figure = sheet(page.size, heading(instance), verdict(instance, judged), refused=refused)
        if points is not None:
            map.draw(page.map(figure), page.side, points, stops, stop_labels(instance, 14), wrong)
        schedule.draw(figure, page, instance, judged)
        _explain(figure)
    return figure


def _explain(figure: Figure) -> None:
    """Below the picture, the meaning of the marks that occur in it, on as few lines as they need."""
    marks = {mark.get_label() for axes in figure.axes for mark in axes.collections}
    meant = [meaning for mark, meaning in palette.meanings().items() if mark in marks]
    samples, words = zip(*meant, strict=True)
    needed = sum(EM * 8 * len(word) + 44 for word in words) / POINTS
    lines = ceil(needed / (figure.get_figwidth() - 2 * MARGIN))
    key(figure, samples, words, ceil(len(words) / lines))


def save(figure: Figure, path: str | Path) -> None:
    """Write a picture, whole or not at all, as PNG or SVG by its suffix; the same picture gives the same bytes."""
    if not isinstance(figure, Figure):
        raise InvalidRequest(f"save takes a picture of draw; this is a {type(figure).__name__}")
    place = Path(path)
    suffix = place.suffix.lower()
    if suffix not in FORMATS:
        raise InvalidFile(
            f"{path}: the suffix {suffix or '(none)'} names no picture; expected {' or '.join(FORMATS)}"
        )
    content = BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else None
    with palette.settings():
        figure.savefig(content, format=suffix[1:], dpi=150, metadata=metadata)
    atomic.write_bytes(place, content.getvalue())


def _judged(instance: Instance, tour: Sequence[int]) -> Solution | Rejection:
    judged = verify(instance, tour)
    if isinstance(judged, Rejection) and judged.schedule is None:
        raise InvalidTour(
            f"{judged.violations[0].why}; a picture needs a tour that visits every stop once"
        )
    return judged
