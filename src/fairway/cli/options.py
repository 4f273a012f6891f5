"""The options that several verbs share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

File = Annotated[Path, typer.Argument(help="An instance in any known format; - reads stdin.")]
Index = Annotated[int | None, typer.Option(help="Which instance of a set, counted from 0.")]
Rule = Literal["float", "floor", "nearest", "F"]
Distances = Annotated[Rule | None, typer.Option(help="How coordinates become travel.")]
Tour = Annotated[str, typer.Option(help="Stops such as 3,1,2, or a file that holds them.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON line an instance.")]
