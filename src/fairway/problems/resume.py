"""What is left of a plan in progress: a tour that starts here and now."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairway.errors import InvalidRequest
from fairway.problems.instance import PER_NODE, Instance
from fairway.problems.source import Source


def resumed(
    instance: Instance,
    visited: Sequence[int],
    at: int | None,
    time: float,
    aboard: float | None = None,
    rested: Sequence[int] = (),
) -> Instance:
    """The instance that is left once some stops have been visited; see `Instance.resume`."""
    done, end = _checked(instance, visited, at)
    here = (visited[-1] if len(visited) else 0) if at is None else at
    if not (isinstance(time, int | float) and math.isfinite(time)):
        raise InvalidRequest(f"time is {time!r}; expected when the vehicle can leave, a number")
    if here == 0 and not done:
        time = max(time, _opening(instance))
    ahead = _breaks_ahead(instance, time, rested)
    left = [stop for stop in range(1, instance.nodes) if stop not in done and stop != end]
    kept = [here, *left, *([] if end is None else [end])]
    if len(kept) == 1:
        raise InvalidRequest("every stop has been served, and the tour ends there: nothing is left")
    place = {node: number for number, node in enumerate(kept) if number > 0}
    columns = {column: getattr(instance, column)[kept] for column in PER_NODE}
    columns["opens"][0], columns["closes"][0] = time, math.inf
    for column in ("service", "demand", "loaded"):
        columns[column][0] = 0.0
    for pickup, delivery in instance.pairs:
        if pickup in done and delivery in place:
            columns["prize"][place[delivery]] = math.inf  # it is on board
    windows = {place[node]: spans for node, spans in instance.windows.items() if node in place}
    if end == 0:
        _return(instance, columns, windows, time)
    names = _names(instance)
    load, on_board = _load(instance, visited, aboard)
    source = instance.source
    return Instance(
        _between(instance.travel, kept),
        cost=None if instance.cost is instance.travel else _between(instance.cost, kept),
        windows=windows,
        capacity=instance.capacity,
        load=load,
        aboard=on_board,
        **columns,
        before=_left(instance.before, place),
        pairs=_left(instance.pairs, place),
        breaks=[instance.breaks[number] for number in ahead],
        end=None if end is None else len(kept) - 1,
        coordinates=None if instance.coordinates is None else instance.coordinates[kept],
        names=_distinct([names[node] for node in kept]),
        name=instance.name,
        source=None if source is None else _told(source.restricted(kept), instance, ahead),
    )


def _checked(
    instance: Instance, visited: Sequence[int], at: int | None
) -> tuple[set[int], int | None]:
    """The stops that are done, and where the tour ends."""
    for node in (*visited, *([] if at is None else [at])):
        if not 0 <= node < instance.nodes:
            raise InvalidRequest(f"there is no node {node}; expected 0 to {instance.nodes - 1}")
    done = set(visited)
    names = _names(instance)
    for pickup, delivery in instance.pairs:
        if delivery in done and pickup not in done:
            raise InvalidRequest(
                f"{names[delivery]} has been served and its pickup {names[pickup]} has not; expected the pickup among "
                "the stops visited"
            )
    if len(done) < len(visited) or done & {0, instance.end}:
        raise InvalidRequest(
            "the stops visited so far name one twice, the depot or the end; expected each stop once"
        )
    return done, instance.end


def _names(instance: Instance) -> tuple[str, ...]:
    return instance.names or tuple(map(str, range(instance.nodes)))


def _opening(instance: Instance) -> float:
    """When the tour may start."""
    spans = instance.windows.get(0)
    return spans[0][0] if spans else float(instance.opens[0])


def _breaks_ahead(instance: Instance, time: float, rested: Sequence[int]) -> list[int]:
    """The breaks that are neither taken nor over."""
    for number in rested:
        if not 0 <= number < len(instance.breaks):
            raise InvalidRequest(f"there is no break {number}; there are {len(instance.breaks)}")
    return [
        number
        for number, (_, last, _) in enumerate(instance.breaks)
        if last >= time and number not in rested
    ]


def _told(source: Source, instance: Instance, ahead: Sequence[int]) -> Source:
    """The same with the names and ids of the breaks ahead."""
    ids, names = (
        tuple(texts[number] for number in ahead) if len(texts) == len(instance.breaks) else ()
        for texts in (source.break_ids, source.break_names)
    )
    return replace(source, break_ids=ids, break_names=names)


def _between(matrix: np.ndarray, kept: list[int]) -> np.ndarray:
    """The legs between what is left; a stop at which the vehicle stands already is no way from it."""
    legs = matrix[np.ix_(kept, kept)].copy()
    for number, node in enumerate(kept[1:], 1):
        if node == kept[0]:
            legs[0, number] = 0.0
    return legs


def _return(
    instance: Instance,
    columns: dict[str, np.ndarray],
    windows: dict[int, tuple[tuple[float, float], ...]],
    time: float,
) -> None:
    """Let the last node be the depot as it is returned to: nobody waits or is served there."""
    closes = instance.windows.get(0, ((0.0, instance.closes[0]),))[-1][1]
    windows.pop(len(columns["opens"]) - 1, None)
    columns["closes"][-1], columns["opens"][-1] = closes, min(time, closes)
    columns["service"][-1], columns["draft"][-1] = 0.0, math.inf


def _load(instance: Instance, visited: Sequence[int], aboard: float | None) -> tuple[str, float]:
    """A load that has grown is one that starts with something on board; one that shrinks is what is still to come."""
    if instance.load == "shrinking":
        if aboard is not None:
            raise InvalidRequest(
                "aboard was given for a load that shrinks, which is what the stops left ask for"
            )
        return "shrinking", 0.0
    if not instance.laden:
        return instance.load, instance.aboard
    done = list(visited)
    start = instance.aboard if instance.load == "signed" else 0.0
    carried = start + float((instance.demand + instance.loaded)[done].sum())
    if not instance.loaded.any():
        return "signed", carried if aboard is None else aboard
    if aboard is not None:
        raise InvalidRequest(
            "aboard was given where cargo is loaded for stops, which is on board for those that are left"
        )
    if carried < 0:
        raise InvalidRequest(
            f"stops visited have taken off {-carried:.8g} of what is loaded for others, which are not visited yet"
        )
    return "signed", carried


def _left(pairs: Sequence[tuple[int, int]], place: dict[int, int]) -> list[tuple[int, int]]:
    return [(place[a], place[b]) for a, b in pairs if a in place and b in place]


def _distinct(names: list[str]) -> list[str]:
    """The same with the first one, where the vehicle is, told apart from a later one of the same name."""
    first = names[0]
    while first in names[1:]:
        first = f"{first} (now)"
    return [first, *names[1:]]
