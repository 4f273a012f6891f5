"""The files of a batch: one per chunk, whole or not there, under names that follow from its instances and settings.

`DIR/batch.json` says what was asked. `DIR/000000-DIGEST.jsonl.zst` (or `.parquet`) has the answers of a chunk, and
`DIR/times/000000-DIGEST.json` how long they took and how many there are of each status. The first two are the same
bytes whenever the same is asked, and the answers do not hang on the clock.
"""

import fcntl
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from fairway import atomic
from fairway.errors import EngineMissing, InvalidFile, InvalidRequest
from fairway.scale.answers import Answers

Format = Literal["jsonl", "parquet"]
ASKED, TIMES, LOCK = "batch.json", "times", "batch.lock"
LOCKED = 1 << 40
"""Bytes of the lock, of which each shard has its own; none of them exists."""
SUFFIXES = {"jsonl": ".jsonl.zst", "parquet": ".parquet"}


@dataclass(frozen=True, slots=True)
class Folder:
    """Where results go, and in which format."""

    path: Path
    form: Format = "jsonl"

    def __post_init__(self) -> None:
        if self.form not in get_args(Format):
            raise InvalidRequest(f"there is no format {self.form!r}; expected jsonl or parquet")
        if self.form == "parquet":
            _parquet()

    def begin(self, asked: dict[str, Any]) -> None:
        """Make the folder ready; refuse one that has answers to something else."""
        text = json.dumps({"format": self.form, **asked}, indent=2, sort_keys=True) + "\n"
        place = self.path / ASKED
        try:
            (self.path / TIMES).mkdir(parents=True, exist_ok=True)
            before = place.read_text() if place.exists() else text
        except OSError as error:
            raise InvalidFile(
                f"{self.path}: cannot be made a folder of results ({error.strerror}); choose another --out"
            ) from error
        if before != text:
            raise InvalidRequest(_differing(self.path, before, text))
        atomic.write_bytes(place, text.encode())

    @contextmanager
    def alone(self, number: int, of: int) -> Iterator[None]:
        """Keep others from answering the same shard here at the same time."""
        low, high = (LOCKED * each // of for each in (number - 1, number))
        with (self.path / LOCK).open("w") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, high - low, low)
            except (BlockingIOError, PermissionError) as error:
                raise InvalidRequest(
                    f"{self.path}: another batch is being answered here; wait until it ends, or choose another --out"
                ) from error
            except OSError:
                pass  # where files cannot be locked, two at once do the same work twice, and no harm
            yield

    def names(self) -> dict[int, set[str]]:
        """Of the chunks that are there, by their numbers."""
        found: dict[int, set[str]] = {}
        for path in files_of(self.path):
            if path.name.endswith(suffix := SUFFIXES[self.form]):
                name = path.name.removesuffix(suffix)
                found.setdefault(int(name.partition("-")[0]), set()).add(name)
        return found

    def remove(self, name: str) -> None:
        """A chunk that another takes the place of."""
        self._place(name).unlink(missing_ok=True)
        self._times(name).unlink(missing_ok=True)

    def write(self, name: str, answers: Answers) -> None:
        """Keep a chunk, its times first."""
        times = {
            "statuses": answers.statuses,
            "wall": round(answers.wall, 3),
            "seconds": answers.seconds,
        }
        atomic.write_bytes(self._times(name), json.dumps(times).encode() + b"\n")
        content = _packed(answers.lines) if self.form == "jsonl" else _as_parquet(answers.lines)
        atomic.write_bytes(self._place(name), content)

    def statuses(self, name: str) -> Counter[str]:
        """How many answers of a chunk have each status; none where its times are gone."""
        with suppress(OSError, ValueError, KeyError):
            return Counter(json.loads(self._times(name).read_text())["statuses"])
        return Counter()

    def sweep(self) -> None:
        """Remove what writers that were killed left; nobody else may be writing here."""
        atomic.sweep(self.path)
        atomic.sweep(self.path / TIMES)

    def _place(self, name: str) -> Path:
        return self.path / f"{name}{SUFFIXES[self.form]}"

    def _times(self, name: str) -> Path:
        return self.path / TIMES / f"{name}.json"


def files_of(path: Path) -> list[Path]:
    """The files of results in a folder, in the order of their instances."""
    return sorted(each for each in path.iterdir() if re.match(r"\d{6,}-[0-9a-f]{16}\.", each.name))


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The answers in a file of either format, in order."""
    if path.suffix == ".parquet":
        yield from _parquet()[1].read_table(path).to_pylist()
        return
    import zstandard

    with io.BufferedReader(zstandard.open(path, "rb")) as file:
        for line in file:
            yield json.loads(line)


def _packed(lines: Sequence[bytes]) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=3).compress(b"".join(lines))


def _as_parquet(lines: Sequence[bytes]) -> bytes:
    arrow, parquet = _parquet()
    text, number = arrow.string(), arrow.float64()
    schema = arrow.schema(
        [
            ("index", arrow.int64()),
            *((name, text) for name in ("name", "status", "method", "reason")),
            *((name, number) for name in ("value", "cost", "makespan", "lower_bound")),
            ("tour", arrow.list_(arrow.int32())),
        ]
    )
    buffer = io.BytesIO()
    table = arrow.Table.from_pylist([json.loads(line) for line in lines], schema=schema)
    parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _parquet() -> tuple[Any, Any]:
    """The packages that know the format."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise EngineMissing(
            "Parquet files need pyarrow; install it with: pip install 'fairway[parquet]'"
        ) from error
    return pyarrow, parquet


def _differing(path: Path, before: str, now: str) -> str:
    """The sentence that says what a folder was begun with."""
    try:
        old, new = json.loads(before), json.loads(now)
        name = min(key for key in {*old, *new} if old.get(key) != new.get(key))
        values = f"{json.dumps(old.get(name))} and not {json.dumps(new.get(name))}"
    except (ValueError, AttributeError):
        name, values = ASKED, "something else"
    return f"{path}: holds answers to another batch (its {name} is {values}); choose another --out, or delete it"
