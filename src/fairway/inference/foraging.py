"""How tours are taken from a colony."""

from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Literal

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.rule import Guard

Search = Literal["none", "trail", "tours"]


@dataclass(frozen=True, slots=True)
class Foraging:
    """Some iterations of some ants."""

    ants: int = 100
    iterations: int = 10
    search: Search = "none"
    """What a local search around every tour is for: nothing; the pheromone alone, while tours count as sampled (the
    authors' `base` figures); or the tours that count, too."""
    last: bool = False
    """Whether the tours of the last iteration alone count, as in the authors' shares of infeasible ones."""
    guard: Guard | None = None
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
