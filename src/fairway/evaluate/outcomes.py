"""What an evaluation leaves behind: one line per instance, compressed once all are there.

While it runs, outcomes go to `STUDY/BED/LABEL.jsonl` and times to `LABEL.times.jsonl`. The first line says what was
run; outcomes depend on nothing but that, so that equal runs leave equal ones. A finished evaluation is one file,
`LABEL.jsonl.xz`: the same lines, and after them those of the times. Where both are there, it is the one that counts.
"""

import json
import lzma
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway import atomic
from fairway.errors import InvalidFile

TIMES = ".times.jsonl"
PACKED = ".xz"
DAMAGED = "delete this file, and run the evaluation again"
ANEW = "delete this line and all after it, and run the evaluation again"
"""What puts a file of outcomes right: a run goes on from what is left of it, if only an empty file."""
TIMES_ALONE = "delete this file of times alone, the outcomes beside it are good without"
NOT_OURS = "so that this is no file of outcomes; move it elsewhere, or choose another --label"
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
        return np.array([_number(outcome.cost) for outcome in self.outcomes])

    @property
    def strict_cost(self) -> Float[np.ndarray, " K"]:
        """Of the best tours that the judge accepts by itself; NaN where there is none."""
        return np.array([_number(outcome.strict_cost) for outcome in self.outcomes])

    @property
    def solved(self) -> Bool[np.ndarray, " K"]:
        """Which instances have a tour at the paper's tolerance."""
        return ~np.isnan(self.cost)


def _number(cost: float | None) -> float:
    return np.nan if cost is None else cost


def times_beside(path: Path) -> Path:
    """Where the times of a file of outcomes stand."""
    return path.with_name(path.name.removesuffix(".jsonl") + TIMES)


def packed(path: Path) -> Path:
    """Where the outcomes of a file stand once all are there."""
    return path.with_name(path.name + PACKED)


def pack(path: Path, results: Results) -> None:
    """Keep a finished evaluation in one compressed file in place of the plain ones."""
    lines = map(line_of, [results.header, *results.outcomes, *results.timings])
    atomic.write_bytes(packed(path), lzma.compress("".join(lines).encode()))
    for plain in (path, times_beside(path)):
        plain.unlink(missing_ok=True)


def line_of(item: Header | Outcome | Timing) -> str:
    """One line of JSON; what an outcome has nothing to say about is left out."""
    said = asdict(item)
    if isinstance(item, Outcome):
        said = {
            name: value
            for name, value in said.items()
            if value is not None and value is not False and value != {}  # 0 says something
        }
    return json.dumps(said, separators=(",", ":")) + "\n"


def read_results(path: Path) -> Results:
    """The outcomes of a file, packed or plain, with times where they are there; a last line cut off is left out."""
    file, fix = (packed(path), DAMAGED) if packed(path).exists() else (path, ANEW)
    lines = whole_lines(file, fix)
    if not lines:
        raise InvalidFile(f"{file}: holds no outcomes; make it anew with fairway evaluate")
    kinds = [Header, *(Timing if "first" in line else Outcome for line in lines[1:])]
    pairs = list(zip(kinds, lines, strict=True))
    for number, (kind, line) in enumerate(pairs, start=1):
        _check(kind, line, f"{file}, line {number}", fix)
    beside = times_beside(path)
    times = whole_lines(beside, TIMES_ALONE) if file == path else []
    for number, line in enumerate(times, start=1):
        _check(Timing, line, f"{beside}, line {number}", TIMES_ALONE)
    outcomes = [_outcome(line) for kind, line in pairs if kind is Outcome]
    times = [*(line for kind, line in pairs if kind is Timing), *times]
    return Results(Header(**lines[0]), outcomes, [Timing(**line) for line in times])


def whole_lines(path: Path, fix: str = ANEW) -> list[dict[str, Any]]:
    """The lines of a file that end as lines do; none where there is no file.

    Args:
        path: Of the file, an object of JSON a line; one that ends in .xz is compressed.
        fix: What to do about a line that is none.
    """
    try:
        content = path.read_bytes()
        content = lzma.decompress(content) if path.suffix == PACKED else content
    except lzma.LZMAError as error:
        raise InvalidFile(f"{path}: is damaged ({error}); {fix}") from error
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InvalidFile(
            f"{path}: cannot be read ({error.strerror}); make it a file that you may read"
        ) from error
    text = content.decode(errors="surrogateescape")
    return _parsed(path, text.split("\n")[:-1], fix)


def check_value(kind: object, name: str, value: object, where: str, fix: str) -> None:
    """Refuse a value that is not of its kind, the type that is annotated: the sentence says where it stands."""
    fits, words = KINDS[kind]
    if not fits(value):
        raise InvalidFile(f"{where}: {name} is {reprlib.repr(value)}, expected {words}; {fix}")


def _parsed(path: Path, lines: Iterable[str], fix: str) -> list[dict[str, Any]]:
    parsed = []
    for number, line in enumerate(lines, start=1):
        try:
            line.encode()
            parsed.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise InvalidFile(f"{path}, line {number}: is no JSON; {fix}") from error
        if not isinstance(parsed[-1], dict):
            raise InvalidFile(f"{path}, line {number}: is no JSON object; {fix}")
    return parsed


def _check(of: type, line: Mapping[str, Any], where: str, fix: str) -> None:
    """Refuse a line with other fields than its dataclass, or with other types in them."""
    types, needed = FIELDS[of]
    if not needed <= line.keys() <= types.keys():
        absent = [f"has no {name}" for name in types if name in needed - line.keys()]
        strange = [f"has a field {name!r}" for name in line if name not in types]
        end = f", {NOT_OURS}" if of is Header else f"; {fix}"
        raise InvalidFile(f"{where}: {[*absent, *strange][0]}{end}")
    for name, value in line.items():
        check_value(types[name], name, value, where, fix)


def _outcome(line: dict[str, Any]) -> Outcome:
    broken = {int(at): count for at, count in line.pop("broken_at", {}).items()}
    tour = line.pop("tour", None)
    return Outcome(**line, broken_at=broken, tour=None if tour is None else tuple(tour))


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

FIELDS = {
    each: (
        {part.name: part.type for part in fields(each)},
        {
            part.name
            for part in fields(each)
            if part.default is MISSING and part.default_factory is MISSING
        },
    )
    for each in (Header, Outcome, Timing)
}
"""Of each kind of line, the types by name, and the names that it cannot do without."""
