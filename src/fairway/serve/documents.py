"""The documents that are handed back, in plain values."""

import json
import math
from typing import Any

from fairway.judge import Rejection, Solution
from fairway.outputs.document import steps_record
from fairway.outputs.plan import name_of, plan_of
from fairway.outputs.words import standing
from fairway.problems.files import document
from fairway.problems.instance import Instance
from fairway.solver.explain.explanation import Explanation
from fairway.solver.explain.relaxation import Repair
from fairway.solver.explain.trivial import Conflict
from fairway.solver.relaxed import Relaxed
from fairway.solver.results import Result, relaxed_record

Document = dict[str, Any]
AMOUNTS = ("value", "cost", "makespan", "duration", "lateness")


def dumped(value: object) -> bytes:
    """A document on one line."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def result_document(instance: Instance, result: Result) -> Document:
    """What `fairway solve --json` prints, how good the plan is known to be, and the steps of a relaxed plan."""
    plan = None if result.solution is None else plan_of(instance, result.solution)
    head = {"name": instance.name, "problem": instance.problem, "nodes": instance.nodes}
    return {
        **head,
        **result.to_dict(),
        **steps_record(plan),
        "words": standing(result.status, result.gap),
        "relaxed": _relaxed(result.relaxed),
    }


def verdict_document(instance: Instance, judged: Solution | Rejection) -> Document:
    """What the judge says of a tour: its schedule wherever it can be followed, and every violation."""
    amounts = {key: _finite(getattr(judged, key, None)) for key in AMOUNTS}
    followed = judged.schedule is not None
    plan = plan_of(instance, judged) if followed else None
    violations = judged.violations if isinstance(judged, Rejection) else ()
    if isinstance(judged, Rejection) and plan is not None:
        amounts |= {"duration": plan.steps[-1].departure - plan.departure}
        amounts |= {"lateness": sum(step.late for step in plan.steps)}
    return {
        "feasible": isinstance(judged, Solution),
        "tour": list(judged.tour),
        **amounts,
        "unserved": _unserved(instance, judged),
        **steps_record(plan),
        "violations": [
            {
                "kind": each.rule,
                "node": each.node,
                "name": _name(instance, each.node),
                "amount": _finite(each.amount),
                "why": each.why,
            }
            for each in violations
        ],
    }


def explanation_document(instance: Instance, found: Explanation) -> Document:
    """Why there is no tour, and each change that would help with the instance as it is then."""
    repairs = [found.repair] if found.repair is not None else list(found.repairs)
    return {
        "status": found.status,
        "why": found.why,
        "advice": found.advice,
        "conflicts": [conflict_document(instance, each) for each in found.conflicts],
        "repairs": [_repair(instance, each) for each in repairs if each is not None],
        "tour": None if found.solution is None else list(found.solution.tour),
        "attempt": None if found.attempt is None else list(found.attempt.tour),
    }


def conflict_document(instance: Instance, conflict: Conflict) -> Document:
    """Stops that cannot be served together."""
    names = [name_of(instance, stop) for stop in conflict.stops]
    return {"stops": list(conflict.stops), "names": names, "why": conflict.why}


def instance_document(instance: Instance) -> Document:
    """An instance in our JSON format."""
    return json.loads(document.render(instance))


def _relaxed(relaxed: Relaxed | None) -> Document | None:
    if relaxed is None:
        return None
    steps = steps_record(plan_of(relaxed.instance, relaxed.solution))
    return {**(relaxed_record(relaxed) or {}), **steps}


def _repair(instance: Instance, repair: Repair) -> Document:
    return {
        "words": repair.words(instance),
        "node": repair.node,
        "field": repair.limit,
        "window": repair.window,
        "from": _finite(repair.before),
        "to": _finite(repair.after),
        "smallest": repair.smallest,
        "instance": instance_document(repair.applied(instance)),
    }


def _unserved(instance: Instance, judged: Solution | Rejection) -> list[int]:
    visited = {0, *judged.tour, instance.end}
    return [node for node in range(instance.nodes) if node not in visited]


def _name(instance: Instance, node: int) -> str:
    return name_of(instance, node) if 0 <= node < instance.nodes else str(node)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
