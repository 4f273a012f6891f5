"""What may be asked: the bodies of requests, in which unknown keys are refused by name."""

import base64
import binascii
import math
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from fairway.errors import InvalidRequest
from fairway.problems.distances import Distances
from fairway.problems.files import Content, read_content
from fairway.problems.files.document import instance_of
from fairway.problems.files.text import Unreadable, shortened
from fairway.problems.files.values import described, parsed
from fairway.problems.instance import Instance
from fairway.serve.settings import Limits

LONGEST_NAME = 200
FORMATS = Literal[
    "json", "csv", "npz", "rakke", "matrix", "solomon", "tsplib", "geojson", "ics", "vroom.json",
    "svg", "png",
]  # fmt: skip


class TooLarge(InvalidRequest):
    """More than this service takes on."""


def _whole(value: object) -> int:
    if type(value) is not float or not value.is_integer() or abs(value) > 2**53:
        raise ValueError("expected a whole number")
    return int(value)


def _stop(value: object) -> int | str:
    return value if isinstance(value, str) else _whole(value)


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Seconds = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Seed = Annotated[int, Field(ge=0), BeforeValidator(_whole)]
Stop = Annotated[
    int | str,
    BeforeValidator(_stop),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
]
"""A stop by its node number, or by its name or id."""
Objective = Literal["cost", "travel", "makespan", "duration"]
Body = TypeVar("Body", bound="Strict")


class Strict(BaseModel):
    """A body, or a part of one, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class File(Strict):
    """A file: its name, and what it holds as text or in base64."""

    name: str = Field(
        min_length=1,
        max_length=LONGEST_NAME,
        description="What the file is called, for messages",
        examples=["stops.csv"],
    )
    text: str | None = Field(None, description="Its content, where that is text")
    base64: str | None = Field(
        None, description="Its content in base64, where that is not (xlsx, npz)"
    )

    def content(self) -> Content:
        """The bytes under their name."""
        if (self.text is None) == (self.base64 is None):
            raise InvalidRequest("a file has either 'text' or 'base64', and exactly one of them")
        if not self.name.isprintable():
            raise InvalidRequest("the name of a file holds a character that cannot be printed")
        if self.text is not None:
            return Content(self.name, self.text.encode("utf-8", "replace"))
        assert self.base64 is not None
        try:
            return Content(self.name, base64.b64decode(self.base64, validate=True))
        except (binascii.Error, ValueError) as error:
            raise InvalidRequest("'base64' of a file is not base64") from error


class Given(Strict):
    """One instance, as an object or as a file."""

    instance: dict[str, Any] | None = Field(
        None,
        description="An instance in Fairway's JSON format, which `fairway convert stops.csv stops.json` writes",
        examples=[
            {
                "problem": "tsptw",
                "coordinates": [[0, 0], [3, 4], [6, 0]],
                "opens": [0, 0, 0],
                "closes": [60, 20, 20],
            }
        ],
    )
    file: File | None = Field(None, description="A file in any format that `fairway.read` knows")
    matrix: File | None = Field(None, description="Travel times beside a file of stops")
    speed: Number | None = Field(
        None, description="Kilometres per hour, where stops have latitude and longitude"
    )
    distances: Distances | None = Field(None, description="How coordinates become travel")
    index: Seed | None = Field(None, description="Which instance of a file that holds several")

    @model_validator(mode="after")
    def _exactly_one(self) -> "Given":
        if (self.instance is None) == (self.file is None):
            raise ValueError("expected exactly one of the keys 'instance' and 'file'")
        return self

    def read(self, limits: Limits) -> Instance:
        """The instance, of which no more than the service takes on."""
        if self.instance is not None:
            given = (self.matrix, self.speed, self.index)
            if any(each is not None for each in given):
                raise InvalidRequest("'matrix', 'speed' and 'index' go with 'file', not 'instance'")
            instance = instance_of(self.instance, distances=self.distances)
        else:
            assert self.file is not None
            matrix = None if self.matrix is None else self.matrix.content()
            item = read_content(
                self.file.content(), self.distances, matrix=matrix, speed=self.speed
            )
            instance = item if isinstance(item, Instance) else self._member(item)
        return check_stops(instance, limits)

    def _member(self, item: Any) -> Instance:  # noqa: ANN401 - a set
        last = len(item) - 1
        if self.index is None or self.index > last:
            raise InvalidRequest(
                f"the file holds {last + 1} instances; choose one with 'index', 0 to {last}"
            )
        return item[self.index]


class Solve(Given):
    """An instance, and how it is to be solved."""

    seconds: Seconds = Field(1.0, description="Time limit; less is taken where a proof ends it")
    objective: Objective = Field(
        "cost", description="What is to be least: cost, the end, or the time on the road"
    )
    drop: Literal["price", "fewest"] = Field(
        "price", description="Optional stops are left out by their price, or as few as can be"
    )
    relax: Literal["drop", "late", "none"] = Field(
        "drop",
        description="Where no tour keeps everything: leave out fewest stops, be least late, or neither",
    )
    seed: Seed = Field(0, description="Random seed")
    fixed: list[Stop] = Field([], description="Stops that the tour must begin with, in order")
    initial: list[Stop] | None = Field(None, description="An order of the stops to start from")


class Verify(Given):
    """An instance and an order of its stops."""

    tour: list[Stop] = Field(description="The stops in order, by number, name or id")
    objective: Objective = "cost"


class Explain(Given):
    """An instance of which it is asked why it has no tour."""

    seconds: Seconds = Field(5.0, description="Time limit")


class Convert(Given):
    """An instance, or the plan of a tour of it, in another format."""

    to: FORMATS = "json"
    tour: list[Stop] | None = Field(
        None,
        description="With a tour, its plan is written: csv, json, geojson, ics, vroom.json, svg or png",
    )
    objective: Objective = "cost"
    date: str | None = Field(None, description="The first day of a calendar, like 2026-11-18")


def body_of(kind: type[Body], content: bytes) -> Body:
    """A body as its kind has it; what is wrong with it is said in a sentence."""
    try:
        document = parsed(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidRequest("the body is not UTF-8 text; expected a JSON object") from error
    except Unreadable as error:
        raise InvalidRequest(of_body(error)) from error
    if not isinstance(document, dict):
        raise InvalidRequest(f"the body is {described(document)}; expected a JSON object")
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise InvalidRequest(_sentence(kind, error)) from error


def of_body(error: Unreadable) -> str:
    """What is wrong with a text as a sentence of its own, in which the body stands for the file."""
    verb = error.message.partition(" ")[0] in ("is", "has", "holds")
    where = "" if error.line is None else f" (line {error.line})"
    return f"{'the body ' if verb else ''}{error.message}{where}"


def check_seconds(seconds: float, limits: Limits) -> None:
    """Refuse more time than the service gives."""
    if seconds > limits.max_seconds:
        raise TooLarge(
            f"'seconds' is {seconds:g}; this service gives at most {limits.max_seconds:g}"
        )


def check_stops(instance: Instance, limits: Limits) -> Instance:
    """The same instance, if it has no more stops than the service takes on."""
    if instance.nodes - 1 > limits.max_stops:
        raise TooLarge(
            f"the instance has {instance.nodes - 1} stops; this service takes at most {limits.max_stops}"
        )
    return instance


def _sentence(kind: type[BaseModel], error: ValidationError) -> str:
    """The first thing that is wrong, in words."""
    first = error.errors(include_url=False)[0]
    place = [part for part in first["loc"] if part not in ("function-before", "int", "str")]
    where = ".".join(map(str, place))
    match first["type"]:
        case "extra_forbidden":
            within = File if len(place) > 1 else kind
            known = list(within.model_fields)
            alike = get_close_matches(str(place[-1]), known, n=1)
            hint = f", and looks like {alike[0]!r}" if alike else ""
            word = shortened(str(place[-1]))
            return f"the key {word} is unknown{hint}; expected {', '.join(known)}"
        case "missing":
            return f"the key {where!r} is missing"
        case "value_error" if not place:
            return str(first["ctx"]["error"])
        case "value_error":
            return f"{where!r} is {described(first['input'])}; {first['ctx']['error']}"
    said = first["msg"].replace("Input should be", "expected").replace("'", "")
    said = said.replace("a valid dictionary", "an object").replace("a valid ", "a ")
    return f"{where!r} is {_shown(first['input'])}; {said[0].lower()}{said[1:]}"


def _shown(value: object) -> str:
    return (
        f"the number {value:g}"
        if type(value) is float and math.isfinite(value)
        else described(value)
    )
