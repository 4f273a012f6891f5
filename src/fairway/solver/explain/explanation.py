"""Why there is no tour: which stops collide, by how much, and which changes would help."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fairway import clock
from fairway.errors import InvalidRequest
from fairway.judge import Rejection, Solution
from fairway.problems.instance import Instance
from fairway.solver.explain.change import least_repair, least_repairs
from fairway.solver.explain.conflict import conflicts_of, plain_conflicts
from fairway.solver.explain.feasibility import decide, least_late, nearest, share
from fairway.solver.explain.narrowing import Named, named_conflicts
from fairway.solver.explain.relaxation import Repair, repair_of, repairs_of
from fairway.solver.explain.trivial import Conflict
from fairway.solver.request import checked_seconds

SPENT = 0.95
"""Of the seconds, what is planned for: a last step may take longer than there is time."""
DECIDING, NAMING, ATTEMPT = 0.4, 0.6, 0.3
"""Of the time, what may go into the question itself; of what is left, into conflicts, and then into the attempt."""
UNKNOWN = "no tour was found, and none proved impossible, in the time"
NO_ORDER = "no order of the stops keeps every constraint"
MOST_NAMED = 10
"""Conflicts that are told in words; `Explanation.conflicts` has all."""


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """What stands in the way of a tour, or the tour that shows that nothing does; `print` it to read it."""

    status: Literal["feasible", "infeasible", "unknown"]
    why: str
    """In a sentence."""
    stops: tuple[int, ...] = ()
    """Where there is no tour: stops that cannot be served together, even if all others are left out."""
    repair: Repair | None = None
    """The smallest change of a single window or draft that was found to make a tour possible."""
    advice: str = ""
    """The repair, or those of all conflicts, in a sentence."""
    solution: Solution | None = None
    """Where there is a tour: the one that was found."""
    attempt: Rejection | None = None
    """Where no tour was found: the order with the least total violation, with every violation."""
    conflicts: tuple[Conflict, ...] = ()
    """Where there is no tour: all such sets of stops that were found, no stop in two of them, the first one `stops`."""
    repairs: tuple[Repair | None, ...] = ()
    """For each of several conflicts the smallest change that ends it, all of which are needed."""
    end: int | None = 0
    """Where tours end."""

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.why}", self.advice]
        if self.solution is not None:
            lines.append(f"tour: {self._route(self.solution.tour)}")
        if self.attempt is not None:
            what = "least late" if self.attempt.schedule is not None else "serves most"
            lines.append(f"{what}: {self._route(self.attempt.tour)}")
            lines += [f"- {violation.why}" for violation in self.attempt.violations]
        return "\n".join(line for line in lines if line)

    def _route(self, tour: Sequence[int]) -> str:
        return " > ".join(map(str, (0, *tour, *(() if self.end is None else (self.end,)))))


def explain(instance: Instance, seconds: float = 10.0) -> Explanation:
    """Say why an instance has no tour: the stops that collide, and the smallest change of one limit that would help.

    Where several sets of stops collide that have nothing to do with each other, each of them is named with its own
    change. An instance that has a tour gets it, not the best one; any other gets the least late order too.

    Args:
        instance: Any instance.
        seconds: In all; most explanations take a fraction of a second.
    """
    if not isinstance(instance, Instance):
        raise InvalidRequest("explain takes one instance at a time; index a set to get one")
    seconds = checked_seconds(seconds)
    if not instance.classic:
        return _explained_any(instance, seconds)
    began = clock.now()
    until, deciding = began + SPENT * seconds, began + DECIDING * seconds
    plain = tuple(plain_conflicts(instance, deciding))
    decision = None if plain else decide(instance, deciding)
    if decision is None or decision.impossible:
        return _explained(instance, plain, until)
    known = [] if decision.attempt is None else [decision.attempt.tour]
    found = decision.solution or least_late(instance, until, known)
    if isinstance(found, Solution):
        return _shown(found)
    return Explanation("unknown", UNKNOWN, attempt=found)


def _explained_any(instance: Instance, seconds: float) -> Explanation:
    """Of an instance with any constraints."""
    began = clock.now()
    until, deciding = began + SPENT * seconds, began + DECIDING * seconds
    decision = decide(instance, deciding)
    if decision.solution is not None:
        return replace(_shown(decision.solution), end=instance.end)
    conflicts = named_conflicts(
        instance, decision.attempt, share(NAMING, until), impossible=decision.impossible
    )
    attempt = decision.attempt or nearest(instance, share(ATTEMPT, until))
    if isinstance(attempt, Solution):  # the judge has the last word, however small its tolerance
        return replace(_shown(attempt), end=instance.end)
    if not conflicts:
        status = "infeasible" if decision.impossible else "unknown"
        why = NO_ORDER if decision.impossible else UNKNOWN
        return Explanation(status, why, attempt=attempt, end=instance.end)
    return replace(_named(instance, conflicts, until), attempt=attempt, end=instance.end)


def _named(instance: Instance, conflicts: Sequence[Named], until: float) -> Explanation:
    """Conflicts with what would end them."""
    if len(conflicts) == 1:
        repair, repairs = least_repair(instance, conflicts[0], until), ()
    else:
        repairs = tuple(least_repairs(instance, conflicts, until))
        repair = repairs[0] if repairs.count(repairs[0]) == len(repairs) else None
    sets = tuple(each.conflict for each in conflicts)
    advice = _advice(instance, (repair,) if repair else repairs)
    return Explanation(
        "infeasible", _reasons(sets), sets[0].stops, repair, advice, conflicts=sets, repairs=repairs
    )


def _shown(solution: Solution) -> Explanation:
    return Explanation("feasible", "there is a tour that keeps every limit", solution=solution)


def _explained(instance: Instance, plain: Sequence[Conflict], until: float) -> Explanation:
    """Of an instance without a tour."""
    conflicts = tuple(conflicts_of(instance, plain, share(NAMING, until)))
    attempt = least_late(instance, share(ATTEMPT, until))
    if isinstance(attempt, Solution):  # the judge has the last word, however small its tolerance
        return _shown(attempt)
    if len(conflicts) == 1:
        repair, repairs = repair_of(instance, conflicts[0].stops, until), ()
    else:
        repairs = tuple(repairs_of(instance, [conflict.stops for conflict in conflicts], until))
        repair = repairs[0] if repairs.count(repairs[0]) == len(repairs) else None
    return Explanation(
        "infeasible",
        _reasons(conflicts),
        conflicts[0].stops,
        repair,
        _advice(instance, (repair,) if repair else repairs),
        attempt=attempt,
        conflicts=conflicts,
        repairs=repairs,
    )


def _reasons(conflicts: Sequence[Conflict]) -> str:
    """Why there is no tour."""
    if len(conflicts) == 1:
        return conflicts[0].why
    told = [f"({number}) {each.why}" for number, each in enumerate(conflicts[:MOST_NAMED], 1)]
    more = ["..."] if len(conflicts) > MOST_NAMED else []
    return f"{len(conflicts)} independent conflicts: " + "; ".join((*told, *more))


def _advice(instance: Instance, repairs: Sequence[Repair | None]) -> str:
    """What would help, as far as it is known."""
    changed = {
        (repair.node, repair.limit, repair.window): repair
        for repair in repairs
        if repair is not None
    }
    found = list(changed.values())
    if len(repairs) > 1:  # what the change for another conflict has ended needs none of its own
        found = [each for each in found if f"{each.after:.8g}" != f"{each.before:.8g}"]
    if not found:
        return ""
    words = [repair.words(instance) for repair in found[:MOST_NAMED]]
    words += [f"{len(found) - MOST_NAMED} more limits gave way"] if len(found) > MOST_NAMED else []
    proved = all(repair.smallest for repair in found)
    if len(repairs) == 1:
        rank = "the smallest change of a single limit" if proved else "the smallest found"
        return f"there would be a tour if {words[0]}, {rank}"
    rank = "the smallest change" if proved else "the smallest change found"
    said = _listed(words)
    if found[0].solution is not None:
        return f"there would be a tour if {said}: {rank} for each conflict, and all are needed"
    without = [f"({number})" for number, repair in enumerate(repairs, 1) if repair is None]
    told = (
        f"each conflict needs a change of its own, and would end by itself if {said}: {rank} for each, "
        "which may not be enough for all stops together"
    )
    return f"{told}; for {_listed(without)} no change of one number was found" if without else told


def _listed(words: Sequence[str]) -> str:
    """Several words in a sentence."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
