"""How tours are taken from a policy, and how from a colony."""

from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Literal, get_args

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.config import MaskConfig

Kind = Literal["greedy", "starts", "sample", "beam"]
Search = Literal["none", "trail", "tours"]


@dataclass(frozen=True, slots=True)
class DecodeConfig:
    """One way of decoding."""

    kind: Kind = "greedy"
    """The best candidate at each step; the same from each first stop; one in proportion to its likelihood; the
    likeliest labels of a beam."""
    symmetries: bool = True
    """Whether each instance is seen in the eight ways of the square."""
    samples: int = 1
    """Tours sampled of each view."""
    width: int = 16
    """Of a beam, for each view where there are several."""
    budget: int = 200
    """Steps that a greedy tour may take beyond the shortest, for backtracking under a mask that asks about pairs."""
    guard: MaskConfig | None = None
    """Which mask is used; None for the one the policy was trained with."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise InvalidRequest(
                f"tours are not decoded by {self.kind!r}; expected one of {', '.join(get_args(Kind))}"
            )
        for name in ("samples", "width"):
            if getattr(self, name) < 1:
                raise InvalidRequest(f"{name} is {getattr(self, name)}; expected 1 or more")
        if self.budget < 0:
            raise InvalidRequest(f"the budget is {self.budget} steps; expected none or more")

    @property
    def views(self) -> int:
        """Of each instance."""
        return 8 if self.symmetries else 1

    def tours(self, nodes: int) -> int:
        """Of each view of an instance."""
        return {"starts": nodes - 1, "sample": self.samples, "beam": self.width}.get(self.kind, 1)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the tours, without what this kind does not ask for."""
        asked = {"greedy": "budget", "sample": "samples", "beam": "width"}
        said, kept = (
            asdict(self),
            ["kind", "symmetries", "guard", *asked.get(self.kind, "").split()],
        )
        return {name: said[name] for name in kept if said[name] is not None}


@dataclass(frozen=True, slots=True)
class ACOConfig:
    """Some iterations of some ants."""

    ants: int = 100
    iterations: int = 10
    search: Search = "none"
    """What a local search around every tour is for: nothing; the pheromone alone, while tours count as sampled (the
    authors' `base` figures); or the tours that count, too."""
    last: bool = False
    """Whether the tours of the last iteration alone count, as in the authors' shares of infeasible ones."""
    guard: MaskConfig | None = None
    """Which mask is used; None for the one the colony was trained with."""
    power: float = 1.0
    """Of the heuristic: above one, ants keep closer to what the network says than it was trained to."""

    def __post_init__(self) -> None:
        for name in ("ants", "iterations"):
            if getattr(self, name) < 1:
                raise InvalidRequest(f"{name} is {getattr(self, name)}; expected 1 or more")
        if not 0 < self.power < inf:
            raise InvalidRequest(f"power is {self.power}; expected a number above 0, and finite")

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the tours; mask and power only where they are not those of the training."""
        said = {name: value for name, value in asdict(self).items() if value is not None}
        if self.power == 1:
            del said["power"]
        return said
