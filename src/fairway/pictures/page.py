"""The measures of a picture: where the map and the columns of rows stand, in inches."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairway.pictures.sheet import AXIS, MARGIN, NOTE, POINTS, TITLE, axes_at, gutter

KEY, BETWEEN, BESIDE = 0.5, 0.3, 0.28
"""Inches for the legend, between columns of rows, and between the parts of one."""
PANEL = 55
"""Rows in one column of rows, until there are four columns; beyond, rows get thinner."""


@dataclass(frozen=True)
class Page:
    """How many rows a picture has, their labels, and what stands in them side by side."""

    labels: list[str]
    has_map: bool
    parts: Mapping[str, float]
    """The parts of a column of rows, with the share of its width that each takes, or its inches if negative."""
    notes: int = 0
    """Lines above the picture besides the two that all have."""

    @cached_property
    def spans(self) -> list[slice]:
        """The rows of each panel: a long schedule is broken into columns, as a long text is."""
        rows = len(self.labels)
        each = max(1, ceil(rows / min(4, ceil(max(rows, 1) / PANEL))))
        return [slice(first, min(first + each, rows)) for first in range(0, max(rows, 1), each)]

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
        return max(wide, 9.0), self._title + tallest + AXIS + KEY

    def map(self, figure: Figure) -> Axes:
        """A square on the left, below the title."""
        bottom = self.size[1] - self._title - self.side
        return axes_at(figure, "map", (MARGIN + AXIS, bottom, self.side, self.side))

    def panels(self, figure: Figure) -> Iterator[tuple[dict[str, Axes], slice]]:
        """The axes of each span of rows, by part, side by side to the right of the map and level with its top."""
        bottom = self.size[1] - self._title - self._height
        for number, span in enumerate(self.spans):
            left, axes = self._left(number) + gutter(self.labels, self.font), {}
            for part, wide in self._widths.items():
                axes[part] = axes_at(figure, part, (left, bottom, wide, self._height))
                left += wide + BESIDE
            yield axes, span

    @property
    def _title(self) -> float:
        return TITLE + NOTE * self.notes

    @property
    def _height(self) -> float:
        return (max(self.spans[0].stop, 1) + 0.6) * self.row

    @cached_property
    def _widths(self) -> dict[str, float]:
        """Of each part, in inches."""
        whole = (7.0 if self.has_map else 9.4) / len(self.spans) + 0.32 * (len(self.spans) - 1)
        return {part: -wide if wide < 0 else wide * whole for part, wide in self.parts.items()}

    def _left(self, panel: int) -> float:
        """Where the labels of a panel begin."""
        first = MARGIN + (AXIS + self.side + BETWEEN if self.has_map else 0.0)
        panel_width = sum(self._widths.values()) + BESIDE * (len(self._widths) - 1)
        return first + panel * (gutter(self.labels, self.font) + panel_width + BETWEEN)
