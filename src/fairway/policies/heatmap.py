"""The GFACS network: once per instance, how promising each edge of a sparse graph is, for ants to follow.

Messages go along the edges from a node's neighbours to the node; nodes and edges each keep what they knew and add what
they heard. Every node has as many neighbours, so that all is dense gathers over a batch and no graph library is needed.
The node features are those of the other policies (the window, or the demand and the draft, by the horizon); an edge
knows the way from its tail to its head.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import log

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from fairway.policies.config import Graph, HeatmapConfig
from fairway.policies.features import features, horizon_of
from fairway.policies.norms import norm
from fairway.problems.batch import Batch, every_pair, rows

FAINT = 1e-10
"""What every pair of nodes is worth, with an edge or without: an ant that has no other choice can go there."""


@dataclass(frozen=True, slots=True, eq=False)
class Heatmap:
    """What the network says of a batch."""

    neighbours: Int[Tensor, "B N K"]
    edges: Float[Tensor, "B N K D"]
    """The embedding of the edge to each neighbour."""
    glow: Float[Tensor, "B N K"]
    """The logarithm of the heuristic on the edges."""
    log_z: Float[Tensor, "B 2"]
    """The logarithm of the flow through all tours, as ants sample them and after a local search."""

    def log_heuristic(self) -> Float[Tensor, "B N N"]:
        """The logarithm of the heuristic for all pairs, from row to column."""
        instances, nodes, _ = self.neighbours.shape
        faint = self.glow.new_full((instances, nodes, nodes), log(FAINT))
        return faint.scatter(-1, self.neighbours, self.glow)


class EdgeLayer(nn.Module):
    """One exchange between nodes and the edges that lead from them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own, self.heard, self.tail, self.head, self.edge = (
            nn.Linear(width, width) for _ in range(5)
        )
        self.node_norm, self.edge_norm = norm("batch", width), norm("batch", width)

    def forward(
        self,
        nodes: Float[Tensor, "B N D"],
        edges: Float[Tensor, "B N K D"],
        to: Int[Tensor, "B N K"],
    ) -> tuple[Float[Tensor, "B N D"], Float[Tensor, "B N K D"]]:
        """Nodes that heard their neighbours through the gates of the edges, and edges that heard both their ends."""
        at = rows(to), to
        heard = (torch.sigmoid(edges) * self.heard(nodes)[at]).mean(2)
        told = self.edge(edges) + self.tail(nodes)[:, :, None] + self.head(nodes)[at]
        nodes = nodes + nn.functional.silu(self.node_norm(self.own(nodes) + heard))
        told = self.edge_norm(told.flatten(1, 2)).view(edges.shape)
        return nodes, edges + nn.functional.silu(told)


class EdgeForesight(nn.Module):
    """The PIP-D head: from the last edge, a candidate's edge and the resource to whether the candidate is infeasible.

    The resource is read as a share of the horizon, which the authors' code does not divide by.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.join = nn.Linear(2 * width + 1, width)
        self.judge = layers_of(width, width, width, 1)

    def forward(self, joined: Float[Tensor, "*S D"]) -> Float[Tensor, "*S"]:
        """The score of what `join` made of the three; above zero means infeasible."""
        return self.judge(nn.functional.silu(joined))[..., 0]


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """A PIP-D head bound to a batch, with everything computed that does not depend on a tour."""

    head: EdgeForesight
    heatmap: Heatmap
    candidates: Float[Tensor, "B N K D"]
    """What each edge contributes as a candidate's."""
    horizon: Float[Tensor, " B"]

    def __call__(
        self, before: Int[Tensor, "B S"], here: Int[Tensor, "B S"], resource: Float[Tensor, "B S"]
    ) -> Float[Tensor, "B S N"]:
        """Scores of all candidates for tours that came from `before`; a pair without an edge has no embedding."""
        heatmap, weight = self.heatmap, self.head.join.weight
        width = weight.shape[0]
        came = heatmap.neighbours[rows(before), before] == here[..., None]
        slot = came.int().argmax(-1)
        last = heatmap.edges[rows(before), before, slot] * came.any(-1, keepdim=True)
        share = (resource / self.horizon[:, None])[..., None]
        context = last @ weight[:, :width].mT + share * weight[:, -1] + self.head.join.bias
        known = self.head(context[:, :, None] + self.candidates[rows(here), here])
        rest = self.head(context)[..., None].expand(-1, -1, heatmap.neighbours.shape[1])
        return rest.scatter(-1, heatmap.neighbours[rows(here), here], known)


class HeatmapNetwork(nn.Module):
    """From a batch to its heatmap, and to the PIP-D head's forecast, where there is one."""

    def __init__(self, config: HeatmapConfig) -> None:
        super().__init__()
        self.config, width = config, config.width
        self.embed_nodes, self.embed_edges = nn.Linear(4, width), nn.Linear(1, width)
        self.layers = nn.ModuleList(EdgeLayer(width) for _ in range(config.layers))
        self.heuristic = layers_of(width, width, width, 1)
        self.flow = layers_of(width, width, 2)
        if config.foresight:
            self.foresight = EdgeForesight(width)

    def forward(self, batch: Batch) -> Heatmap:
        """Read the instances once."""
        to = neighbours(batch, self.config.graph, self.config.share)
        tail = torch.arange(to.shape[1], device=to.device)[None, :, None].expand_as(to)
        nodes = nn.functional.silu(self.embed_nodes(features(batch)))
        edges = nn.functional.silu(self.embed_edges(batch.travel(tail, to)[..., None]))
        for layer in self.layers:
            nodes, edges = layer(nodes, edges, to)
        glow = nn.functional.logsigmoid(self.heuristic(edges)[..., 0])
        glow = torch.logaddexp(glow, torch.full_like(glow, log(FAINT)))
        return Heatmap(to, edges, glow, self.flow(edges).mean((1, 2)))

    def forecast(self, heatmap: Heatmap, batch: Batch) -> Forecast:
        """The PIP-D head bound to a batch."""
        width = self.config.width
        by_candidate = self.foresight.join.weight[:, width : 2 * width]
        candidates = heatmap.edges @ by_candidate.mT
        return Forecast(self.foresight, heatmap, candidates, horizon_of(batch))


def layers_of(*widths: int) -> nn.Sequential:
    """Linear layers of these widths, with SiLU between them."""
    parts: list[nn.Module] = []
    for inward, outward in pairwise(widths):
        parts += [nn.Linear(inward, outward), nn.SiLU()]
    return nn.Sequential(*parts[:-1])


def neighbours(batch: Batch, graph: Graph, share: int) -> Int[Tensor, "B N K"]:
    """The neighbours of every node, best first: by each rule one for so many nodes, and at least one.

    The paper's rule looks at limits alone. From a stop, the neighbours are those whose windows overlap its own most;
    where windows do not overlap, the gap between them counts against them, so that the rule goes on beyond the last
    overlap. From the depot they are the stops that open first. Draft limits have no windows, but an order: ports with
    like drafts are served at like loads. So from a port the neighbours are those of the most similar draft, the nearer
    first on ties, and from the depot those of the lowest. The authors' code adds as many by distance, which is the
    union. Here the second half is taken from what the first has left, so that no edge stands twice; and nobody's
    neighbour is the depot, to which no choice leads.
    """
    nodes = batch.latest.shape[1]
    many = max(1, nodes // share)
    apart = batch.travel(*every_pair(batch))
    shut = torch.zeros_like(apart, dtype=torch.bool)
    shut[..., 0] = True
    shut.diagonal(dim1=-2, dim2=-1).fill_(True)
    by_limits = _best(_likeness(batch), apart, shut, min(many, nodes - 2))
    if graph == "limits":
        return by_limits
    taken = shut.scatter(-1, by_limits, True)
    by_distance = _best(-apart, apart, taken, min(many, nodes - 2 - by_limits.shape[-1]))
    return torch.cat([by_limits, by_distance], dim=-1)


def _likeness(batch: Batch) -> Float[Tensor, "B N N"]:
    """How well a column's limits go with being served after the row's."""
    if not batch.by_set:
        ends = torch.minimum(batch.latest[:, :, None], batch.latest[:, None, :])
        alike = ends - torch.maximum(batch.earliest[:, :, None], batch.earliest[:, None, :])
        first = -batch.earliest
    else:
        alike = -(batch.latest[:, :, None] - batch.latest[:, None, :]).abs()
        first = -batch.latest
    return torch.cat([first[:, None, :], alike[:, 1:]], dim=1)


def _best(
    worth: Float[Tensor, "B N N"],
    apart: Float[Tensor, "B N N"],
    shut: Bool[Tensor, "B N N"],
    kept: int,
) -> Int[Tensor, "B N K"]:
    """The columns of most worth in each row, the nearer first on ties."""
    near = apart.argsort(dim=-1, stable=True)
    worth = worth.masked_fill(shut, -torch.inf).gather(-1, near)
    best = worth.argsort(dim=-1, descending=True, stable=True)
    return near.gather(-1, best)[..., :kept]
