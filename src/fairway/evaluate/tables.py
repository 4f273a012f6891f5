"""A table as a value, and what becomes of it: Markdown for people, CSV for programs, rich for terminals."""

import csv
import io
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.table import Table as Shown

Kind = Literal["published", "measured"]
Format = Literal["text", "percent", "number", "count", "seconds", "chance"]
Value = float | int | str | tuple[float, float] | None

NOTHING = "/"
"""Where there is no figure, as in the paper."""

SPANS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))

LAYOUT: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("report.toml").read_text(encoding="utf-8")
)
"""Of the report: titles, columns and words."""


@dataclass(frozen=True, slots=True)
class Column:
    """What a column holds, and how it is lettered."""

    key: str
    """In CSV."""
    title: str
    format: Format = "text"
    source: str = ""
    """Of which attribute it is, through dots, where that is not called as the key."""
    aside: bool = False
    """Whether it says what the paper's tables do not; Markdown puts those into a table of their own."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: figures that others have printed, or that were measured here."""

    kind: Kind
    label: str
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; those that others have printed stand first, and never between measured ones."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        kinds = [row.kind for row in self.rows]
        assert kinds == sorted(kinds, reverse=True), "published rows come in a block of their own"


def columns_of(name: str, *, aside: bool = False) -> tuple[Column, ...]:
    """The columns of a table of the report."""
    return tuple(Column(*each, aside=aside) for each in LAYOUT["columns"][name])


def values_of(item: object, columns: Iterable[Column]) -> dict[str, Value]:
    """What columns hold in the row of an object: its attributes, but for those that say nothing."""

    def reach(inner: object, name: str) -> Any:  # noqa: ANN401
        return None if inner is None else getattr(inner, name)

    found: dict[str, Any] = {
        each.key: reduce(reach, (each.source or each.key).split("."), item) for each in columns
    }
    return {key: value for key, value in found.items() if value is not None and value != ""}


def of(table: Table, kind: Kind) -> tuple[Row, ...]:
    """The rows of one kind."""
    return tuple(row for row in table.rows if row.kind == kind)


def filled(table: Table) -> Table:
    """The table without columns in which nothing stands."""
    columns = tuple(
        column for column in table.columns if any(_known(row, column) for row in table.rows)
    )
    return replace(table, columns=columns)


def markdown(table: Table) -> str:
    """Under its title, the paper's columns for all rows, then the others for those that were measured."""
    table = filled(table)
    plain = tuple(column for column in table.columns if not column.aside)
    aside = tuple(column for column in table.columns if column.aside)
    parts = [f"## {table.title}\n"] if table.title else []
    if table.caption:
        parts.append(f"{_escaped(table.caption)}\n")
    if table.rows:
        parts.append(_grid(plain, table.rows))
    if aside and of(table, "measured"):
        parts.append("What the paper's columns leave out, of the rows measured:\n")
        parts.append(_grid(aside, of(table, "measured"), with_kind=False))
    return "\n".join(parts)


def comma_separated(tables: Iterable[Table]) -> str:
    """All tables of a study in one, their titles in the first column; numbers in full, nothing where there is none."""
    tables = list(tables)
    columns = {column.key: column for table in tables for column in table.columns}
    values = [each for table in tables for row in table.rows for each in row.values.items()]
    split = {key for key, value in values if isinstance(value, tuple)}
    ends = {key: ("_low", "_high") if key in split else ("",) for key in columns}
    names = [key + end for key in columns for end in ends[key]]
    text = io.StringIO()
    writer = csv.DictWriter(text, ["table", "row", "from", *names], lineterminator="\n")
    writer.writeheader()
    for table in tables:
        for row in table.rows:
            fixed = {"table": table.title, "row": row.label, "from": row.kind}
            writer.writerow(fixed | _raw(row, columns.values()))
    return text.getvalue()


def terminal(table: Table) -> "Shown":
    """The same for a terminal, the published rows dimmed."""
    from rich import box
    from rich.table import Table as Shown
    from rich.text import Text

    table = filled(table)
    shown = Shown("row", "from", box=box.SIMPLE, title=Text(table.title), caption=table.caption)
    for column in table.columns:
        shown.add_column(column.title, justify="left" if column.format == "text" else "right")
    for row in table.rows:
        cells = (cell(row, column) for column in table.columns)
        style = "dim" if row.kind == "published" else None
        shown.add_row(Text(row.label), row.kind, *map(Text, cells), style=style)
    return shown


def cell(row: Row, column: Column) -> str:
    """One figure as people read it; a time that was not waited for has a tilde."""
    value = row.values.get(column.key)
    if value is None or not _known(row, column):
        return NOTHING if column.format != "text" else ""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return f"{lettered(value[0], column.format)} to {lettered(value[1], column.format)}"
    if row.kind == "published" and column.format in ("percent", "number"):
        return as_printed(value) + (" %" if column.format == "percent" else "")
    about = "~" if column.format == "seconds" and row.values.get(f"{column.key}_about") else ""
    return about + lettered(value, column.format)


def lettered(value: float, style: Format) -> str:
    """A number with the digits that its kind is given."""
    match style:
        case "percent":
            return f"{_rounded(value, 2 if abs(value) >= 1 or value == 0 else 3)} %"
        case "number":
            return _rounded(value, 3)
        case "count":
            return f"{value:,.0f}"
        case "seconds":
            return span(value)
        case "chance":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
        case "text":
            return f"{value:g}"


def span(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, name in SPANS:
        if seconds >= 2 * unit or (name != "min" and seconds >= unit):
            return f"{seconds / unit:.1f} {name}"
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms"


def as_printed(value: float) -> str:
    """A published figure with its own decimals, two at least."""
    text = f"{value:.3f}"
    return text[:-1] if text.endswith("0") else text


def _rounded(value: float, decimals: int) -> str:
    """What is zero but for rounding has no sign."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _grid(columns: tuple[Column, ...], rows: tuple[Row, ...], with_kind: bool = True) -> str:
    head = ["", *(["from"] if with_kind else []), *(column.title for column in columns)]
    lines = [head, ["---"] * (len(head) - len(columns)) + [_rule(column) for column in columns]]
    for row in rows:
        kind = [row.kind] if with_kind else []
        lines.append([row.label, *kind, *(cell(row, column) for column in columns)])
    return "".join(f"| {' | '.join(map(_escaped, line))} |\n" for line in lines)


def _rule(column: Column) -> str:
    return "---" if column.format == "text" else "---:"


def _escaped(text: str) -> str:
    """What Markdown would take for its own signs; POMO* would begin a word in italics."""
    return "".join(f"\\{letter}" if letter in "*_|<" else letter for letter in text)


def _known(row: Row, column: Column) -> bool:
    value = row.values.get(column.key)
    if isinstance(value, tuple):
        return not any(map(math.isnan, value))
    return value not in (None, "") and not (isinstance(value, float) and math.isnan(value))


def _raw(row: Row, columns: Iterable[Column]) -> dict[str, str]:
    raw = {}
    for column in columns:
        value = row.values.get(column.key)
        if not _known(row, column):
            continue
        if isinstance(value, tuple):
            raw |= {f"{column.key}_low": _full(value[0]), f"{column.key}_high": _full(value[1])}
        else:
            raw[column.key] = value if isinstance(value, str) else _full(value)
    return raw


def _full(value: float | None) -> str:
    """Ten digits: what remains of a sum is the order in which it was added up."""
    return f"{value:.10g}"
