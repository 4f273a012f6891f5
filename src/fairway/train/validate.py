"""How good a policy is on instances that it has never seen: greedy tours over the eight symmetries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor

from fairway.kernels.lookahead import Guard
from fairway.policies.attention import Policy
from fairway.problems.augment import SYMMETRIES, symmetries
from fairway.problems.batch import Batch, moved, take
from fairway.problems.draw import draw
from fairway.search.probing import build_carefully
from fairway.train.config import TrainConfig
from fairway.train.gfacs.config import ColonyConfig
from fairway.train.losses import infeasible
from fairway.train.step import in_half

SEED = 987_654_321
"""Of the validation set: no run trains with it, and no published bed was drawn so."""
AT_A_TIME = 512
"""Instances decoded together, eight views of each."""


@dataclass(frozen=True, slots=True)
class Score:
    """What the paper reports, in percent and normalised lengths."""

    sol_infeasible: float
    """Of all tours."""
    inst_infeasible: float
    """Of the instances, those none of whose views gave a feasible tour."""
    length: float
    """The mean over the other instances of their best feasible tour; NaN where there is none."""


def validation_set(config: TrainConfig | ColonyConfig, count: int, device: torch.device) -> Batch:
    """Held-out instances of the run's law; the same on every device, so that scores can be compared."""
    drawn = draw(config.law, config.nodes, count, Generator().manual_seed(SEED))
    return moved(drawn, device)


def validate(
    config: TrainConfig, policy: Policy, batch: Batch, guard: Guard | None = None
) -> Score:
    """Greedy tours of every view, masked exactly as the config says (a learned mask is for training only)."""
    policy.eval()
    parts = [
        greedy_over_views(config, policy, take(batch, some), guard or config.guard)
        for some in _slices(len(batch.limit))
    ]
    policy.train()
    fails, lengths = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
    return scored(fails, lengths)


def scored(fails: Bool[Tensor, "P B"], lengths: Float[Tensor, "P B"]) -> Score:
    """The figures of some tours of every instance."""
    best = torch.where(fails, torch.inf, lengths).amin(0)
    solved = best.isfinite()
    return Score(
        100 * float(fails.float().mean()),
        100 * float((~solved).float().mean()),
        float(best[solved].mean()),
    )


def mean_score(scores: Sequence[Score]) -> Score:
    """Of several kinds of instances together."""
    sums = (sum(getattr(score, field.name) for score in scores) for field in fields(Score))
    return Score(*(total / len(scores) for total in sums))


@torch.no_grad()
def greedy_over_views(
    config: TrainConfig, policy: Policy, batch: Batch, guard: Guard
) -> tuple[Bool[Tensor, "8 B"], Float[Tensor, "8 B"]]:
    """Which of the eight tours of each instance fail, and how long they are."""
    views = symmetries(batch)
    with in_half(config, views):
        pointer = policy(views)
    built = build_carefully(views, pointer, guard)
    return infeasible(built).view(SYMMETRIES, -1), built.length.view(SYMMETRIES, -1)


def _slices(count: int) -> Iterator[slice]:
    return (slice(first, first + AT_A_TIME) for first in range(0, count, AT_A_TIME))
