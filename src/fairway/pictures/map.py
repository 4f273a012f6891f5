"""The tour on the map: the depot a square, stops dots, legs that darken along the way and carry arrowheads."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from fairway.pictures import palette
from fairway.pictures.sheet import EM, POINTS, width

Tour = tuple[int, ...]
Pair = Float[np.ndarray, " 2"]
Points = Float[np.ndarray, "_ 2"]
Legs = Float[np.ndarray, "L 2 2"]
Order = Int[np.ndarray, " N"]
Flags = Bool[np.ndarray, " N"]

ROOM = 1.14
"""The map's extent over that of its nodes: room for the labels of the outermost."""

DISTANCES = (1.0, 2.2, 3.6)
DIRECTIONS = np.array(
    [(1, 0), (-1, 0), (0, 1), (0, -1), (0.75, 0.75), (-0.75, 0.75), (0.75, -0.75), (-0.75, -0.75)]
)

APART = np.repeat((0, 6, 14), len(DIRECTIONS))
"""How many points of the tour a label may cover rather than stand farther from its stop, by option."""

CROWDED = 400
"""With more nodes than this, a label that hides part of the tour is left out."""

MOST_LINKS = 12
"""Precedences, or pairs, on a map, and at most half as many as nodes; more would hide the tour, and stand beside the
rows alone."""

SAMPLES = 12_000
"""Points by which a tour is known to the placing of labels; more would cost time and change little."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The square of the map, as the corner and the extent it has in the instance's units, and its side in inches."""

    corner: Pair
    extent: float
    side: float
    dot: float
    """The diameter of a stop in points; all that is drawn around it keeps proportion."""

    def inches(self, points: Float[np.ndarray, "*any 2"]) -> Float[np.ndarray, "*any 2"]:
        """Where points lie, in inches from the corner."""
        return (points - self.corner) / self.extent * self.side


@dataclass(frozen=True, slots=True)
class Scene:
    """What a map shows: where the nodes are, the tour through them, and what each of them is."""

    points: Points
    labels: list[str]
    wrong: Flags
    """The nodes in violation."""
    left_out: Flags
    circuit: Tour | None = None
    """The nodes from the depot to the end, the depot once more where the tour returns."""
    end: int | None = 0
    order: tuple[tuple[int, int], ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    stretch: float = 1.0
    """By which the first coordinate was multiplied: a degree of longitude is shorter than one of latitude."""


def draw(axes: Axes, side: float, scene: Scene) -> None:
    """Draw the nodes, and the tour where there is one, on axes that are a square of `side` inches."""
    points = scene.points
    frame = _frame(points, side)
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(frame.corner[0], frame.corner[0] + frame.extent)
    axes.set_ylim(frame.corner[1], frame.corner[1] + frame.extent)
    axes.locator_params(nbins=6)
    axes.tick_params(labelsize=7.5, length=2.5)
    axes.grid(color=palette.GRID, linewidth=0.6)
    if scene.stretch != 1.0:
        axes.xaxis.set_major_formatter(lambda x, _: f"{x / scene.stretch:.5g}")
    axes.set_title("Map", fontsize=10, loc="left")
    legs = np.empty((0, 2, 2))
    if scene.circuit is not None and len(scene.circuit) > 1:
        places = points[np.array(scene.circuit)]
        legs = np.stack((places[:-1], places[1:]), axis=1)
        _legs(axes, frame, legs)
    for means, links in (("order", scene.order), ("pairs", scene.pairs)):
        if 0 < len(links) <= min(MOST_LINKS, max(6, len(points) // 2)):
            _links(axes, frame, points[np.array(links)], means)
    _nodes(axes, frame, scene)
    _names(axes, frame, points, legs, scene.labels, scene.wrong)


def _frame(points: Points, side: float) -> Frame:
    low, high = points.min(0), points.max(0)
    extent = float((high - low).max()) * ROOM
    if extent <= 0:
        extent = max(1.0, float(np.abs(low).max()))
    dot = float(np.clip(46.0 / np.sqrt(len(points)), 2.2, 6.5))
    return Frame((low + high - extent) / 2, extent, side, dot)


def _legs(axes: Axes, frame: Frame, legs: Legs) -> None:
    """Lines, and an arrowhead on each that it would not hide, past the middle, so that both of there and back show."""
    colours = palette.ALONG(np.linspace(0.0, 1.0, len(legs)))
    look = {"colors": colours, "linewidths": 0.28 * frame.dot, "zorder": 2, "label": "legs"}
    axes.add_collection(LineCollection(list(legs), **look))
    vector = frame.inches(legs[:, 1]) - frame.inches(legs[:, 0])
    length = np.hypot(*vector.T)
    head = max(1.5 * frame.dot, 5.0) / POINTS
    long = length > 1.6 * head
    shape = {"headlength": 10, "headaxislength": 8, "headwidth": 9, "minlength": 0}
    size = {"units": "inches", "width": head / 10, "scale_units": "inches", "scale": 1 / head}
    if long.any():
        axes.quiver(
            *(0.43 * legs[long, 0] + 0.57 * legs[long, 1]).T,
            *(vector[long] / length[long, None]).T,
            color=colours[long],
            **{"pivot": "mid", "zorder": 3, "label": "arrowheads", **shape, **size},
        )


def _links(axes: Axes, frame: Frame, links: Legs, means: str) -> None:
    """Thin bows from the stop that must come first to the one after it, with an arrowhead in the middle."""
    colour, dash = palette.LINKS[means]
    here, there = links[:, 0], links[:, 1]
    aside = np.stack((there[:, 1] - here[:, 1], here[:, 0] - there[:, 0]), axis=1)
    bend = (here + there) / 2 + 0.16 * aside
    share = np.linspace(0.0, 1.0, 17)[:, None, None]
    bows = (1 - share) ** 2 * here + 2 * share * (1 - share) * bend + share**2 * there
    look = {"colors": colour, "linewidths": 0.8, "linestyles": [dash], "zorder": 2.5}
    axes.add_collection(LineCollection(list(bows.transpose(1, 0, 2)), label=means, **look))
    middle, vector = bows[10], frame.inches(bows[11]) - frame.inches(bows[9])
    length = np.hypot(*vector.T)
    long, head = length > 0, max(frame.dot, 4.0) / POINTS
    axes.quiver(
        *middle[long].T, *(vector[long] / length[long, None]).T, color=colour, pivot="mid", zorder=2.6,
        units="inches", width=head / 10, scale_units="inches", scale=1 / head, headlength=9,
        headaxislength=7, headwidth=8, minlength=0, label=f"{means}-arrowheads",
    )  # fmt: skip


def _nodes(axes: Axes, frame: Frame, scene: Scene) -> None:
    points, wrong = scene.points, scene.wrong
    numbers = np.arange(len(points))
    depot, square = numbers == 0, max(1.6 * frame.dot, 7.0)
    end = (numbers == scene.end) & ~depot
    pickup = np.isin(numbers, [a for a, _ in scene.pairs])
    delivery = np.isin(numbers, [b for _, b in scene.pairs]) & ~pickup
    served = ~wrong & ~depot & ~end & ~scene.left_out
    turned, cross = 1.5 * frame.dot, max(1.9 * frame.dot, 6.0)
    for chosen, size, colour, marker, means in (
        (served & ~pickup & ~delivery, frame.dot, palette.BLUE, "o", "stops"),
        (served & pickup, turned, palette.PURPLE, "^", "pickups"),
        (served & delivery, turned, palette.PURPLE, "v", "deliveries"),
        (scene.left_out & ~wrong, frame.dot, "white", "o", "left-out"),
        (end, 0.8 * square, "white", "s", "end"),
        (wrong & ~depot, cross, palette.VERMILLION, "X", "wrong-stops"),
        (depot, square, palette.INK, "s", "depot"),
        (depot & wrong, 0.8 * square, palette.VERMILLION, "X", "wrong-depot"),
    ):
        if chosen.any():
            hollow = {"end": palette.INK, "left-out": palette.FAINT}.get(means)
            edge = {
                "edgecolors": hollow or "white",
                "linewidths": (0.2 if hollow else 0.12) * frame.dot,
            }
            look = {"c": colour, "marker": marker, "zorder": 4 + (marker == "X"), **edge}
            axes.scatter(*points[chosen].T, s=size**2, label=means, **look)


def _names(
    axes: Axes, frame: Frame, points: Points, legs: Legs, labels: list[str], wrong: Flags
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
    leaders = []
    for node, centre in placed.items():
        x, y = (centre / frame.side * frame.extent + frame.corner).tolist()
        axes.text(x, y, labels[node], fontweight="bold" if node == 0 else "normal", **middle)
        if (abs(centre - spots[node]) - sizes[node] / 2).max() > 1.8 * reach:
            leaders.append((points[node], (x, y)))
    axes.add_collection(
        LineCollection(leaders, colors=palette.FAINT, linewidths=0.5, zorder=3.5, label="leaders")
    )


def place(
    spots: Points, sizes: Points, order: Order, legs: Legs, side: float, reach: float
) -> dict[int, Pair]:
    """The centre of each label that finds room, by node; the nodes first in `order` choose first.

    Args:
        spots: Where the stops are, in inches from the lower left corner; all lengths here are inches.
        sizes: Width and height of each label.
        order: All nodes, the ones that matter most first.
        legs: The two ends of each leg of the tour.
        side: The map is a square of this side, which no label leaves.
        reach: How far from its stop a label begins.
    """
    ink = _along(legs)
    placed: dict[int, Pair] = {}
    for node in order.tolist():
        half, taken = sizes[node] / 2, list(placed)
        steps = [DIRECTIONS * (half + reach * distance) for distance in DISTANCES]
        options = spots[node] + np.concatenate(steps)
        free = ((options > half) & (options < side - half)).all(1)
        free &= ~_touch(options, half, spots, reach * 0.6).any(1)
        if taken:
            free &= ~_touch(options, half, np.array(list(placed.values())), sizes[taken] / 2).any(1)
        if free.any():
            crossings = _crossings(options[free], half, ink)
            best = int((crossings + APART[free]).argmin())
            if len(spots) <= CROWDED or crossings[best] == 0:
                placed[node] = options[free][best]
    return placed


def _crossings(options: Points, half: Pair, ink: Points) -> Int[np.ndarray, " O"]:
    """How much of the tour each option would cover; ink far from all of them is set aside first."""
    low, high = options.min(0) - half, options.max(0) + half
    near = ink[(ink[:, 0] > low[0]) & (ink[:, 0] < high[0])]
    near = near[(near[:, 1] > low[1]) & (near[:, 1] < high[1])]
    return _touch(options, half, near, 0.0).sum(1)


def _touch(
    centres: Points, half: Pair, others: Points, margin: Points | float
) -> Bool[np.ndarray, "O M"]:
    """Which boxes (rows) touch which others (columns), whose own half sizes are `margin`."""
    inside = np.abs(centres[:, None] - others[None]) < half + margin
    return inside[..., 0] & inside[..., 1]


def _along(legs: Legs) -> Points:
    """Points strung evenly along each leg."""
    if not len(legs):
        return np.empty((0, 2))
    share = np.linspace(0.0, 1.0, max(3, min(60, SAMPLES // len(legs))))[:, None, None]
    return (legs[None, :, 0] * (1 - share) + legs[None, :, 1] * share).reshape(-1, 2)
