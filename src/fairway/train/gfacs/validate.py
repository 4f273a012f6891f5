"""How good ants are on instances that they have never seen: one iteration, without pheromone or local search."""

import torch
from torch import Generator

from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.batch import Batch, take
from fairway.search.ants import drawn_to, forage, outlook_of
from fairway.train.gfacs.config import ColonyConfig
from fairway.train.losses import infeasible
from fairway.train.validate import SEED, Score, scored

ROOM = {"cpu": 1 << 26, "cuda": 1 << 29}
"""Numbers that the embeddings of the edges of a part may hold."""


@torch.no_grad()
def validate_ants(config: ColonyConfig, network: HeatmapNetwork, batch: Batch) -> Score:
    """As many ants as in training, masked exactly (a learned mask is for training only); equal noise each time."""
    instances, nodes = batch.limit.shape
    noise = torch.rand(
        instances, config.ants, nodes - 1, generator=Generator().manual_seed(SEED)
    ).to(batch.limit.device)
    at_a_time = max(1, ROOM[batch.limit.device.type] // (nodes * nodes * network.config.width))
    network.eval()
    fails, lengths = [], []
    for first in range(0, instances, at_a_time):
        some = slice(first, first + at_a_time)
        part = take(batch, some)
        heatmap = network(part)
        near = heatmap.neighbours if config.sparse else None
        look = outlook_of(part, config.guard, config.ants, near)
        built = forage(part, look, drawn_to(heatmap.log_heuristic()), noise[some])
        fails.append(infeasible(built))
        lengths.append(built.length)
    network.train()
    return scored(torch.cat(fails).mT, torch.cat(lengths).mT)
