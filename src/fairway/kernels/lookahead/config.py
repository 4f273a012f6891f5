"""Which look-ahead is meant, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from jaxtyping import Bool, Float
from torch import Tensor

from fairway.errors import InvalidRequest
from fairway.problems.problem import TOLERANCE, State
from fairway.problems.table import PROBLEMS


@dataclass(frozen=True, slots=True)
class MaskRule:
    """How far to look, and how strictly."""

    steps: Literal[0, 1, 2] = 1
    own: bool = True
    """Whether a candidate must be in time itself, and leave time to return. The authors' rule asks for neither."""
    tolerance: float = TOLERANCE
    pairs: bool = False
    """Whether every two nodes left must have an order in which both are in time, windows narrowed first; one step."""

    def __post_init__(self) -> None:
        if self.pairs and (self.steps != 1 or not self.own):
            raise InvalidRequest(
                "pairs belong to the strict rule of one step; leave steps and own as they are"
            )


AUTHORS = MaskRule(steps=1, own=False)
"""The mask of the published code, for the paper's tables."""
PAIRS = MaskRule(pairs=True)
"""The strongest that is quick."""


Kind = Literal["none", "ahead", "exact", "learned"]
RENAMED: dict[str, Kind] = {"drafts": "exact"}
"""Kinds by their names in version 0.1, which its weights and runs have."""


@dataclass(frozen=True, slots=True)
class MaskConfig:
    """Which mask stands between a policy and the candidates, and for how long."""

    kind: Kind = "ahead"
    """Nothing but the visited; the look-ahead of a rule; the exact one, where there is one; a PIP-D head's forecast."""
    rule: MaskRule = MaskRule()
    until: int | None = None
    """How many steps of a tour it guards; None guards them all."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", RENAMED.get(self.kind, self.kind))
        if self.kind not in get_args(Kind):
            raise InvalidRequest(
                f"there is no mask {self.kind!r}; expected one of {', '.join(get_args(Kind))}"
            )


def strongest(problem: str) -> MaskConfig:
    """The strongest mask that is quick; exact where a problem has such a one."""
    return MaskConfig("exact") if PROBLEMS[problem].exact_mask else MaskConfig(rule=PAIRS)


def check_guard(guard: MaskConfig, problem: str) -> None:
    """Refuse a mask that the problem does not have."""
    if guard.kind == "exact" and not PROBLEMS[problem].exact_mask:
        raise InvalidRequest(f"there is no exact mask for {problem}; choose steps of look-ahead")


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """What is known of each candidate for the next stop."""

    resource: Float[Tensor, "B P N"]
    """With which it would be served, coming straight from where the tour stands."""
    bound: Float[Tensor, "B P N"]
    """The highest resource with which the rule lets it pass."""
    allowed: Bool[Tensor, "B P N"]

    @property
    def slack(self) -> Float[Tensor, "B P N"]:
        """How much later, or fuller, each candidate could be and still pass; negative where it does not."""
        return self.bound - self.resource

    @property
    def dead(self) -> Bool[Tensor, "B P"]:
        """The tours that no candidate can complete."""
        return self.allowed.sum(-1) == 0  # many times faster than any() on a CPU


MaskFn = Callable[[State], Mask]
"""A look-ahead bound to its batch."""
