"""What a trained policy, or a trained colony, proposes for one instance in a given time."""

import time
from itertools import islice
from pathlib import Path

from fairway.inference.ants import Colony, load_colony, wander
from fairway.inference.foraging import Foraging
from fairway.inference.mode import Mode
from fairway.inference.model import Model, load_model
from fairway.inference.proposals import propose
from fairway.policies.checkpoint import draws_heatmaps
from fairway.problems.batch import forwards
from fairway.problems.instance import Instance, InstanceSet, instance_set

BEAM_SECONDS, GREEDY_SECONDS = 2e-3, 6e-4
"""What one takes on a CPU for each node, about."""
HEATMAP_SECONDS = 4e-6
"""What a heatmap and the first ants take for each pair of nodes."""
WIDTH = 16
FORAGING = Foraging(ants=20)

Tours = list[tuple[int, ...]]


def load_trained(path: Path) -> Model | Colony:
    """Whichever of the two is there."""
    return load_colony(path) if draws_heatmaps(path) else load_model(path)


def tours_within(trained: Model | Colony, instance: Instance, seconds: float) -> Tours:
    """Different tours, the likeliest or the earliest first; none where the first of them would take too long."""
    if isinstance(trained, Colony):
        return _by_ants(trained, instance_set([instance]), seconds)
    mode = affordable(instance.nodes, seconds)
    if mode is None:
        return []
    tours = propose(trained, instance_set([instance]), mode)[0]
    return list(dict.fromkeys(map(tuple, tours.tolist())))


def affordable(nodes: int, seconds: float) -> Mode | None:
    """A beam, a single tour, or nothing."""
    if nodes * BEAM_SECONDS <= seconds:
        return Mode("beam", symmetries=False, width=WIDTH)
    return Mode("greedy", symmetries=False) if nodes * GREEDY_SECONDS <= seconds else None


def _by_ants(colony: Colony, one: InstanceSet, seconds: float) -> Tours:
    """Iteration after iteration, as long as another one like the last fits in."""
    if one.nodes**2 * HEATMAP_SECONDS > seconds:
        return []
    began = time.perf_counter()
    deadline = began + seconds
    found: dict[tuple[int, ...], None] = {}
    for tours in islice(wander(colony, one, FORAGING), FORAGING.iterations):
        found |= dict.fromkeys(map(tuple, forwards(one, tours.cpu().numpy())[0].tolist()))
        now = time.perf_counter()
        if now + (now - began) > deadline:
            break
        began = now
    return list(found)
