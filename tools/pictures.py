"""`python tools/pictures.py`: draw the pictures of README.md and of the docs anew, into docs/images."""

from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fairway
from fairway.kernels.lookahead import Mask, ahead
from fairway.pictures import palette
from fairway.problems.batch import to_batch
from fairway.problems.problem import State
from fairway.problems.sets import instance_set

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
STOPS = ROOT / "docs" / "examples" / "deliveries.csv"
GOOD, BAD, QUIET = palette.BLUE, palette.VERMILLION, palette.FAINT
PLAIN = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


def tour() -> Figure:
    """A day of deliveries: the map, and the schedule beside it."""
    instance = fairway.read(STOPS, speed=22)
    assert isinstance(instance, fairway.Instance)
    return fairway.draw(instance, fairway.solve(instance, seconds=2.0))


def lookahead() -> Figure:
    """What the look-ahead says of each candidate for the next stop, and why."""
    places = np.array([[0, 0], [1, 3.4], [4, 4], [6.5, 1.2], [3.4, 1.2]], float)
    closes = np.array([40.0, 16, 7.5, 14, 30])
    instance = fairway.TSPTW(_apart(places), np.zeros(5), closes, coordinates=places)
    unvisited = torch.tensor([[[False, True, True, True, True]]])
    state = State(torch.tensor([[0]]), torch.tensor([[0.0]]), unvisited)
    mask = ahead(to_batch(instance_set([instance])))
    figure = Figure(figsize=(7.2, 3.1), layout="constrained")
    known = mask(_scaled(instance, state))
    for axes, last in zip(figure.subplots(1, 2), (3, 2), strict=True):
        _candidates(axes, places, closes, known, last)
    return figure


def _candidates(
    axes: Axes, places: np.ndarray, closes: np.ndarray, known: Mask, chosen: int
) -> None:
    """One candidate: the legs from it to all that is left, those that are too late marked."""
    apart = _apart(places)
    reached = apart[0, chosen]
    allowed = bool(known.allowed[0, 0, chosen])
    axes.plot(*places[[0, chosen]].T, color="black", lw=1.6)
    for other in range(1, 5):
        if other != chosen:
            late = reached + apart[chosen, other] > closes[other]
            axes.plot(*places[[chosen, other]].T, color=BAD if late else GOOD, lw=1.2, ls="--")
            axes.annotate(
                f"at {reached + apart[chosen, other]:.1f}", places[[chosen, other]].mean(0),
                fontsize=8, color=BAD if late else GOOD, ha="center", va="center", bbox=PLAIN,
            )  # fmt: skip
    axes.scatter(*places[1:].T, s=46, color="white", edgecolor="black", zorder=3)
    axes.scatter(*places[:1].T, s=60, color="black", marker="s", zorder=3)
    for node, place in enumerate(places):
        words = "here, at 0" if node == 0 else f"{'ABCD'[node - 1]}, by {closes[node]:g}"
        axes.annotate(
            words,
            place,
            xytext=(0, 9 if node else -16),
            textcoords="offset points",
            fontsize=8,
            ha="center",
            bbox=PLAIN,
        )
    verdict = (
        "allowed: all others can still be reached" if allowed else "not allowed: B would be late"
    )
    axes.set_title(
        f"Next {'ABCD'[chosen - 1]}? {verdict}", fontsize=9, color=GOOD if allowed else BAD
    )
    axes.set_xlim(-1, 7.6)
    axes.set_ylim(-1.0, 4.9)
    axes.set_axis_off()


def labels() -> Figure:
    """Beginnings of tours over the same stops with the same end: one that is later and dearer is forgotten."""
    instance = fairway.generate("tsptw", n=9, hardness="easy", seed=2)[0]
    ends = np.array(sorted(_beginnings(instance, {1, 2, 3, 4, 5, 6}, 6)))
    best = np.minimum.accumulate(ends[:, 1])
    kept = np.r_[True, ends[1:, 1] < best[:-1]]
    figure = Figure(figsize=(5.6, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.scatter(*ends[~kept].T, s=14, color=QUIET, alpha=0.6, label=f"dominated: {(~kept).sum()}")
    axes.step(*ends[kept].T, where="post", color=GOOD, lw=0.8)
    axes.scatter(*ends[kept].T, s=30, color=GOOD, zorder=3, label=f"kept: {kept.sum()}")
    axes.set_xlabel("time at which service starts at stop 6")
    axes.set_ylabel("cost so far")
    axes.set_title(f"{len(ends)} beginnings over stops 1 to 6, ending at stop 6", fontsize=9)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def bounds() -> Figure:
    """The best tour and the lower bound of a solve, over its seconds."""
    instance = fairway.load_bed("tsptw100-medium")[0]
    result = fairway.solve(instance, seconds=5.0)
    seconds, values = zip(*[(step.seconds, step.cost) for step in result.trace], strict=True)
    figure = Figure(figsize=(5.6, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.step(
        [*seconds, 5.0],
        [*values, values[-1]],
        where="post",
        color=GOOD,
        label="best tour so far, judged",
    )
    axes.axhline(
        result.lower_bound, color=BAD, ls="--", lw=1, label="lower bound: no tour is shorter"
    )
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("cost")
    axes.set_title(
        f"tsptw100-medium, first instance: within {100 * result.gap:.1f} % of the best", fontsize=9
    )
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _beginnings(
    instance: fairway.Instance, stops: set[int], last: int
) -> list[tuple[float, float]]:
    """Start of service and cost of every order of the stops that ends at one of them and is in time."""
    found: list[tuple[float, float]] = []

    def go(node: int, time: float, cost: float, left: frozenset[int]) -> None:
        if time > instance.closes[node]:
            return
        if not left:
            found.append((time, cost))
        for after in left:
            if after != last or len(left) == 1:
                way = float(instance.travel[node, after])
                go(after, max(time + way, float(instance.opens[after])), cost + way, left - {after})

    go(0, 0.0, 0.0, frozenset(stops))
    return found


def _apart(places: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(places[:, None] - places).sum(-1))


def _scaled(instance: fairway.Instance, state: State) -> State:
    """The state in the units of the batch."""
    scale = to_batch(instance_set([instance])).geometry.scale[0]
    return State(state.node, state.resource / scale, state.unvisited)


def main() -> None:
    """Draw them all."""
    IMAGES.mkdir(exist_ok=True)
    with palette.settings():
        for make in (tour, lookahead, labels, bounds):
            fairway.save(make(), IMAGES / f"{make.__name__}.png")


if __name__ == "__main__":
    main()
