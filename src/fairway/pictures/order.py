"""Precedences and pairs beside the rows: brackets from the row that must come first to the one after it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from fairway.pictures import palette
from fairway.pictures.page import Page
from fairway.pictures.rows import Rows
from fairway.problems.instance import Instance

LANE, WIDEST = 0.085, 1.5
"""Inches from one bracket to the next, and of all of them at most."""


@dataclass(frozen=True, slots=True)
class Link:
    """A bracket: its meaning, from which row to which, and how many lanes from the rows it runs."""

    means: str
    first: int
    second: int
    lane: int

    @property
    def wrong(self) -> bool:
        """Whether the tour has the two the wrong way round."""
        return self.second < self.first


def links_of(instance: Instance, rows: Rows) -> list[Link]:
    """All pairs of rows with an order between them; stops that are left out have none."""
    place = {row.node: at for at, row in enumerate(rows.rows) if row.kind == "stop"}
    asked = [("order", *pair) for pair in instance.before]
    asked += [("pairs", *pair) for pair in instance.pairs]
    spans = [(means, place[a], place[b]) for means, a, b in asked if a in place and b in place]
    return _in_lanes(spans)


def _in_lanes(spans: Sequence[tuple[str, int, int]]) -> list[Link]:
    """Brackets in the nearest lane that is free along all of their rows, the short ones first."""
    taken: list[set[int]] = []
    found = []
    for means, first, second in sorted(spans, key=lambda each: (abs(each[1] - each[2]), each)):
        rows = set(range(min(first, second), max(first, second) + 1))
        lane = next((at for at, used in enumerate(taken) if not used & rows), len(taken))
        if lane == len(taken):
            taken.append(set())
        taken[lane] |= rows
        found.append(Link(means, first, second, lane))
    return found


def width(links: Sequence[Link]) -> float:
    """Inches that the brackets need."""
    return min(WIDEST, LANE * (2 + max(link.lane for link in links)))


def draw(axes: Axes, page: Page, span: slice, links: Sequence[Link]) -> None:
    """Draw the brackets beside a span of rows: a dot where they begin, an arrowhead where they end."""
    axes.set_xlim(-0.3, 1.5 + max(link.lane for link in links))
    axes.set_ylim(span.start + page.spans[0].stop - 0.2, span.start - 0.8)
    axes.set_axis_off()
    for means, (colour, dash) in palette.LINKS.items():
        own = [link for link in links if link.means == means]
        right, wrong = [e for e in own if not e.wrong], [e for e in own if e.wrong]
        _brackets(axes, span, right, means, (colour, dash, "v"))
        _brackets(axes, span, wrong, f"wrong-{means}", (palette.VERMILLION, dash, "^"))


def _brackets(
    axes: Axes, span: slice, links: Sequence[Link], means: str, look: tuple[str, Any, str]
) -> None:
    colour, dash, head = look
    lines = [line for link in links for line in _lines(link, span)]
    if not lines:
        return
    style = {"colors": colour, "linewidths": 0.8, "linestyles": [dash], "zorder": 2}
    axes.add_collection(LineCollection(lines, label=means, **style))
    for end, marker, size in (("first", "o", 6.0), ("second", head, 14.0)):
        marks = [(link.lane + 1.0, getattr(link, end)) for link in links]
        seen = [(out, row) for out, row in marks if span.start <= row < span.stop]
        if seen:
            place = {"s": size, "c": colour, "marker": marker, "linewidths": 0, "zorder": 3}
            axes.scatter(*np.array(seen).T, label=f"{means}-{end}", **place)


def _lines(link: Link, span: slice) -> list[list[tuple[float, float]]]:
    """The upright stroke of a bracket within a span, and its two arms where they are in it."""
    low, high = sorted((link.first, link.second))
    top, bottom, out = max(low, span.start - 0.6), min(high, span.stop - 0.4), link.lane + 1.0
    if top > bottom:
        return []
    arms = [
        [(0.0, float(row)), (out, float(row))]
        for row in (low, high)
        if span.start <= row < span.stop
    ]
    return [[(out, float(top)), (out, float(bottom))], *arms]
