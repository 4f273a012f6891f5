"""Ray actors, on this machine or on a cluster that grows and shrinks while they work."""

import logging
import os
import time
from dataclasses import dataclass, field
from typing import Any

from fairway import clock
from fairway.errors import EngineMissing, InvalidRequest
from fairway.scale.executor import READY, Gone, Pool, Task, Worker, answer_to
from fairway.solver.solving import pool_size

try:
    import ray
    from ray.exceptions import RayActorError, RayError
except ModuleNotFoundError as error:
    raise EngineMissing(
        "solving on a cluster needs Ray; install it with: pip install 'fairway[ray]'"
    ) from error

CENSUS = 1.0
"""Seconds after which is asked again how many workers the cluster has room for."""


OURS = {"worker_niceness": 0}
"""Of a Ray that is started here: its workers have our priority, as processes of ours would, and not 15 less."""


class _Remote:
    """What runs in an actor's process."""

    def ready(self) -> str:
        """Answered as soon as the process is there."""
        from fairway.kernels.compiling import hush

        hush()
        return READY

    def answer(self, task: Task) -> Any:  # noqa: ANN401 - whatever the task returns
        """Do a task."""
        return answer_to(task)


@dataclass(slots=True, eq=False, kw_only=True)
class Actor(Worker):
    """An actor, and the answers that it owes, in order."""

    handle: Any
    owed: list[Any] = field(default_factory=list)


class RayPool(Pool[Actor]):
    """As many actors as the cluster has room for, each with a core or with its share of a GPU.

    Without an address Ray is started here, and stopped at the end.
    """

    def __init__(
        self, workers: int | None = None, address: str | None = None, gpus: float = 0.0
    ) -> None:
        super().__init__()
        self._own = not ray.is_initialized()
        self._most, self._gpus, self._census = workers, gpus, -CENSUS
        if self._own:
            _connected(address, pool_size(workers) if address is None else None)
            if address is None:
                _see_gpus(gpus)
        self._kind: Any = ray.remote(_Remote).options(
            num_cpus=1, num_gpus=gpus, max_restarts=0, max_task_retries=0
        )

    def _staff(self) -> None:
        """One actor for each place; those that wait for a place that is no more are given up."""
        if clock.now() - self._census < CENSUS and self._workers:
            return
        self._census = clock.now()
        places = self._places()
        while len(self._workers) < places:
            handle = self._kind.remote()
            self._workers.append(Actor(handle=handle, owed=[handle.ready.remote()]))
        surplus = max(0, len(self._workers) - places)
        for worker in [each for each in self._workers if not each.ready][:surplus]:
            ray.kill(worker.handle)
            self._workers.remove(worker)

    def _places(self) -> int:
        """How many actors the cluster has room for; one at least, which may have to wait."""
        known = ray.cluster_resources()
        places = int(known.get("CPU", 0))
        if self._gpus:
            places = min(places, int(known.get("GPU", 0) / self._gpus))
        return max(1, places if self._most is None else min(places, self._most))

    def _send(self, worker: Actor, task: Task) -> None:
        worker.owed.append(worker.handle.answer.remote(task))

    def _heard(self, seconds: float) -> list[tuple[Actor, Any]]:
        owing = {worker.owed[0]: worker for worker in self._workers if worker.owed}
        if not owing:
            time.sleep(min(seconds, CENSUS))
            return []
        found, _ = ray.wait(list(owing), num_returns=len(owing), timeout=0)
        if not found:
            found, _ = ray.wait(list(owing), num_returns=1, timeout=min(seconds, CENSUS))
        return [(owing[answer], _received(owing[answer])) for answer in found]

    def close(self) -> None:
        """End all actors, and Ray itself where it was started here."""
        for worker in self._workers:
            ray.kill(worker.handle)
        self._workers.clear()
        if self._own:
            ray.shutdown()


def _received(worker: Actor) -> Any:  # noqa: ANN401 - whatever a task returns
    try:
        return ray.get(worker.owed.pop(0))
    except RayActorError as error:
        return Gone(_why(error))
    except RayError as error:  # its answer went with the node that it lay on
        ray.kill(worker.handle)
        return Gone(_why(error))


def _why(error: Exception) -> str:
    """The first line of what Ray says, without its class."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _see_gpus(gpus: float) -> None:
    """Refuse to wait for GPUs that this machine has not; a cluster may grow some."""
    there = ray.cluster_resources().get("GPU", 0)
    if there < gpus:
        ray.shutdown()
        raise InvalidRequest(
            f"each task is to have {gpus:g} GPUs, and this machine has {there:g}; leave --gpus-per-task out to use "
            "the cores, or give the --address of a cluster"
        )


def _connected(address: str | None, cores: int | None) -> None:
    """Join the cluster at an address, or start Ray on so many cores of this machine."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    asked: dict[str, Any] = {"address": address}
    if not address:
        asked = {"address": "local", "num_cpus": cores, "include_dashboard": False}
        asked["_system_config"] = OURS
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **asked)
    except Exception as error:  # of any class: a machine too busy to start Ray raises a bare one
        where = f"at {address!r}" if address else "on this machine"
        raise InvalidRequest(f"Ray cannot be reached {where} ({_why(error)})") from error
