"""A process among others: the device it works on, whom it works with, and how it is asked to stop."""

import atexit
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist

from fairway.errors import InvalidRequest
from fairway.train.distributed import DistContext, here


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
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        # Not at the end of a run: the store that a next one would meet over remembers the first.
        atexit.register(dist.destroy_process_group)
    return here(), device


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
