"""The options that several verbs share."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from fairway.errors import InvalidRequest

if TYPE_CHECKING:
    from fairway.scale.engine import Engine

File = Annotated[Path, Argument(help="Instance file in any known format (-: standard input)")]
Seconds = Annotated[float, Option(help="Time limit per instance; stops early once proved optimal")]
Gap = Annotated[
    str, Option(help="Stop once proved to be within this gap of the best possible, such as 1%")
]
Workers = Annotated[
    int | None,
    Option(help="Number of processes, or of threads for one instance (default: all cores)"),
]
Index = Annotated[int | None, Option(help="Which instance of a set, counted from 0")]
Rule = Literal["float", "floor", "nearest", "F"]
TOUR = "Stops in order, such as 3,1,2 or by name, or a file of them"
Tour = Annotated[str, Option(help=TOUR)]
Objective = Annotated[
    Literal["cost", "travel", "makespan", "duration"],
    Option(help="What to minimise: cost (or travel), end of the tour, or time on the road"),
]
Drop = Annotated[
    Literal["price", "fewest"], Option(help="Leave out stops by price, or as few as possible")
]
Relax = Annotated[
    Literal["drop", "late", "none"],
    Option(help="Where no tour keeps everything: offer a plan that drops stops, is late, or none"),
]
Out = Annotated[
    Path | None,
    Option("--out", "-o", help="Write the plan: .csv, .json, .geojson, .ics or .vroom.json"),
]
Plot = Annotated[Path | None, Option(help="Draw the tour into this .png or .svg")]
PlanFormat = Annotated[
    Literal["csv", "json", "geojson", "ical", "vroom"] | None,
    Option("--format", help="Format of --out (default: by its suffix)"),
]
Day = Annotated[
    str | None, Option(help="First day of a calendar, such as 2026-11-18 (default: the file's)")
]
Json = Annotated[bool, Option("--json", help="Print one JSON line per instance")]
BedName = Annotated[str, Argument(help="Name of a test set; see fairway bed list")]

READ = "How files are read"
"""What the help says above these options."""


@dataclass(frozen=True)
class Reading:
    """How instance files are read, beside what they say themselves."""

    distances: Annotated[
        Rule | None,
        Option(help="Rounding of distances (default: as the file says)", rich_help_panel=READ),
    ] = None
    matrix: Annotated[
        Path | None,
        Option(
            help="Travel times between the stops: answer of OSRM or Valhalla, JSON, CSV or npz",
            rich_help_panel=READ,
        ),
    ] = None
    speed: Annotated[
        float | None,
        Option(
            help="Speed in km/h between stops given by latitude and longitude", rich_help_panel=READ
        ),
    ] = None


@dataclass(frozen=True)
class Cluster:
    """Where workers are."""

    engine: Annotated[
        Literal["local", "ray"], Option(help="Workers: processes of this machine, or Ray")
    ] = "local"
    address: Annotated[
        str | None, Option(help="Ray cluster: auto, or host:port (default: one started here)")
    ] = None
    gpus_per_task: Annotated[
        float, Option(help="GPUs, or the share of one, of each Ray worker")
    ] = 0.0

    def workers(self, count: int | None) -> "Engine":
        """So many workers there, or as many as fit."""
        from fairway.scale.engine import Engine

        return Engine(self.engine, count, self.address, self.gpus_per_task)


def spelled_out(command: Callable[..., None]) -> Callable[..., None]:
    """The same command for typer: where a parameter is a dataclass, each of its fields is an option instead."""
    asked = signature(command).parameters.values()
    options = [each for each in asked if not is_dataclass(each.annotation)]
    records = {each.name: each.annotation for each in asked if is_dataclass(each.annotation)}
    for record in records.values():
        options += signature(record).parameters.values()

    @wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401
        for name, record in records.items():
            given[name] = record(**{part.name: given.pop(part.name) for part in fields(record)})
        command(**given)

    options = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in options]
    options.sort(key=lambda each: each.default is not Parameter.empty)  # what is required, first
    run.__signature__ = Signature(options)  # pyrefly: ignore[missing-attribute]
    run.__annotations__ = {each.name: each.annotation for each in options}
    return run


def gap_given(text: str) -> float:
    """A gap such as 1% or 0.01 as a part of the cost."""
    number = text.strip()
    try:
        return float(number[:-1]) / 100 if number.endswith("%") else float(number)
    except ValueError as error:
        raise InvalidRequest(f"--gap is {text!r}; expected a number such as 1% or 0.01") from error
