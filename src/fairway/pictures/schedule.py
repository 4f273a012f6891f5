"""The schedule row by row: windows are pale, what happens dark on them, what is too late hatched."""

import math
from collections.abc import Iterable

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from fairway.outputs import words
from fairway.pictures import clock, palette
from fairway.pictures.page import Page
from fairway.pictures.panel import Panel, axis_over, last_telling, panel_on
from fairway.pictures.rows import Row, Rows
from fairway.problems.instance import Instance

Values = Float[np.ndarray, " K"]
Visit = tuple[int, Row]
"""A row that the tour visits, and where it stands."""


def draw(
    axes: Axes, page: Page, span: slice, instance: Instance, rows: Rows, departure: float | None
) -> None:
    """Draw the windows of a span of rows, and what a tour that leaves at `departure` makes of them."""
    placed = list(zip(range(span.start, span.stop), rows.rows[span], strict=True))
    left = [row.step.departure for row in rows.rows[: span.start] if row.step is not None]
    before = left[-1] if left else departure
    panel = panel_on(axes, _axis([row for _, row in placed], before), page, span)
    _windows(panel, placed)
    if before is not None:
        visited = [(at, row) for at, row in placed if row.step is not None]
        _visits(panel, visited, before)
        _lateness(panel, visited, instance)
    clock.dress(axes, instance, 8 if len(page.spans) == 1 else 4)


def _axis(rows: list[Row], before: float | None) -> tuple[float, float]:
    """All that happens from the departure of the row above on, or without a tour the windows that say something."""
    opens = _finite(first for row in rows for first, _ in row.windows)
    closes = _finite(last for row in rows for _, last in row.windows)
    first = float(opens.min()) if len(opens) else 0.0
    last = max([first, *closes.tolist()])
    if before is None:
        telling = last_telling(closes, first, float(opens.max()) if len(opens) else first)
        return axis_over((first, telling), (first, last))
    steps = [row.step for row in rows if row.step is not None]
    times = [before, *(time for s in steps for time in (s.arrival, s.start, s.departure))]
    return axis_over((min(times), max(times)), (first, last))


def _finite(values: Iterable[float]) -> Values:
    return np.array([each for each in values if math.isfinite(each)], float)


def _windows(panel: Panel, placed: list[Visit]) -> None:
    """The windows of all rows, those of breaks and of stops left out in looks of their own, and what may be late."""
    edge = min(0.6, 0.1 * panel.mark)
    looks = {
        "windows": (("stop", "return"), {"facecolor": palette.PALE, "edgecolor": palette.BLUE}),
        "break-windows": (("break",), {"facecolor": palette.MINT, "edgecolor": palette.GREEN}),
        "windows-left-out": (
            ("left out",),
            {"facecolor": "white", "edgecolor": palette.FAINT, "linestyle": (0, (3, 2))},
        ),
    }
    for means, (kinds, look) in looks.items():
        spans = [(at, *window) for at, row in placed if row.kind in kinds for window in row.windows]
        if spans:
            at, low, high = np.array(spans, float).reshape(-1, 3).T
            panel.bars(at, (low, high), means, {**look, "linewidth": edge, "zorder": 2})
            panel.goes_on(at, low, high)
    soft = [(at, row.closes, row.until) for at, row in placed if row.until > row.closes]
    if soft:
        at, low, high = np.array(soft, float).reshape(-1, 3).T
        look = {"facecolor": palette.SAND, "edgecolor": palette.ORANGE, "linestyle": (0, (2, 2))}
        panel.bars(at, (low, high), "soft", {**look, "linewidth": edge, "zorder": 1.8}, half=0.24)


def _visits(panel: Panel, visited: list[Visit], before: float) -> None:
    """The way from the row above, and in each row arrival, waiting, and service, which may be a dot alone."""
    if not visited:
        return
    steps = [row.step for _, row in visited]
    times = np.array([(s.arrival, s.start, s.departure) for s in steps if s is not None], float)
    arrival, start, departure = times.T
    at = np.array([place for place, _ in visited])
    mark, left = panel.mark, np.append(before, departure[:-1])
    thin = {"colors": palette.FAINT, "linewidths": min(0.8, 0.15 * mark), "zorder": 3}
    panel.strokes((left, at - 1.0, arrival, at.astype(float)), "travel", thin)
    rest = np.array([row.kind == "break" for _, row in visited])
    waits, serves = arrival < start, (start < departure) & ~rest
    bold = {"colors": palette.ORANGE, "linewidths": min(1.8, 0.3 * mark), "zorder": 4}
    panel.strokes((arrival[waits], at[waits], start[waits], at[waits]), "waiting", bold)
    look = {"facecolor": palette.NAVY, "edgecolor": palette.NAVY, "linewidth": 0.3, "zorder": 6}
    panel.bars(at[serves], (start[serves], departure[serves]), "service", look, half=0.2)
    green = {**look, "facecolor": palette.GREEN, "edgecolor": palette.GREEN}
    panel.bars(at[rest], (start[rest], departure[rest]), "breaks", green, half=0.2)
    panel.ticks(at[~rest], arrival[~rest], "arrivals", min(1.5, 0.17 * mark))
    stops = np.array([row.kind == "stop" for _, row in visited])
    panel.dots(at[stops], start[stops], "starts", ("o", palette.NAVY, 0.6))


def _lateness(panel: Panel, visited: list[Visit], instance: Instance) -> None:
    """What is late at a price, with its amount, and what is later than it may be."""
    priced = [
        (at, row.closes, min(row.step.start, max(row.until, row.closes)), row.step)
        for at, row in visited
        if row.step is not None and row.until > row.closes and row.step.late > 0
    ]
    if priced:
        at, low, high = np.array([each[:3] for each in priced], float).T
        look = {"facecolor": "white", "edgecolor": palette.ORANGE, "hatch": palette.HATCH}
        panel.bars(at, (low, high), "lateness", {**look, "linewidth": 0.6, "zorder": 4}, half=0.24)
        for place, _, _, step in priced:
            panel.words(
                int(place),
                step.departure,
                f"+{words.span(instance, step.late, brief=True)}",
                palette.RUST,
            )
    wrong = [
        (at, row.until, row.step.start)
        for at, row in visited
        if row.wrong and row.step is not None and row.step.start > row.until
    ]
    if wrong:
        at, low, high = np.array(wrong, float).T
        panel.excess(at, low, high, "late")
