"""Which workers to use: a name and a few numbers become an executor."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, get_args

from fairway.errors import InvalidRequest
from fairway.given import is_real, is_word_of, shown
from fairway.scale.executor import Executor
from fairway.solver.solving import pool_size

Kind = Literal["local", "ray"]


@dataclass(frozen=True, slots=True)
class Engine:
    """The worker processes of this machine, or Ray, which is started here where no address is given."""

    kind: Kind = "local"
    workers: int | None = None
    """At most; by default one for each core there is."""
    address: str | None = None
    """Of a Ray cluster: "auto", or host:port."""
    gpus_per_task: float = 0.0
    """GPUs, or the share of one, that each worker has to itself."""

    def __post_init__(self) -> None:
        if not is_word_of(self.kind, get_args(Kind)):
            raise InvalidRequest(f"there is no engine {shown(self.kind)}; expected local or ray")
        pool_size(self.workers)
        if self.address is not None and not isinstance(self.address, str):
            raise InvalidRequest(
                f"the address is {shown(self.address)}; expected auto, or host:port"
            )
        if not is_real(self.gpus_per_task) or not 0 <= self.gpus_per_task <= 64:
            raise InvalidRequest(
                f"GPUs per task are {shown(self.gpus_per_task)}; expected 0, a share, or a few"
            )
        if self.kind == "local" and (self.address is not None or self.gpus_per_task):
            raise InvalidRequest("an address and GPUs per task belong to --engine ray")

    def opened(self) -> AbstractContextManager[Executor]:
        """The workers, for as long as they are needed."""
        if self.kind == "ray":
            from fairway.scale.ray_pool import RayPool

            return RayPool(self.workers, self.address, self.gpus_per_task)
        from fairway.scale.local import LocalPool

        return LocalPool(self.workers)
