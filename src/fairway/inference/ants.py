"""Tours from a trained colony: ants in several iterations, between which pheromone is all that is handed on."""

from collections.abc import Iterator, Sequence
from itertools import count, islice

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from fairway.inference.config import ACOConfig
from fairway.inference.model import Colony
from fairway.inference.proposals import streams, uniform
from fairway.kernels.moves.search_model import SearchModel, search_model_of
from fairway.problems.batch import forwards, to_batch
from fairway.problems.model import model_of
from fairway.problems.sets import InstanceSet
from fairway.search.ants import construct, cost_to_ants, log_weights, outlook_of, untouched, weigh
from fairway.search.polish import polish, side_by_side
from fairway.search.rollout import Pause, paused

ROOM = {"cpu": 1 << 26, "cuda": 1 << 30}
"""Numbers that the embeddings of the edges of a part may hold."""


@torch.no_grad()
def propose_by_ants(
    colony: Colony,
    instances: InstanceSet,
    foraging: ACOConfig,
    seed: int = 0,
    first: int = 0,
    workers: int = 1,
) -> Int[np.ndarray, "B K M"]:
    """The tours of all ants, iteration after iteration, in the direction of the instances; not yet judged.

    Instances are worked on in parts that fit into memory. Each has its own random stream, by its number from the
    first on: equal seeds sample equal tours, on any device but for rounding. The workers are threads of local search.
    """
    colony.check(instances, foraging.guard)
    an_instance = instances.nodes**2 * colony.policy.config.width
    step = max(1, ROOM[colony.device.type] // an_instance)
    parts = []
    for at in range(0, len(instances), step):
        tours = iterate(colony, instances[at : at + step], foraging, (seed, first + at), workers)
        found = list(islice(tours, foraging.iterations))
        parts.append(torch.cat(found[-1:] if foraging.last else found, dim=1).cpu().numpy())
    return forwards(instances, np.concatenate(parts))


@torch.no_grad()
def iterate(
    colony: Colony,
    instances: InstanceSet,
    foraging: ACOConfig,
    seed: tuple[int, int] = (0, 0),
    workers: int = 1,
    pause: Pause | None = None,
) -> Iterator[Int[Tensor, "B P M"]]:
    """The tours of one iteration after the other, without end, built as resources grow.

    The seed comes with the number of the first instance. The pause is made before each step of the ants.
    """
    batch, guard = to_batch(instances, colony.device), foraging.guard or colony.guard
    heatmap = colony.policy(batch)
    heuristic = foraging.power * heatmap.log_heuristic()
    near = heatmap.neighbours if colony.sparse else None
    searches = foraging.search != "none"
    models = list(map(model_of, instances)) if searches else []
    search_models = side_by_side(search_model_of, models, workers)
    rngs, pheromone = streams(*seed, len(instances)), untouched(batch)
    for iteration in count():
        look = outlook_of(batch, guard, foraging.ants, near)
        look = look if pause is None else paused(look, batch, pause)
        noise = uniform(rngs, foraging.ants, instances.nodes - 1).to(colony.device)
        built = construct(batch, look, log_weights(heuristic, pheromone), noise)
        tours = built.tours
        if searches:
            built = weigh(batch, _searched(search_models, tours, (*seed, iteration), workers))
        pheromone = pheromone.after(built.tours, cost_to_ants(batch, built))
        yield built.tours if foraging.search == "tours" else tours


def _searched(
    search_models: Sequence[SearchModel],
    tours: Int[Tensor, "B P M"],
    seed: tuple[int, int, int],
    workers: int,
) -> Int[Tensor, "B P M"]:
    """Around every tour, by a chance that does not depend on which instances are searched together."""
    of_all, first, iteration = seed
    number = (of_all * 1_000_003 + iteration * 7_919) % 2**40 + first * tours.shape[1]
    better = polish(search_models, tours.cpu().numpy(), seed=number, workers=workers)
    return torch.from_numpy(better).to(tours.device)
