"""The tour on the map: the depot a square, stops dots, legs that darken along the way and carry arrowheads."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from fairway.pictures import palette
from fairway.pictures.lettering import EM, width
from fairway.pictures.page import POINTS
from fairway.pictures.placement import place

ROOM = 1.14
"""The map's extent over that of its nodes: room for the labels of the outermost."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The square of the map, as the corner and the extent it has in the instance's units, and its side in inches."""

    corner: Float[np.ndarray, " 2"]
    extent: float
    side: float
    dot: float
    """The diameter of a stop in points; all that is drawn around it keeps proportion."""

    def inches(self, points: Float[np.ndarray, "*any 2"]) -> Float[np.ndarray, "*any 2"]:
        """Where points lie, in inches from the corner."""
        return (points - self.corner) / self.extent * self.side

    def units(self, inches: Float[np.ndarray, "*any 2"]) -> Float[np.ndarray, "*any 2"]:
        """The way back."""
        return inches / self.side * self.extent + self.corner


def draw(
    axes: Axes,
    side: float,
    points: Float[np.ndarray, "N 2"],
    tour: tuple[int, ...] | None,
    labels: list[str],
    wrong: Bool[np.ndarray, " N"],
) -> None:
    """Draw the nodes, and the tour where there is one, on axes that are a square of `side` inches."""
    frame = _frame(points, side)
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(frame.corner[0], frame.corner[0] + frame.extent)
    axes.set_ylim(frame.corner[1], frame.corner[1] + frame.extent)
    axes.locator_params(nbins=6)
    axes.tick_params(labelsize=7.5, length=2.5)
    axes.grid(color=palette.GRID, linewidth=0.6)
    axes.set_title("Map", fontsize=10, loc="left")
    legs = np.empty((0, 2, 2))
    if tour is not None:
        circuit = points[np.array((0, *tour, 0))]
        legs = np.stack((circuit[:-1], circuit[1:]), axis=1)
        _legs(axes, frame, legs)
        _arrowheads(axes, frame, legs)
    _nodes(axes, frame, points, wrong)
    _names(axes, frame, points, legs, labels, wrong)


def _frame(points: Float[np.ndarray, "N 2"], side: float) -> Frame:
    low, high = points.min(0), points.max(0)
    extent = float((high - low).max()) * ROOM
    if extent <= 0:
        extent = max(1.0, float(np.abs(low).max()))
    dot = float(np.clip(46.0 / np.sqrt(len(points)), 2.2, 6.5))
    return Frame((low + high - extent) / 2, extent, side, dot)


def _legs(axes: Axes, frame: Frame, legs: Float[np.ndarray, "L 2 2"]) -> None:
    colours = palette.ALONG(np.linspace(0.0, 1.0, len(legs)))
    thin = 0.28 * frame.dot
    axes.add_collection(
        LineCollection(list(legs), colors=colours, linewidths=thin, zorder=2, label="legs")
    )


def _arrowheads(axes: Axes, frame: Frame, legs: Float[np.ndarray, "L 2 2"]) -> None:
    """One on each leg it would not hide, past the middle, so that a leg there and one back show both of theirs."""
    vector = frame.inches(legs[:, 1]) - frame.inches(legs[:, 0])
    length = np.hypot(*vector.T)
    head = max(1.5 * frame.dot, 5.0) / POINTS
    long = length > 1.6 * head
    if not long.any():
        return
    axes.quiver(
        *(0.43 * legs[long, 0] + 0.57 * legs[long, 1]).T,
        *(vector[long] / length[long, None]).T,
        color=palette.ALONG(np.linspace(0.0, 1.0, len(legs))[long]),
        pivot="mid",
        units="inches",
        width=head / 10,
        scale_units="inches",
        scale=1 / head,
        headlength=10,
        headaxislength=8,
        headwidth=9,
        minlength=0,
        zorder=3,
        label="arrowheads",
    )


def _nodes(
    axes: Axes, frame: Frame, points: Float[np.ndarray, "N 2"], wrong: Bool[np.ndarray, " N"]
) -> None:
    depot = np.arange(len(points)) == 0
    square = max(1.6 * frame.dot, 7.0)
    for chosen, size, colour, marker, means in (
        (~wrong & ~depot, frame.dot, palette.BLUE, "o", "stops"),
        (wrong & ~depot, max(1.9 * frame.dot, 6.0), palette.VERMILLION, "X", "wrong-stops"),
        (depot & ~wrong, square, palette.INK, "s", "depot"),
        (depot & wrong, square, palette.INK, "s", "depot"),
        (depot & wrong, 0.8 * square, palette.VERMILLION, "X", "wrong-depot"),
    ):
        if chosen.any():
            look = {
                "c": colour,
                "edgecolors": "white",
                "linewidths": 0.12 * frame.dot,
                "zorder": 4 + (marker == "X"),
            }
            axes.scatter(*points[chosen].T, s=size**2, marker=marker, label=means, **look)


def _names(
    axes: Axes,
    frame: Frame,
    points: Float[np.ndarray, "N 2"],
    legs: Float[np.ndarray, "L 2 2"],
    labels: list[str],
    wrong: Bool[np.ndarray, " N"],
) -> None:
    """Letter the nodes that have room for it; one whose label stands apart gets a thin line to it."""
    font = float(np.clip(1.45 * frame.dot, 5.5, 8.5))
    sizes = np.array([(EM * font * width(label), 1.15 * font) for label in labels]) / POINTS
    sizes[0] *= 1.1  # bold
    order = np.lexsort((~wrong, np.arange(len(points)) != 0))
    reach = (0.95 * frame.dot + 1.0) / POINTS
    spots = frame.inches(points)
    placed = place(spots, sizes, order, frame.inches(legs), frame.side, reach)
    paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.3}
    middle = {"ha": "center", "va": "center", "zorder": 8, "fontsize": font, "bbox": paper}
    for node, centre in placed.items():
        x, y = frame.units(centre).tolist()
        axes.text(
            x,
            y,
            labels[node],
            fontweight="bold" if node == 0 else "normal",
            **middle,
        )
    apart = [
        n
        for n, centre in placed.items()
        if (abs(centre - spots[n]) - sizes[n] / 2).max() > 1.8 * reach
    ]
    leaders = [(points[node], frame.units(placed[node])) for node in apart]
    axes.add_collection(
        LineCollection(leaders, colors=palette.FAINT, linewidths=0.5, zorder=3.5, label="leaders")
    )
