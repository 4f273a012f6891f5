"""How tours are taken from a policy."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.rule import Guard

Kind = Literal["greedy", "sample", "beam"]


@dataclass(frozen=True, slots=True)
class Mode:
    """One way of decoding."""

    kind: Kind = "greedy"
    """The best candidate at each step; one in proportion to its likelihood; the likeliest labels of a beam."""
    symmetries: bool = True
    """Whether each instance is seen in the eight ways of the square."""
    samples: int = 1
    """Tours sampled of each view."""
    width: int = 16
    """Of a beam, for each view where there are several."""
    budget: int = 200
    """Steps that a greedy tour may take beyond the shortest, for second thoughts under a mask that asks about pairs."""
    guard: Guard | None = None
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

    @property
    def tours(self) -> int:
        """Of each instance, the views taken together."""
        return self.views * {"sample": self.samples, "beam": self.width}.get(self.kind, 1)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the tours, without what this kind does not ask for."""
        asked = {"greedy": "budget", "sample": "samples", "beam": "width"}
        said, kept = asdict(self), ("kind", "symmetries", "guard", asked[self.kind])
        return {name: said[name] for name in kept if said[name] is not None}
