"""The pointer: attention from where a tour stands to where it may go, and how likely each way is.

`reference` is the definition, `gpu` (Triton) runs whole rollouts and must equal it, gradients included. Here is what a
decoder asks and is told, once per instance: everything that its weights can say before a tour begins.
"""

from dataclasses import dataclass, replace

from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """A small network from what is known of a candidate at a step to what is added to its score."""

    inner: Float[Tensor, "F 4"]
    shift: Float[Tensor, " F"]
    outer: Float[Tensor, " F"]


@dataclass(frozen=True, slots=True, eq=False)
class Pointer:
    """A decoder bound to a batch, its weights folded into what it says of each node.

    Standing at node i with resource t, head h gives node j the weight softmax(query_i . key_j + t drift_j); the answer
    is the weighted sum of the values, and the score of j is clip tanh(answer . aim_j + bias_j + its facts).
    Square roots, the resource's unit and the output projection are folded in, so a step multiplies by no weights.
    """

    query: Float[Tensor, "B N D"]
    key: Float[Tensor, "B N D"]
    value: Float[Tensor, "B N D"]
    aim: Float[Tensor, "B N D"]
    drift: Float[Tensor, "B H N"]
    """How much each head's weight for a node changes with the resource: float32, since resources need all its
    digits."""
    bias: Float[Tensor, "B N"]
    clip: float | None
    """Scores stay within plus and minus this; None leaves them as they are."""
    facts: Facts | None = None

    @property
    def heads(self) -> int:
        """How many heads share the width."""
        return self.drift.shape[1]

    def of(self, some: Int[Tensor, " K"]) -> "Pointer":
        """What it says of some instances, in float32."""
        names = ("query", "key", "value", "aim", "drift", "bias")
        return replace(self, **{name: getattr(self, name)[some].float() for name in names})
