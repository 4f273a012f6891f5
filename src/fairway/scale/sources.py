"""Where instances come from: a distribution, a named test set, files and folders; as a stream, cut into chunks.

A piece is a run of instances that can be sliced and sent elsewhere before anybody reads or draws them. What it says of
itself (`token`) depends on its instances alone, so that the name of a chunk does too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from fairway.errors import FairwayError, InvalidFile, InvalidRequest
from fairway.problems.beds import beds, load_bed
from fairway.problems.files import Content, document, read, read_content
from fairway.problems.files.text import LARGEST_TEXT, bounded
from fairway.problems.generate import generate, named_distribution
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet, arrays, instance_set, joined
from fairway.scale.lines import lines

BLOCK = 128
"""Instances that are drawn from one stream of random numbers, whatever the size of chunks."""
DRAWN = re.compile(r"(?P<problem>[a-z]+):(?P<hardness>[a-z]+):(?P<nodes>\d{1,9})")
SETS = (".npz", ".pkl")
"""Suffixes of files that hold many instances; they are read whole."""
LINES = (".jsonl", ".jsonl.zst")
"""Suffixes of files with one JSON instance per line; they are read line by line."""

Loaded = InstanceSet | Instance | str
"""A set, an instance, or the sentence that says why there is none."""


@runtime_checkable
class Piece(Protocol):
    """Instances in a row, to be read or drawn where they are needed."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice) -> "Piece": ...

    @property
    def token(self) -> bytes:
        """By which these instances are told from others."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """What people recognise each instance by."""
        ...

    def load(self) -> Iterator[Loaded]:
        """The instances, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Drawn:
    """Instances of a distribution, from the number `first` on: each depends on its number and the seed alone."""

    problem: str
    hardness: str
    nodes: int
    seed: int
    first: int
    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, part: slice) -> "Drawn":
        begin, end, _ = part.indices(self.count)
        return replace(self, first=self.first + begin, count=max(0, end - begin))

    @property
    def token(self) -> bytes:
        """The distribution, the seed and the numbers."""
        return repr(self).encode()

    @property
    def names(self) -> Sequence[str]:
        """The distribution and the number."""
        called = f"{self.problem}{self.nodes}-{self.hardness}"
        return [f"{called}-{number}" for number in range(self.first, self.first + self.count)]

    def load(self) -> Iterator[InstanceSet]:
        """Draw all blocks that they are in."""
        end, begin = self.first + self.count, self.first // BLOCK
        rngs = [np.random.default_rng([self.seed, at]) for at in range(begin, -(-end // BLOCK))]
        law: dict[str, Any] = {"n": self.nodes, "hardness": self.hardness, "count": BLOCK}
        drawn = joined([generate(self.problem, **law, seed=rng) for rng in rngs])
        yield drawn[self.first - begin * BLOCK :][: self.count]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Instances of a set that is in memory."""

    instances: InstanceSet

    def __len__(self) -> int:
        return len(self.instances)

    def __getitem__(self, part: slice) -> "Members":
        return Members(self.instances[part])

    @property
    def token(self) -> bytes:
        """All that is measured of them, and what they are called."""
        digest = sha256(repr((self.instances.load, self.instances.labels)).encode())
        for name, array in arrays(self.instances):
            digest.update(name.encode() + array.tobytes())
        return digest.digest()

    @property
    def names(self) -> Sequence[str]:
        """As the set has them."""
        return self.instances.labels

    def load(self) -> Iterator[InstanceSet]:
        """The set itself."""
        yield self.instances


@dataclass(frozen=True, slots=True)
class Documents:
    """Instances one by one, each as the content of a file, or of a line of one, and what that is called."""

    contents: tuple[tuple[str, bytes], ...]

    def __len__(self) -> int:
        return len(self.contents)

    def __getitem__(self, part: slice) -> "Documents":
        return Documents(self.contents[part])

    @property
    def token(self) -> bytes:
        """The names and contents."""
        return sha256(repr(self.contents).encode()).digest()

    @property
    def names(self) -> Sequence[str]:
        """As the files are called."""
        return [name for name, _ in self.contents]

    def load(self) -> Iterator[Instance | str]:
        """Read them; what cannot be read says so in its place."""
        for name, content in self.contents:
            yield _read(name, content)


@dataclass(frozen=True, slots=True)
class Listed:
    """Instances that somebody handed over one by one."""

    instances: tuple[Instance, ...]

    def __len__(self) -> int:
        return len(self.instances)

    def __getitem__(self, part: slice) -> "Listed":
        return Listed(self.instances[part])

    @property
    def token(self) -> bytes:
        """All that they say, as a file would have it."""
        return sha256("".join(map(document.render, self.instances)).encode()).digest()

    @property
    def names(self) -> Sequence[str]:
        """Their own."""
        return [instance.name for instance in self.instances]

    def load(self) -> Iterator[Instance]:
        """As they are."""
        yield from self.instances


@dataclass(frozen=True, slots=True)
class Unread:
    """A file, or the rest of one, that no instance can be had from."""

    name: str
    reason: str

    def __len__(self) -> int:
        return 1

    def __getitem__(self, part: slice) -> "Unread":
        return self

    @property
    def token(self) -> bytes:
        """All that is known of it."""
        return repr(self).encode()

    @property
    def names(self) -> Sequence[str]:
        """As the file is called."""
        return [self.name]

    def load(self) -> Iterator[str]:
        """Why there is no instance."""
        yield self.reason


def _read(name: str, content: bytes) -> Instance | str:
    try:
        item = read_content(Content(name, content))
    except FairwayError as error:
        return str(error)
    if isinstance(item, Instance):
        return item
    return f"{name}: holds {len(item)} instances; give it a name that ends in {' or '.join(SETS)}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Instances that are answered in one file."""

    number: int
    first: int
    """The number of its first instance in the whole stream."""
    pieces: tuple[Piece, ...]

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def __getitem__(self, part: slice) -> "Chunk":
        begin, end, _ = part.indices(len(self))
        return replace(self, first=self.first + begin, pieces=_cut(self.pieces, begin, end))

    def name(self, settings: bytes) -> str:
        """Its number, and a digest of its instances and of the settings under which they are answered."""
        digest = sha256(settings)
        for piece in self.pieces:
            digest.update(piece.token)
        return f"{self.number:06d}-{digest.hexdigest()[:16]}"


def _cut(pieces: Iterable[Piece], begin: int, end: int) -> tuple[Piece, ...]:
    """The instances from one number to another, counted over all pieces."""
    found, at = [], 0
    for piece in pieces:
        low, high = max(begin - at, 0), min(end - at, len(piece))
        if low < high:
            found.append(piece[low:high])
        at += len(piece)
    return tuple(found)


def chunks(pieces: Iterable[Piece], size: int) -> Iterator[Chunk]:
    """The stream in chunks of one size, the last perhaps smaller."""
    held: list[Piece] = []
    number, count = 0, 0
    for piece in pieces:
        at = 0
        while at < len(piece):
            taken = piece[at : at + size - count]
            held.append(taken)
            at, count = at + len(taken), count + len(taken)
            if count == size:
                yield Chunk(number, number * size, tuple(held))
                held, number, count = [], number + 1, 0
    if held:
        yield Chunk(number, number * size, tuple(held))


@dataclass(frozen=True, slots=True)
class Named:
    """A source by its name: a distribution, a test set, a file or a folder of files."""

    name: str
    count: int | None = None
    """Instances to draw from a distribution; of anything else all are taken."""
    seed: int = 0

    def __post_init__(self) -> None:
        if (drawn := DRAWN.fullmatch(self.name)) is not None:
            named_distribution(drawn["problem"], drawn["hardness"])
            generate(drawn["problem"], n=int(drawn["nodes"]), hardness=drawn["hardness"])
            if self.count is None or self.count < 1:
                raise InvalidRequest(
                    f"how many of {self.name}? give --count, which is {self.count}; expected 1 or more"
                )
        elif self.count is not None:
            raise InvalidRequest(
                f"--count is for distributions such as tsptw:hard:50; {self.name} has its own"
            )
        elif self.name not in beds() and not _is_there(self.name):
            raise InvalidFile(
                f"{self.name}: is no file or folder; expected one, a test set (fairway bed list), or a "
                "distribution such as tsptw:hard:50"
            )

    @property
    def description(self) -> str:
        """By which a folder of results knows its source, wherever that lies."""
        if DRAWN.fullmatch(self.name):
            return f"{self.name} --seed {self.seed}"
        return Path(self.name).name or self.name

    def __len__(self) -> int:
        """How many instances there are, found out by counting lines and reading sets."""
        if self.count is not None:
            return self.count
        if self.name in beds():
            return beds()[self.name].count
        return sum(map(_count, _files(Path(self.name))))

    def pieces(self) -> Iterator[Piece]:
        """The instances, as they are needed."""
        if (drawn := DRAWN.fullmatch(self.name)) is not None:
            size: dict[str, Any] = {"seed": self.seed, "first": 0, "count": self.count}
            yield Drawn(drawn["problem"], drawn["hardness"], int(drawn["nodes"]), **size)
        elif self.name in beds():
            yield Members(load_bed(self.name))
        else:
            for path in _files(Path(self.name)):
                yield from _of_file(path)


def _files(path: Path) -> list[Path]:
    """The file, or all files of a folder in the order of their names, hidden ones and folders aside."""
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if each.is_file() and each.name[0] != ".")
    if not found:
        raise InvalidFile(f"{path}: is an empty folder; expected instance files")
    return found


def _of_file(path: Path) -> Iterator[Piece]:
    """What is in a file, as far as it can be read."""
    try:
        yield from _in_file(path)
    except FairwayError as error:
        yield Unread(path.name, str(error).replace(str(path), path.name))


def _in_file(path: Path) -> Iterator[Piece]:
    if path.name.endswith(LINES):
        for number, line in enumerate(lines(path), 1):
            if line.strip():
                yield Documents(((f"{path.name}:{number}", line),))
    elif path.suffix in SETS:
        item = read(path)
        yield Members(instance_set([item], path.stem) if isinstance(item, Instance) else item)
    else:
        yield Documents(((path.name, _bytes(path)),))


def _count(path: Path) -> int:
    many = path.name.endswith(LINES) or path.suffix in SETS
    return sum(map(len, _of_file(path))) if many else 1


def _is_there(name: str) -> bool:
    """Whether it is a file or a folder; what is too long for a name is neither."""
    try:
        return Path(name).exists()
    except OSError:
        return False


def _bytes(path: Path) -> bytes:
    try:
        return bounded(path, LARGEST_TEXT)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidFile(f"{path}: cannot be read ({reason})") from error
