"""Pictures of instances and tours: the map on the left, and what the tour does row by row on the right."""

from collections.abc import Sequence
from io import BytesIO
from math import ceil, cos, radians
from pathlib import Path

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairway import atomic
from fairway.errors import InvalidFile, InvalidRequest, InvalidTour
from fairway.given import path_of
from fairway.judge import Rejection, Solution, verify
from fairway.outputs.plan import Plan, has_times, plan_of
from fairway.outputs.words import Answer, standing
from fairway.pictures import heading, loads, map, order, palette, schedule  # noqa: A004
from fairway.pictures.page import Page
from fairway.pictures.panel import letter, lettered_rows
from fairway.pictures.rows import Rows, rows_of
from fairway.pictures.sheet import EM, MARGIN, POINTS, gutter, key, sheet, shortened
from fairway.problems.instance import Instance

Drawn = Sequence[int] | np.ndarray | Solution | Answer | None


def draw(instance: Instance, tour: Drawn = None) -> Figure:
    """A picture of an instance, or of a tour with all that the judge finds wrong with it.

    Args:
        instance: What is drawn; without coordinates there is no map, and the rows take the whole width.
        tour: The stops in order, without the start and the end, feasible or not; or what `solve` or `verify` returned,
            whose departure is then shown.
    """
    if not isinstance(instance, Instance):
        raise InvalidRequest("a picture is of one instance; index a set to get one")
    judged, known = _judged(instance, tour)
    plan = None if judged is None else plan_of(instance, judged)
    rows = rows_of(instance, plan, stop_labels(instance, 22))
    links = [] if plan is None else order.links_of(instance, rows)
    notes = heading.notes(instance, plan)
    costs = _costs(instance, rows)
    points = instance.coordinates
    page = Page(rows.labels, points is not None, _parts(instance, costs, links), len(notes))
    with palette.settings():
        words = heading.verdict(instance, plan, known)
        refused = isinstance(judged, Rejection)
        figure = sheet(page.size, heading.title(instance), words, refused=refused, notes=notes)
        if points is not None:
            map.draw(page.map(figure), page.side, _scene(instance, plan, rows))
        for axes, span in page.panels(figure):
            _draw_rows(axes, page, span, instance, rows, plan)
            if "cost" in axes:
                _draw_costs(axes["cost"], page, span, rows, costs)
            if "order" in axes:
                order.draw(axes["order"], page, span, links)
        heading.over_rows(figure, page, instance, plan)
        _explain(figure)
    return figure


def _parts(instance: Instance, costs: list[str], links: Sequence[order.Link]) -> dict[str, float]:
    """What stands side by side in a column of rows, and how wide it is."""
    parts = {"schedule": 1.0}
    if has_times(instance) and instance.laden:
        parts = {"schedule": 0.8, "load": 0.33}
    parts |= {"cost": -gutter(costs, 7.5)} if costs else {}
    return parts | ({"order": -order.width(links)} if links else {})


def _draw_rows(
    axes: dict[str, Axes],
    page: Page,
    span: slice,
    instance: Instance,
    rows: Rows,
    plan: Plan | None,
) -> None:
    """Time, load, or both, with the labels of the rows on the left."""
    first = axes["schedule"]
    if has_times(instance):
        departure = None if plan is None else plan.departure
        schedule.draw(first, page, span, instance, rows, departure)
    if instance.laden:
        loads.draw(axes.get("load", first), page, span, instance, rows)
    if "load" in axes:
        axes["load"].set_yticks([])
    faint = np.array([row.kind == "left out" for row in rows.rows], bool)
    letter(first, page, span, rows.wrong, faint)


def _costs(instance: Instance, rows: Rows) -> list[str]:
    """The cost so far in each row, where it is not the time that is shown already; blank in rows without a tour."""
    along = rows.amounts("cost")
    if instance.cost is instance.travel or not np.isfinite(along).any():
        return []
    return [heading.number(round(each, 1)) if np.isfinite(each) else "" for each in along.tolist()]


def _draw_costs(axes: Axes, page: Page, span: slice, rows: Rows, costs: list[str]) -> None:
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(span.start + page.spans[0].stop - 0.2, span.start - 0.8)
    axes.set_axis_off()
    axes.set_title("cost", fontsize=8, loc="right")
    style = {"ha": "right", "va": "center", "fontsize": min(7.5, page.font), "color": palette.QUIET}
    for row in lettered_rows(page, span, rows.wrong):
        axes.text(1.0, row, costs[row], **style)


def _scene(instance: Instance, plan: Plan | None, rows: Rows) -> map.Scene:
    nodes = np.arange(instance.nodes)
    left = [] if plan is None else plan.unserved
    wrong = [row.node for row in rows.rows if row.wrong and row.node >= 0]
    circuit = None
    if plan is not None:
        circuit = tuple(step.node for step in plan.steps if step.node is not None)
    served = [pair for pair in instance.before if not {*pair} & {*left}]
    points, stretch = _spread(instance)
    return map.Scene(
        points,
        stop_labels(instance, 14),
        np.isin(nodes, wrong),
        np.isin(nodes, left),
        circuit,
        instance.end,
        tuple(served),
        tuple(pair for pair in instance.pairs if not {*pair} & {*left}),
        stretch,
    )


def _spread(instance: Instance) -> tuple[Float[np.ndarray, "N 2"], float]:
    """The coordinates in a plane; degrees of longitude are drawn as long as they are at the middle latitude."""
    points = instance.coordinates
    assert points is not None
    if instance.source is None or not instance.source.geographic:
        return points, 1.0
    stretch = max(0.01, cos(radians(float(points[:, 1].min() + points[:, 1].max()) / 2)))
    return points * np.array([stretch, 1.0]), stretch


def _explain(figure: Figure) -> None:
    """Below the picture, the meaning of the marks that occur in it, on as few lines as they need."""
    marks = {mark.get_label() for axes in figure.axes for mark in axes.collections}
    meant = [meaning for mark, meaning in palette.meanings().items() if mark in marks]
    if not meant:
        return
    samples, words = zip(*meant, strict=True)
    needed = sum(EM * 8 * len(word) + 44 for word in words) / POINTS
    lines = ceil(needed / (figure.get_figwidth() - 2 * MARGIN))
    key(figure, samples, words, ceil(len(words) / lines))


def save(figure: Figure, path: str | Path) -> None:
    """Write a picture, whole or not at all, as PNG or SVG by its suffix; the same picture gives the same bytes."""
    if not isinstance(figure, Figure):
        raise InvalidRequest(f"save takes a picture of draw; this is a {type(figure).__name__}")
    place = path_of(path)
    atomic.write_bytes(place, rendered(figure, suffix_of(place)))


def rendered(figure: Figure, suffix: str) -> bytes:
    """A picture as the content of a .png or .svg."""
    content = BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else None
    with palette.settings():
        figure.savefig(content, format=suffix[1:], dpi=150, metadata=metadata)
    return content.getvalue()


def suffix_of(place: Path) -> str:
    """Of a picture, in small letters; a file that could hold none is refused."""
    suffix = place.suffix.lower()
    if suffix not in (".png", ".svg"):
        said = suffix or "(none)"
        raise InvalidFile(f"{place}: the suffix {said} names no picture; expected .png or .svg")
    return suffix


def _judged(instance: Instance, tour: Drawn) -> tuple[Solution | Rejection | None, str]:
    """What the judge says of what is drawn, and how good it is known to be."""
    if tour is None or isinstance(tour, Solution):
        return tour, "feasible"
    if isinstance(tour, Answer):
        return tour.solution, standing(tour.status, tour.gap)
    judged = verify(instance, tour)
    if isinstance(judged, Rejection) and judged.schedule is None:
        raise InvalidTour(
            f"{judged.violations[0].why}; a picture needs a tour that visits every stop once"
        )
    return judged, "feasible"


def stop_labels(instance: Instance, limit: int) -> list[str]:
    """What each node is called in a picture: its name cut to `limit`, or its number."""
    if instance.names is None:
        return ["depot", *(str(node) for node in range(1, instance.nodes))]
    return [shortened(name, limit).strip() or str(node) for node, name in enumerate(instance.names)]
