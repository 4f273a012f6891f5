"""Loads: ports that are out come back one by one, and none is left without a place, since all that are out keep one.

A port that is out is planned behind the last port of the tour that is due no later, which leaves room for all if any
plan does (Jackson's rule with due dates that leave time for what follows). From there it goes to where it costs least
among the places that leave every other plan in place: what it passes on its way forward must bear its cargo on top.
"""

import numpy as np

from fairway.kernels.compiling import inner
from fairway.kernels.moves.rng import Random, uniform
from fairway.kernels.moves.search_model import SearchModel
from fairway.kernels.moves.site import BLINK, InsertionBuffer, insert_node


@inner
def reserve(model: SearchModel, site: InsertionBuffer, standing: int, count: int) -> None:
    """Plan the ports that are out, which stand in the order of their limits, and add up the loads."""
    node, after = site.node, site.after
    due, left = model.closes[node[standing - 1]], count - 1
    for at in range(standing - 2, -1, -1):
        due = min(due - model.increment[0, node[at + 1]], model.closes[node[at]])
        while left >= 0 and (at == 0 or model.closes[site.out[left]] >= due):
            after[left] = at
            left -= 1
    load, left = model.opens[0], 0
    for at in range(standing):
        if at > 0:
            load += model.increment[0, node[at]]
            site.leg[at] = model.cost[node[at - 1], node[at]]
        site.start[at] = load
        while left < count and after[left] == at:
            load += model.increment[0, site.out[left]]
            site.planned[left] = load
            left += 1


@inner
def put_back(
    model: SearchModel,
    site: InsertionBuffer,
    standing: int,
    count: int,
    by_chance: bool,
    random: Random,
) -> bool:
    """All ports that are out into the tour, in the order of their limits or in any; whether it keeps all limits."""
    reserve(model, site, standing, count)
    for number in range(count):
        site.turn[number] = number
    for number in range(count):
        if by_chance:
            other = number + int(uniform(random) * (count - number))
            site.turn[number], site.turn[other] = site.turn[other], site.turn[number]
        chosen = site.turn[number]
        _settle(
            model,
            site,
            chosen,
            _cheapest_behind(model, site, chosen, standing, random),
            count,
            standing,
        )
        standing += 1
    load, fits = model.opens[0], True
    for at in range(1, standing):
        load += model.increment[0, site.node[at]]
        site.start[at] = load
        fits &= load <= model.closes[site.node[at]]
    return fits


@inner
def _cheapest_behind(
    model: SearchModel, site: InsertionBuffer, number: int, standing: int, random: Random
) -> int:
    """The position of the tour behind which the port costs least."""
    node, stop, own = site.node, site.out[number], site.after[number]
    closes, cargo = model.closes[stop], model.increment[0, stop]
    least, where, foremost = np.inf, own, 0
    for at in range(own, standing - 1):
        there = node[at + 1]
        if at > own and site.start[at + 1] - model.increment[0, there] > closes:
            break
        more = model.cost_to[stop, node[at]] + model.cost[stop, there] - site.leg[at + 1]
        if more < least and uniform(random) >= BLINK:
            least, where = more, at
    for other in range(number):
        if site.after[other] >= 0 and site.planned[other] + cargo > model.closes[site.out[other]]:
            foremost = site.after[other]
    for at in range(own - 1, foremost - 1, -1):
        there = node[at + 1]
        if site.start[at + 1] + cargo > model.closes[there]:
            break
        more = model.cost_to[stop, node[at]] + model.cost[stop, there] - site.leg[at + 1]
        if more < least and uniform(random) >= BLINK:
            least, where = more, at
    return where


@inner
def _settle(
    model: SearchModel, site: InsertionBuffer, number: int, where: int, count: int, standing: int
) -> None:
    """Put the port there, and bring loads and plans up to date between that place and the one that was kept for it."""
    start, planned, after, own = site.start, site.planned, site.after, site.after[number]
    stop = site.out[number]
    cargo, load = model.increment[0, stop], planned[number]
    if where != own:
        load = start[where + 1] - model.increment[0, site.node[where + 1]]
    if where < own:
        load += cargo
        for at in range(where + 1, own + 1):
            start[at] += cargo
        for other in range(number):
            if after[other] > where:
                planned[other] += cargo
    elif where > own:
        for at in range(own + 1, where + 1):
            start[at] -= cargo
        for other in range(number + 1, count):
            if 0 <= after[other] <= where:
                planned[other] -= cargo
    for other in range(count):
        if after[other] > where or (after[other] == where == own and other > number):
            after[other] += 1
    after[number] = -1
    for at in range(standing - 1, where, -1):
        site.node[at + 1], site.leg[at + 1], start[at + 1] = site.node[at], site.leg[at], start[at]
    insert_node(model, site, stop, where + 1)
    start[where + 1] = load
