"""The paper's two attention backbones, AM and POMO: an encoder over the nodes, and a pointer that decodes tours.

They differ in depth, in the normalisation, in whether projections have biases, and in the decoder's context: POMO asks
with the current node and the time as a share of the horizon, AM with the mean of all nodes too and the time as it is.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fairway.kernels.pointer import Facts, Pointer
from fairway.policies.config import PolicyConfig
from fairway.policies.features import features, horizon_of, relations
from fairway.policies.norms import norm
from fairway.problems.batch import Batch

CLIP = 10.0
"""Scores are 10 tanh(...), in both papers."""
FACTS = 4
"""The way, the wait, the slack to the own limit and to the look-ahead's."""
RELATIONS = 8
"""The way and three slacks, there and back."""
SHARPNESS = 10.0
"""What a query and a key of one direction add to a logit at first, where relations add the rest."""
BOUND = 20.0
"""What relations can add to a logit at most."""


class Layer(nn.Module):
    """Self-attention and a feed-forward network, each added to what it read and then normalised."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width, self.heads = config.width, config.heads
        self.attend = nn.Linear(width, 3 * width, bias=False)
        if config.relations:
            self.sharpness = nn.Parameter(torch.full((config.heads, 1, 1), SHARPNESS))
            self.relate = nn.Linear(config.relations, config.heads)
            nn.init.zeros_(self.relate.weight)
        self.join = nn.Linear(width, width, bias=config.backbone == "pomo")
        self.first_norm = norm(config.normalisation, width)
        self.widen = nn.Linear(width, config.hidden)
        self.narrow = nn.Linear(config.hidden, width)
        self.second_norm = norm(config.normalisation, width)

    def forward(
        self, nodes: Float[Tensor, "B N D"], related: Float[Tensor, "B N N R"] | None = None
    ) -> Float[Tensor, "B N D"]:
        """Nodes that have heard of each other.

        Where relations tell whom to hear, only the directions of queries and keys count besides: their products grew
        to a thousand otherwise.
        """
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.attend(nodes).chunk(3, -1)
        )
        if related is None:
            heard = nn.functional.scaled_dot_product_attention(query, key, value)
        else:
            query, key = (nn.functional.normalize(part, dim=-1) for part in (query, key))
            told = BOUND * torch.tanh(self.relate(related) / BOUND)
            match = (query * self.sharpness) @ key.mT + told.permute(0, 3, 1, 2)
            heard = match.softmax(-1).to(value.dtype) @ value
        nodes = self.first_norm(nodes + self.join(heard.transpose(1, 2).flatten(2)))
        return self.second_norm(nodes + self.narrow(torch.relu(self.widen(nodes))))


class Decoder(nn.Module):
    """The projections of one pointer: the routing decoder, or the PIP-D head that mirrors it."""

    def __init__(self, config: PolicyConfig, *, clip: float | None, scaled: bool = True) -> None:
        super().__init__()
        width = config.width
        self.heads, self.clip, self.scaled = config.heads, clip, scaled
        self.per_horizon = config.backbone == "pomo"
        self.query = nn.Linear(width + 1, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.join = nn.Linear(width, width, bias=config.backbone == "pomo")
        self.context = None if config.backbone == "pomo" else nn.Linear(width, width, bias=False)
        self.aim = None if config.backbone == "pomo" else nn.Linear(width, width, bias=False)

    def forward(
        self, nodes: Float[Tensor, "B N D"], batch: Batch, facts: Facts | None = None
    ) -> Pointer:
        """The decoder bound to a batch, with everything folded in that does not depend on a tour."""
        depth = nodes.shape[-1] // self.heads
        by_node, by_resource = self.query.weight[:, :-1], self.query.weight[:, -1]
        query = nn.functional.linear(nodes, by_node)
        if self.context is not None:
            query = query + self.context(nodes.mean(1, keepdim=True))
        key = self.key(nodes)
        drift = key.float().unflatten(-1, (self.heads, depth))
        drift = (drift * by_resource.view(self.heads, depth)).sum(-1).transpose(1, 2) / depth**0.5
        if self.per_horizon:
            drift = drift / horizon_of(batch)[:, None, None]
        aimed = nodes if self.aim is None else self.aim(nodes)
        size = nodes.shape[-1] ** -0.5 if self.scaled else 1.0
        aim = nn.functional.linear(aimed * size, self.join.weight.mT)
        off = torch.zeros_like(drift[:, 0])
        if self.join.bias is not None:
            off = (aimed.float() * self.join.bias).sum(-1) * size
        return Pointer(
            query * depth**-0.5, key, self.value(nodes), aim, drift, off, self.clip, facts
        )


def foresight_head(config: PolicyConfig) -> Decoder:
    """The PIP-D head: a decoder of its own that foretells which candidates the look-ahead would mask.

    It mirrors the routing decoder with its own projections over the same encoder, but its heads see every node. The
    sigmoid of its score is the probability that a candidate is infeasible; above one half, which is a score above
    zero, the candidate is masked. The authors' POMO head neither scales nor clips, their AM head does both.
    """
    mirrored = config.backbone == "am"
    return Decoder(config, clip=CLIP if mirrored else None, scaled=mirrored)


class Policy(nn.Module):
    """From a batch to a pointer that can be decoded into tours, and to the PIP-D head's, where there is one."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Linear(4, config.width)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.decoder = Decoder(config, clip=CLIP)
        if config.foresight:
            self.foresight = foresight_head(config)
        if config.facts:
            self.facts_inner = nn.Linear(FACTS, config.facts)
            self.facts_outer = nn.Parameter(torch.zeros(config.facts))
        if config.relations:
            self.relate = nn.Linear(RELATIONS, config.relations)

    def encode(self, batch: Batch) -> Float[Tensor, "B N D"]:
        """What the encoder makes of the nodes."""
        return self.encode_nodes(*self.read(batch))

    def read(self, batch: Batch) -> tuple[Float[Tensor, "B N 4"], Float[Tensor, "B N N 8"] | None]:
        """What the encoder is told of the nodes, and of each pair of them where it asks for that."""
        return features(batch), relations(batch) if self.config.relations else None

    def encode_nodes(
        self, read: Float[Tensor, "B N 4"], related: Float[Tensor, "B N N 8"] | None = None
    ) -> Float[Tensor, "B N D"]:
        """The same, from features: tensors in and out, which is what a compiler wants.

        Features are read in float32: in bf16 a window of the hard instances is wrong by a good part of its width.
        """
        with torch.autocast(read.device.type, enabled=False):
            nodes = self.embed(read)
        if related is not None:
            related = torch.relu(self.relate(related))
        for layer in self.layers:
            nodes = layer(nodes, related)
        return nodes

    def point(self, nodes: Float[Tensor, "B N D"], batch: Batch) -> Pointer:
        """The routing decoder bound to a batch."""
        facts = None
        if self.config.facts:
            facts = Facts(self.facts_inner.weight, self.facts_inner.bias, self.facts_outer)
        return self.decoder(nodes, batch, facts)

    def foresee(self, nodes: Float[Tensor, "B N D"], batch: Batch) -> Pointer:
        """The PIP-D head bound to a batch: a positive score foretells infeasibility."""
        return self.foresight(nodes, batch)

    def forward(self, batch: Batch) -> Pointer:
        """Encode and bind the decoder."""
        return self.point(self.encode(batch), batch)
