"""The one place that records CUDA graphs: work that the host then launches as a whole, and the streams it needs."""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from torch import Generator, Tensor

from fairway.problems.batch import Batch, each
from fairway.search.ants import Trajectories

Made = TypeVar("Made")
Work = Callable[..., Trajectories]
"""From a batch and further tensors to tours, with nothing read back on the way."""

WARM_UPS = 3
"""Runs before a graph is recorded, in which kernels are compiled and memory finds its size."""


def recorded(
    work: Callable[[], Made], generator: Generator | None = None, moved: Sequence[Tensor] = ()
) -> Callable[[], Made]:
    """The work, with nothing read back on the way, as one launch, whose results are valid until the next.

    It draws numbers of the generator anew at each launch. What it moves besides its results is left as it was.
    """
    before = [tensor.clone() for tensor in moved]
    for _ in range(WARM_UPS):
        work()
    for tensor, value in zip(moved, before, strict=True):
        tensor.copy_(value)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    if generator is not None:
        graph.register_generator_state(generator)
    here = torch.cuda.current_stream()
    # Nothing can be recorded on the default stream; without another, torch takes one of its own.
    stream = None if here == torch.cuda.default_stream() else here
    with torch.cuda.graph(graph, stream=stream):
        made = work()

    def replay() -> Made:
        graph.replay()
        return made

    return replay


@dataclass(frozen=True, slots=True, eq=False)
class Recordings:
    """What was recorded of each kind of rollout. On a CPU, where there is nothing to gain, they just run."""

    _known: dict[Hashable, tuple[list[Tensor], Callable[[], Trajectories]]] = field(
        default_factory=dict
    )

    def play(self, kind: Hashable, work: Work, batch: Batch, *given: Tensor) -> Trajectories:
        """What the work makes of a batch and further tensors, valid until the same kind is played again.

        The kind stands for the work, which is looked at the first time alone, for all shapes, and for whatever else it
        depends on that is not given.
        """
        if not batch.latest.is_cuda:
            return work(batch, *given)
        if kind not in self._known:
            own_batch, own = each(batch, torch.clone), [tensor.clone() for tensor in given]
            places = [*_tensors(own_batch), *own]
            self._known[kind] = places, recorded(lambda: work(own_batch, *own))
        places, replay = self._known[kind]
        for place, tensor in zip(places, [*_tensors(batch), *given], strict=True):
            place.copy_(tensor)
        return replay()


def _tensors(batch: Batch) -> list[Tensor]:
    found: list[Tensor] = []
    each(batch, lambda tensor: found.append(tensor) or tensor)
    return found


class Queue:
    """Keeps the host a few steps ahead of a GPU and no further, so that its clock tells the time of training."""

    def __init__(self, device: torch.device, ahead: int = 4) -> None:
        self._events: deque[torch.cuda.Event] = deque()
        self._on_gpu, self._ahead = device.type == "cuda", ahead

    def wait_for_an_older_step(self) -> None:
        """Note that a step was launched, and wait until no more than a few are still under way."""
        if not self._on_gpu:
            return
        event = torch.cuda.Event()
        event.record()
        self._events.append(event)
        if len(self._events) > self._ahead:
            self._events.popleft().synchronize()


def off_the_default_stream(device: torch.device) -> None:
    """Graphs cannot be recorded where gradients were ever touched on a GPU's default stream."""
    if device.type != "cuda":
        return
    default = torch.cuda.default_stream(device)
    if torch.cuda.current_stream(device) == default:
        stream = torch.cuda.Stream(device)
        stream.wait_stream(default)
        torch.cuda.set_stream(stream)
