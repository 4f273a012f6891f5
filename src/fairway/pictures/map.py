"""The tour on the map: the depot a square, stops dots, legs that darken along the way and carry arrowheads."""

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from fairway.pictures import palette
from fairway.pictures.lettering import width
from fairway.pictures.page import POINTS
from fairway.pictures.placement import place

ROOM = 1.14
"""The map's extent over that of its nodes: room for the labels of the outermost."""


def draw(
    axes: Axes,
    side: float,
    points: Float[np.ndarray, "N 2"],
    tour: tuple[int, ...] | None,
    labels: list[str],
    wrong: Bool[np.ndarray, " N"],
) -> None:
    """Draw the nodes, and the tour where there is one, on axes that are a square of `side` inches."""
    inches = _frame(axes, side, points)
    circuit = np.array((0, *tour, 0)) if tour else np.zeros(0, int)
    ends = (
        np.stack((points[circuit[:-1]], points[circuit[1:]]), axis=1)
        if tour
        else np.empty((0, 2, 2))
    )
    size = float(np.clip(46.0 / np.sqrt(len(points)), 2.6, 6.5))
    if tour:
        _legs(axes, ends, inches, size)
    _nodes(axes, points, wrong, size)
    _names(axes, points, ends, inches, labels, np.argsort(~wrong, kind="stable"), size)


def _frame(axes: Axes, side: float, points: Float[np.ndarray, "N 2"]) -> float:
    """Centre the nodes in the square; returns inches per unit of the map."""
    low, high = points.min(0), points.max(0)
    middle, extent = (low + high) / 2, float((high - low).max()) * ROOM
    if extent <= 0:
        extent = max(1.0, float(np.abs(middle).max()))
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(middle[0] - extent / 2, middle[0] + extent / 2)
    axes.set_ylim(middle[1] - extent / 2, middle[1] + extent / 2)
    axes.locator_params(nbins=6)
    axes.tick_params(labelsize=7.5, length=2.5)
    axes.grid(color=palette.GRID, linewidth=0.6)
    axes.set_title("Map", fontsize=10, loc="left", color=palette.INK)
    return side / extent


def _legs(axes: Axes, ends: Float[np.ndarray, "L 2 2"], inches: float, size: float) -> None:
    share = np.linspace(0.0, 1.0, len(ends))
    thin = 0.28 * size
    axes.add_collection(
        LineCollection(
            list(ends), colors=palette.ALONG(share), linewidths=thin, zorder=2, gid="legs"
        )
    )
    vector = ends[:, 1] - ends[:, 0]
    length = np.hypot(*vector.T)
    head = 1.5 * size / POINTS
    long = (
        length * inches > 1.6 * head
    )  # on a shorter leg the arrowhead would hide what it points from and to
    if not long.any():
        return
    middle, along = ends[long].mean(1), vector[long] / length[long, None]
    shaft = head / 10
    axes.quiver(
        *middle.T,
        *along.T,
        color=palette.ALONG(share[long]),
        pivot="mid",
        units="inches",
        width=shaft,
        scale_units="inches",
        scale=1 / head,
        headlength=10,
        headaxislength=8,
        headwidth=9,
        minlength=0,
        zorder=3,
        gid="arrows",
    )


def _nodes(
    axes: Axes, points: Float[np.ndarray, "N 2"], wrong: Bool[np.ndarray, " N"], size: float
) -> None:
    fine = ~wrong
    fine[0] = False
    edge = {"edgecolors": "white", "linewidths": 0.12 * size}
    if fine.any():
        axes.scatter(*points[fine].T, s=size**2, c=palette.BLUE, zorder=4, gid="stops", **edge)
    late = wrong.copy()
    late[0] = False
    if late.any():
        axes.scatter(
            *points[late].T,
            s=(1.9 * size) ** 2,
            c=palette.VERMILLION,
            marker="X",
            zorder=5,
            gid="wrong-stops",
            **edge,
        )
    colour = palette.VERMILLION if wrong[0] else palette.INK
    side = max(1.5 * size, 7.0)
    axes.scatter(*points[:1].T, s=side**2, c=colour, marker="s", zorder=6, gid="depot", **edge)


def _names(
    axes: Axes,
    points: Float[np.ndarray, "N 2"],
    ends: Float[np.ndarray, "L 2 2"],
    inches: float,
    labels: list[str],
    order: Int[np.ndarray, " N"],
    size: float,
) -> None:
    """Letter the nodes that have room for it; one whose label stands apart gets a thin line to it."""
    font = float(np.clip(1.45 * size, 5.5, 8.5))
    sizes = np.array([(0.64 * font * width(label), 1.15 * font) for label in labels]) / POINTS
    reach = (0.75 * size + 1.0) / POINTS
    placed = place(points * inches, sizes, np.r_[0, order[order != 0]], ends * inches, reach)
    leaders = []
    for node, centre in placed.items():
        spot = centre / inches
        away = np.abs(centre - points[node] * inches) - sizes[node] / 2
        if away.max() > 1.8 * reach:
            leaders.append((points[node], spot))
        axes.text(
            *spot,
            labels[node],
            fontsize=font,
            color=palette.INK,
            ha="center",
            va="center",
            zorder=8,
            fontweight="bold" if node == 0 else "normal",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.4},
        )
    if leaders:
        axes.add_collection(
            LineCollection(leaders, colors=palette.FAINT, linewidths=0.5, zorder=3.5, gid="leaders")
        )
