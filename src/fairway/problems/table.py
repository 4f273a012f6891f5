"""The table of problems: all that is known of a classic problem by its name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.model import Objective
from fairway.problems.sets import COLUMNS

Name = Literal["tsptw", "tspdl"]
"""The problems that have published test sets, generators and policies."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One classic problem."""

    name: Name
    title: str
    make: Callable[..., Instance]
    columns: tuple[str, ...]
    """What its files hold for each node."""
    scale: float
    """Raw units of the published test sets in one normalised unit."""
    exact_mask: bool
    """Whether the strongest mask is exact, and no tour under it can fail; else it looks at pairs of stops."""
    decided_by: Objective
    """The objective under which an exact search finds out soonest whether there is a tour at all."""
    helped_from: int | None
    """Nodes from which on the shipped policy was measured to help `solve` (docs/solving.md)."""
    published_backwards: bool
    """Whether published reference tours go against the direction of the instances."""

    @property
    def policy(self) -> str:
        """The policy that ships for it."""
        return f"general-{self.name}"


PROBLEMS: dict[str, Problem] = {
    "tsptw": Problem(
        "tsptw",
        "time windows (TSPTW)",
        TSPTW,
        COLUMNS["tsptw"],
        scale=100.0,
        exact_mask=False,
        decided_by="makespan",
        helped_from=None,
        published_backwards=False,
    ),
    "tspdl": Problem(
        "tspdl",
        "draft limits (TSPDL)",
        TSPDL,
        COLUMNS["tspdl"],
        scale=1.0,
        exact_mask=True,
        decided_by="travel",
        helped_from=300,
        published_backwards=True,
    ),
}
assert tuple(PROBLEMS) == get_args(Name)
