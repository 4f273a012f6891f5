"""Where a label can go on to: what the constraints leave, with a test for each kind of resource."""

import numpy as np
from jaxtyping import Float, Int

from fairway.kernels.compiling import inner
from fairway.kernels.labels.bits import holds, lowest
from fairway.kernels.labels.label_model import LabelModel

ONE = np.uint64(1)


@inner
def in_time(
    model: LabelModel,
    visited: np.ndarray,
    here: int,
    resource: float,
    reached: Int[np.ndarray, " N"],
    resources: Float[np.ndarray, " N"],
) -> int:
    """Time windows: in time themselves, and early enough for everything else, one by one, and for the return."""
    leaves = resource + model.stay[here]
    found = 0
    for word in range(len(visited)):
        bits = model.after[here, word] & ~visited[word]
        while bits != 0:
            stop = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            ready = max(leaves + model.rise[here, stop], model.opens[stop])
            # The rule of the judge, to the letter; then what follows from all rules.
            kept = not ready - model.closes[stop] > model.allowance
            kept &= ready <= model.latest[stop, stop] and ready <= model.latest[stop, 0]
            for other in range(len(visited)):
                kept &= model.needs[stop, other] & ~visited[other] == 0
            if kept and _all_reachable(model, visited, stop, ready):
                reached[found], resources[found] = stop, ready
                found += 1
    return found


@inner
def _all_reachable(model: LabelModel, visited: np.ndarray, stop: int, resource: float) -> bool:
    """Whether every other unvisited stop can still be reached in time; what cannot bind yet is not looked at."""
    latest = model.latest[stop]
    for word in range(len(visited)):
        bits = model.every[word] & ~visited[word]
        while bits != 0:
            other = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            if model.low[other] >= resource:
                return True
            if resource > latest[other] and other != stop:
                return False
    return True


@inner
def floating(
    model: LabelModel,
    visited: np.ndarray,
    here: int,
    load: float,
    reached: Int[np.ndarray, " N"],
    resources: Float[np.ndarray, " N"],
) -> int:
    """Draft limits: all that is left can then be served in order of draft, which is possible if any order is.

    Stops are numbered by draft. Serving one early takes its cargo to all before it; those after it would have had it
    on board anyway.
    """
    found, total, least = 0, load, np.inf
    for word in range(len(visited)):
        bits = model.every[word] & ~visited[word]
        while bits != 0:
            stop = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            demand = model.rise[here, stop]
            resource = load + demand
            if (
                demand <= least
                and not resource - model.closes[stop] > model.allowance
                and holds(model.after[here], stop)
            ):
                reached[found], resources[found] = stop, resource
                found += 1
            total += demand
            least = min(least, model.closes[stop] + model.spare - total)
    return found if least >= 0 else 0
