"""First tours from a trained policy, where there is time for one."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fairway.problems.instance import Instance, instance_set

if TYPE_CHECKING:
    from fairway.inference.mode import Mode
    from fairway.inference.model import Model

SHARE = 0.3
"""Of the budget, what the policy may take."""
BEAM_SECONDS, GREEDY_SECONDS = 2e-3, 6e-4
"""What one takes on a CPU for each node, about."""
WIDTH = 16


@cache
def model_at(path: Path) -> "Model":
    """The policy in a folder, loaded once a process."""
    from fairway.inference.model import load_model

    return load_model(path)


def guided_tours(instance: Instance, path: Path, seconds: float) -> list[tuple[int, ...]]:
    """Tours that the policy proposes, the likeliest first; none where it would take too much of the time."""
    mode = _affordable(instance.nodes, SHARE * seconds)
    if mode is None:
        return []
    from fairway.inference.proposals import propose

    tours = propose(model_at(path), instance_set([instance]), mode)[0]
    return list(dict.fromkeys(map(tuple, tours.tolist())))


def _affordable(nodes: int, seconds: float) -> "Mode | None":
    """A beam, a single tour, or nothing."""
    from fairway.inference.mode import Mode

    if nodes * BEAM_SECONDS <= seconds:
        return Mode("beam", symmetries=False, width=WIDTH)
    return Mode("greedy", symmetries=False) if nodes * GREEDY_SECONDS <= seconds else None
