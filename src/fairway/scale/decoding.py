"""Tours of a trained policy over workers, each with the network loaded once, on a GPU of its own where it has one."""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from fairway.problems.sets import InstanceSet
from fairway.scale.executor import Executor
from fairway.scale.spread import in_order

if TYPE_CHECKING:
    from fairway.inference.config import DecodeConfig
    from fairway.inference.model import Model


def propose_on(
    executor: Executor,
    policy: Path,
    instances: InstanceSet,
    mode: "DecodeConfig",
    seed: int,
    numbers: range,
) -> Iterator[Int[np.ndarray, "B K M"]]:
    """What `propose` gives, in groups.

    The numbers say where in the whole set the instances stand; their step is how many are decoded together.
    """
    groups = (
        partial(_decoded, policy, instances[at : at + numbers.step], mode, seed, numbers.start + at)
        for at in range(0, len(instances), numbers.step)
    )
    return in_order(executor, groups)


def _decoded(
    policy: Path, instances: InstanceSet, mode: "DecodeConfig", seed: int, first: int
) -> Int[np.ndarray, "B K M"]:
    """What a worker does."""
    from fairway.inference.proposals import propose

    return propose(_loaded(policy), instances, mode, seed, first)


@cache
def _loaded(policy: Path) -> "Model":
    """The network, loaded once per process, on the GPU that the worker was given, or on its core."""
    import torch

    from fairway.inference.model import load_model

    if not torch.cuda.is_available():
        torch.set_num_threads(1)
        return load_model(policy, torch.device("cpu"))
    return load_model(policy, torch.device("cuda"))
