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
from fairway.pictures.sheet import EM, MARGIN, POINTS, key, sheet, shortened
from fairway.problems.instance import Instance, check_classic
from fairway.problems.table import PROBLEMS


def draw(instance: Instance, tour: Sequence[int] | None = None) -> Figure:
    """A picture of an instance, or of a tour with all that the judge finds wrong with it.

    Args:
        instance: What is drawn; without coordinates there is no map, and the rows take the whole width.
        tour: The customers in order, depot 0 left out at both ends; feasible or not, but each exactly once.
    """
    if not isinstance(instance, Instance):
        raise InvalidRequest("a picture is of one instance; index a set to get one")
    check_classic(instance, "pictures show")
    judged = None if tour is None else _judged(instance, tour)
    stops = None if judged is None else judged.tour
    refused, wrong = isinstance(judged, Rejection), np.zeros(instance.nodes, bool)
    if isinstance(judged, Rejection):
        wrong[[violation.node for violation in judged.violations]] = True
    nodes, labels = schedule.order(instance, stops), stop_labels(instance, 22)
    points = instance.coordinates
    page = schedule.Page(nodes, [labels[node] for node in nodes], wrong[nodes], points is not None)
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
    place, content = Path(path), BytesIO()
    suffix = suffix_of(place)
    metadata = {"Date": None} if suffix == ".svg" else None
    with palette.settings():
        figure.savefig(content, format=suffix[1:], dpi=150, metadata=metadata)
    atomic.write_bytes(place, content.getvalue())


def suffix_of(place: Path) -> str:
    """Of a picture, in small letters; a file that could hold none is refused."""
    suffix = place.suffix.lower()
    if suffix not in (".png", ".svg"):
        said = suffix or "(none)"
        raise InvalidFile(f"{place}: the suffix {said} names no picture; expected .png or .svg")
    return suffix


def _judged(instance: Instance, tour: Sequence[int]) -> Solution | Rejection:
    judged = verify(instance, tour)
    if isinstance(judged, Rejection) and judged.schedule is None:
        raise InvalidTour(
            f"{judged.violations[0].why}; a picture needs a tour that visits every stop once"
        )
    return judged


def stop_labels(instance: Instance, limit: int) -> list[str]:
    """What each node is called in a picture: its name cut to `limit`, or its number."""
    if instance.names is None:
        return ["depot", *(str(node) for node in range(1, instance.nodes))]
    return [shortened(name, limit).strip() or str(node) for node, name in enumerate(instance.names)]


def number(value: float) -> str:
    """A number with the digits a reader wants: all of a whole one, six of any other."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e12 else f"{value:.6g}"


def heading(instance: Instance) -> str:
    """Which instance this is."""
    title = PROBLEMS[instance.problem].title
    facts = (shortened(instance.name, 60), title, f"{instance.nodes} nodes")
    return "  ·  ".join(fact for fact in facts if fact.strip())


def verdict(instance: Instance, judged: Solution | Rejection | None) -> str:
    """What the judge says of the tour, in one line."""
    match judged:
        case None:
            return "no tour"
        case Solution(cost=cost, makespan=makespan):
            back = f",  makespan {number(makespan)}" if instance.timed else ""
            return f"feasible:  cost {number(cost)}{back}"
        case Rejection(violations=(first, *rest)):
            count = "1 violation" if not rest else f"{len(rest) + 1} violations; first"
            return f"REFUSED: {count}: {first.why}"
    raise AssertionError("a rejection lists at least one violation")
