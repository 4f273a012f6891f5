"""What a trained policy, or a trained colony, proposes for one instance in a given time."""

import math
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fairway.inference.ants import Colony, load_colony, wander
from fairway.inference.foraging import Foraging
from fairway.inference.mode import Mode
from fairway.inference.model import Model, load_model
from fairway.inference.proposals import propose
from fairway.inference.seconds import Way, affordable
from fairway.policies.checkpoint import draws_heatmaps
from fairway.problems.batch import forwards
from fairway.problems.instance import Instance, InstanceSet, instance_set

HEATMAP_SECONDS = 4e-6
"""What a heatmap and the first ants take for each pair of nodes."""
MODES: dict[Way, Mode] = {
    "beam": Mode("beam", symmetries=False, width=16),
    "greedy": Mode("greedy", symmetries=False, budget=0),
}
"""A beam, or a single tour without second thoughts, which a search mends sooner."""
FORAGING = Foraging(ants=20)

Tour = tuple[int, ...]


def load_trained(path: Path) -> Model | Colony:
    """Whichever of the two is there."""
    return load_colony(path) if draws_heatmaps(path) else load_model(path)


def tours_within(
    trained: Model | Colony, instance: Instance, seconds: float, seed: int = 0
) -> Iterator[Tour]:
    """Different tours as they are found; none where the first of them would take too long."""
    one = instance_set([instance])
    if isinstance(trained, Colony):
        yield from _by_ants(trained, one, seconds, seed)
    elif (way := affordable(instance.nodes, seconds)) is not None:
        yield from dict.fromkeys(map(tuple, propose(trained, one, MODES[way])[0].tolist()))


def rehearse(trained: Model | Colony, instance: Instance) -> None:
    """Every way to a tour once, so that nothing is left to compile or to load when the clock runs."""
    one = instance_set([instance])
    if isinstance(trained, Colony):
        list(_by_ants(trained, one, math.inf, 0))
        return
    for mode in MODES.values():
        propose(trained, one, mode)


def _by_ants(colony: Colony, one: InstanceSet, seconds: float, seed: int) -> Iterator[Tour]:
    """Iteration after iteration, as long as another one like the last fits in."""
    if one.nodes**2 * HEATMAP_SECONDS > seconds:
        return
    began = time.perf_counter()
    deadline = began + seconds
    known: set[Tour] = set()
    for tours in islice(wander(colony, one, FORAGING, (seed, 0)), FORAGING.iterations):
        fresh = dict.fromkeys(map(tuple, forwards(one, tours.cpu().numpy())[0].tolist()))
        yield from (tour for tour in fresh if tour not in known)
        known |= fresh.keys()
        now = time.perf_counter()
        if now + (now - began) > deadline:
            return
        began = now
