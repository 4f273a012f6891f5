"""What an evaluation leaves behind: one file of outcomes, a line an instance, and one of times beside it.

The layout is `STUDY/BED/LABEL.jsonl`. Its first line says what was run; the lines after it depend on nothing but that,
so that equal runs leave equal files. Clocks do not repeat themselves, so times stand in `LABEL.times.jsonl`.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.errors import InvalidFile

TIMES = ".times.jsonl"


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
    """A file of outcomes, with its times where they are there; a last line that was cut off is left out."""
    lines = whole_lines(path)
    if not lines:
        raise InvalidFile(f"{path}: holds no outcomes; make it anew with fairway evaluate")
    try:
        header = Header(**lines[0])
        outcomes = [_outcome(line) for line in lines[1:]]
        timings = [Timing(**line) for line in whole_lines(times_beside(path))]
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidFile(
            f"{path}: is no file of outcomes; expected one that fairway evaluate wrote"
        ) from error
    return Results(header, outcomes, timings)


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file that end as lines do; none where there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path}: cannot be read ({error})") from error
    return _parsed(path, text.split("\n")[:-1])


def _parsed(path: Path, lines: Iterable[str]) -> list[dict[str, Any]]:
    parsed = []
    for number, line in enumerate(lines, start=1):
        try:
            parsed.append(json.loads(line))
        except ValueError as error:
            raise InvalidFile(
                f"{path}, line {number}: is no JSON; delete the file and run the evaluation again"
            ) from error
        if not isinstance(parsed[-1], dict):
            raise InvalidFile(f"{path}, line {number}: is no JSON object; expected one a line")
    return parsed


def _outcome(line: dict[str, Any]) -> Outcome:
    broken = {int(at): count for at, count in line.pop("broken_at", {}).items()}
    tour = line.pop("tour", None)
    return Outcome(**line, broken_at=broken, tour=None if tour is None else tuple(tour))
