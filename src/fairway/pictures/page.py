"""How large a picture is and where its parts lie, in inches: it grows with the stops up to what a screen can show."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from jaxtyping import Bool, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairway.pictures.sheet import AXIS, MARGIN, POINTS, TITLE, axes_at, gutter

KEY, BETWEEN = 0.5, 0.3

PANEL = 55
"""Rows in one column of rows, until there are four columns; beyond, rows get thinner."""


@dataclass(frozen=True, slots=True)
class Page:
    """What the rows of a picture stand for, and the measures that follow from it."""

    nodes: Int[np.ndarray, " R"]
    labels: list[str]
    wrong: Bool[np.ndarray, " R"]
    """The rows in which a limit is broken."""
    has_map: bool

    @property
    def spans(self) -> list[slice]:
        """The rows of each panel: a long schedule is broken into columns, as a long text is."""
        rows = len(self.nodes)
        each = ceil(rows / min(4, ceil(rows / PANEL)))
        return [slice(first, min(first + each, rows)) for first in range(0, rows, each)]

    @property
    def row(self) -> float:
        """The height of one row: less and less as rows are added, so that all of them fit."""
        return min(0.27, 9.6 / (self.spans[0].stop + 0.6))

    @property
    def font(self) -> float:
        """The size of row labels in points; where rows are thinner than letters, fewer rows are labelled."""
        return min(8.5, max(6.0, 0.62 * self.row * POINTS))

    @property
    def side(self) -> float:
        """The side of the square map."""
        return min(8.8, max(4.8, self._height))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the whole picture."""
        tallest = max(self._height, self.side) if self.has_map else self._height
        wide = self._left(len(self.spans)) - BETWEEN + MARGIN
        return max(wide, 9.0), TITLE + tallest + AXIS + KEY

    def map(self, figure: Figure) -> Axes:
        """A square on the left, below the title."""
        bottom = self.size[1] - TITLE - self.side
        return axes_at(figure, "map", (MARGIN + AXIS, bottom, self.side, self.side))

    def panels(self, figure: Figure) -> list[tuple[Axes, slice]]:
        """Axes for each span of rows, side by side to the right of the map and level with its top."""
        labels, bottom = gutter(self.labels, self.font), self.size[1] - TITLE - self._height
        boxes = [
            (self._left(panel) + labels, bottom, self._width, self._height)
            for panel in range(len(self.spans))
        ]
        return [(axes_at(figure, "schedule", b), s) for b, s in zip(boxes, self.spans, strict=True)]

    @property
    def _height(self) -> float:
        return (self.spans[0].stop + 0.6) * self.row

    @property
    def _width(self) -> float:
        return (7.0 if self.has_map else 9.4) / len(self.spans) + 0.32 * (len(self.spans) - 1)

    def _left(self, panel: int) -> float:
        """Where the labels of a panel begin."""
        first = MARGIN + (AXIS + self.side + BETWEEN if self.has_map else 0.0)
        return first + panel * (gutter(self.labels, self.font) + self._width + BETWEEN)
