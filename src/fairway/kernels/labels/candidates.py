"""Which stops a label may be extended to: those after which nothing is lost that is known to be lost."""

from typing import no_type_check

import numpy as np
from jaxtyping import Float, Int

from fairway.kernels.bare import inner
from fairway.kernels.labels.bits import holds, lowest
from fairway.kernels.labels.law import Law

ONE = np.uint64(1)


@inner
@no_type_check
def candidates(
    law: Law, layer: tuple, at: int, reached: Int[np.ndarray, " N"], levels: Float[np.ndarray, " N"]
) -> int:
    """Write down the stops and the levels there; says how many."""
    if law.by_set:
        return _floating(law, layer, at, reached, levels)
    return _in_time(law, layer, at, reached, levels)


@inner
@no_type_check
def _in_time(
    law: Law, layer: tuple, at: int, reached: Int[np.ndarray, " N"], levels: Float[np.ndarray, " N"]
) -> int:
    """Time windows: in time themselves, and early enough for everything else, one by one, and for the return."""
    visited, here = layer.visited[at], layer.last[at]
    leaves = layer.level[at] + law.stay[here]
    found = 0
    for word in range(len(visited)):
        bits = law.after[here, word] & ~visited[word]
        while bits != 0:
            stop = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            level = max(leaves + law.rise[here, stop], law.opens[stop])
            # The rule of the judge, to the letter; then what follows from all rules.
            kept = not level - law.closes[stop] > law.allowance
            kept &= level <= law.latest[stop, stop] and level <= law.latest[stop, 0]
            for other in range(len(visited)):
                kept &= law.needs[stop, other] & ~visited[other] == 0
            if kept and _all_reachable(law, visited, stop, level):
                reached[found], levels[found] = stop, level
                found += 1
    return found


@inner
@no_type_check
def _all_reachable(law: Law, visited: np.ndarray, stop: int, level: float) -> bool:
    """Whether every other unvisited stop can still be reached in time; what cannot bind yet is not looked at."""
    latest = law.latest[stop]
    for word in range(len(visited)):
        bits = law.every[word] & ~visited[word]
        while bits != 0:
            other = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            if law.low[other] >= level:
                return True
            if level > latest[other] and other != stop:
                return False
    return True


@inner
@no_type_check
def _floating(
    law: Law, layer: tuple, at: int, reached: Int[np.ndarray, " N"], levels: Float[np.ndarray, " N"]
) -> int:
    """Draft limits: all that is left can then be served in order of draft, which is possible if any order is.

    Stops are numbered by draft. Serving one early takes its cargo to all before it; those after it would have had it
    on board anyway.
    """
    visited, here, load = layer.visited[at], layer.last[at], layer.level[at]
    found, total, least = 0, load, np.inf
    for word in range(len(visited)):
        bits = law.every[word] & ~visited[word]
        while bits != 0:
            stop = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            demand = law.rise[here, stop]
            level = load + demand
            if (
                demand <= least
                and not level - law.closes[stop] > law.allowance
                and holds(law.after[here], stop)
            ):
                reached[found], levels[found] = stop, level
                found += 1
            total += demand
            least = min(least, law.closes[stop] + law.spare - total)
    return found if least >= 0 else 0
