"""Rollouts recorded as CUDA graphs: a colony's thousands of small kernels, which the host then launches as one."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from fairway.problems.batch import Batch, each
from fairway.search.ants import Trodden

Work = Callable[..., Trodden]
"""From a batch and further tensors to tours, with nothing read back on the way."""

WARM_UPS = 2
"""Runs before the recording, in which kernels are compiled."""


@dataclass(frozen=True, slots=True, eq=False)
class Recordings:
    """What was recorded of each kind of rollout. On a CPU, where there is nothing to gain, they just run."""

    _known: dict[Hashable, Work] = field(default_factory=dict)

    def play(self, kind: Hashable, work: Work, batch: Batch, *given: Tensor) -> Trodden:
        """What the work makes of a batch and further tensors, valid until the same kind is played again.

        Args:
            kind: Stands for the work, all shapes, and whatever else it depends on that is not given.
            work: Recorded the first time, and not looked at any more after that.
            batch: The instances.
            given: Whatever else changes from call to call.
        """
        if not batch.limit.is_cuda:
            return work(batch, *given)
        if kind not in self._known:
            self._known[kind] = _recorded(work, batch, given)
        return self._known[kind](batch, *given)


def _recorded(work: Work, batch: Batch, given: tuple[Tensor, ...]) -> Work:
    """The work as one launch, on copies of what it is given."""
    own_batch, own = each(batch, torch.clone), [tensor.clone() for tensor in given]
    for _ in range(WARM_UPS):
        work(own_batch, *own)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = work(own_batch, *own)
    places = [*_tensors(own_batch), *own]

    def replay(batch: Batch, *given: Tensor) -> Trodden:
        for place, tensor in zip(places, [*_tensors(batch), *given], strict=True):
            place.copy_(tensor)
        graph.replay()
        return made

    return replay


def _tensors(batch: Batch) -> list[Tensor]:
    found: list[Tensor] = []

    def seen(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    each(batch, seen)
    return found
