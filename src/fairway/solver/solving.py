"""The verb, for one instance or many."""

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from fairway.errors import InvalidRequest
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.search.objective import Objective
from fairway.solver.guidance import choice_of
from fairway.solver.many import crew_size, job_of, solved
from fairway.solver.request import Plan, Request, checked_plan
from fairway.solver.results import Result, Watch
from fairway.solver.single import solve_one
from fairway.solver.warmup import warm_up


@overload
def solve(
    instances: Instance,
    seconds: float = ...,
    seed: int = ...,
    initial: Plan | None = ...,
    workers: int | None = ...,
    iterations: int | None = ...,
    objective: Objective = ...,
    policy: str | Path | None = ...,
    watch: Watch | None = ...,
) -> Result: ...
@overload
def solve(
    instances: Sequence[Instance] | InstanceSet,
    seconds: float = ...,
    seed: int = ...,
    initial: Plan | None = ...,
    workers: int | None = ...,
    iterations: int | None = ...,
    objective: Objective = ...,
    policy: str | Path | None = ...,
    watch: Watch | None = ...,
) -> list[Result]: ...
def solve(  # noqa: PLR0913, PLR0917 - the names are the documentation
    instances: Instance | Sequence[Instance] | InstanceSet,
    seconds: float = 1.0,
    seed: int = 0,
    initial: Plan | None = None,
    workers: int | None = None,
    iterations: int | None = None,
    objective: Objective = "travel",
    policy: str | Path | None = "auto",
    watch: Watch | None = None,
) -> Result | list[Result]:
    """The best tour that can be found in the time, with a proof where one is to be had; or a proof that there is none.

    Every tour has passed the judge. Ctrl-C returns what has been found so far.

    Args:
        instances: One instance, or many: a list gives a list, in the same order.
        seconds: For each instance. Less is taken where a proof ends the search; compiling is not counted.
        seed: Equal seeds give equal answers where `iterations` are given.
        initial: A tour to start from, one an instance; the answer is never worse than a feasible one.
        workers: Processes for a list; by default as many as there are cores. One stays in this process.
        iterations: Of local search, in place of seconds: the clock then plays no part.
        objective: The least travel, or for time windows the earliest return.
        policy: What proposes the first tours: the folder of a trained policy or colony, or a shipped one's name; None
            for nothing. "auto" is a shipped one where it was measured to help, within seconds only.
        watch: Told of every improvement as it is found; for one instance only.
    """
    request = Request(seconds, iterations, seed, objective, choice_of(policy))
    if watch is not None and not (callable(watch) and isinstance(instances, Instance)):
        raise InvalidRequest("watch is a function, and is told of one instance; leave it out here")
    crew_size(workers)
    if isinstance(instances, Instance):
        request.check(instances)
        plan = None if initial is None else checked_plan(instances, initial)
        warm_up([instances], request)
        return solve_one(instances, request, plan, watch)
    return list(solved(job_of(instances, request, initial), workers))
