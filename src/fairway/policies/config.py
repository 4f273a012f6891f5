"""What a policy is made of."""

from dataclasses import dataclass
from typing import Literal

from fairway.errors import InvalidRequest


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
    """Hidden units of the network that reads each candidate's own facts; 0 for the paper's decoder."""

    def __post_init__(self) -> None:
        if self.width % self.heads or self.width // self.heads < 16:
            raise InvalidRequest(
                f"a width of {self.width} cannot be shared by {self.heads} heads; "
                "expected a multiple of the heads, 16 or more for each"
            )


POMO = PolicyConfig()
AM = PolicyConfig(backbone="am", layers=3, normalisation="batch")
