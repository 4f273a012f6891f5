"""The options that several verbs share."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

File = Annotated[Path, Argument(help="Instance file in any known format (-: standard input)")]
Index = Annotated[int | None, Option(help="Which instance of a set, counted from 0")]
Rule = Literal["float", "floor", "nearest", "F"]
Distances = Annotated[Rule | None, Option(help="Rounding of distances (default: as the file says)")]
TOUR = "Stops in order, such as 3,1,2 or by name, or a file of them"
Tour = Annotated[str, Option(help=TOUR)]
Json = Annotated[bool, Option("--json", help="Print one JSON line per instance")]
BedName = Annotated[str, Argument(help="Name of a test set; see fairway bed list")]
