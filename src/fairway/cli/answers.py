"""The answers of `solve` and `explain`: tables and sentences for people, JSON lines for programs."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from fairway.cli.show import head, line, table, tour_line, violation_lines
from fairway.cli.timetable import print_plan
from fairway.judge import Rejection
from fairway.outputs.document import steps_record
from fairway.outputs.plan import has_times, name_of, plan_of
from fairway.outputs.words import standing, time
from fairway.problems.instance import Instance
from fairway.solver.relaxed import Relaxed
from fairway.solver.results import Result, attempt_record, tour_record

if TYPE_CHECKING:
    from fairway.solver.explain.explanation import Explanation
    from fairway.solver.explain.relaxation import Repair

STYLES = {
    "optimal": "bold green", "feasible": "green", "infeasible": "bold red", "unknown": "yellow"
}  # fmt: skip
MOST_GIVEN_UP = 10
"""Sentences that are printed of what a plan gives up; --json has them all."""
Answered = tuple[str, Instance, Result]
"""What an instance is called, the instance, and its result."""


def result_table(answers: Sequence[Answered]) -> Table:
    """One row per result, with what was minimised where that is not the cost alone."""
    priced = any(result.value not in (result.cost, result.makespan) for *_, result in answers)
    value = [">value"] if priced else []
    shown = table(
        "instance", "status", *value, ">cost", ">gap", ">makespan", ">seconds", "found by"
    )
    for column in shown.columns[1:]:
        column.no_wrap = True
    for label, instance, result in answers:
        status = result.status + ", interrupted" * result.interrupted
        values = [result.value] if priced else []
        values += [result.cost]
        costs = [f"{each:.8g}" if math.isfinite(each) else "" for each in values]
        makespan = _end(instance, result.makespan)
        gap = f"{100 * result.gap:.2f} %" if math.isfinite(result.gap) else ""
        found = *costs, gap, makespan, f"{result.seconds:.3f}", result.method or ""
        shown.add_row(label, Text(status, STYLES[result.status]), *found)
    return shown


def _end(instance: Instance, makespan: float) -> str:
    """When a tour ends, on the clock where times came in so."""
    if math.isinf(makespan) or not has_times(instance):
        return ""
    clocked = instance.source is not None and instance.source.clock is not None
    return time(instance, makespan) if clocked else f"{makespan:.8g}"


def print_result(label: str, instance: Instance, result: Result, *, scheduled: bool) -> None:
    """The tour in words, with its schedule if asked for, or why there is none."""
    if result.solution is None:
        line(Text.assemble((label, "bold"), f": {result.reason}"))
        if result.relaxed is not None:
            _print_relaxed(result.relaxed, scheduled=scheduled)
        elif result.attempt is not None:
            for words in _attempt_lines(instance, result.attempt):
                line(words)
        return
    known = standing(result.status, result.gap)
    line(Text.assemble((label, "bold"), "  ", (known, STYLES[result.status])))
    if scheduled:
        print_plan(plan_of(instance, result.solution))
    elif result.unserved:
        left = ", ".join(name_of(instance, node) for node in result.unserved)
        line(f"  left out: {left}")
    line(tour_line(instance, result.solution.tour))


def _print_relaxed(relaxed: Relaxed, *, scheduled: bool) -> None:
    """The plan that gives something up, and what."""
    line("  the best plan found that gives something up:")
    for words in relaxed.given_up[:MOST_GIVEN_UP]:
        line(f"  - {words}")
    if len(relaxed.given_up) > MOST_GIVEN_UP:
        line(f"  - and {len(relaxed.given_up) - MOST_GIVEN_UP} more")
    if scheduled:
        print_plan(plan_of(relaxed.instance, relaxed.solution))
    line(tour_line(relaxed.instance, relaxed.solution.tour))


def result_json(label: str, instance: Instance, result: Result) -> str:
    """One line for programs; what is not known, or not finite, is null."""
    plan = None if result.solution is None else plan_of(instance, result.solution)
    record = {**head(label, instance), **result.to_dict(), **steps_record(plan)}
    return json.dumps(record, allow_nan=False)


def explanation_lines(label: str, instance: Instance, explanation: "Explanation") -> list[Text]:
    """The explanation as people read it, by name where stops have names."""
    status = Text(explanation.status, style=STYLES[explanation.status])
    lines = [Text.assemble((label, "bold"), "  ", status), Text(f"  {explanation.why}")]
    if explanation.advice:
        lines.append(Text(f"  {explanation.advice}"))
    if explanation.solution is not None:
        lines.append(tour_line(instance, explanation.solution.tour))
    if explanation.attempt is not None:
        lines += _attempt_lines(instance, explanation.attempt)
    return lines


def explanation_json(label: str, instance: Instance, explanation: "Explanation") -> str:
    """One line for programs."""
    record = {
        **head(label, instance),
        "status": explanation.status,
        "why": explanation.why,
        "stops": list(explanation.stops),
        "repair": _repair(explanation.repair),
        "conflicts": [asdict(conflict) for conflict in explanation.conflicts],
        "repairs": [_repair(repair) for repair in explanation.repairs],
        "advice": explanation.advice,
        **tour_record(explanation.solution),
        "attempt": attempt_record(explanation.attempt),
    }
    return json.dumps(record, allow_nan=False)


def _repair(repair: "Repair | None") -> dict[str, Any] | None:
    if repair is None:
        return None
    keys = ("node", "limit", "window", "before", "after", "smallest")
    changed = {key: getattr(repair, key) for key in keys}
    return {**changed, "tour": repair.solution and list(repair.solution.tour)}


def _attempt_lines(instance: Instance, attempt: Rejection) -> list[Text]:
    words = [Text(line) for line in violation_lines(attempt, most=5)]
    what = "the least late order" if attempt.schedule is not None else "the tour that serves most"
    return [Text(f"  {what} found:"), tour_line(instance, attempt.tour), *words]
