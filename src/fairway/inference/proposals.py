"""Tours from a policy, in every mode, for as many instances as there are."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from fairway.inference.config import DecodeConfig
from fairway.inference.model import Model
from fairway.kernels.lookahead import MaskConfig
from fairway.kernels.pointer import Pointer
from fairway.problems.augment import symmetries
from fairway.problems.batch import Batch, forwards, to_batch
from fairway.problems.sets import InstanceSet
from fairway.search import guided
from fairway.search.backtracking import build_with_backtracking
from fairway.search.decode import build, scoring, watch

ROOM = {"cpu": 1 << 24, "cuda": 1 << 31}
"""Numbers that the largest tensor of a part may hold."""
NEAR = 1 << 20
"""The same on a CPU where loops are compiled: what stays near the core is encoded up to twice as fast."""


def propose(
    model: Model, instances: InstanceSet, mode: DecodeConfig, seed: int = 0, first: int = 0
) -> Int[np.ndarray, "B K M"]:
    """As many tours of every instance as the mode asks for, in the direction of the instances; not yet judged.

    Instances are decoded in parts that fit into memory. Each has its own random stream, by its number from the first
    on: equal seeds sample equal tours, on any device but for rounding.
    """
    model.check(instances, mode.guard)
    step = together(instances.nodes, mode, model.device)
    parts = [
        _of_part(model, instances[at : at + step], mode, (seed, first + at))
        for at in range(0, len(instances), step)
    ]
    return forwards(instances, torch.cat(parts).cpu().numpy())


def together(nodes: int, mode: DecodeConfig, device: torch.device) -> int:
    """Instances that are decoded at a time: as many as fit."""
    heads = 8
    a_view = nodes * max(nodes, heads * mode.tours(nodes))
    compiled = device.type == "cpu" and mode.kind in ("greedy", "sample")
    return max(1, (NEAR if compiled else ROOM[device.type]) // (a_view * mode.views))


@torch.no_grad()
def _of_part(
    model: Model, instances: InstanceSet, mode: DecodeConfig, seed: tuple[int, int]
) -> Int[Tensor, "B K M"]:
    batch = to_batch(instances, model.device)
    views = symmetries(batch) if mode.symmetries else batch
    guard = mode.guard or model.guard
    rngs = streams(*seed, len(instances)) if mode.kind == "sample" else []
    tours = _decoded(views, model.policy(views), guard, mode, rngs)
    return tours.unflatten(0, (mode.views, -1)).transpose(0, 1).flatten(1, 2)


def _decoded(
    views: Batch,
    pointer: Pointer,
    guard: MaskConfig,
    mode: DecodeConfig,
    rngs: Sequence[Generator],
) -> Int[Tensor, "B P M"]:
    match mode.kind:
        case "greedy":
            return build_with_backtracking(views, pointer, guard, mode.budget).tours
        case "starts":
            return build(views, pointer, guard, starts=True).tours
        case "sample":
            drawn = uniform(rngs, mode.views, mode.samples, views.latest.shape[1] - 1)
            noise = drawn.transpose(0, 1).flatten(0, 1).to(views.latest.device)
            return build(views, pointer, guard, noise).tours
        case "beam":
            look, score = watch(views, guard, None), scoring(views, pointer)
            return guided.beam(views, look=look, score=score, width=mode.width)


def streams(seed: int, first: int, count: int) -> list[Generator]:
    """Random numbers for each of so many instances, whatever its batch; of the CPU, so that devices draw the same."""
    numbers = range(first, first + count)
    return [Generator().manual_seed((seed * 1_000_003 + number) % 2**63) for number in numbers]


def uniform(rngs: Sequence[Generator], *shape: int) -> Float[Tensor, "B *S"]:
    """Numbers of this shape for each instance, one after the other."""
    return torch.stack([torch.rand(shape, generator=stream) for stream in rngs])
