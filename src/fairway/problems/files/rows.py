"""The rows of a table of stops, and what the stops in them are called."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fairway.problems.files.cells import dated, spoken
from fairway.problems.files.columns import Header
from fairway.problems.files.text import Unreadable, shortened

TIMED = ("open", "close", "latest", "windows")
"""The columns of times."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, with the line on which each of them ends."""

    header: Header
    rows: list[list[str]]
    lines: list[int]
    comma: bool = False
    """Whether a comma may stand for the decimal point."""

    def cells(self, column: str) -> list[tuple[str, int]]:
        """The text in every row, with its line; none where there is no such column."""
        if column not in self.header.known:
            return []
        at = self.header.known[column]
        cells = [(row[at].strip(), line) for row, line in zip(self.rows, self.lines, strict=True)]
        return [(spoken(dated(*each)), each[1]) for each in cells] if column in TIMED else cells

    def filled(self, column: str) -> list[tuple[str, int]]:
        """The same, where every cell must have something in it."""
        cells = self.cells(column)
        for cell, line in cells:
            if not cell:
                last = "; leave out a last row of sums" if line == self.lines[-1] else ""
                raise Unreadable(
                    f"column {column!r} is blank; expected a value in every row, but for breaks, whose 'kind' is break"
                    f"{last}",
                    line,
                )
        return cells

    def chosen(self, order: Sequence[int]) -> "Table":
        """Some of the rows, in this order."""
        rows, lines = [self.rows[at] for at in order], [self.lines[at] for at in order]
        return Table(self.header, rows, lines, self.comma)


def names_of(table: Table) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, dict[str, int]]:
    """What stops are called, their ids where these differ, and the nodes by either."""
    main = "name" if "name" in table.header.known else "id"
    ids = table.filled("id") if "id" in table.header.known else []
    given = table.filled(main)
    _check_distinct(ids or given, "id" if ids else main)
    texts = [cell for cell, _ in given]
    if main == "name" and ids:
        counted = Counter(texts)
        texts = [
            f"{text} ({each})" if counted[text] > 1 else text
            for text, (each, _) in zip(texts, ids, strict=True)
        ]
    _check_distinct(list(zip(texts, table.lines, strict=True)), main)
    known = {text: node for node, text in enumerate(texts)}
    known |= {text: node for node, (text, _) in enumerate(ids)}
    numbered = main == "id" and texts == list(map(str, range(len(texts))))
    both = tuple(text for text, _ in ids) if main == "name" and ids else None
    return None if numbered else tuple(texts), both, known


def _check_distinct(cells: Sequence[tuple[str, int]], column: str) -> None:
    seen: dict[str, int] = {}
    for cell, line in cells:
        if (first := seen.setdefault(cell, line)) != line:
            if cell == cells[0][0] and line == cells[-1][1]:
                remedy = "leave this row out if it is the way back, which is there by itself"
            else:
                other = ", or give a column 'id'" if column == "name" else ""
                remedy = f"expected a {column} of its own for each row{other}"
            raise Unreadable(
                f"the {column} {shortened(cell)} is also on line {first}; {remedy}", line
            )
