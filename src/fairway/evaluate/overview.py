"""The overview of results on a page: infeasible instances and gaps of every method on every bed that was run."""

from collections.abc import Callable, Sequence
from math import isnan
from pathlib import Path

from fairway import atomic
from fairway.errors import InvalidFile
from fairway.evaluate.published import published
from fairway.evaluate.studies import Measured, beds_of, in_order
from fairway.evaluate.tables import Column, Kind, Row, Table, Value, as_printed, lettered, markdown
from fairway.problems.files.text import LARGEST_TEXT, bounded

START, END = "<!-- results -->", "<!-- /results -->"
STUDY = "main"
"""Whose rows it has."""
REFERENCE = "reference"
"""The method that all others are measured by, which is as long as itself."""
ALL = 100.0
"""Percent of the instances."""
MOST_NAMED = 3
"""Sources of references that are named one by one."""


def results_table(measured: Sequence[Measured]) -> Table:
    """Methods against beds, published ones first, and only those which solve anything there."""
    shown = [
        each for each in measured
        if each.header.study == STUDY and each.header.method != REFERENCE
    ]  # fmt: skip
    able = {each.header.label for each in shown if each.metrics.inst_infeasible < ALL}
    shown = [each for each in shown if each.header.label in able]
    run = {each.header.bed for each in shown}
    printed_rows = [row for row in published(STUDY) if row.bed in run]
    known = {row.label for row in printed_rows if row.inst != ALL}
    order = in_order(printed_rows, (each.header.label for each in shown))
    rows: dict[tuple[Kind, str], dict[str, Value]] = {}
    for row in printed_rows:
        if row.label in known:
            cell = _cell(row.inst, row.gap, as_printed)
            rows.setdefault(("published", row.label), {})[row.bed] = cell
    for each in sorted(shown, key=lambda each: order.index(each.header.label)):
        gap = None if each.metrics.gap is None else each.metrics.gap.stated
        cell = _cell(each.metrics.inst_infeasible, gap, _measured)
        rows.setdefault(("measured", each.header.label), {})[each.header.bed] = cell
    columns = tuple(Column(bed, bed) for bed in beds_of(STUDY, run) if bed in run)
    return Table("", columns, tuple(Row(*of, cells) for of, cells in rows.items()), _caption(shown))


def put_into(path: Path, table: Table) -> None:
    """Replace what stands between the marks of a file, and nothing else."""
    try:
        text = bounded(path, LARGEST_TEXT).decode()
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{path}: cannot be read ({error})") from error
    if text.count(START) != 1 or text.count(END) != 1 or text.index(START) > text.index(END):
        raise InvalidFile(f"{path}: needs one line {START} and below it one line {END}")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    atomic.write_bytes(path, f"{before}{START}\n{markdown(table)}{END}{after}".encode())


def _caption(shown: Sequence[Measured]) -> str:
    if not shown:
        return "Nothing was measured yet."
    # Of a source no more than its name: the tables that this one sums up have all of it.
    sources = dict.fromkeys(
        each.metrics.gap.source.partition(",")[0] for each in shown if each.metrics.gap is not None
    )
    fewest, most = (pick(each.metrics.instances for each in shown) for pick in (min, max))
    count = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    named = ", ".join(sources) if len(sources) <= MOST_NAMED else f"{len(sources)} reference files"
    against = f" Measured gaps are to the costs of {named}." if sources else ""
    return f"Instances without a tour / gap, in percent, over {count} instances.{against}"


def _cell(inst: float | None, gap: float | None, lettering: Callable[[float], str]) -> str:
    texts = ("-" if value is None or isnan(value) else lettering(value) for value in (inst, gap))
    return " / ".join(texts)


def _measured(value: float) -> str:
    return lettered(value, "percent").removesuffix(" %")
