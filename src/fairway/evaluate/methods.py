"""The methods that can be evaluated, by name: greedy rules, policies, solvers of our own and of others."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from fairway.classical.external import lkh
from fairway.errors import InvalidRequest
from fairway.evaluate import single
from fairway.evaluate.judging import walked
from fairway.evaluate.references import PUBLISHED_TOLERANCE, load_references
from fairway.evaluate.single import Answer, Shared, Single, Tour, shared_out
from fairway.inference.config import ACOConfig, DecodeConfig
from fairway.judge import TOLERANCE
from fairway.problems.beds import beds
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.solver.guidance import choice_of, model_at
from fairway.solver.many import crew_size, job_of, solved
from fairway.solver.request import Request
from fairway.solver.warmup import warm_up

TOGETHER = 500
"""Instances of a group where they are decoded side by side."""
ANTS_TOGETHER = 32
"""The same for colonies, whose local search may take seconds for each."""
A_GROUP = 30.0
"""Seconds that a group should take where each instance has a budget."""
A_LOSS = 0.5
"""Seconds of finished work, or one instance a process, that are lost at most when such a run is killed."""


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """What the user wants evaluated."""

    method: str
    seconds: float = 1.0
    """Of a solver, for each instance."""
    seed: int = 0
    policy: Path | None = None
    mode: DecodeConfig = field(default_factory=DecodeConfig)
    polish: float = 0.0
    """Seconds of local search after the method, from its best tour."""
    trials: int | None = None
    """Of LKH-3."""
    references: Path | None = None
    workers: int | None = None
    device: str = "auto"
    together: int = TOGETHER
    """Instances that rules and policies take side by side."""
    foraging: ACOConfig = field(default_factory=ACOConfig)
    """How ants go about it."""


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """The tours that a method proposes for one instance; none where it has found none."""

    tours: Int[np.ndarray, "K M"]
    proved: bool = False
    seconds: float | None = None
    """Of one core; None where instances are worked on side by side."""


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method that is ready to run."""

    settings: dict[str, Any]
    """All that decides its tours, the machine aside."""
    run: Callable[[InstanceSet, int], Iterable[Proposal]]
    """From some instances of a bed, and the number of the first of them, to proposals, perhaps one by one."""
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


def opened(asked: EvalConfig, instances: InstanceSet) -> AbstractContextManager[Method]:
    """A method by its name, for the time that it is needed."""
    if asked.method not in METHODS:
        raise InvalidRequest(
            f"there is no method {asked.method!r}; expected one of {', '.join(METHODS)}"
        )
    made = METHODS[asked.method](asked, instances)
    return made if asked.polish == 0 else _polished(made, asked)


def _greedy(rule: str) -> Callable[[EvalConfig, InstanceSet], AbstractContextManager[Method]]:
    """One of the paper's rules: no mask, and no tolerance to speak of."""

    def made(asked: EvalConfig, instances: InstanceSet) -> AbstractContextManager[Method]:
        from fairway.classical.greedy import tours_by_rule

        def run(some: InstanceSet, first: int) -> list[Proposal]:
            return [Proposal(tours) for tours in tours_by_rule(rule, some)]

        return nullcontext(Method({"rule": rule}, run, asked.together, TOLERANCE))

    return made


def _policy(asked: EvalConfig, instances: InstanceSet) -> AbstractContextManager[Method]:
    """Tours of a trained policy."""
    from fairway.inference.model import check_guard, load_model
    from fairway.inference.proposals import propose
    from fairway.train.processes import device_named

    if asked.policy is None:
        raise InvalidRequest("--method policy needs --policy: the folder of a trained one")
    model = load_model(asked.policy, device_named(asked.device))
    model.check(instances)
    check_guard(asked.mode.guard or model.guard, instances.problem)

    def run(some: InstanceSet, first: int) -> list[Proposal]:
        return [Proposal(tours) for tours in propose(model, some, asked.mode, asked.seed, first)]

    settings = {**model.facts, "seed": asked.seed, **asked.mode.settings}
    device = model.device.type
    rehearsal = (
        asked.together if device == "cuda" else 1
    )  # memory, too, is had for the size of a group
    sizes = (asked.together, PUBLISHED_TOLERANCE, device, 1, rehearsal)
    return nullcontext(Method(settings, run, *sizes))


def _ants(asked: EvalConfig, instances: InstanceSet) -> AbstractContextManager[Method]:
    """Tours of a trained colony; those of all its iterations count, or those of the last one where that is asked."""
    from fairway.inference.ants import load_colony, propose_by_ants
    from fairway.inference.model import check_guard
    from fairway.train.processes import device_named

    if asked.policy is None:
        raise InvalidRequest("--method ants needs --policy: the folder of a trained colony")
    colony, threads = load_colony(asked.policy, device_named(asked.device)), 1
    colony.check(instances)
    check_guard(asked.foraging.guard or colony.guard, instances.problem)
    if asked.foraging.search != "none":
        threads = crew_size(asked.workers)
        warm_up([instances[0]], Request())

    def run(some: InstanceSet, first: int) -> list[Proposal]:
        found = propose_by_ants(colony, some, asked.foraging, asked.seed, first, threads)
        return [Proposal(tours) for tours in found]

    settings = {**colony.facts, "seed": asked.seed, **asked.foraging.settings}
    group = min(asked.together, ANTS_TOGETHER)
    sizes = (group, PUBLISHED_TOLERANCE, colony.device.type, threads)
    return nullcontext(Method(settings, run, *sizes))


def _reference(asked: EvalConfig, instances: InstanceSet) -> AbstractContextManager[Method]:
    """The tours that gaps are measured from, as if a method had proposed them."""
    if instances.name not in beds():
        raise InvalidRequest(
            f"there are references for named beds only, and none for {instances.name}"
        )
    known = load_references(instances.name, asked.references)

    def run(some: InstanceSet, first: int) -> list[Proposal]:
        last = first + len(some)
        pairs = zip(known.tour[first:last], known.proved[first:last], strict=True)
        return [Proposal(tour[None][: int(tour.any())], bool(proved)) for tour, proved in pairs]

    return nullcontext(Method({"source": known.source}, run, TOGETHER, PUBLISHED_TOLERANCE))


def _solve(asked: EvalConfig, instances: InstanceSet) -> AbstractContextManager[Method]:
    """The whole of our solver."""
    workers = crew_size(asked.workers)
    request = Request(asked.seconds, seed=asked.seed, policy=choice_of(asked.policy))

    def run(some: InstanceSet, first: int) -> Iterator[Proposal]:
        for result in solved(job_of(list(some), request, None), workers):
            if result.interrupted:
                raise KeyboardInterrupt  # what was cut short is no outcome
            yield Proposal(_row(result.tour, some), result.status == "optimal", result.seconds)

    settings: dict[str, Any] = {"seconds": asked.seconds, "seed": asked.seed}
    if asked.policy is not None:
        model_at(asked.policy).check(instances)
        settings |= model_at(asked.policy).facts
    sizes = (PUBLISHED_TOLERANCE, "cpu", workers, int(workers == 1), True)
    return nullcontext(Method(settings, run, _group(asked.seconds, workers), *sizes))


def _alone(
    solver: Callable[[EvalConfig], Single], *, seeded: bool = False
) -> Callable[[EvalConfig, InstanceSet], AbstractContextManager[Method]]:
    """A solver of one instance, from a first tour of ours where it is seeded."""

    @contextmanager
    def made(asked: EvalConfig, instances: InstanceSet) -> Iterator[Method]:
        chosen, workers = solver(asked), crew_size(asked.workers)
        begin, said = beginner(asked, instances, seeded=seeded)
        with shared_out(chosen, workers) as solve:

            def run(some: InstanceSet, first: int) -> Iterator[Proposal]:
                return _found(solve, some, begin(some, first))

            settings = {**chosen.keywords, "seeded": seeded, **said}
            sizes = (PUBLISHED_TOLERANCE, "cpu", workers, int(workers == 1), True)
            yield Method(settings, run, _group(asked.seconds, workers), *sizes)

    return made


Beginner = Callable[[InstanceSet, int], list[Tour | None]]
"""From some instances of a bed, and the number of the first of them, to tours that a solver starts from."""


def beginner(
    asked: EvalConfig, instances: InstanceSet, *, seeded: bool
) -> tuple[Beginner, dict[str, Any]]:
    """Where a solver starts, and what is to be said of it: nowhere, a simple tour, or the best one of a policy."""
    if not seeded:
        return lambda some, first: [None] * len(some), {}
    if asked.policy is None:
        return lambda some, first: [single.first_tour(instance) for instance in some], {}
    with _policy(asked, instances) as method:

        def proposed(some: InstanceSet, first: int) -> list[Tour | None]:
            pairs = zip(some, method.run(some, first), strict=True)
            return [best_row(instance, proposal.tours) for instance, proposal in pairs]

        return proposed, {"begins": method.settings}


def best_row(instance: Instance, tours: Int[np.ndarray, "K M"]) -> Tour | None:
    """The cheapest tour that keeps every limit, or else the one that passes them by least."""
    if not len(tours):
        return None
    cost, over = walked(instance, tours)
    late = np.maximum(over - TOLERANCE, 0).sum(axis=1)
    return tuple(tours[np.lexsort((cost, late))[0]].tolist())


@contextmanager
def _polished(method: AbstractContextManager[Method], asked: EvalConfig) -> Iterator[Method]:
    """A method whose best tour is handed to local search; both tours count."""
    workers = crew_size(asked.workers)
    work = partial(single.by_local_search, seconds=asked.polish, seed=asked.seed)
    with method as inner, shared_out(work, workers) as search:

        def run(some: InstanceSet, first: int) -> list[Proposal]:
            proposals = list(inner.run(some, first))
            starts = [best_row(i, p.tours) for i, p in zip(some, proposals, strict=True)]
            better = _found(search, some, starts)
            return [
                Proposal(np.concatenate([b.tours, p.tours]), p.proved)
                for p, b in zip(proposals, better, strict=True)
            ]

        yield Method(
            {**inner.settings, "polish": asked.polish, "seed": asked.seed},
            run,
            min(inner.together, _group(asked.polish, workers, A_LOSS)),
            inner.tolerance,
            inner.device,
            workers,
            min(inner.rehearsal, 1),  # local search takes its seconds for each
        )


def _found(solve: Shared, some: InstanceSet, starts: Sequence[Tour | None]) -> Iterator[Proposal]:
    for one in solve(list(some), starts):
        yield Proposal(_row(one.tour, some), one.proved, one.seconds)


def _row(tour: Tour | None, some: InstanceSet) -> Int[np.ndarray, "K M"]:
    rows = [] if tour is None else [tour]
    return np.array(rows, np.int64).reshape(len(rows), some.nodes - 1)


def _group(seconds: float, workers: int, of: float = A_GROUP) -> int:
    return max(workers, min(TOGETHER, int(of * workers / max(seconds, 1e-3))))


def _timed(solver: Callable[..., Answer]) -> Callable[[EvalConfig], Single]:
    return lambda asked: partial(solver, seconds=asked.seconds, seed=asked.seed)


def _lkh(asked: EvalConfig) -> Single:
    trials = lkh.MOST_TRIALS if asked.trials is None else asked.trials
    return partial(single.by_lkh, seconds=asked.seconds, seed=asked.seed, trials=trials)


METHODS: dict[str, Callable[[EvalConfig, InstanceSet], AbstractContextManager[Method]]] = {
    "greedy-l": _greedy("nearest"),
    "greedy-c": _greedy("tightest"),
    "policy": _policy,
    "ants": _ants,
    "beam": _alone(lambda asked: partial(single.by_beam, width=asked.mode.width)),
    "exact": _alone(lambda asked: partial(single.by_proof, seconds=asked.seconds)),
    "improve": _alone(_timed(single.by_local_search)),
    "solve": _solve,
    "pyvrp": _alone(_timed(single.by_pyvrp)),
    "ortools": _alone(_timed(single.by_ortools)),
    "ortools-seeded": _alone(_timed(single.by_ortools), seeded=True),
    "lkh": _alone(_lkh),
    "lkh-seeded": _alone(_lkh, seeded=True),
    "reference": _reference,
}
