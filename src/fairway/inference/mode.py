"""How tours are taken from a policy."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.rule import Guard

Kind = Literal["greedy", "sample", "beam", "labels", "retreat"]


@dataclass(frozen=True, slots=True)
class Mode:
    """One way of decoding."""

    kind: Kind = "greedy"
    """The best candidate at each step; one in proportion to its likelihood; the likeliest labels of a beam; the exact
    search as a beam, its labels ranked by their bounds and by the policy; the best candidate, and other ways back from
    dead ends."""
    symmetries: bool = True
    """Whether each instance is seen in the eight ways of the square."""
    samples: int = 1
    """Tours sampled of each view."""
    width: int = 16
    """Of a beam, for each view where there are several."""
    budget: int = 200
    """Steps that tours of each view may take beyond the shortest, to go back and forth: retreats, and second thoughts
    of greedy tours under a mask that asks about pairs."""
    guard: Guard | None = None
    """Which mask is used; None for the one the policy was trained with."""

    def __post_init__(self) -> None:
        for name in ("samples", "width"):
            if getattr(self, name) < 1:
                raise InvalidRequest(f"{name} is {getattr(self, name)}; expected 1 or more")
        if self.budget < 0:
            raise InvalidRequest(f"the budget is {self.budget} steps; expected none or more")

    @property
    def views(self) -> int:
        """Of each instance."""
        return 8 if self.symmetries and self.kind != "labels" else 1

    @property
    def tours(self) -> int:
        """Of each instance, the views taken together."""
        return self.views * {"sample": self.samples, "beam": self.width}.get(self.kind, 1)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the tours, without what this kind does not ask for."""
        asked = {
            "greedy": ("budget",), "retreat": ("budget",),
            "sample": ("samples",), "beam": ("width",), "labels": ("width",),
        }  # fmt: skip
        said = {**asdict(self), "symmetries": self.views > 1}
        kept = ("kind", "symmetries", "guard", *asked.get(self.kind, ()))
        return {name: said[name] for name in kept if said[name] is not None}
