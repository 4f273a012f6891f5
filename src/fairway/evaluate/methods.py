"""What an evaluation runs: tours of policies, of colonies and of references, each kind with a config of its own."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from fairway.errors import InvalidRequest
from fairway.evaluate import single
from fairway.evaluate.judging import best_row
from fairway.evaluate.references import PUBLISHED_TOLERANCE, load_references
from fairway.evaluate.single import Proposal, Tour, shared_out
from fairway.inference.config import ACOConfig, DecodeConfig
from fairway.problems.beds import beds
from fairway.problems.sets import InstanceSet
from fairway.scale.engine import Engine
from fairway.scale.executor import Executor
from fairway.solver.on_gpu import tours_on_gpu
from fairway.solver.request import Request
from fairway.solver.solving import pool_size
from fairway.solver.warmup import warm_up
from fairway.weights import located

if TYPE_CHECKING:
    from fairway.inference.model import Model

TOGETHER = 500
"""Instances of a group where they are decoded side by side."""
ON_GPU = 10_000
"""The same where local search on a GPU has its seconds for all of them together."""
ANTS_TOGETHER = 32
"""The same for colonies, whose local search may take seconds for each."""
A_GROUP = 30.0
"""Seconds that a group should take where each instance has a budget."""
A_LOSS = 0.5
"""Seconds of finished work, or one instance a process, that are lost at most when such a run is killed."""
LEAST = {"seconds": 0, "polish": 0, "together": 1, "workers": 1, "seed": 0, "width": 1, "trials": 1}


Run = Callable[[InstanceSet, int], Iterable[Proposal]]
"""From some instances of a bed, and the number of the first of them, to proposals, perhaps one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method that is ready to run."""

    name: str
    """In the lines of an evaluation."""
    settings: dict[str, Any]
    """All that decides its tours, the machine aside."""
    run: Run
    together: int
    """Instances of a group."""
    tolerance: float
    """By which the paper lets this method pass a limit, in the units of the published beds."""
    device: str = "cpu"
    workers: int = 1
    rehearsal: int = 1
    """Instances on which it runs before the clock does, so that all is compiled; processes see to that themselves."""
    one_by_one: bool = False
    """Whether proposals come one by one and do not depend on the others of a group."""


Opened = AbstractContextManager[Method]
"""A method for the time that it is needed."""


@runtime_checkable
class EvalConfig(Protocol):
    """All that a method depends on; one class per kind of method."""

    def opened(self, instances: InstanceSet) -> Opened:
        """The method, for these instances."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What tours of a trained network depend on, whichever way they are taken from it."""

    policy: Path
    """The folder of a training, or the name of a policy that ships."""
    polish: float = 0.0
    """Seconds of local search from the best tour."""
    polish_on: str = "cpu"
    """Where that search works: on "cuda" the seconds are for all instances of a group together."""
    seed: int = 0
    workers: int | None = None
    """Processes of that local search, and threads of a colony's own."""
    device: str = "auto"
    together: int = TOGETHER
    """Instances worked on side by side."""

    def __post_init__(self) -> None:
        check_numbers(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEval(Trained):
    """Tours of a trained policy."""

    decode: DecodeConfig = field(default_factory=DecodeConfig)
    engine: Engine | None = None
    """Workers that decode a group each; None for this process."""

    @contextmanager
    def opened(self, instances: InstanceSet) -> Iterator[Method]:
        """The policy, loaded and checked against the instances."""
        from fairway.inference.model import load_model
        from fairway.train.processes import device_named

        apart = self.engine is not None
        model = load_model(self.policy, device_named("cpu" if apart else self.device))
        model.check(instances, self.decode.guard)
        settings = {**model.facts, "seed": self.seed, **self.decode.settings}
        with ExitStack() as stack:
            if self.engine is None:
                method = self._here(model, settings)
            else:
                executor = stack.enter_context(self.engine.opened())
                method = self._elsewhere(executor, settings)
            yield stack.enter_context(_polished(method, self))

    def _elsewhere(self, executor: Executor, settings: dict[str, Any]) -> Method:
        """The policy on workers that decode a group each, with a GPU where they were promised one."""
        from fairway.scale.decoding import propose_on

        policy, mode, seed = located(self.policy).resolve(), self.decode, self.seed

        def run(some: InstanceSet, first: int) -> Iterator[Proposal]:
            numbers = range(first, first + len(some), self.together)
            for group in propose_on(executor, policy, some, mode, seed, numbers):
                yield from map(Proposal, group)

        device = "cuda" if self.engine is not None and self.engine.gpus_per_task else "cpu"
        several = self.together * executor.width
        sizes = (several, PUBLISHED_TOLERANCE, device, executor.width, 1)
        return Method("policy", settings, run, *sizes)

    def _here(self, model: "Model", settings: dict[str, Any]) -> Method:
        """The policy in this process."""
        from fairway.inference.proposals import propose

        def run(some: InstanceSet, first: int) -> list[Proposal]:
            return list(map(Proposal, propose(model, some, self.decode, self.seed, first)))

        device = model.device.type
        # On a GPU memory, too, is had for the size of a group.
        rehearsal = self.together if device == "cuda" else 1
        return Method(
            "policy", settings, run, self.together, PUBLISHED_TOLERANCE, device, 1, rehearsal
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AntsEval(Trained):
    """Tours of a trained colony; those of all its iterations count, or those of the last one where that is asked."""

    aco: ACOConfig = field(default_factory=ACOConfig)
    together: int = ANTS_TOGETHER

    def opened(self, instances: InstanceSet) -> Opened:
        """The colony, loaded and checked against the instances."""
        from fairway.inference.ants import propose_by_ants
        from fairway.inference.model import load_colony
        from fairway.train.processes import device_named

        colony, threads = load_colony(self.policy, device_named(self.device)), 1
        colony.check(instances, self.aco.guard)
        if self.aco.search != "none":
            threads = pool_size(self.workers)
            warm_up([instances[0]], Request())

        def run(some: InstanceSet, first: int) -> list[Proposal]:
            tours = propose_by_ants(colony, some, self.aco, self.seed, first, threads)
            return list(map(Proposal, tours))

        settings = {**colony.facts, "seed": self.seed, **self.aco.settings}
        sizes = (self.together, PUBLISHED_TOLERANCE, colony.device.type, threads)
        return _polished(Method("ants", settings, run, *sizes), self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceEval:
    """The tours that gaps are measured from, as if a method had proposed them."""

    references: Path | None = None
    """A file of them; None for those that ship."""

    def opened(self, instances: InstanceSet) -> Opened:
        """The references of a named bed."""
        if instances.name not in beds():
            raise InvalidRequest(
                f"there are references for named beds only, and none for {instances.name}"
            )
        known = load_references(instances.name, self.references)

        def run(some: InstanceSet, first: int) -> list[Proposal]:
            last = first + len(some)
            pairs = zip(known.tour[first:last], known.proved[first:last], strict=True)
            return [Proposal(tour[None][: int(tour.any())], bool(proved)) for tour, proved in pairs]

        return nullcontext(
            Method("reference", {"source": known.source}, run, TOGETHER, PUBLISHED_TOLERANCE)
        )


def check_numbers(config: object) -> None:
    """Refuse numbers that no evaluation can have, not-a-numbers among them."""
    for name, least in LEAST.items():
        value = getattr(config, name, None)
        if value is not None and not least <= value < math.inf:
            raise InvalidRequest(f"{name} is {value}; expected {least} or more")


@contextmanager
def _polished(inner: Method, config: Trained) -> Iterator[Method]:
    """A method whose best tour is handed to local search, where that has any time; both tours count."""
    if config.polish == 0:
        yield inner
        return
    settings = {**inner.settings, "polish": config.polish}
    if config.polish_on == "cuda":
        yield _polished_on_gpu(inner, config, settings)
        return
    workers = pool_size(config.workers)
    work = partial(single.by_local_search, seconds=config.polish, seed=config.seed)
    with shared_out(work, Engine(workers=workers)) as search:

        def run(some: InstanceSet, first: int) -> list[Proposal]:
            proposals = list(inner.run(some, first))
            better = search(some, best_of(some, proposals))
            return [
                Proposal(np.concatenate([b.tours, p.tours]), p.proved)
                for p, b in zip(proposals, better, strict=True)
            ]

        yield replace(
            inner,
            settings=settings,
            run=run,
            together=min(inner.together, group_size(config.polish, workers, A_LOSS)),
            workers=workers,
            rehearsal=min(inner.rehearsal, 1),  # local search takes its seconds for each
        )


def _polished_on_gpu(inner: Method, config: Trained, settings: dict[str, Any]) -> Method:
    """The same with all best tours of a group refined together."""

    def run(some: InstanceSet, first: int) -> list[Proposal]:
        proposals = list(inner.run(some, first))
        better = refined(some, config.polish, config.seed, best_of(some, proposals))
        return [
            Proposal(np.concatenate([b.tours, p.tours]), p.proved)
            for p, b in zip(proposals, better, strict=True)
        ]

    return replace(inner, settings={**settings, "polish_on": "cuda"}, run=run, rehearsal=1)


def refined(
    some: InstanceSet, seconds: float, seed: int, start: Sequence[Tour | None] | None
) -> list[Proposal]:
    """What local search on a GPU makes of a set in so many seconds, from tours of others where they are given."""
    found = tours_on_gpu(some, seconds, seed, start)
    each = zip(found.tours, found.there, strict=True)
    return [Proposal(tour[None][: int(there)]) for tour, there in each]


def best_of(some: InstanceSet, proposals: Iterable[Proposal]) -> list[Tour | None]:
    """The best tour of each instance."""
    return [best_row(i, p.tours) for i, p in zip(some, proposals, strict=True)]


def group_size(seconds: float, workers: int, of: float = A_GROUP) -> int:
    """Instances per group where each has so many seconds."""
    return max(workers, min(TOGETHER, int(of * workers / max(seconds, 1e-3))))
