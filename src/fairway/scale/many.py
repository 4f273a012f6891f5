"""Many instances as an iterator: answers in order, as they come, in memory that does not grow with their number."""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairway.errors import InvalidRequest
from fairway.given import shown
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.scale.batch import CHUNK
from fairway.scale.driver import Driver
from fairway.scale.engine import Engine
from fairway.scale.sources import Chunk, Listed, Members, Named, Piece, chunks
from fairway.solver.request import Request, check_whole
from fairway.solver.warm_start import choice_of

AHEAD = 64
"""Chunks that may be answered before an earlier one is."""

Source = str | Path | InstanceSet | Iterable[Instance]
"""A distribution, a test set, a file or a folder by its name; or instances, which need not all exist at once."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one of many instances; `fairway.verify` makes the schedule of its tour."""

    index: int
    """Its number in the stream, from 0 on."""
    name: str
    status: str
    """As in a `Result`, or "unreadable"."""
    value: float | None
    cost: float | None
    makespan: float | None
    lower_bound: float | None
    method: str | None
    tour: tuple[int, ...] | None
    seconds: float
    reason: str = ""


def solve_many(
    source: Source,
    *,
    count: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    chunk: int = CHUNK,
    policy: str | Path | None = "auto",
    **asked: Any,  # noqa: ANN401 - what a Request takes
) -> Iterator[Answer]:
    """The answers for all instances of a source, in order; only some of them are in memory at a time.

    Args:
        source: A distribution such as "tsptw:hard:50", a test set, a file or folder, a set, or any iterable of
            instances.
        count: How many to draw from a distribution.
        seed: Of what is drawn, and of the search.
        engine: Which workers; by default one process for each core of this machine.
        chunk: Instances that are handed back together.
        policy: What proposes first tours, as for `solve`.
        asked: What else `solve` can be asked for many instances: seconds, iterations, objective, drop, relax.
    """
    if "fixed" in asked:
        raise InvalidRequest("fixed names the stops of one instance; leave it out for many")
    if engine is not None and not isinstance(engine, Engine):
        raise InvalidRequest(f"engine is {shown(engine)}; expected an Engine, or None")
    check_whole("chunk", chunk, least=1)
    check_whole("the seed", seed)
    if count is not None:
        check_whole("count", count, least=1)
    try:
        request = Request(seed=seed, policy=choice_of(policy), **asked)
    except TypeError as error:
        raise InvalidRequest(f"solve_many does not know what is meant ({error})") from error
    return _answers(
        _pieces(source, count, seed), Engine() if engine is None else engine, int(chunk), request
    )


def _answers(
    pieces: Iterable[Piece], engine: Engine, size: int, request: Request
) -> Iterator[Answer]:
    """The answers chunk by chunk; no chunk is begun that is too far ahead of the next one to be handed back."""
    following = 0

    def near() -> Iterator[Chunk | None]:
        for chunk in chunks(pieces, size):
            while chunk.number >= following + AHEAD:
                yield None
            yield chunk

    early: dict[int, list[Answer]] = {}
    with engine.opened() as executor, closing(Driver(executor, near(), request).run()) as answered:
        for complete in filter(None, answered):
            rows = zip(complete.answers.lines, complete.answers.seconds, strict=True)
            early[complete.chunk.number] = [_answer(line, seconds) for line, seconds in rows]
            while following in early:
                yield from early.pop(following)
                following += 1


def _answer(line: bytes, seconds: float) -> Answer:
    record = json.loads(line)
    tour = record.pop("tour")
    return Answer(**record, tour=None if tour is None else tuple(tour), seconds=seconds)


def _pieces(source: Source, count: int | None, seed: int) -> Iterable[Piece]:
    if isinstance(source, str | Path):
        return Named(str(source), count, seed).pieces()
    if count is not None:
        raise InvalidRequest("count is for distributions such as tsptw:hard:50; leave it out here")
    if isinstance(source, InstanceSet):
        return [Members(source)]
    try:
        return map(_listed, source)
    except TypeError as error:
        raise InvalidRequest(
            f"solve_many takes many instances; this is a {type(source).__name__}, one is for solve"
        ) from error


def _listed(instance: object) -> Listed:
    if not isinstance(instance, Instance):
        raise InvalidRequest(
            f"solve_many takes many instances; among them is a {type(instance).__name__}"
        )
    return Listed((instance,))
