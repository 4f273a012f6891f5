"""The verb `report`: evaluations become tables and pictures."""

from pathlib import Path
from typing import Annotated

import typer

from fairway.errors import InvalidRequest


def report(
    root: Annotated[
        Path, typer.Argument(help="Folder of results, STUDY/BED/LABEL.jsonl.xz")
    ] = Path("results"),
    out: Annotated[Path, typer.Option(help="Folder to write into")] = Path("report"),
    references: Annotated[
        list[str] | None,
        typer.Option(help="Reference tours of a test set, as BED=FILE (.pkl or .npz)"),
    ] = None,
    readme: Annotated[
        Path | None, typer.Option(help="File whose table of results to update")
    ] = None,
) -> None:
    """Turn evaluations into Markdown, CSV and pictures: every table of the paper, published rows marked."""
    files = dict(map(_pair, references or []))
    from fairway.cli import show
    from fairway.evaluate.overview import put_into, results_table
    from fairway.evaluate.report import report as make

    written = make(root, out, files)
    show.note(f"evaluations read: {len(written.measured)}; files written: {1 + len(written.files)}")
    if not written.rows:
        show.note(
            f"{root}: nothing was measured, and only the published figures are shown; "
            "fairway evaluate measures"
        )
    if readme is not None:
        put_into(readme, results_table(written.measured))
    show.out.print(str(written.index), soft_wrap=True)


def _pair(given: str) -> tuple[str, Path]:
    bed, sign, file = given.partition("=")
    if not (bed and sign and file):
        raise InvalidRequest(f"--references is {given!r}; expected BED=FILE")
    return bed, Path(file)
