"""Tours from a trained colony: ants in several iterations, between which pheromone is all that is handed on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from fairway.errors import InvalidFile, InvalidRequest
from fairway.inference.config import ACOConfig
from fairway.inference.model import check_guard, guard_of
from fairway.inference.rng import streams, uniform
from fairway.kernels.lookahead.rule import Guard
from fairway.kernels.moves.form import Form, form_of
from fairway.policies.checkpoint import load_heatmap
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.batch import forwards, to_batch
from fairway.problems.instance import Instance
from fairway.problems.model import model_of
from fairway.problems.sets import InstanceSet
from fairway.search.ants import construct, cost_to_ants, log_weights, outlook_of, untouched, weigh
from fairway.search.polish import polish, side_by_side
from fairway.search.rollout import Pause, paused

ROOM = {"cpu": 1 << 26, "cuda": 1 << 30}
"""Numbers that the embeddings of the edges of a part may hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Colony:
    """A heatmap network in its final state, the problem it was trained for, and the mask it was trained with."""

    network: HeatmapNetwork
    name: str
    problem: str
    guard: Guard
    sparse: bool
    """Whether the mask looks at the neighbours of the sparse graph alone."""
    facts: dict[str, Any]
    """Of its card, for those who compare results."""

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.network.parameters()).device

    def check(self, instances: Instance | InstanceSet) -> None:
        """Refuse what the colony was not trained for."""
        if instances.problem != self.problem:
            raise InvalidRequest(
                f"colony {self.name} was trained for {self.problem}; these instances are of {instances.problem}"
            )


def load_colony(path: Path | str, device: torch.device | str = "cpu") -> Colony:
    """The network of a training's folder."""
    place = Path(path)
    network, card = load_heatmap(place, torch.device(device))
    try:
        said = card.trained["config"]
        guard = guard_of(said["guard"])
        name, problem, sparse = card.trained["recipe"], said["problem"], said["sparse"]
    except (TypeError, KeyError, InvalidRequest) as error:
        raise InvalidFile(
            f"{place}: does not say how its network was trained; train it anew with a gfacs recipe"
        ) from error
    return Colony(network.eval().requires_grad_(False), name, problem, guard, sparse, card.facts)


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

    Args:
        colony: Of the same problem.
        instances: Of any size; they are worked on in parts that fit into memory.
        foraging: How.
        seed: Equal seeds sample equal tours, on any device but for rounding.
        first: The number of the first instance, by which each has its own stream of chance.
        workers: Threads of the local search.
    """
    colony.check(instances)
    an_instance = instances.nodes**2 * colony.network.config.width
    step = max(1, ROOM[colony.device.type] // an_instance)
    parts = [
        _of_part(colony, instances[at : at + step], foraging, (seed, first + at), workers)
        for at in range(0, len(instances), step)
    ]
    return forwards(instances, np.concatenate(parts))


def _of_part(
    colony: Colony,
    instances: InstanceSet,
    foraging: ACOConfig,
    seed: tuple[int, int],
    workers: int,
) -> Int[np.ndarray, "B K M"]:
    found = list(islice(iterate(colony, instances, foraging, seed, workers), foraging.iterations))
    return torch.cat(found[-1:] if foraging.last else found, dim=1).cpu().numpy()


@torch.no_grad()
def iterate(
    colony: Colony,
    instances: InstanceSet,
    foraging: ACOConfig,
    seed: tuple[int, int] = (0, 0),
    workers: int = 1,
    pause: Pause | None = None,
) -> Iterator[Int[Tensor, "B P M"]]:
    """The tours of one iteration after the other, without end, built as levels grow.

    The seed comes with the number of the first instance. The pause is made before each step of the ants.
    """
    batch, guard = to_batch(instances, colony.device), foraging.guard or colony.guard
    check_guard(guard, instances.problem)
    heatmap = colony.network(batch)
    heuristic = foraging.power * heatmap.log_heuristic()
    near = heatmap.neighbours if colony.sparse else None
    forms = (
        []
        if foraging.search == "none"
        else side_by_side(lambda each: form_of(model_of(each)), list(instances), workers)
    )
    chance, pheromone = streams(*seed, len(instances)), untouched(batch)
    for iteration in count():
        look = outlook_of(batch, guard, foraging.ants, near)
        look = look if pause is None else paused(look, batch, pause)
        noise = uniform(chance, foraging.ants, instances.nodes - 1).to(colony.device)
        built = construct(batch, look, log_weights(heuristic, pheromone), noise)
        tours = built.tours
        if foraging.search != "none":
            built = weigh(batch, _searched(forms, tours, (*seed, iteration), workers))
        pheromone = pheromone.after(built.tours, cost_to_ants(batch, built))
        yield built.tours if foraging.search == "tours" else tours


def _searched(
    forms: Sequence[Form], tours: Int[Tensor, "B P M"], seed: tuple[int, int, int], workers: int
) -> Int[Tensor, "B P M"]:
    """Around every tour, by a chance that does not depend on which instances are searched together."""
    of_all, first, iteration = seed
    ants = tours.shape[1]
    number = (of_all * 1_000_003 + iteration * 7_919) % 2**40 + first * ants
    better = polish(forms, tours.cpu().numpy(), seed=number, workers=workers)
    return torch.from_numpy(better).to(tours.device)
