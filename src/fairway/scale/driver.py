"""Chunks over workers: cut into parts, handed out, put together again; parts of lost workers are tried anew."""

import math
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from fairway.scale.answers import Answers, answer_pieces, together, unanswered
from fairway.scale.executor import Executor, Lost
from fairway.scale.sources import Chunk
from fairway.solver.request import Request

PART_SECONDS = 2.0
"""Of work in one part, about."""
SHORTEST = 0.25
"""Seconds: less is not worth a message, even where workers are idle at the end."""
FIRST = 16
"""Instances of a part while nobody knows how long one takes."""
SPLIT = 8
"""Parts into which one is cut whose worker was lost: it may have been the fault of one instance."""
MOST_LOSSES = 3
"""Workers that an instance may be the end of."""


@dataclass(slots=True)
class Part:
    """Instances of a chunk that one worker answers."""

    chunk: int
    begin: int
    end: int
    losses: int = 0
    """Workers that were lost at it, where it is a single instance."""


@dataclass(slots=True, eq=False)
class Open:
    """A chunk of which some answers are missing."""

    chunk: Chunk
    answers: dict[int, Answers] = field(default_factory=dict)
    """By where the part begins."""
    found: int = 0


class Answered(NamedTuple):
    """A chunk with all its answers."""

    chunk: Chunk
    answers: Answers
    set_aside: tuple[str, ...]
    """The names of instances that no worker survived."""


class Driver:
    """What is being worked on, and what is to come; as many chunks are open as workers can be busy with."""

    def __init__(
        self, executor: Executor, chunks: Iterator[Chunk | None], request: Request
    ) -> None:
        """Where the chunks yield None, no more is wanted for now."""
        self._executor, self._chunks, self._request = executor, chunks, request
        self._todo: deque[Part] = deque()
        self._running: dict[int, Part] = {}
        self._open: dict[int, Open] = {}
        self._set_aside: dict[int, list[str]] = {}
        self._pace = 0.0
        """Seconds that an instance takes, about."""

    @property
    def ahead(self) -> int:
        """Answers of chunks that are not complete."""
        return sum(each.found for each in self._open.values())

    def run(self) -> Generator[Answered | None, None, None]:
        """All chunks, each as soon as it is complete; None whenever there may be further answers."""
        while True:
            self._fill()
            if not self._open:
                return
            for ticket, answer in self._executor.collect(1.0):
                part = self._running.pop(ticket, None)
                if part is None:
                    continue  # of a batch that was left early, whose workers go on with this one
                if isinstance(answer, Lost):
                    self._lost(part, answer.reason)
                else:
                    self._take(part, answer)
            self._fill()  # before whoever takes the chunks is busy with them
            for number in [n for n, each in self._open.items() if each.found == len(each.chunk)]:
                yield self._closed(self._open.pop(number))
            yield None

    def _fill(self) -> None:
        """Keep workers busy, with parts of the chunks that are open before any other."""
        for _ in range(self._executor.room):
            if not self._todo and (chunk := next(self._chunks, None)) is not None:
                self._open[chunk.number] = Open(chunk)
                self._todo.append(Part(chunk.number, 0, len(chunk)))
            if not self._todo:
                break
            part = self._todo.popleft()
            size = self._size(len(self._open[part.chunk].chunk))
            if size < part.end - part.begin:
                self._todo.appendleft(Part(part.chunk, part.begin + size, part.end))
                part = Part(part.chunk, part.begin, part.begin + size)
            some = self._open[part.chunk].chunk[part.begin : part.end]
            task = partial(answer_pieces, some.pieces, some.first, self._request)
            self._running[self._executor.submit(task)] = part

    def _size(self, count: int) -> int:
        """Instances of a part: its share of the chunk, but neither too much nor too little work."""
        if self._request.device == "cuda":
            return count
        if self._pace == 0:
            return FIRST
        share = count / (2 * self._executor.width)
        least, most = SHORTEST / self._pace, PART_SECONDS / self._pace
        return max(1, math.ceil(min(max(share, least), most, count)))

    def _take(self, part: Part, answers: Answers) -> None:
        opened = self._open[part.chunk]
        opened.answers[part.begin] = answers
        opened.found += part.end - part.begin
        pace = answers.wall / (part.end - part.begin)
        self._pace = pace if self._pace == 0 else 0.7 * self._pace + 0.3 * pace

    def _lost(self, part: Part, reason: str) -> None:
        """Try anew in smaller parts; a single instance is tried so often, and then set aside."""
        count = part.end - part.begin
        if count > 1:
            size = math.ceil(count / SPLIT)
            starts = range(part.begin, part.end, size)
            parts = [Part(part.chunk, at, min(at + size, part.end)) for at in starts]
            self._todo.extendleft(reversed(parts))
            return
        part.losses += 1
        if part.losses < MOST_LOSSES:
            self._todo.appendleft(part)
            return
        (piece,) = self._open[part.chunk].chunk[part.begin : part.end].pieces
        name, number = piece.names[0], self._open[part.chunk].chunk.first + part.begin
        why = f"set aside: {MOST_LOSSES} workers were lost at it, the last one for this reason: {reason}"
        self._set_aside.setdefault(part.chunk, []).append(name)
        self._open[part.chunk].answers[part.begin] = unanswered(number, name, why)
        self._open[part.chunk].found += 1

    def _closed(self, opened: Open) -> Answered:
        """The answers of all parts in order."""
        answers = together([opened.answers[begin] for begin in sorted(opened.answers)])
        aside = self._set_aside.pop(opened.chunk.number, [])
        return Answered(opened.chunk, answers, tuple(aside))
