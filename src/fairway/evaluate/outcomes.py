"""What an evaluation leaves behind: one line per instance, compressed once all are there.

While it runs, outcomes go to `STUDY/BED/LABEL.jsonl` and times to `LABEL.times.jsonl`. The first line says what was
run; outcomes depend on nothing but that, so that equal runs leave equal ones. A finished evaluation is one file,
`LABEL.jsonl.xz`: the same lines, and after them those of the times. Where both are there, it is the one that counts.
"""

import io
import json
import lzma
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway import atomic
from fairway.errors import InvalidFile
from fairway.problems.files.text import bounded

TIMES = ".times.jsonl"
PACKED = ".xz"
DAMAGED = "delete this file, and run the evaluation again"
ANEW = "delete this line and all after it, and run the evaluation again"
"""What puts a file of outcomes right: a run resumes from what is left of it, if only an empty file."""
TIMES_ALONE = "delete this file of times alone, the outcomes beside it are good without"
NOT_OURS = "so that this is no file of outcomes; move it elsewhere, or choose another --label"
MOST_BYTES = 2**28
"""Of a file of outcomes, unpacked."""
MOST_WHOLE = 10**9
MOST_STOPS = 10**6
LARGEST = 1e100
"""Numbers beyond these are no counts, stops or costs of anything, and would not fit where they are summed up."""


@dataclass(frozen=True, slots=True)
class Header:
    """What was run."""

    study: str
    """The table it belongs to, such as `main`."""
    bed: str
    label: str
    """The name of its row."""
    method: str
    settings: dict[str, Any]
    versions: dict[str, str]
    tolerance: float
    """By how much a limit may be passed where the paper's tolerance is meant."""
    strict: float
    """And where the judge's own is."""
    count: int
    """Of the bed's first instances, how many were asked for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one instance."""

    index: int
    tours: int
    """That were proposed; 0 where a solver found none."""
    accepted: int
    """Of those, how many the judge accepts at the paper's tolerance."""
    strict: int
    """How many at its own."""
    cost: float | None = None
    """Of the best tour accepted at the paper's tolerance, in the units of the bed."""
    strict_cost: float | None = None
    proved: bool = False
    """Whether it is proved that no tour is better."""
    broken_at: dict[int, int] = field(default_factory=dict)
    """Of the tours refused at the paper's tolerance, how many first pass a limit at which stop, counted from 1."""
    tour: tuple[int, ...] | None = None
    """The best one, where tours were asked for."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a group of instances took."""

    first: int
    count: int
    wall: float
    """Seconds from beginning to end."""
    work: float
    """Seconds of all cores together, or of the GPU."""
    device: str
    """cpu or cuda."""
    workers: int


Line = Header | Outcome | Timing
L = TypeVar("L", bound=Line)


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """A finished or unfinished evaluation."""

    header: Header
    outcomes: list[Outcome]
    timings: list[Timing]

    @property
    def index(self) -> Int[np.ndarray, " K"]:
        """Which instances of the bed."""
        return np.array([outcome.index for outcome in self.outcomes], np.int64)

    @property
    def cost(self) -> Float[np.ndarray, " K"]:
        """Of the best tours at the paper's tolerance; NaN where there is none."""
        return np.array([outcome.cost for outcome in self.outcomes], float)

    @property
    def strict_cost(self) -> Float[np.ndarray, " K"]:
        """Of the best tours that the judge accepts by itself; NaN where there is none."""
        return np.array([outcome.strict_cost for outcome in self.outcomes], float)

    @property
    def solved(self) -> Bool[np.ndarray, " K"]:
        """Which instances have a tour at the paper's tolerance."""
        return ~np.isnan(self.cost)


def times_beside(path: Path) -> Path:
    """Where the times of a file of outcomes stand."""
    return path.with_name(path.name.removesuffix(".jsonl") + TIMES)


def packed(path: Path) -> Path:
    """Where the outcomes of a file stand once all are there."""
    return path.with_name(path.name + PACKED)


def pack(path: Path, results: Results) -> None:
    """Keep a finished evaluation in one compressed file in place of the plain ones."""
    lines = lines_of([results.header, *results.outcomes, *results.timings])
    atomic.write_bytes(packed(path), lzma.compress(lines))
    for plain in (path, times_beside(path)):
        plain.unlink(missing_ok=True)


def lines_of(items: Iterable[Line]) -> bytes:
    """What a file holds of them."""
    return "".join(map(line_of, items)).encode()


def line_of(item: Line) -> str:
    """One line of JSON; what an outcome has nothing to say about is left out."""
    said = asdict(item)
    if isinstance(item, Outcome):  # 0 says something
        said = {name: it for name, it in said.items() if it not in (None, {}) and it is not False}
    return json.dumps(said, separators=(",", ":")) + "\n"


def read_results(path: Path) -> Results:
    """The outcomes of a file, packed or plain, with times where they are there; a last line cut off is left out."""
    file, fix = (packed(path), DAMAGED) if packed(path).exists() else (path, ANEW)
    lines = whole_lines(file, fix)
    if not lines:
        raise InvalidFile(f"{file}: holds no outcomes; make it anew with fairway evaluate")
    (top, first), *rest = lines.items()
    header = _read(Header, first, top, fix)
    found = [_read(Timing if "first" in it else Outcome, it, where, fix) for where, it in rest]
    if file == path:
        times = whole_lines(times_beside(path), TIMES_ALONE)
        found += [_read(Timing, line, where, TIMES_ALONE) for where, line in times.items()]
    outcomes = [each for each in found if isinstance(each, Outcome)]
    return Results(header, outcomes, [each for each in found if isinstance(each, Timing)])


def whole_lines(path: Path, fix: str = ANEW) -> dict[str, dict[str, Any]]:
    """The lines of JSON that end as lines do, by where they stand; none without a file, and a fix for a bad one."""
    try:
        content = bounded(path, MOST_BYTES)
        if path.suffix == PACKED:
            with lzma.open(io.BytesIO(content)) as file:
                content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"it unpacks to more than {MOST_BYTES} bytes")
    except (lzma.LZMAError, EOFError) as error:
        raise InvalidFile(f"{path}: is damaged ({error}); {fix}") from error
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidFile(
            f"{path}: cannot be read ({reason}); make it a file that you may read"
        ) from error
    lines = {}
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        where = f"{path}, line {number}"
        try:
            lines[where] = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            raise InvalidFile(f"{where}: is no JSON; {fix}") from error
        if not isinstance(lines[where], dict):
            raise InvalidFile(f"{where}: is no JSON object; {fix}")
    return lines


def check_value(kind: object, name: str, value: object, where: str, fix: str) -> None:
    """Refuse a value that is not of its kind, the type that is annotated: the sentence says where it stands."""
    fits, words = KINDS[kind]
    if not fits(value):
        raise InvalidFile(f"{where}: {name} is {reprlib.repr(value)}, expected {words}; {fix}")


def _read(of: type[L], line: Mapping[str, Any], where: str, fix: str) -> L:
    """A line as a dataclass; one with other fields, or with other types in them, is refused."""
    parts = PARTS[of]
    absent = [
        name for name, part in parts.items() if part.default is part.empty and name not in line
    ]
    strange = [name for name in line if name not in parts]
    if absent or strange:
        wrong = f"has no {absent[0]}" if absent else f"has a field {strange[0]!r}"
        then = f", {NOT_OURS}" if of is Header else f"; {fix}"
        raise InvalidFile(f"{where}: {wrong}{then}")
    for name, value in line.items():
        check_value(parts[name].annotation, name, value, where, fix)
    if of is Outcome:  # in JSON, stops are the names of fields, and tours are lists
        broken = {int(at): count for at, count in line.get("broken_at", {}).items()}
        tour = None if line.get("tour") is None else tuple(line["tour"])
        line = {**line, "broken_at": broken, "tour": tour}
    return of(**line)


def _text(value: object) -> bool:
    """Half of a character that takes two cannot be written again."""
    return type(value) is str and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _whole(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_WHOLE


def _finite(value: object) -> bool:
    return (type(value) is float or type(value) is int) and -LARGEST <= value <= LARGEST


def _wholes(value: object) -> bool:
    """Of a million stops in well under a second, since tours are most of a file that keeps them."""
    if type(value) is not list or not set(map(type, value)) <= {int}:
        return False
    return not value or (_whole(min(value)) and _whole(max(value)))


def _texts(value: object) -> bool:
    return type(value) is dict and all(map(_text, value.values()))


def _counts(value: object) -> bool:
    """By stops, which are the names of fields and so texts."""
    return type(value) is dict and all(map(_stop, value)) and all(map(_whole, value.values()))


def _stop(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 8 and 1 <= int(name) <= MOST_STOPS


KINDS: dict[object, tuple[Callable[[object], bool], str]] = {
    str: (_text, "a text"),
    int: (_whole, "a whole number, zero or more"),
    float: (_finite, "a finite number"),
    bool: (lambda value: type(value) is bool, "true or false"),
    float | None: (lambda value: value is None or _finite(value), "a finite number or null"),
    tuple[int, ...] | None: (lambda value: value is None or _wholes(value), "a list of stops"),
    dict[str, Any]: (lambda value: type(value) is dict, "an object"),
    dict[str, str]: (_texts, "an object of texts"),
    dict[int, int]: (_counts, "an object of counts by stop"),
}
"""By annotation, what JSON stands for it, and in words."""

PARTS = {each: signature(each).parameters for each in (Header, Outcome, Timing)}
"""Of each kind of line, what it is made of."""
