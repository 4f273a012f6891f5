"""The processes that train together: the device of each, how their numbers become one, and how they are stopped."""

import atexit
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.rendezvous import rendezvous

from fairway.errors import FairwayError, InvalidRequest


@dataclass(frozen=True, slots=True)
class DistContext:
    """How many processes there are, and which of them this is."""

    rank: int = 0
    size: int = 1

    def check_share(self, batch: int) -> None:
        """Refuse a batch that the processes cannot share evenly, since its gradient would not be theirs."""
        if batch % self.size:
            raise InvalidRequest(
                f"a batch of {batch} cannot be shared evenly by {self.size} processes; "
                f"choose a multiple of {self.size} with --batch"
            )

    def total(self, values: Tensor) -> Tensor:
        """The sum over all processes; gradients do not flow through it."""
        if self.size == 1:
            return values
        summed = values.detach().clone()
        dist.all_reduce(summed)
        return summed

    def latest(self, seconds: float) -> float:
        """The longest of all processes' times, so that they decide alike."""
        if self.size == 1:
            return seconds
        longest = torch.tensor(seconds, dtype=torch.float64)
        if dist.get_backend() == "nccl":
            longest = longest.cuda()
        dist.all_reduce(longest, dist.ReduceOp.MAX)
        return float(longest)

    def told(self, read: Callable[[], bytes]) -> bytes:
        """What the first process reads, for all of them: no other needs the file; what it cannot read, all refuse."""
        if self.size == 1:
            return read()
        found: list[Any] = [None]
        if self.rank == 0:
            try:
                found = [read()]
            except FairwayError as error:
                found = [error]
        dist.broadcast_object_list(found)
        if isinstance(found[0], FairwayError):
            raise found[0]
        return found[0]

    def average_gradients(self, module: nn.Module) -> None:
        """Give every process the mean of all processes' gradients, in one message."""
        if self.size == 1:
            return
        gradients = [p.grad for p in module.parameters() if p.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        flat /= self.size
        parts = flat.split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))


def device_named(name: str) -> torch.device:
    """The device meant by cpu, cuda or auto, which is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda"):
        raise InvalidRequest(f"there is no device {name!r}; expected auto, cpu or cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise InvalidRequest("torch sees no GPU on this machine; train with --device cpu")
    return torch.device(name)


def join(device: torch.device) -> tuple[DistContext, torch.device]:
    """The world that torchrun announces, joined until this process ends, and its own device; else it is alone."""
    announced = int(os.environ.get("WORLD_SIZE", "1")) > 1
    if announced and device.type == "cuda":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    if announced and not dist.is_initialized():
        # What every optimiser imports keeps the group that it finds, and the group its threads, of which one that
        # outlives the interpreter aborts the process. So it is imported before there is a group.
        import_module("torch._dynamo")
        backend = "nccl" if device.type == "cuda" else "gloo"
        store, rank, size = next(rendezvous("env://"))
        # One store may outlive a restart, and would still hold where the lost processes listened.
        store = dist.PrefixStore(f"start-{_restarts()}", store)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size)
        # Not at the end of a run: the store that a next one would meet over remembers the first.
        atexit.register(dist.destroy_process_group)
    if dist.is_available() and dist.is_initialized():
        return DistContext(dist.get_rank(), dist.get_world_size()), device
    return DistContext(), device


def restarted() -> bool:
    """Whether torchrun has started this process anew, after one of them was lost."""
    return _restarts() > 0


def _restarts() -> int:
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


@contextmanager
def interruptions() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C or a request to terminate has come, for a loop to ask where it can stop; a second is obeyed."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def remember(number: int, _: FrameType | None) -> None:
        asked.set()
        signal.signal(number, before[number])

    before: dict[int, Any] = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
    }
    for number in before:
        signal.signal(number, remember)
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
