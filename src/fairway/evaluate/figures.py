"""From tables and results to pictures; which study has which."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from fairway.evaluate.comparisons import Comparison
from fairway.evaluate.metrics import broken_at, gaps, known
from fairway.evaluate.outcomes import Results
from fairway.evaluate.references import References
from fairway.evaluate.studies import ASIDE, FIGURES, TITLES
from fairway.evaluate.tables import LAYOUT, Row, Table, lettered
from fairway.pictures.report import Bar, Point, draw_bars, draw_boxes, draw_breaks, draw_budgets
from fairway.problems.beds import beds

BARS, BUDGETS = (frozenset(LAYOUT["pictures"][kind]) for kind in ("bars", "budgets"))


def study_figure(study: str, bed: str, table: Table) -> Figure | None:
    """The picture of one table of a study; None for studies that have none, and where there is nothing to see."""
    title = f"{TITLES.get(study, study)}  ·  {bed}"
    if study in BARS and table.rows:
        return draw_bars(title, "shares of infeasible tours and instances, and gaps", _bars(table))
    if study in BUDGETS and (points := _points(table, bed)):
        return draw_budgets(title, points)
    return None


def boxes_figure(
    bed: str,
    ranked: Sequence[Results],
    pairs: Sequence[tuple[int, int, Comparison]],
    against: References,
) -> Figure | None:
    """The gaps of methods in the order of their ranking, and which differ."""
    rows = [(each.header.label, known(gaps(each, against.cost))) for each in ranked]
    if not rows or not all(len(own) for _, own in rows):
        return None
    stars = [(one, other, found.stars) for one, other, found in pairs]
    return draw_boxes(f"Gaps of the instances solved  ·  {bed}", rows, stars)


def breaks_figure(bed: str, results: Sequence[Results]) -> Figure | None:
    """Where the tours of each method fail, of those that have any that do."""
    counts = [(each.header.label, broken_at(each.outcomes)) for each in results]
    failing = [(label, count) for label, count in counts if count.any()]
    return draw_breaks(f"Where tours fail  ·  {bed}", failing) if failing else None


def _bars(table: Table) -> list[Bar]:
    bars = []
    for label, row in zip(_told_apart(table), table.rows, strict=True):
        sol, inst, gap = (_number(row, key) for key in ("sol", "inst", "gap"))
        bars.append(Bar(label, sol, inst, gap, row.kind == "published"))
    return bars


def _told_apart(table: Table) -> list[str]:
    """Labels, and where one occurs more than once, as many of the study's settings as tell its rows apart."""
    own = {column.key for column in (*FIGURES, *ASIDE)}
    labels, kinds = [row.label for row in table.rows], [row.kind for row in table.rows]
    for column in table.columns:
        seen = Counter(zip(labels, kinds, strict=True))
        if column.key in own or max(seen.values(), default=0) < 2:
            continue
        for place, row in enumerate(table.rows):
            value = _number(row, column.key)
            if value is not None and seen[labels[place], row.kind] > 1:
                labels[place] += f", {column.title.lower()} {lettered(value, column.format)}"
    return labels


def _points(table: Table, bed: str) -> list[Point]:
    """The rows of which a time is known; a budget's label ends in it, after a comma or in brackets."""
    points = []
    for row in table.rows:
        seconds = _number(row, "instance_seconds")
        whole = _number(row, "seconds")
        if seconds is None and whole is not None and bed in beds():
            seconds = whole / beds()[bed].count
        if seconds is not None and seconds > 0:
            series = re.split(r"[,(]", row.label)[0].strip()
            inst, gap, objective = (_number(row, key) for key in ("inst", "gap", "objective"))
            points.append(Point(series, seconds, inst, gap, objective, row.kind == "published"))
    return points


def _number(row: Row, key: str) -> float | None:
    value = row.values.get(key)
    return float(value) if isinstance(value, int | float) and not np.isnan(value) else None
