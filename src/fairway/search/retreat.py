"""Tours that turn back from dead ends: a rollout that may undo its last stops, within a budget of steps.

A tour goes back by one stop at its first dead end, then by 2, 1, 4, 1, 2, 1, 8 and so on: mostly what doomed it lies
close behind, and now and then far. Where all candidates have led to dead ends, the point itself is one, and is not
tried again from the point before. The first way is the best one by the scores; after a dead end chance has its say,
among what was not tried yet at this point as long as there is any.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.kernels.lookahead import Look
from fairway.kernels.lookahead.rule import Outlook
from fairway.problems.batch import Batch, rows
from fairway.problems.problem import State, extend
from fairway.search.rollout import Score
from fairway.search.select import Select, greedy


@dataclass(slots=True, eq=False)
class _Walk:
    """Tours on their way: where they have been, and what they have tried where."""

    path: Int[Tensor, "B P N"]
    """The depot, the stops so far, and beyond them whatever was there before."""
    levels: Float[Tensor, "B P N"]
    doomed: Bool[Tensor, "B P N N"]
    """At each point of the path, the candidates that are known to lead to dead ends only."""
    tried: Bool[Tensor, "B P N N"]
    """And those that led to one."""
    unvisited: Bool[Tensor, "B P N"]
    stops: Int[Tensor, "B P"]
    failures: Int[Tensor, "B P"]

    @property
    def state(self) -> State:
        """Where the tours stand."""
        at = self.stops[..., None]
        node, level = self.path.gather(-1, at)[..., 0], self.levels.gather(-1, at)[..., 0]
        return State(node, level, self.unvisited)


def retreating(
    batch: Batch, *, look: Look, score: Score, budget: int, chance: Select, tours: int = 1
) -> Int[Tensor, "B P M"]:
    """Tours of every instance that go back from dead ends.

    What is unfinished at the end goes on as a rollout does, among all unvisited nodes, and the judge will refuse it.

    Args:
        batch: The instances.
        look: The look-ahead, for states in any order.
        score: How good candidates are.
        budget: Steps forth and back, beyond the shortest walk.
        chance: How a candidate is taken by tours that have been in a dead end.
        tours: Of each instance.
    """
    nodes = batch.limit.shape[1]
    walk = _begun(batch, tours)
    for left in range(nodes - 2 + budget, -1, -1):
        if bool(
            (walk.stops == nodes - 1).all()
        ):  # the one look at the device a step ends most early
            break
        _advance(batch, walk, look, score, chance, left)
    return walk.path[..., 1:]


def _begun(batch: Batch, tours: int) -> _Walk:
    instances, nodes = batch.limit.shape
    shape, device = (instances, tours, nodes), batch.limit.device
    unvisited = torch.ones(shape, dtype=torch.bool, device=device)
    unvisited[..., 0] = False
    return _Walk(
        path=torch.zeros(shape, dtype=torch.long, device=device),
        levels=batch.outset[:, None, None].expand(shape).clone(),
        doomed=torch.zeros((*shape, nodes), dtype=torch.bool, device=device),
        tried=torch.zeros((*shape, nodes), dtype=torch.bool, device=device),
        unvisited=unvisited,
        stops=torch.zeros(shape[:2], dtype=torch.long, device=device),
        failures=torch.zeros(shape[:2], dtype=torch.long, device=device),
    )


def _advance(
    batch: Batch,
    walk: _Walk,
    look: Look,
    score: Score,
    chance: Select,
    left: int,
) -> None:
    """Every tour goes on by a stop or goes back by some, as long as it can still end in the steps that are left."""
    state, at = walk.state, rows(walk.stops)
    tours = torch.arange(walk.stops.shape[1], device=at.device)
    outlook = look(state)
    fresh = outlook.allowed & ~walk.doomed[at, tours, walk.stops]
    stuck, missing = ~fresh.any(-1), state.unvisited.sum(-1)
    finished, by = missing == 0, _retreat(walk)
    back = stuck & ~finished & (by > 0) & (missing + by <= left)
    untried = fresh & ~walk.tried[at, tours, walk.stops]
    allowed = torch.where(untried.any(-1, keepdim=True), untried, fresh)
    allowed = torch.where(stuck[..., None], state.unvisited | finished[..., None], allowed)
    scored = score(state, Outlook(outlook.level, outlook.bound, allowed))
    scored = torch.where(allowed, scored, -torch.inf)
    node = torch.where(walk.failures > 0, chance(scored), greedy(scored))
    _go_on(batch, walk, state, node, ~back & ~finished)
    _go_back(walk, torch.where(back, by, 0))


def _go_on(
    batch: Batch, walk: _Walk, state: State, node: Int[Tensor, "B P"], go: Bool[Tensor, "B P"]
) -> None:
    at, tours = torch.nonzero(go, as_tuple=True)
    chosen, stops = node[at, tours], walk.stops[at, tours]
    level = extend(batch, state.level, state.node, node)[at, tours]
    walk.path[at, tours, stops + 1] = chosen
    walk.levels[at, tours, stops + 1] = level
    walk.tried[at, tours, stops, chosen] = True
    walk.tried[at, tours, stops + 1] = False
    walk.doomed[at, tours, stops + 1] = False
    walk.unvisited[at, tours, chosen] = False
    walk.stops[at, tours] += 1


def _retreat(walk: _Walk) -> Int[Tensor, "B P"]:
    """By how many stops the next one goes: the largest power of two in its number, to the depot at most."""
    number = walk.failures + 1
    return (number & -number).minimum(walk.stops)


def _go_back(walk: _Walk, by: Int[Tensor, "B P"]) -> None:
    at, tours = torch.nonzero(by == 1, as_tuple=True)
    stops = walk.stops[at, tours]
    walk.doomed[at, tours, stops - 1, walk.path[at, tours, stops]] = True
    place = torch.arange(walk.path.shape[-1], device=by.device)
    stops = walk.stops - by
    undone = (place > stops[..., None]) & (place <= walk.stops[..., None])
    freed = torch.zeros_like(walk.path).scatter_add(-1, walk.path, undone.long())
    walk.unvisited |= freed > 0
    walk.stops = stops
    walk.failures += (by > 0).long()
