"""How good a run is on instances that it has never seen.

Policies build greedy tours over the eight symmetries; ants go out once, without pheromone or local search.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Generator, Tensor, nn

from fairway.kernels.lookahead import MaskConfig
from fairway.policies.attention import Policy
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.augment import SYMMETRIES, symmetries
from fairway.problems.batch import Batch, moved, take
from fairway.problems.draw import draw
from fairway.search.ants import construct, log_weights, outlook_of
from fairway.search.backtracking import build_with_backtracking
from fairway.train.config import ColonyConfig, TrainConfig
from fairway.train.losses import infeasible
from fairway.train.run import Config, Run
from fairway.train.step import in_half

SEED = 987_654_321
"""Of the validation set: no run trains with it, and no published bed was drawn so."""
AT_A_TIME = 512
"""Instances decoded together, eight views of each."""
ANTS_HELD_OUT = 64
"""Instances that ants are validated on, each with many tours."""
ROOM = {"cpu": 1 << 26, "cuda": 1 << 29}
"""Numbers that the embeddings of the edges of a part may hold."""


@dataclass(frozen=True, slots=True)
class Score:
    """What the paper reports, in percent and normalised lengths."""

    sol_infeasible: float
    """Of all tours."""
    inst_infeasible: float
    """Of the instances, those none of whose views gave a feasible tour."""
    length: float
    """The mean over the other instances of their best feasible tour; NaN where there is none."""


HeldOut = Sequence[tuple[Config, Batch]]
"""Instances of each kind that a run is trained on."""


def held_out(config: Config, device: torch.device) -> HeldOut:
    """As many instances of each kind as a validation can afford: it should take a second or two."""
    if isinstance(config, ColonyConfig):
        return [(config, validation_set(config, ANTS_HELD_OUT, device))]
    parts, small = tuple(dict.fromkeys(config.parts)), 512 if config.nodes <= 20 else 128
    count = (2_000 if device.type == "cuda" else small) // len(parts)
    return [(part, validation_set(part, max(1, count), device)) for part in parts]


def score_of(run: Run, instances: HeldOut) -> Score:
    """The mean over all kinds of instances."""
    scores = [
        validate_ants(config, run.finished, batch)
        if isinstance(config, ColonyConfig)
        else validate(config, run.finished, batch)
        for config, batch in instances
    ]
    sums = (sum(getattr(score, field.name) for score in scores) for field in fields(Score))
    return Score(*(total / len(scores) for total in sums))


def validation_set(config: Config, count: int, device: torch.device) -> Batch:
    """Held-out instances of the run's distribution; the same on every device, so that scores can be compared."""
    drawn = draw(config.distribution, config.nodes, count, Generator().manual_seed(SEED))
    return moved(drawn, device)


@torch.no_grad()
def validate(
    config: TrainConfig, policy: Policy, batch: Batch, guard: MaskConfig | None = None
) -> Score:
    """Greedy tours of every view, masked exactly as the config says (a learned mask is for training only)."""
    guard = guard or config.guard

    def decode(some: slice) -> tuple[Tensor, Tensor]:
        views = symmetries(take(batch, some))
        with in_half(config, views):
            pointer = policy(views)
        built = build_with_backtracking(views, pointer, guard)
        return infeasible(built).view(SYMMETRIES, -1), built.length.view(SYMMETRIES, -1)

    return _scored(policy, decode, len(batch.latest), AT_A_TIME)


def _scored(
    network: nn.Module, work: Callable[[slice], tuple[Tensor, Tensor]], count: int, at_a_time: int
) -> Score:
    """The figures of which tours of every instance fail, and how long they are; instances are worked on in parts."""
    network.eval()
    parts = [work(slice(first, first + at_a_time)) for first in range(0, count, at_a_time)]
    network.train()
    fails, lengths = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
    best = torch.where(fails, torch.inf, lengths).amin(0)
    solved = best.isfinite()
    return Score(
        100 * float(fails.float().mean()),
        100 * float((~solved).float().mean()),
        float(best[solved].mean()),
    )


@torch.no_grad()
def validate_ants(config: ColonyConfig, network: HeatmapNetwork, batch: Batch) -> Score:
    """As many ants as in training, masked exactly (a learned mask is for training only); equal noise each time."""
    instances, nodes = batch.latest.shape
    shape, generator = (instances, config.ants, nodes - 1), Generator().manual_seed(SEED)
    noise = torch.rand(shape, generator=generator).to(batch.latest.device)

    def forage(some: slice) -> tuple[Tensor, Tensor]:
        part = take(batch, some)
        heatmap = network(part)
        near = heatmap.neighbours if config.sparse else None
        look = outlook_of(part, config.guard, config.ants, near)
        built = construct(part, look, log_weights(heatmap.log_heuristic()), noise[some])
        return infeasible(built).mT, built.length.mT

    room = ROOM[batch.latest.device.type] // (nodes * nodes * network.config.width)
    return _scored(network, forage, instances, max(1, room))
