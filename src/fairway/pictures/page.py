"""How large a picture is and where its parts lie, in inches: it grows with the stops up to a size a screen can show."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairway.pictures.lettering import width

POINTS = 72.0
"""Points in an inch."""

MARGIN, TITLE, AXIS, KEY, BETWEEN = 0.3, 0.95, 0.62, 0.62, 0.45


@dataclass(frozen=True, slots=True)
class Page:
    """What the rows of a picture stand for, and the measures that follow from it."""

    nodes: Int[np.ndarray, " R"]
    labels: list[str]
    wrong: Bool[np.ndarray, " R"]
    """The rows in which a limit is broken."""
    has_map: bool

    @property
    def rows(self) -> int:
        """How many rows the schedule has."""
        return len(self.nodes)

    @property
    def row(self) -> float:
        """The height of one row of the schedule: less and less as rows are added, so that all of them fit."""
        return min(0.27, 11.2 / self.rows)

    @property
    def font(self) -> float:
        """The size of row labels in points; where rows are thinner than letters, fewer rows are labelled."""
        return min(8.5, max(6.0, 0.62 * self.row * POINTS))

    @property
    def side(self) -> float:
        """The side of the square map."""
        return min(8.6, max(4.8, self.rows * self.row))

    @property
    def gutter(self) -> float:
        """The room for row labels, left of the schedule."""
        return (0.64 * max(map(width, self.labels)) * self.font + 10) / POINTS

    @property
    def _schedule(self) -> tuple[float, float]:
        return (7.0 if self.has_map else 9.4), (self.rows + 0.6) * self.row

    @property
    def _left(self) -> float:
        """Where the schedule's axes begin."""
        return MARGIN + (AXIS + self.side + BETWEEN if self.has_map else 0.0) + self.gutter

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the whole picture."""
        width, height = self._schedule
        tallest = max(height, self.side) if self.has_map else height
        return self._left + width + MARGIN, TITLE + tallest + AXIS + KEY

    def map(self, figure: Figure) -> Axes:
        """A square on the left, below the title."""
        return self._axes(figure, "map", MARGIN + AXIS, self.side, self.side)

    def schedule(self, figure: Figure) -> Axes:
        """All that is right of the map, its top level with the map's."""
        return self._axes(figure, "schedule", self._left, *self._schedule)

    def _axes(self, figure: Figure, label: str, left: float, width: float, height: float) -> Axes:
        wide, tall = self.size
        bottom = tall - TITLE - height
        return figure.add_axes(
            (left / wide, bottom / tall, width / wide, height / tall), label=label
        )
