"""What a worker makes of instances: one line of JSON for each, and the seconds that each took."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from fairway import clock
from fairway.judge.many import verify_many
from fairway.kernels.compiling import kept_in, stamp, taking_turns
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet, instance_set
from fairway.scale.sources import Loaded, Piece
from fairway.search.lower_bound import held_karp
from fairway.solver.narrow import proved_together, suits
from fairway.solver.narrow import warm as warm_sets
from fairway.solver.on_gpu import served_on_gpu, tours_on_gpu
from fairway.solver.request import Request
from fairway.solver.results import Result
from fairway.solver.single import solve_one
from fairway.solver.warmup import warm_up

UNREADABLE = "unreadable"
"""The status of what is no instance."""
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


_ready: set[tuple[str, Request]] = set()


class Answers(NamedTuple):
    """Of instances in a row."""

    lines: list[bytes]
    seconds: list[float]
    wall: float
    """Seconds from the first to the last, drawing, reading and judging included; compiling is not."""
    statuses: Counter[str]
    """How many there are of each."""


def answer_pieces(pieces: Sequence[Piece], first: int, request: Request) -> Answers:
    """Answer all instances of some pieces, of which the first has this number."""
    began = clock.now()
    lines, seconds, statuses = [], [], Counter()
    for piece in pieces:
        names = iter(piece.names)
        for loaded in piece.load():
            began += _prepared(loaded, request)
            for record, spent in _records(loaded, request):
                numbered = {"index": first + len(lines), "name": next(names), **record}
                lines.append(_encode(numbered).encode() + b"\n")
                seconds.append(round(spent, 6))
                statuses[record["status"]] += 1
    return Answers(lines, seconds, clock.now() - began, statuses)


def unanswered(number: int, name: str, reason: str) -> Answers:
    """Of an instance that no worker survived."""
    record = {"index": number, "name": name, **_without("unknown", reason)}
    return Answers([_encode(record).encode() + b"\n"], [0.0], 0.0, Counter({"unknown": 1}))


def together(parts: Sequence[Answers]) -> Answers:
    """The answers of parts that follow each other as those of one."""
    return Answers(
        list(chain.from_iterable(part.lines for part in parts)),
        list(chain.from_iterable(part.seconds for part in parts)),
        sum(part.wall for part in parts),
        sum((part.statuses for part in parts), Counter()),
    )


def reasons(answers: Answers, status: str) -> list[str]:
    """Why instances have this status."""
    if not answers.statuses[status]:
        return []
    found = map(json.loads, answers.lines)
    return [record["reason"] for record in found if record["status"] == status]


def _records(loaded: Loaded, request: Request) -> Iterable[tuple[dict[str, Any], float]]:
    match loaded:
        case str():
            return [(_without(UNREADABLE, loaded), 0.0)]
        case Instance():
            return [_of_one(loaded, request)]
        case _:
            return _of_set(loaded, request)


def _of_one(instance: Instance, request: Request) -> tuple[dict[str, Any], float]:
    result = solve_one(instance, request)
    return record_of(result), result.seconds


def _of_set(instances: InstanceSet, request: Request) -> list[tuple[dict[str, Any], float]]:
    """Those with narrow windows together, the others one by one."""
    found: dict[int, tuple[dict[str, Any], float]] = {}
    if suits(instances, request):
        proved = proved_together(instances)
        rows = zip(*(column.tolist() for column in proved[:4]), strict=True)
        for number, tour, cost, makespan in rows:
            record = {
                "status": "optimal",
                "value": cost,
                "cost": cost,
                "makespan": makespan,
                "lower_bound": cost,
                "method": "exact search",
                "tour": tour,
            }
            found[number] = record, proved.seconds
    missing = [number for number in range(len(instances)) if number not in found]
    if request.device == "cuda" and missing and served_on_gpu(instances, request):
        found |= _on_gpu(instances, missing, request)
    for number in missing:
        if number not in found:
            found[number] = _of_one(instances[number], request)
    return [found[number] for number in range(len(instances))]


def _on_gpu(
    instances: InstanceSet, numbers: list[int], request: Request
) -> dict[int, tuple[dict[str, Any], float]]:
    """Those of some instances of a set that a search on a GPU finds tours of, all together, and the judge accepts."""
    began = clock.now()
    some = (
        instances
        if len(numbers) == len(instances)
        else instance_set([instances[n] for n in numbers])
    )
    found = tours_on_gpu(some, request.seconds, request.seed, None, request.iterations)
    tours, there = found.tours, found.there
    accepted, cost, makespan = verify_many(some, tours)
    each = (clock.now() - began) / len(numbers)
    return {
        numbers[row]: (
            {
                "status": "feasible",
                "value": float(cost[row]),
                "cost": float(cost[row]),
                "makespan": float(makespan[row]),
                "lower_bound": held_karp(some[row], request.objective, float(cost[row])),
                "method": "local search",
                "tour": tours[row].tolist(),
            },
            each,
        )
        for row in np.flatnonzero(accepted & there).tolist()
    }


def record_of(result: Result) -> dict[str, Any]:
    """What is kept of a result: as little as says which tour, how good, and why not where there is none."""
    if result.tour is None:
        record = _without(result.status, result.reason)
        return {**record, "lower_bound": _finite(result.lower_bound)}
    return {
        "status": result.status,
        "value": result.value,
        "cost": result.cost,
        "makespan": result.makespan,
        "lower_bound": _finite(result.lower_bound),
        "method": result.method,
        "tour": list(result.tour),
    }


def _without(status: str, reason: str) -> dict[str, Any]:
    """The record of an instance without a tour."""
    nothing = dict.fromkeys(("value", "cost", "makespan", "lower_bound", "method", "tour"))
    return {"status": status, **nothing, "reason": reason}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _prepared(loaded: Loaded, request: Request) -> float:
    """Have kernels ready; the seconds that it took, which are nobody's.

    Where some must be compiled, one process of a machine does it, and the others wait for it.
    """
    if isinstance(loaded, str):
        return 0.0
    at_once = isinstance(loaded, InstanceSet) and suits(loaded, request)
    kind = f"{loaded.problem}-{loaded.load}-{request.objective}-{at_once}"
    if (kind, request) in _ready:
        return 0.0
    began = clock.now()
    with _first_alone(kind):
        warm_up([loaded[0] if isinstance(loaded, InstanceSet) else loaded], request)
        if at_once:
            warm_sets()
    _ready.add((kind, request))
    return clock.now() - began


@contextmanager
def _first_alone(kind: str) -> Iterator[None]:
    """Let the first process of a machine go ahead by itself, and others wait until it is through."""
    folder = kept_in()
    done = folder and folder / f"warm-{stamp().hex()[:16]}-{kind}"
    if done is None or done.exists():
        yield
        return
    with taking_turns():
        yield
    with suppress(OSError):  # on a full disk all go one by one
        done.touch()
