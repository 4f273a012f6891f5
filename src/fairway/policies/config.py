"""What a policy is made of: one that decodes tours, or one that draws a heatmap for ants."""

from dataclasses import dataclass
from typing import Literal

from fairway.errors import InvalidRequest

Graph = Literal["union", "limits"]
"""A heatmap's neighbours by limits and as many by distance, or by limits alone."""


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """What a policy is made of; two policies with the same config can exchange weights."""

    backbone: Literal["pomo", "am"] = "pomo"
    layers: int = 6
    width: int = 128
    heads: int = 8
    hidden: int = 512
    normalisation: Literal["instance", "batch", "layer"] = "instance"
    foresight: bool = False
    """A PIP-D head beside the decoder."""
    facts: int = 0
    """Hidden units of the network that reads the features of each candidate; 0 for the paper's decoder."""
    relations: int = 0
    """Hidden units of the network that reads what two nodes are to each other; 0 for the paper's encoder."""

    def __post_init__(self) -> None:
        if self.width % self.heads or self.width // self.heads < 16:
            raise InvalidRequest(
                f"a width of {self.width} cannot be shared by {self.heads} heads; "
                "expected a multiple of the heads, 16 or more for each"
            )


@dataclass(frozen=True, slots=True)
class HeatmapConfig:
    """What a heatmap network is made of; two networks with the same config can exchange weights."""

    graph: Graph = "union"
    share: int = 5
    """By each rule a node has one neighbour for so many nodes."""
    layers: int = 12
    width: int = 32
    foresight: bool = False
    """A PIP-D head beside the heuristic."""

    def __post_init__(self) -> None:
        if min(self.share, self.layers, self.width) < 1:
            raise InvalidRequest(
                f"a heatmap of {self.layers} layers, width {self.width} and one neighbour for {self.share} nodes "
                "cannot be built; expected 1 or more of each"
            )


POMO = PolicyConfig()
AM = PolicyConfig(backbone="am", layers=3, normalisation="batch")
