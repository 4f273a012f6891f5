"""Solvers, ours and others', and greedy rules as methods of an evaluation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from fairway.classical.external import lkh
from fairway.classical.greedy import tours_by_rule
from fairway.errors import InvalidRequest
from fairway.evaluate import single
from fairway.evaluate.methods import (
    ON_GPU,
    TOGETHER,
    Method,
    Opened,
    PolicyEval,
    Run,
    best_of,
    check_numbers,
    group_size,
    refined,
)
from fairway.evaluate.references import PUBLISHED_TOLERANCE
from fairway.evaluate.single import Answer, Proposal, Tour, proposed, shared_out
from fairway.judge import TOLERANCE
from fairway.problems.sets import InstanceSet
from fairway.scale.engine import Engine
from fairway.scale.spread import solved_on
from fairway.solver.on_gpu import tours_on_gpu
from fairway.solver.request import Request
from fairway.solver.solving import job_of, pool_size, solved
from fairway.solver.warm_start import choice_of, model_at


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverEval:
    """A solver of ours or of others, or a greedy rule."""

    solver: str
    seconds: float = 1.0
    """Per instance."""
    seed: int = 0
    policy: Path | None = None
    """Whose tours it starts from."""
    seeded: bool = False
    """Whether it starts from a tour of a greedy rule or of insertion, where no policy is named."""
    width: int = 16
    """Labels per layer of a beam."""
    trials: int = lkh.MOST_TRIALS
    """Of LKH-3."""
    workers: int | None = None
    engine: Engine | None = None
    """Which workers; so many processes of this machine where none is named."""
    device: str = "cpu"
    """Where local search works: on "cuda" the seconds are for all instances of a group together."""

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise InvalidRequest(
                f"there is no solver {self.solver!r}; expected one of {', '.join(SOLVERS)}"
            )
        check_numbers(self)
        asked = {part.name for part in fields(self) if getattr(self, part.name) != part.default}
        for name in ("policy", "seeded", "width", "trials", "device"):
            able = [solver for solver, known in SOLVERS.items() if name in known.options]
            if name in asked and self.solver not in able:
                raise InvalidRequest(
                    f"{self.solver} takes no {name}; leave it out, or choose {', '.join(able)}"
                )

    @property
    def method(self) -> str:
        """In the lines of an evaluation."""
        known = SOLVERS[self.solver]
        return f"{known.method}-seeded" if self.started else known.method

    @property
    def started(self) -> bool:
        """Whether a first tour is handed to it; ours asks its policy by itself."""
        return self.seeded or (self.policy is not None and self.solver != "fairway")

    def opened(self, instances: InstanceSet) -> Opened:
        """The solver, with the processes that it needs."""
        return SOLVERS[self.solver].opened(self, instances)

    @property
    def staff(self) -> Engine:
        """The workers that were asked for."""
        return self.engine or Engine(workers=self.workers)


def _greedy(rule: str) -> Callable[[SolverEval, InstanceSet], Opened]:
    """One of the paper's rules: no mask, and no tolerance to speak of."""

    def made(config: SolverEval, instances: InstanceSet) -> Opened:
        def run(some: InstanceSet, first: int) -> list[Proposal]:
            return list(map(Proposal, tours_by_rule(rule, some)))

        return nullcontext(Method(config.method, {"rule": rule}, run, TOGETHER, TOLERANCE))

    return made


@contextmanager
def _local_search(config: SolverEval, instances: InstanceSet) -> Iterator[Method]:
    """Our local search by itself: one by one in processes, or all together on a GPU."""
    if config.device == "cpu":
        with _alone(single.by_local_search, *TIMED)(config, instances) as method:
            yield method
        return
    begin, said = beginner(config, instances)
    tours_on_gpu(instances[:1], 0.0)  # what is missing shows here, and all is compiled

    def run(some: InstanceSet, first: int) -> list[Proposal]:
        start = begin(some, first) if config.started else None
        return refined(some, config.seconds, config.seed, start)

    settings = {"seconds": config.seconds, "seed": config.seed, "seeded": config.started, **said}
    sizes = (ON_GPU, PUBLISHED_TOLERANCE, "cuda", 1, 0)
    yield Method(config.method, {**settings, "device": "cuda"}, run, *sizes)


@contextmanager
def _solve(config: SolverEval, instances: InstanceSet) -> Iterator[Method]:
    """The whole of our solver: in the processes that it has of its own, or on other workers."""
    request = Request(config.seconds, seed=config.seed, policy=choice_of(config.policy))
    settings: dict[str, Any] = {"seconds": config.seconds, "seed": config.seed}
    if config.policy is not None:
        model_at(config.policy).check(instances)
        settings |= model_at(config.policy).facts
    own = config.staff.kind == "local"
    with nullcontext() if own else config.staff.opened() as executor:
        workers = pool_size(config.workers) if executor is None else executor.width

        def run(some: InstanceSet, first: int) -> Iterator[Proposal]:
            job = job_of(list(some), request, None)
            results = solved(job, workers) if executor is None else solved_on(executor, job)
            for result in results:
                if result.interrupted:
                    raise KeyboardInterrupt  # what was cut short is no outcome
                yield proposed(result.tour, some[0], result.status == "optimal", result.seconds)

        yield _budgeted(config, settings, run, workers)


def _budgeted(config: SolverEval, settings: dict[str, Any], run: Run, workers: int) -> Method:
    """A method that spends its seconds on each instance, one by one in so many processes."""
    sizes = (group_size(config.seconds, workers), PUBLISHED_TOLERANCE, "cpu", workers)
    return Method(config.method, settings, run, *sizes, int(workers == 1), one_by_one=True)


def _alone(
    solver: Callable[..., Answer], *settings: str
) -> Callable[[SolverEval, InstanceSet], Opened]:
    """A solver of one instance, and which settings it takes."""

    @contextmanager
    def made(config: SolverEval, instances: InstanceSet) -> Iterator[Method]:
        chosen = partial(solver, **{name: getattr(config, name) for name in settings})
        workers = pool_size(config.staff.workers)
        begin, said = beginner(config, instances)
        with shared_out(chosen, config.staff) as solve:

            def run(some: InstanceSet, first: int) -> Iterator[Proposal]:
                return solve(some, begin(some, first))

            known = {**chosen.keywords, "seeded": config.started, **said}
            yield _budgeted(config, known, run, workers)

    return made


Beginner = Callable[[InstanceSet, int], list[Tour | None]]
"""From some instances of a bed, and the number of the first of them, to tours that a solver starts from."""


def beginner(config: SolverEval, instances: InstanceSet) -> tuple[Beginner, dict[str, Any]]:
    """Where a solver starts, and what is to be said of it: nowhere, a simple tour, or the best one of a policy."""
    if not config.started:
        return lambda some, first: [None] * len(some), {}
    if config.policy is None:
        return lambda some, first: [single.first_tour(instance) for instance in some], {}
    with PolicyEval(policy=config.policy, seed=config.seed).opened(instances) as method:

        def best(some: InstanceSet, first: int) -> list[Tour | None]:
            return best_of(some, method.run(some, first))

        return best, {"begins": method.settings}


@dataclass(frozen=True, slots=True)
class Solver:
    """A solver as it can be named."""

    method: str
    """Its name in the lines of an evaluation."""
    opened: Callable[[SolverEval, InstanceSet], Opened]
    options: tuple[str, ...] = ()
    """Those that not every solver takes."""


START, TIMED = ("policy", "seeded"), ("seconds", "seed")
SOLVERS = {
    "fairway": Solver("solve", _solve, ("policy",)),
    "exact": Solver("exact", _alone(single.by_proof, "seconds")),
    "local-search": Solver("improve", _local_search, (*START, "device")),
    "beam": Solver("beam", _alone(single.by_beam, "width"), ("width",)),
    "greedy-l": Solver("greedy-l", _greedy("nearest")),
    "greedy-c": Solver("greedy-c", _greedy("tightest")),
    "pyvrp": Solver("pyvrp", _alone(single.by_pyvrp, *TIMED), START),
    "ortools": Solver("ortools", _alone(single.by_ortools, *TIMED), START),
    "lkh": Solver("lkh", _alone(single.by_lkh, *TIMED, "trials"), (*START, "trials")),
}
