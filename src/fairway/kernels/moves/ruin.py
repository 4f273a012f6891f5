"""Ruin and recreate: strings of stops around one place leave the tour and come back one by one where they cost least.

After Slack Induction by String Removals (Christiaens and Vanden Berghe, 2020), for the one tour that there is here. The
strings are close to each other on the map, not in the tour: that is what takes a stop from one pass over an area
to another, where swaps of neighbouring blocks find no way.
"""

import math

import numpy as np
from jaxtyping import UInt

from fairway import clock
from fairway.kernels.compiling import ONE, ZERO, bare, inner
from fairway.kernels.moves.berths import put_back
from fairway.kernels.moves.rng import Random, uniform
from fairway.kernels.moves.search_model import SearchModel, needed_by, served_at
from fairway.kernels.moves.site import BLINK, InsertionBuffer, insert_node, insertion_buffer
from fairway.kernels.moves.tour_state import TourState

STRINGS = 2
"""The most strings that are taken out at once."""
LONGEST, GROWTH = 16, 0.73
"""Stops of the longest string; with windows, in a large tour, so many times its nodes to the power of two thirds."""
BY_CHANCE = 0.3
"""How often stops come back in any order; else in that of their limits, which seldom leaves one without a place."""
TOGETHER = 64
"""Stops of a first tour between two looks at the clock: two milliseconds at 2,000 nodes."""


def inserted(
    model: SearchModel, order: UInt[np.ndarray, " V"], random: Random, until: float = math.inf
) -> UInt[np.ndarray, " V"] | None:
    """A first tour: all stops put in one by one, in this order; None where one finds no place, or time runs out."""
    site, stops = insertion_buffer(len(order)), len(order) - 2
    site.node[1] = len(order) - 1
    site.out[:stops] = order[1:-1]
    fill(model, site, 2, 0, random)
    for first in range(0, stops, TOGETHER):
        late, last = first > 0 and clock.now() >= until, min(first + TOGETHER, stops)
        if late or not put_in(model, site, 2 + first, first, last, random):
            return None
    return site.node if fill(model, site, len(order), 0, random) else None


@inner
def rebuild(model: SearchModel, state: TourState, site: InsertionBuffer, random: Random) -> int:
    """Lay another tour out in `site.node`: how many stops, the first in `site.out`, were moved; 0 if it is none."""
    count = _take_out(model, state, site, random)
    by_chance = uniform(random) < BY_CHANCE
    _put_in_order(model, site, count, by_chance and not model.by_set, random)
    standing = _clear(state, site, count)
    if model.by_set:
        return count if put_back(model, site, standing, count, by_chance, random) else 0
    return count if fill(model, site, standing, count, random) else 0


@bare
def fill(
    model: SearchModel, site: InsertionBuffer, standing: int, count: int, random: Random
) -> bool:
    """Put the first stops that are out into the nodes that stand; whether all found a place and the tour is in time.

    Where the way through a stop is quicker than the way past it, what stands may be late until the stop is back.
    """
    _work_out(model, site, standing)
    in_time = put_in(model, site, standing, ZERO, count, random)
    for at in range(standing + count if in_time else ZERO):
        in_time &= site.start[at] <= site.latest[at]
    return in_time


@bare
def put_in(
    model: SearchModel, site: InsertionBuffer, standing: int, first: int, last: int, random: Random
) -> bool:
    """Put some of the stops that are out into the nodes that stand, with resources that are known; whether all fit."""
    for number in range(first, last):
        stop = site.out[number]
        where = _cheapest_place(model, site, stop, standing, random)
        if where == 0:
            return False
        _insert(model, site, stop, where, standing)
        standing += 1
    return True


@inner
def _take_out(model: SearchModel, state: TourState, site: InsertionBuffer, random: Random) -> int:
    """Choose strings that contain a stop or the nearest ones to it; how many stops they have."""
    stops, count = len(state.node) - 2, 0
    strings = 1 + int(uniform(random) * STRINGS)
    seed = 1 + int(uniform(random) * stops)
    near, grown = model.near[seed], int(GROWTH * len(state.node) ** (2 / 3))
    longest = LONGEST if model.by_set else max(LONGEST, grown)
    for turn in range(-1, len(near)):
        stop = seed if turn < 0 else near[turn]
        if site.missing[stop]:
            continue
        length = 1 + int(uniform(random) * min(longest, stops))
        first = max(1, state.place[stop] - int(uniform(random) * length))
        for at in range(first, min(first + length, stops + 1)):
            node = state.node[at]
            if not site.missing[node]:
                site.missing[node] = True
                site.out[count] = node
                count += 1
        strings -= 1
        if strings == 0:
            break
    return count


@inner
def _put_in_order(
    model: SearchModel, site: InsertionBuffer, count: int, by_chance: bool, random: Random
) -> None:
    """Sort the stops that are out, by their limits or by chance; insertion sort, for they are few."""
    out, rank = site.out, site.rank
    for number in range(count):
        stop = out[number]
        key = uniform(random) if by_chance else model.closes[stop]
        at = number
        while at > 0 and rank[at - 1] > key:
            rank[at], out[at] = rank[at - 1], out[at - 1]
            at -= 1
        rank[at], out[at] = key, stop


@inner
def _clear(state: TourState, site: InsertionBuffer, count: int) -> int:
    """Lay out what is left of the tour; how many nodes that is."""
    standing = ZERO
    for at in range(len(state.node)):
        if not site.missing[state.node[at]]:
            site.node[standing] = state.node[at]
            standing += 1
    for number in range(count):
        site.missing[site.out[number]] = False
    return standing


@inner
def _work_out(model: SearchModel, site: InsertionBuffer, standing: int) -> None:
    """The resources of the nodes that stand."""
    node, start, latest = site.node, site.start, site.latest
    start[0] = model.opens[0]
    for at in range(1, standing):
        site.leg[at] = model.cost[node[at - 1], node[at]]
        start[at] = served_at(model, start[at - 1], node[at - 1], node[at])
    last = standing - 1
    latest[last] = model.closes[node[last]]
    for at in range(last - 1, -1, -1):
        latest[at] = needed_by(model, latest[at + 1], node[at], node[at + 1])


@inner
def _cheapest_place(
    model: SearchModel, site: InsertionBuffer, stop: int, standing: int, random: Random
) -> int:
    """The position at which the stop costs least and all stay in time; 0 if there is none."""
    opens, closes = model.opens[stop], model.closes[stop]
    first = _first_after(site, opens, standing)
    least, where, here = np.inf, 0, site.node[first - 1]
    for at in range(first, standing):
        there = site.node[at]
        if site.start[at - 1] > closes:
            break
        more = model.cost_to[stop, here] + model.cost[stop, there] - site.leg[at]
        if more < least:
            resource = site.start[at - 1] + model.increment_to[stop, here]
            if (
                resource <= closes
                and max(resource, opens) + model.increment[stop, there] <= site.latest[at]
                and uniform(random) >= BLINK
            ):
                least, where = more, at
        here = there
    return where


@inner
def _first_after(site: InsertionBuffer, opens: float, standing: int) -> int:
    """The first position that may be reached after this time, since the latest times only grow along a tour."""
    first, last = ONE, standing + ZERO
    while first < last:
        middle = (first + last) >> 1
        if site.latest[middle] < opens:
            first = middle + 1
        else:
            last = middle
    return first


@inner
def _insert(
    model: SearchModel, site: InsertionBuffer, stop: int, where: int, standing: int
) -> None:
    """Put the stop there, and bring the resources up to date as far as they change."""
    node, leg, start, latest = site.node, site.leg, site.start, site.latest
    for at in range(standing - 1, where - 1, -1):
        node[at + 1], leg[at + 1] = node[at], leg[at]
        start[at + 1], latest[at + 1] = start[at], latest[at]
    insert_node(model, site, stop, where)
    for at in range(where, standing + 1):
        resource = served_at(model, start[at - 1], node[at - 1], node[at])
        if at > where and resource == start[at]:
            break
        start[at] = resource
    for at in range(where, -1, -1):
        resource = needed_by(model, latest[at + 1], node[at], node[at + 1])
        if at < where and resource == latest[at]:
            break
        latest[at] = resource
