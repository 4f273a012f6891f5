"""The PIP-D head: a decoder of its own that foretells which candidates the look-ahead would mask.

It mirrors the routing decoder with its own projections over the same encoder, but its heads see every node. The
sigmoid of its score is the probability that a candidate is infeasible; above one half, which is a score above zero,
the candidate is masked.
"""

from fairway.policies.config import PolicyConfig
from fairway.policies.decoder import CLIP, Decoder


def foresight_head(config: PolicyConfig) -> Decoder:
    """The head of a backbone: the authors' POMO head neither scales nor clips, their AM head does both."""
    mirrored = config.backbone == "am"
    return Decoder(config, clip=CLIP if mirrored else None, scaled=mirrored)
