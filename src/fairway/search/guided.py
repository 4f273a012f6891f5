"""A beam of labels that a policy ranks: of all partial tours of so many stops, the ones it finds most likely.

A label is a set of visited stops, the last of them, the resource there and the length so far, as in the exact search.
Of two with the same set and last stop, one that is neither lower nor shorter is dropped, however likely it is.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from fairway.kernels.lookahead import MaskFn
from fairway.kernels.lookahead.config import Mask
from fairway.problems.batch import Batch, rows
from fairway.problems.problem import State, extend, start
from fairway.search.rollout import Score

SPARE = 2
"""Times the width: candidates among which dominated ones are looked for before a layer is cut."""


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """The labels of all instances after so many stops."""

    state: State
    likely: Float[Tensor, "B W"]
    """The log-probability of the partial tour; minus infinity where the beam has fewer labels."""
    length: Float[Tensor, "B W"]
    visited: Int[Tensor, "B W"]
    """A number for the set of visited stops: the sum of their keys."""
    path: Int[Tensor, "B W M"]


def beam(batch: Batch, *, look: MaskFn, score: Score, width: int) -> Int[Tensor, "B W M"]:
    """As many tours of every instance as the beam is wide, the likeliest first.

    Labels that no candidate can complete leave the beam; where none is left, all unvisited nodes are candidates again,
    as in a rollout, and the judge will refuse the tour. Rows beyond the number of labels repeat the first.
    """
    nodes = batch.latest.shape[1]
    keys = _keys(nodes, batch.latest.device)
    layer = _first(batch, width)
    for step in range(nodes - 1):
        layer = _cut(_extended(batch, layer, look, score, step, keys), width)
    some = layer.likely > -torch.inf
    return torch.where(some[..., None], layer.path, layer.path[:, :1])


def _keys(nodes: int, device: torch.device) -> Int[Tensor, " N"]:
    """Random numbers, whose sums tell sets of nodes apart."""
    generator = Generator().manual_seed(1)
    return torch.randint(-(2**62), 2**62, (nodes,), generator=generator).to(device)


def _first(batch: Batch, width: int) -> _Layer:
    """One label at the depot, and room for the others."""
    instances, nodes = batch.latest.shape
    empty = torch.zeros(instances, width, device=batch.latest.device)
    likely = empty - torch.inf
    likely[:, 0] = 0.0
    path = empty.new_zeros((instances, width, nodes - 1), dtype=torch.long)
    return _Layer(start(batch, width), likely, empty, empty.long(), path)


def _extended(
    batch: Batch, layer: _Layer, look: MaskFn, score: Score, step: int, keys: Int[Tensor, " N"]
) -> _Layer:
    """The likeliest labels one stop further, more than the beam is wide, the likeliest first."""
    state, width = layer.state, layer.likely.shape[1]
    mask = _among(look(state), state, layer.likely)
    allowed = mask.allowed
    scored = torch.where(allowed, score(state, mask), -torch.inf)
    scored = scored - scored.logsumexp(-1, keepdim=True)
    likely = layer.likely[..., None] + torch.where(allowed, scored, -torch.inf)
    nodes = likely.shape[-1]
    most = min(SPARE * width, width * nodes)
    best, index = likely.flatten(1).topk(most)
    parent, node = index // nodes, index % nodes
    here, resource = state.node.gather(1, parent), state.resource.gather(1, parent)
    at = rows(parent)
    path = layer.path[at, parent]
    path[..., step] = node
    unvisited = state.unvisited[at, parent].scatter(-1, node[..., None], False)
    following = State(node, extend(batch, resource, here, node), unvisited)
    length = layer.length.gather(1, parent) + batch.travel(here, node)
    visited = layer.visited.gather(1, parent) + keys[node]
    return _Layer(following, best, length, visited, path)


def _among(mask: Mask, state: State, likely: Float[Tensor, "B W"]) -> Mask:
    """What labels may go on to: what is allowed, or, in a beam without any such label, all that is unvisited."""
    alive = likely > -torch.inf
    lost = ~(alive & ~mask.dead).any(1)
    allowed = mask.allowed | (lost[:, None, None] & state.unvisited)
    return Mask(mask.resource, mask.bound, allowed & alive[..., None])


def _cut(layer: _Layer, width: int) -> _Layer:
    """The likeliest labels that no other one dominates."""
    likely = layer.likely.masked_fill(_dominated(layer), -torch.inf)
    best, index = likely.topk(min(width, likely.shape[1]))
    short = width - best.shape[1]
    best = torch.nn.functional.pad(best, (0, short), value=-torch.inf)
    index = torch.nn.functional.pad(index, (0, short))
    at, state = (rows(index), index), layer.state
    kept = State(state.node[at], state.resource[at], state.unvisited[at])
    return _Layer(kept, best, layer.length[at], layer.visited[at], layer.path[at])


def _dominated(layer: _Layer) -> Bool[Tensor, "B W"]:
    """Which labels another one of the same set and last stop beats, or equals and comes before."""
    marks = (layer.visited, layer.state.node, layer.state.resource, layer.length)
    (mine, here, low, short), (other, there, high, long) = (
        [mark.unsqueeze(axis) for mark in marks] for axis in (2, 1)
    )
    same = (mine == other) & (here == there)
    no_worse = (low <= high) & (short <= long)
    equal = (low == high) & (short == long)
    order = torch.arange(layer.length.shape[1], device=layer.length.device)
    earlier = order[:, None] < order
    alive = (layer.likely > -torch.inf)[:, :, None]
    return (alive & same & no_worse & (~equal | earlier)).any(1)
