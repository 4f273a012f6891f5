"""The options that several verbs share."""

from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

File = Annotated[Path, typer.Argument(help="An instance in any known format; - reads stdin.")]
Index = Annotated[int | None, typer.Option(help="Which instance of a set, counted from 0.")]
Rule = Literal["float", "floor", "nearest", "F"]
Distances = Annotated[Rule | None, typer.Option(help="How coordinates become travel.")]
Tour = Annotated[str, typer.Option(help="Stops such as 3,1,2, or a file that holds them.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON line an instance.")]


def spelled_out(command: Callable[..., None]) -> Callable[..., None]:
    """The same command for typer: where a parameter is a dataclass, each of its fields is an option instead."""
    options, records = [], {}
    for each in signature(command).parameters.values():
        if is_dataclass(each.annotation):
            records[each.name] = signature(each.annotation).parameters
        else:
            options.append(each)
    for shared in records.values():
        options += shared.values()

    @wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401
        for name, parts in records.items():
            given[name] = command.__annotations__[name](**{part: given.pop(part) for part in parts})
        command(**given)

    options = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in options]
    options.sort(key=lambda each: each.default is not Parameter.empty)  # what is required, first
    run.__signature__ = Signature(options)
    run.__annotations__ = {each.name: each.annotation for each in options}
    return run
