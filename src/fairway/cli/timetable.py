"""The schedule of a tour as a table for people: one row per step, broken limits marked."""

import math
from collections.abc import Sequence

import numpy as np
from rich.measure import Measurement
from rich.table import Table

from fairway.cli.show import WIDE, line, out, table
from fairway.judge import Rejection
from fairway.outputs import words
from fairway.outputs.plan import Plan, Step, has_times, name_of
from fairway.problems.instance import Instance

MARKS = {
    "late": "late",
    "late return": "late",
    "draft": "too deep",
    "capacity": "over capacity",
    "empty": "below nothing",
    "order": "out of order",
    "pair": "out of order",
}
"""What a broken rule is called in a row."""
DISPENSABLE = (">demand", ">draft", ">cost", ">wait", ">opens", "windows", ">closes", ">start")
"""The columns that a narrow terminal does without, in this order."""
WRAPPED = 16
"""Characters of the longest name, where there is too little room."""


def print_plan(plan: Plan) -> None:
    """The table of a plan, as wide as the terminal is, and when to leave."""
    heads, dropped = _heads(plan.instance), []
    droppable = [head for head in (*_further(plan.instance)[::-1], *DISPENSABLE) if head in heads]
    most = None if _width(plan_table(plan, heads)) <= out.width else WRAPPED
    while droppable and _width(plan_table(plan, heads, most)) > out.width:
        dropped.append(droppable.pop(0))
        heads.remove(dropped[-1])
    out.print(plan_table(plan, heads, most))
    if dropped:
        columns = ", ".join(head.removeprefix(">") for head in reversed(dropped))
        line(f"  without {columns}, for which the terminal is too narrow; --out plan.csv has all")
    if has_times(plan.instance):
        line(departure_line(plan))


def _width(shown: Table) -> int:
    """The width at which all of a table can be read."""
    return Measurement.get(out, out.options.update(width=10 * WIDE), shown).maximum


def _further(instance: Instance) -> list[str]:
    """The further columns of the user's file."""
    return [] if instance.source is None else list(instance.source.columns)


def departure_line(plan: Plan) -> str:
    """When the tour leaves, and how late it may without any change to how it ends."""
    leaves, latest = (words.time(plan.instance, t) for t in (plan.departure, plan.latest_departure))
    if isinstance(plan.judged, Rejection):
        return f"  leaves at {leaves}"
    if leaves == latest:
        return f"  leaves at {leaves}, the latest that changes nothing about cost, lateness and end"
    return f"  leaves at {leaves}; leaving as late as {latest} changes nothing about cost, lateness and end"


def plan_table(plan: Plan, heads: Sequence[str] | None = None, most: int | None = None) -> Table:
    """One row per step, then the stops left out; names of the user's own longer than `most` are wrapped."""
    heads = _heads(plan.instance) if heads is None else heads
    ports = _of_ports(plan.instance)
    shown = table("port" if ports else "stop", *heads, "")
    for head, column in zip(("", *heads), shown.columns, strict=False):
        if head in ("", *_further(plan.instance)):
            column.max_width = most
        else:
            column.no_wrap = True
    marks = _marks(plan)
    for step in plan.stops if ports else plan.steps:
        cells = {
            **_limits(plan.instance, step.node, step),
            **_times(plan, step),
            **_rest(plan, step),
        }
        note = marks.get(step.node, "") if step.kind != "start" else ""
        row = [cells.get(head.removeprefix(">"), "") for head in heads]
        shown.add_row(_called(plan, step), *row, note, style="red" if note else None)
    for node in plan.unserved:
        cells = _limits(plan.instance, node, None) | _given(plan.instance, node)
        row = [cells.get(head.removeprefix(">"), "") for head in heads]
        shown.add_row(name_of(plan.instance, node), *row, "left out", style="dim")
    return shown


def _of_ports(instance: Instance) -> bool:
    """Whether draft limits are all there is, so that nobody asks when a port is called at."""
    return instance.classic and not has_times(instance)


def _called(plan: Plan, step: Step) -> str:
    """The name of a row; of a refused tour with its number, as the violations call it."""
    numbered = isinstance(plan.judged, Rejection) and plan.instance.names and step.node is not None
    return f"{step.node} ({step.name})" if numbered else step.name


def _heads(instance: Instance) -> list[str]:
    """The columns that say something about this instance; those after > are aligned right."""
    source, heads = instance.source, []
    if has_times(instance):
        heads += ["windows"] if instance.windows else [">opens", ">closes"]
        heads += [">arrival", ">wait", ">start", ">departure"]
        heads += [">late"] if np.isfinite(instance.late).any() else []
    elif not _of_ports(instance):
        heads += [">arrival", ">departure"]
    if instance.laden:
        heads += [">demand", ">load"] + [">draft"] * bool(np.isfinite(instance.draft).any())
    heads += [">cost"] if instance.cost is not instance.travel else []
    if source is not None:
        heads += [f">{source.distance_unit}"] if source.distance_unit else []
    return heads + _further(instance)


def _limits(instance: Instance, node: int | None, step: Step | None) -> dict[str, str]:
    """What a row must keep."""
    if node is None:
        assert step is not None
        assert step.number is not None
        first, last, _ = instance.breaks[step.number]
        spans = ((first, last),)
    else:
        single = ((float(instance.opens[node]), float(instance.closes[node])),)
        spans = instance.windows.get(node, single)
    texts = [(words.time(instance, a), _closing(instance, b)) for a, b in spans]
    limits = {"opens": texts[0][0], "closes": texts[-1][1]}
    unlimited = spans == ((0.0, math.inf),)
    limits["windows"] = "" if unlimited else "; ".join(f"{a}-{b}" for a, b in texts)
    if node:
        deepest = float(instance.draft[node])
        limits["demand"] = words.number(float(instance.demand[node]))
        limits["draft"] = "" if math.isinf(deepest) else words.number(deepest)
    return limits


def _closing(instance: Instance, closes: float) -> str:
    return "" if math.isinf(closes) else words.time(instance, closes)


def _times(plan: Plan, step: Step) -> dict[str, str]:
    instance = plan.instance
    moments = {key: getattr(step, key) for key in ("arrival", "start", "departure")}
    if step.kind == "start":
        return {"departure": words.time(instance, step.departure)}
    shown = {key: words.time(instance, moment) for key, moment in moments.items()}
    if step.kind == "end" and step.node == 0:
        return {"arrival": shown["arrival"], "late": _span(instance, step.late)}
    return shown | {
        "wait": _span(instance, step.wait),
        "late": _span(instance, step.late),
    }


def _span(instance: Instance, value: float) -> str:
    """A stretch of time, and nothing for none."""
    return words.span(instance, value) if value else ""


def _rest(plan: Plan, step: Step) -> dict[str, str]:
    """Load, cost and distance so far, and what the user's file says further."""
    source = plan.instance.source
    found = {"load": words.number(step.load), "cost": words.number(step.cost)}
    if source is not None and step.distance is not None:
        found[source.distance_unit] = words.number(step.distance)
    return found | ({} if step.node is None else _given(plan.instance, step.node))


def _given(instance: Instance, node: int) -> dict[str, str]:
    columns = {} if instance.source is None else instance.source.columns
    return {name: texts[node] for name, texts in columns.items()}


def _marks(plan: Plan) -> dict[int | None, str]:
    """What is wrong at each node, in a word."""
    broken = plan.judged.violations if isinstance(plan.judged, Rejection) else ()
    return {each.node: MARKS[each.rule] for each in reversed(broken) if each.rule in MARKS}
