"""What completing a path costs at least, by the ng-paths of the other direction."""

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.compiling import bare
from fairway.kernels.labels.bound import Bound
from fairway.kernels.labels.ng_sweep import LEAST, USED, Stairs, Sweep


def _by_stop(sweep: Sweep) -> tuple[Int[np.ndarray, " K"], Int[np.ndarray, "M N"]]:
    """The undominated labels of each stop, the cheapest first, and where those of each end."""
    rows, nodes = sweep.cells.count.shape
    labels, used = sweep.labels, int(sweep.marks[USED])
    kept = np.flatnonzero(~labels.gone[:used])[1:]  # all but the depot's
    cell = np.minimum(labels.stops[kept].astype(np.int64), rows - 1) * nodes + labels.stop[kept]
    order = np.lexsort((labels.cost[kept], cell))
    end = np.searchsorted(cell[order], np.arange(rows * nodes), side="right")
    return kept[order], end.reshape(rows, nodes)


def lay_stairs(sweep: Sweep, stairs: Stairs) -> None:
    """Write down the least costs of the paths found, whatever they remember."""
    kept, end = _by_stop(sweep)
    _lay(sweep.labels.resource[kept], sweep.labels.cost[kept], end, stairs)


@bare
def _lay(
    resource: Float[np.ndarray, " K"],
    cost: Float[np.ndarray, " K"],
    end: Int[np.ndarray, "M N"],
    stairs: Stairs,
) -> None:
    label, used = 0, 0
    for row in range(end.shape[0]):
        for stop in range(end.shape[1]):
            stairs.begin[row, stop], low = used, np.inf
            while label < end[row, stop]:
                if resource[label] < low:
                    low = resource[label]
                    stairs.resource[used], stairs.cost[used] = low, cost[label]
                    used += 1
                label += 1
            stairs.end[row, stop] = used


def bound_of(homeward: Sweep, ng_memory: UInt[np.ndarray, "N W"]) -> Bound:
    """The paths to the depot, by the stops before them."""
    labels, (rows, nodes, _) = homeward.labels, homeward.way.legs.shape
    kept, stop_end = _by_stop(homeward)
    stop_begin = np.append(0, stop_end.ravel()[:-1]).reshape(rows, nodes)
    memory = labels.memory[kept]
    stop = labels.stop[kept].astype(np.int64)
    memory[np.arange(len(kept)), stop >> 6] &= ~(np.uint64(1) << (stop & 63).astype(np.uint64))
    # First of all the whole tour; after so many stops, the others are still to come.
    begin, end = np.zeros((rows, nodes), np.int64), np.zeros((rows, nodes), np.int64)
    for row in range(1 if rows > 1 else 0, rows):
        other = rows - row if rows > 1 else 0
        begin[row, 1:], end[row, 1:] = 1 + stop_begin[other, 1:], 1 + stop_end[other, 1:]
    begin[0, 0], end[0, 0] = 0, 1
    return Bound(
        homeward.multiplier.copy(),
        begin,
        end,
        np.append(np.inf, -labels.resource[kept]),
        np.append(homeward.figures[LEAST], labels.cost[kept] + homeward.multiplier[stop]),
        np.concatenate([homeward.ng_memory[:1] & np.uint64(0), memory]),
        ng_memory.copy(),
    )
