"""The options that several verbs share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

File = Annotated[Path, typer.Argument(help="Instance file in any known format (-: standard input)")]
Index = Annotated[int | None, typer.Option(help="Which instance of a set, counted from 0")]
Rule = Literal["float", "floor", "nearest", "F"]
Distances = Annotated[
    Rule | None, typer.Option(help="Rounding of distances (default: as the file says)")
]
TOUR = "Stops in order, such as 3,1,2 or by name, or a file of them"
Tour = Annotated[str, typer.Option(help=TOUR)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON line per instance")]
BedName = Annotated[str, typer.Argument(help="Name of a test set; see fairway bed list")]
