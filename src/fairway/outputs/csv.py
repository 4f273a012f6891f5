"""A plan as CSV: a row per step, then the stops left out, with all further columns of the user's file."""

import csv
import io
import re

from fairway.outputs import words
from fairway.outputs.plan import Plan, Step, name_of

COLUMNS = ("step", "name", "arrival", "wait", "start", "departure", "late", "load", "cost")
"""What every table has; `distance` and `id` follow where they are known."""
RUN = re.compile(r"[=+@\t\r-](?![\d.,:]+$)")
"""How a cell starts that a spreadsheet would run, plain numbers left out."""

CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What a terminal acts on instead of showing it, but for tabs and ends of lines."""


def render(plan: Plan) -> str:
    """The table of a plan, safe to open in a spreadsheet."""
    header = [*COLUMNS, *_further(plan)]
    rows = [[*_cells(plan, step), *_texts(plan, step.node, step)] for step in plan.steps]
    for node in plan.unserved:
        blanks = [""] * (len(COLUMNS) - 2)
        rows.append(["left out", name_of(plan.instance, node), *blanks, *_texts(plan, node, None)])
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        [safe(cell) for cell in row] for row in [header, *rows]
    )
    return file.getvalue()


def safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, since an apostrophe stands before it, and no terminal obeys."""
    return CONTROLS.sub("\ufffd", f"'{cell}" if RUN.match(cell) else cell)


def _cells(plan: Plan, step: Step) -> list[str]:
    instance = plan.instance
    moments = [words.time(instance, each) for each in (step.arrival, step.start, step.departure)]
    arrival, start, departure = moments
    return [
        step.kind,
        step.name,
        arrival,
        words.span(instance, step.wait),
        start,
        departure,
        words.span(instance, step.late),
        words.number(step.load) if instance.laden else "",
        words.number(step.cost),
    ]


def _further(plan: Plan) -> list[str]:
    """The heads of what only some plans have; a user's column that is called like one of ours is marked."""
    source, heads = plan.instance.source, []
    if source is None:
        return []
    heads += [f"distance ({source.distance_unit})"] if source.distance_unit else []
    heads += ["id"] if source.ids is not None else []
    taken = {*COLUMNS, *heads}
    return [*heads, *(f"{name} (given)" if name in taken else name for name in source.columns)]


def _texts(plan: Plan, node: int | None, step: Step | None) -> list[str]:
    """The cells under those heads."""
    source, cells = plan.instance.source, []
    if source is None:
        return []
    if source.distance_unit:
        known = None if step is None else step.distance
        cells.append("" if known is None else words.number(known))
    columns = [*([] if source.ids is None else [source.ids]), *source.columns.values()]
    return [*cells, *("" if node is None else texts[node] for texts in columns)]
