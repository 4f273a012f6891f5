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
from fairway.pictures import drafts, map, palette, windows  # noqa: A004
from fairway.pictures.lettering import EM, heading, shortened, stop_labels, verdict
from fairway.pictures.page import MARGIN, POINTS, Page
from fairway.problems.instance import Instance

FORMATS = {".png": "png", ".svg": "svg"}


def draw(instance: Instance, tour: Sequence[int] | None = None) -> Figure:
    """A picture of an instance, or of a tour with all that the judge finds wrong with it.

    Args:
        instance: What is drawn; without coordinates there is no map, and the rows take the whole width.
        tour: The customers in order, depot 0 left out at both ends; feasible or not, but each exactly once.
    """
    if not isinstance(instance, Instance):
        raise InvalidRequest("a picture is of one instance; index a set to get one")
    judged = _judged(instance, tour)
    stops = None if judged is None else judged.tour
    wrong = np.zeros(instance.nodes, bool)
    if isinstance(judged, Rejection):
        wrong[[violation.node for violation in judged.violations]] = True
    with palette.settings():
        page = _page(instance, stops, wrong)
        figure = Figure(figsize=page.size, facecolor="white")
        if instance.coordinates is not None:
            map.draw(
                page.map(figure),
                page.side,
                instance.coordinates,
                stops,
                stop_labels(instance, 14),
                wrong,
            )
        _rows(figure, page, instance, judged)
        _title(figure, page, instance, judged)
        _key(figure, page)
    return figure


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
        figure.savefig(content, format=FORMATS[suffix], dpi=150, metadata=metadata)
    atomic.write_bytes(place, content.getvalue())


def _judged(instance: Instance, tour: Sequence[int] | None) -> Solution | Rejection | None:
    if tour is None:
        return None
    judged = verify(instance, tour)
    if judged.schedule is None:
        assert isinstance(judged, Rejection), "a solution has a schedule"
        raise InvalidTour(
            f"{judged.violations[0].why}; a picture needs a tour that visits every stop once"
        )
    return judged


def _page(instance: Instance, tour: tuple[int, ...] | None, wrong: np.ndarray) -> Page:
    nodes = (windows if instance.timed else drafts).order(instance, tour)
    labels = stop_labels(instance, 22)
    return Page(
        nodes, [labels[node] for node in nodes], wrong[nodes], instance.coordinates is not None
    )


def _rows(
    figure: Figure, page: Page, instance: Instance, judged: Solution | Rejection | None
) -> None:
    schedule = None if judged is None else judged.schedule
    if not instance.timed:
        drafts.draw(figure, page, instance, schedule)
    elif judged is None:
        windows.draw(figure, page, instance)
    else:
        assert schedule is not None, "a tour was judged"
        assert judged.makespan is not None
        windows.draw_tour(figure, page, instance, schedule, judged.makespan)


def _title(
    figure: Figure, page: Page, instance: Instance, judged: Solution | Rejection | None
) -> None:
    width, height = page.size
    left, refused = MARGIN / width, isinstance(judged, Rejection)
    figure.suptitle(
        heading(instance),
        x=left,
        y=1 - 0.14 / height,
        ha="left",
        va="top",
        fontsize=12,
        fontweight="bold",
    )
    figure.text(
        left,
        1 - 0.42 / height,
        shortened(verdict(instance, judged), int((width - 2 * MARGIN) * POINTS / (0.58 * 9.5))),
        va="top",
        fontsize=9.5,
        color=palette.VERMILLION if refused else palette.INK,
        fontweight="bold" if refused else "normal",
    )


def _key(figure: Figure, page: Page) -> None:
    """Below the picture, the meaning of the marks that occur in it, on as few lines as they need."""
    width, height = page.size
    samples, words = palette.key(
        str(mark.get_label()) for axes in figure.axes for mark in axes.collections
    )
    needed = sum(EM * 8 * len(word) + 44 for word in words) / POINTS
    lines = ceil(needed / (width - 2 * MARGIN))
    figure.legend(
        samples,
        words,
        loc="lower left",
        bbox_to_anchor=(MARGIN / width, 0.1 / height),
        borderaxespad=0,
        borderpad=0,
        ncols=ceil(len(words) / lines),
        fontsize=8,
        frameon=False,
        handlelength=2.2,
        columnspacing=1.4,
    )
