"""The answers of `solve` and `explain`: tables and sentences for people, JSON lines for programs."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from fairway.cli.show import tour_line, violation_lines
from fairway.judge import Rejection
from fairway.problems.instance import Instance
from fairway.solver.explain.explanation import Explanation
from fairway.solver.explain.repair import Repair
from fairway.solver.results import Result, attempt_record, tour_record

STYLES = {
    "optimal": "bold green",
    "feasible": "green",
    "infeasible": "bold red",
    "unknown": "yellow",
}
Answered = tuple[str, Instance, Result]
"""What an instance is called, the instance, and its result."""


def result_table(answers: Iterable[Answered]) -> Table:
    """A row a result."""
    table = Table("instance", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("status", no_wrap=True)
    for column in ("cost", "gap", "makespan", "seconds"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("found by", no_wrap=True)
    for label, instance, result in answers:
        table.add_row(
            label,
            Text(result.status + ", interrupted" * result.interrupted, STYLES[result.status]),
            _number(result.cost),
            _percent(result.gap),
            _number(result.makespan) if instance.timed else "",
            f"{result.seconds:.3f}",
            result.method or "",
        )
    return table


def result_lines(label: str, instance: Instance, result: Result) -> list[Text]:
    """The tour in words, or why there is none."""
    if result.tour is not None:
        return [Text(label, style="bold"), tour_line(instance, result.tour)]
    lines = [Text.assemble((label, "bold"), f": {result.reason}")]
    if result.attempt is not None:
        lines += _attempt_lines(instance, result.attempt)
    return lines


def result_json(label: str, instance: Instance, result: Result) -> str:
    """One line for programs; what is not known, or not finite, is null."""
    return json.dumps({**_head(label, instance), **result.to_dict()}, allow_nan=False)


def explanation_lines(label: str, instance: Instance, explanation: Explanation) -> list[Text]:
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


def explanation_json(label: str, instance: Instance, explanation: Explanation) -> str:
    """One line for programs."""
    record = {
        **_head(label, instance),
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


def _head(label: str, instance: Instance) -> dict[str, Any]:
    return {"name": label, "problem": instance.problem, "nodes": instance.nodes}


def _repair(repair: Repair | None) -> dict[str, Any] | None:
    if repair is None:
        return None
    changed = {
        key: getattr(repair, key) for key in ("node", "limit", "before", "after", "smallest")
    }
    return {**changed, "tour": repair.solution and list(repair.solution.tour)}


def _attempt_lines(instance: Instance, attempt: Rejection) -> list[Text]:
    words = [Text(line) for line in violation_lines(attempt, most=5)]
    return [Text("  the least late order found:"), tour_line(instance, attempt.tour), *words]


def _number(value: float) -> str:
    return f"{value:.8g}" if math.isfinite(value) else ""


def _percent(gap: float) -> str:
    return f"{100 * gap:.2f} %" if math.isfinite(gap) else ""
