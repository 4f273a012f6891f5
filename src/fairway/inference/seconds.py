"""What a policy's tours take, reckoned before anything is loaded: torch alone takes seconds to import."""

from typing import Literal

BEAM_SECONDS, GREEDY_SECONDS = (1.5e-3, 5e-6), (1e-4, 1.6e-6)
"""What one takes on a CPU for each node and for each pair of nodes, as measured from 50 to 1,000 nodes."""

Way = Literal["beam", "greedy"]


def affordable(nodes: int, seconds: float) -> Way | None:
    """The best way to a first tour for which there is time, if there is any."""
    ways: dict[Way, tuple[float, float]] = {"beam": BEAM_SECONDS, "greedy": GREEDY_SECONDS}
    for way, (each, pair) in ways.items():
        if nodes * (each + nodes * pair) <= seconds:
            return way
    return None
