"""A batch: instances of any source, answered chunk by chunk into a folder; run again, it goes on where it was."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fairway import __version__, clock
from fairway.errors import InvalidRequest
from fairway.scale.driver import Driver
from fairway.scale.engine import Engine
from fairway.scale.results import Folder
from fairway.scale.sources import Chunk, Named, Piece, chunks
from fairway.solver.request import Request, check_whole

CHUNK = 1024
"""Instances of a chunk where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Every n-th chunk, for machines that share nothing but a folder, or not even that."""

    number: int = 1
    of: int = 1

    def has(self, chunk: int) -> bool:
        """Whether a chunk is in it."""
        return chunk % self.of == self.number - 1

    def size(self, count: int, chunk: int) -> int:
        """How many of so many instances are in it."""
        starts = range((self.number - 1) * chunk, count, self.of * chunk)
        return sum(min(chunk, count - start) for start in starts)


def shard_of(words: str) -> Shard:
    """What 3/8 means: the third of eight."""
    found = re.fullmatch(r"(\d+)/(\d+)", words)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise InvalidRequest(
            f"the shard is {words!r}; expected one such as 3/8, the third of eight"
        )
    return Shard(int(found[1]), int(found[2]))


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be answered, and where the answers go."""

    sources: Sequence[Named]
    request: Request
    folder: Folder
    chunk: int = CHUNK
    shard: Shard = Shard()

    def __post_init__(self) -> None:
        if not self.sources:
            raise InvalidRequest("nothing to solve; name a file, a folder or a distribution")
        check_whole("the chunk", self.chunk, least=1)

    @property
    def asked(self) -> dict[str, Any]:
        """All that decides the answers, but for the instances themselves."""
        settings = {name: str(value) for name, value in asdict(self.request).items()}
        if self.request.device == "cpu":
            del settings["device"]  # a folder that was begun before there was a choice resumes
        return {
            "fairway": __version__,
            "source": [source.description for source in self.sources],
            "settings": settings,
            "chunk": self.chunk,
        }

    def pieces(self) -> Iterator[Piece]:
        """All instances, as they are needed."""
        for source in self.sources:
            yield from source.pieces()


@dataclass(slots=True)
class Progress:
    """How far a batch is."""

    total: int
    """Instances of this shard."""
    done: int = 0
    resumed: int = 0
    """Of those done, what was there before."""
    statuses: Counter[str] = field(default_factory=Counter)
    set_aside: list[str] = field(default_factory=list)
    began: float = field(default_factory=clock.now)
    _warm: tuple[float, int] | None = None
    """When the first chunk of this run was there, and how many instances were done by then."""

    def count(self, instances: int) -> None:
        """A further chunk is there."""
        self.done += instances
        self._warm = self._warm or (clock.now(), self.done - self.resumed)

    @property
    def rate(self) -> float:
        """Instances per second of this run, its start aside as soon as that can be told apart."""
        fresh = self.done - self.resumed
        since, before = self._warm or (self.began, 0)
        since, before = (self.began, 0) if fresh == before else (since, before)
        return (fresh - before) / max(clock.now() - since, 1e-9)

    @property
    def left(self) -> float:
        """Seconds until the end at this rate."""
        return (self.total - self.done) / self.rate if self.rate > 0 else float("inf")


def run(batch: Batch, engine: Engine) -> Iterator[Progress]:
    """Answer all that is not answered yet; yields how far it is after every chunk, always the same object.

    A chunk is written once it is complete. Whoever stops, or is killed, loses the chunks that were open.
    """
    total = sum(map(len, batch.sources))
    progress = Progress(batch.shard.size(total, batch.chunk))
    asked = batch.asked
    batch.folder.begin(asked)
    if batch.shard.of == 1:
        batch.folder.sweep()
    settings = json.dumps(asked, sort_keys=True).encode()
    there = batch.folder.names()

    def missing() -> Iterator[Chunk]:
        for chunk in chunks(batch.pieces(), batch.chunk):
            if not batch.shard.has(chunk.number):
                continue
            if (name := chunk.name(settings)) in there:
                progress.done += len(chunk)
                progress.resumed += len(chunk)
                progress.statuses += batch.folder.statuses(name)
            else:
                yield chunk

    yield progress
    with (
        engine.opened() as executor,
        closing(Driver(executor, missing(), batch.request).run()) as answered,
    ):
        for chunk, answers, set_aside in answered:
            batch.folder.write(chunk.name(settings), answers)
            progress.statuses += answers.statuses
            progress.count(len(chunk))
            progress.set_aside += set_aside
            yield progress
    yield progress


def files_of(path: Path) -> list[Path]:
    """The files of results in a folder, in the order of their instances."""
    return sorted(each for each in path.iterdir() if re.match(r"\d{6,}-[0-9a-f]{16}\.", each.name))
