"""A batch: instances of any source, answered chunk by chunk into a folder; run again, it goes on where it was."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from fairway import __version__, clock
from fairway.errors import InvalidRequest
from fairway.scale.answers import UNREADABLE, reasons
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
    """In chunks that are there."""
    ahead: int = 0
    """Answered of chunks that are not complete yet."""
    resumed: int = 0
    """Of those done, what was there before."""
    statuses: Counter[str] = field(default_factory=Counter)
    set_aside: list[str] = field(default_factory=list)
    began: float = field(default_factory=clock.now)
    unreadable: list[str] = field(default_factory=list)
    """What this run could not read, and why."""
    beyond: list[str] = field(default_factory=list)
    """Chunks of an earlier run with more instances, which are left as they are."""
    _warm: tuple[float, int] | None = None
    """When the first answers of this run were there, and how many."""

    def resume(self, instances: int, statuses: Counter[str]) -> None:
        """A chunk was there before."""
        self.done += instances
        self.resumed += instances
        self.statuses += statuses

    def count(self, instances: int, statuses: Counter[str]) -> None:
        """A further chunk is there."""
        self.done += instances
        self.statuses += statuses

    def look(self, ahead: int) -> None:
        """Further answers may be there."""
        self.ahead = ahead
        if self._warm is None and self.fresh:
            self._warm = clock.now(), self.fresh

    @property
    def fresh(self) -> int:
        """Answers of this run."""
        return self.done + self.ahead - self.resumed

    @property
    def rate(self) -> float:
        """Instances per second of this run, its start aside as soon as that can be told apart."""
        fresh = self.fresh
        since, before = self._warm or (self.began, 0)
        since, before = (self.began, 0) if fresh == before else (since, before)
        return (fresh - before) / max(clock.now() - since, 1e-9)

    @property
    def left(self) -> float:
        """Seconds until the end at this rate."""
        return (self.total - self.done - self.ahead) / self.rate if self.rate > 0 else float("inf")


def run(batch: Batch, engine: Engine) -> Iterator[Progress]:
    """Answer all that is not answered yet; yields how far it is now and then, always the same object.

    A chunk is written once it is complete. Whoever stops, or is killed, loses the chunks that were open.
    """
    total = sum(map(len, batch.sources))
    progress = Progress(batch.shard.size(total, batch.chunk))
    batch.folder.begin(batch.asked)
    with batch.folder.alone(batch.shard.number, batch.shard.of):
        if batch.shard.of == 1:
            batch.folder.sweep()
        yield progress
        yield from _answered(batch, engine, progress)
        yield progress


def _answered(batch: Batch, engine: Engine, progress: Progress) -> Iterator[Progress]:
    """Answer what is missing, chunk by chunk."""
    settings = json.dumps(batch.asked, sort_keys=True).encode()
    there = batch.folder.names()

    def missing() -> Iterator[Chunk]:
        for chunk in chunks(batch.pieces(), batch.chunk):
            if not batch.shard.has(chunk.number):
                continue
            name, known = chunk.name(settings), there.pop(chunk.number, set())
            if name in known:
                progress.resume(len(chunk), batch.folder.statuses(name))
                replaced(known - {name})
            else:
                outdated[chunk.number] = known
                yield chunk

    def replaced(names: Iterable[str]) -> None:
        for name in names:
            batch.folder.remove(name)

    outdated: dict[int, set[str]] = {}
    with engine.opened() as executor:
        driver = Driver(executor, missing(), batch.request)
        for complete in driver.run():
            if complete is not None:
                chunk, answers, set_aside = complete
                batch.folder.write(chunk.name(settings), answers)
                replaced(outdated.pop(chunk.number))
                progress.count(len(chunk), answers.statuses)
                progress.set_aside += set_aside
                progress.unreadable += reasons(answers, UNREADABLE)
            progress.look(driver.ahead)
            yield progress
    progress.beyond = sorted(
        name for number, names in there.items() if batch.shard.has(number) for name in names
    )
