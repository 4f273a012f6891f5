"""From any tours to the nearest that no move improves, many in one call: Python's lock is not asked for in between.

A tour with a few late stops keeps the order of the others, since stops hurry one by one at first. Where that is not
enough, all stops go part of the way to the places that their deadlines give them, about the shortest part that will do.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.descent import Queue, descend, push, queue_for
from fairway.kernels.moves.order import by_deadline
from fairway.kernels.moves.rng import Random
from fairway.kernels.moves.search_model import SearchModel
from fairway.kernels.moves.swap import copy
from fairway.kernels.moves.time_warp import (
    NEXT,
    SETTLED,
    STRENGTH,
    Late,
    late_tour,
    lateness,
    repair_lateness,
)
from fairway.kernels.moves.tour_state import TourState, refresh, tour_state_of

PASSES = 100
"""Times that each stop of a tour that is not feasible may move, where nothing quicker helps."""
FIRST = 2
"""Of them, before all stops go part of the way."""
WHOLE = 256
"""Parts of the way to the order of deadlines."""
WITHOUT_END = 2**62


class Room(NamedTuple):
    """What settling a tour needs, one tour after the other."""

    late: Late
    tour_state: TourState
    queue: Queue
    random: Random
    by_deadline: UInt[np.ndarray, " V"]
    due: Int[np.ndarray, " V"]
    """The position of each node by its deadline."""
    keys: Int[np.ndarray, " V"]


def room_for(model: SearchModel) -> Room:
    """For the tours of one instance."""
    ranked = by_deadline(model)
    nodes = len(ranked)
    return Room(
        late_tour(ranked),
        tour_state_of(model, ranked),
        queue_for(nodes),
        np.ones(1, np.uint64),
        ranked,
        np.argsort(ranked),
        np.empty(nodes, np.int64),
    )


@bare
def descend_all(
    model: SearchModel,
    tours: UInt[np.ndarray, "P V"],
    chances: UInt[np.ndarray, " P"],
    margin: float,
    room: Room,
) -> None:
    """Each tour, the depot at both ends, in place; one that cannot be made feasible is at least less late.

    `chances` are states of generators, and `margin` is the least share of its length by which a move shortens a tour.
    """
    for p in range(len(tours)):
        room.random[0] = chances[p]
        if _in_time(model, tours[p], room):
            _shorten(model, tours[p], margin, room)


@inner
def _in_time(model: SearchModel, node: UInt[np.ndarray, " V"], room: Room) -> bool:
    """Make a tour feasible, or the least late that is found; whether it is feasible."""
    late, total = room.late, lateness(model, node)
    for at in range(len(node)):
        late.node[at] = late.kept[at] = node[at]
    late.state[NEXT], late.state[SETTLED], late.state[STRENGTH] = 1, 0, 0
    for number in range(PASSES):
        if total <= 0:
            break
        if number == FIRST and _hasten(model, late.kept, room):
            total = 0.0
        else:
            total = repair_lateness(model, late, room.random, len(node) - 2)
    copy(late.kept, node, ZERO, len(node) - 1)
    return total <= 0


@inner
def _hasten(model: SearchModel, node: UInt[np.ndarray, " V"], room: Room) -> bool:
    """Move all stops the same part of the way to the order of deadlines, about the least that makes the tour feasible.

    About, because halving takes it that what is further on the way is no later.
    """
    if lateness(model, room.by_deadline) > 0:
        return False
    late, punctual = 0, WHOLE
    while punctual - late > 1:
        part = (late + punctual) // 2
        if _part_of_the_way(model, node, part, room) > 0:
            late = part
        else:
            punctual = part
    _part_of_the_way(model, node, punctual, room)
    copy(room.late.node, node, ZERO, len(node) - 1)
    return True


@inner
def _part_of_the_way(
    model: SearchModel, node: UInt[np.ndarray, " V"], part: int, room: Room
) -> float:
    """How late the tour is that has every stop that far on its way; it is left in `room.late.node`."""
    keys, nodes, tour = room.keys, len(node), room.late.node
    for at in range(nodes):
        due = room.due[node[at]]
        keys[at] = ((WHOLE - part) * at + part * due) * nodes + due
    _sort(keys)
    for at in range(nodes):
        tour[at] = room.by_deadline[keys[at] % nodes]
    return lateness(model, tour)


@inner
def _sort(keys: Int[np.ndarray, " V"]) -> None:
    """By ever smaller steps (Shell), which needs no memory."""
    step = len(keys) // 2
    while step > 0:
        for at in range(step, len(keys)):
            key, to = keys[at], at
            while to >= step and keys[to - step] > key:
                keys[to] = keys[to - step]
                to -= step
            keys[to] = key
        step = 1 if step == 2 else step * 5 // 11


@inner
def _shorten(model: SearchModel, node: UInt[np.ndarray, " V"], margin: float, room: Room) -> None:
    """Descend from a feasible tour, in place."""
    tour_state = room.tour_state
    copy(node, tour_state.node, ZERO, len(node) - 1)
    refresh(model, tour_state, 0, len(node) - 1)
    for at in range(len(node)):
        push(room.queue, node[at])
    least = margin * max(tour_state.length[0, len(node) - 1], 1.0)
    descend(model, tour_state, room.queue, (least, False), WITHOUT_END)
    copy(tour_state.node, node, ZERO, len(node) - 1)
