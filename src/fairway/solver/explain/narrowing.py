"""Conflicts of an instance with any constraints: the fewest stops that were found, and the limits that take part."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from fairway import clock
from fairway.judge import Rejection
from fairway.problems.instance import Instance
from fairway.solver.explain.conflict import colliding_pairs
from fairway.solver.explain.conflict import plain_reason as classic_reason
from fairway.solver.explain.feasibility import decide, share
from fairway.solver.explain.limits import Limit, clauses, limits_of, without
from fairway.solver.explain.plain import alone, obstacles, required, with_needs
from fairway.solver.explain.trivial import Conflict, hull, listed, subset

LONGEST_PROOF, PART = 2.0, 0.15
"""Seconds that a single question may take, and of the time that is left the part."""
GROWING = (2, 3, 4, 6, 8, 10, 12)
"""Stops around one that does not fit which are looked at together, until they are proved to collide."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Named:
    """A conflict, and the limits that cannot all be kept."""

    conflict: Conflict
    limits: tuple[Limit, ...]


def named_conflicts(
    instance: Instance, attempt: Rejection | None, until: float, *, impossible: bool = False
) -> list[Named]:
    """All conflicts that were found, no stop in two of them, each proved by itself; none where nothing is known.

    Args:
        instance: What is asked for.
        attempt: A tour that leaves out stops which it must serve: those are suspected first.
        until: When to end, by `clock.now`.
        impossible: Whether it is known that there is no tour.
    """
    found = []
    for conflict in plain_conflicts(instance, until):
        found.append(_named(instance, conflict, share(0.5, until)))
    while not any(alone(instance, each.conflict) for each in found):
        stops = _next(instance, found, attempt, share(0.7, until), impossible=impossible)
        if not stops:
            break
        found.append(_named(instance, Conflict(tuple(sorted(stops)), ""), share(0.5, until)))
    return found


def plain_reason(instance: Instance, until: float) -> str:
    """Why there is no tour, in a sentence that is found by then by `clock.now`."""
    if instance.classic:
        return classic_reason(instance, until)
    found = next(plain_conflicts(instance, until), None)
    if found is None:
        stops = _next(instance, (), None, share(0.7, until), impossible=True)
        found = Conflict(tuple(sorted(stops)), "")
    return _named(instance, found, until).conflict.why


def plain_conflicts(instance: Instance, until: float) -> Iterator[Conflict]:
    """Those that can be seen without a search; two stops of which neither can come first have no words yet."""
    seen = []
    for found in obstacles(instance):
        seen += found.stops
        yield found
        if alone(instance, found):
            return
    optional = set(range(1, instance.nodes)) - set(required(instance))
    for pair in colliding_pairs(instance, [*seen, *optional], until):
        stops = with_needs(instance, Conflict(pair, "")).stops
        if not set(stops) & set(seen):
            seen += stops
            yield Conflict(stops, "")


def collide(instance: Instance, stops: Collection[int], until: float) -> bool:
    """Whether it is proved in time that these stops cannot be served together, whatever becomes of the others."""
    until = min(until, clock.now() + LONGEST_PROOF, share(PART, until))
    chosen = {*stops, *([instance.end] if instance.end else [])}
    seen = obstacles(instance) if instance.load == "signed" or len(chosen) == 0 else ()
    if any(set(each.stops) <= chosen for each in seen):
        return True
    inner = [stop for stop in stops if stop != instance.end]
    small = subset(instance, inner, until) if chosen else None
    return small is not None and decide(small, until).impossible


def narrowed(
    items: Sequence[Item], still: Callable[[list[Item]], bool], until: float
) -> list[Item]:
    """What is left when nothing more can be left out: first halves, then quarters, at last single ones."""
    kept, size = list(items), max(len(items) // 2, 1)
    while size > 0 and kept:
        at = 0
        while at < len(kept) and clock.now() < until:
            fewer = kept[:at] + kept[at + size :]
            if still(fewer):
                kept = fewer
            else:
                at += size
        size //= 2
    return kept


def _next(
    instance: Instance,
    found: Sequence[Named],
    attempt: Rejection | None,
    until: float,
    *,
    impossible: bool,
) -> list[int]:
    """The stops of one more conflict, apart from those that are named; empty where none is found."""
    named = set(chain(*(each.conflict.stops for each in found)))
    rest = [stop for stop in required(instance) if stop not in named and stop != instance.end]

    def still(stops: list[int]) -> bool:
        return collide(instance, stops, until)

    _, last = hull(instance)
    early = sorted(rest, key=lambda stop: last[stop])
    if not still(rest):
        if impossible and not found:
            # Stops that may be left out stand in the way of a shorter proof.
            others = [stop for stop in range(1, instance.nodes) if stop not in rest]
            return narrowed(
                [*(stop for stop in others if stop != instance.end), *rest], still, until
            )
        early = sorted(_grown(instance, rest, attempt, until), key=lambda stop: last[stop])
        if not early:
            return []
    sets = [narrowed(order, still, share(0.5, until)) for order in (early, early[::-1])]
    return min(sets, key=len) or ([instance.end] if instance.end else [])


def _grown(
    instance: Instance, rest: Sequence[int], attempt: Rejection | None, until: float
) -> list[int]:
    """Stops that collide around one that an attempt leaves out; empty where none are found."""
    violations = [] if attempt is None else attempt.violations
    suspects = [each.node for each in violations if each.rule == "missing" and each.node in rest]
    linked = {*instance.before, *instance.pairs}
    opens, last = hull(instance)
    for size in GROWING:
        for suspect in suspects:

            def distance(stop: int, suspect: int = suspect) -> tuple[bool, float]:
                apart = {(stop, suspect), (suspect, stop)} & linked
                between = max(opens[stop] - last[suspect], opens[suspect] - last[stop], 0.0)
                return not apart, between + abs(last[stop] - last[suspect]) / 1e3

            near = sorted(set(rest) - {suspect}, key=distance)[: size - 1]
            if clock.now() < until and collide(instance, [suspect, *near], until):
                return [suspect, *near]
    return []


def _named(instance: Instance, conflict: Conflict, until: float) -> Named:
    """The conflict with its limits, and with words where it has none."""
    limits = limits_of(instance, conflict.stops)

    def still(kept: list[Limit]) -> bool:
        return collide(without(instance, set(limits) - set(kept)), conflict.stops, until)

    least = narrowed(limits, still, until) if limits else []
    why = conflict.why or _words(instance, conflict.stops, least)
    return Named(Conflict(conflict.stops, why), tuple(least))


def _words(instance: Instance, stops: tuple[int, ...], limits: Sequence[Limit]) -> str:
    who, together = f"stop{'s' * (len(stops) > 1)} {listed(instance, stops)}", len(stops) > 1
    said = clauses(instance, stops, limits)
    what = f"{who} cannot be served{' together' * together}"
    if not said:
        return what
    return (
        f"{what}: {', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else f"{what}: {said[0]}"
    )
