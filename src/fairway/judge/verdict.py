"""What the judge says: a solution with its schedule, or a rejection with every broken rule."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

Rule = Literal[
    "missing", "repeated", "unknown", "order", "pair", "no way", "late", "late return", "draft", "capacity", "empty",
    "break",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: which, at which node, by how much (a count for missing and repeated stops), in words."""

    rule: Rule
    node: int
    amount: float
    why: str


@dataclass(frozen=True, slots=True)
class Visit:
    """One stop of a tour: service starts at `start`, `wait` after the arrival, with this load under this draft.

    A break before it is part of the wait, or of the way there. `late` is by how much the start is after the closing.
    """

    node: int
    arrival: float
    wait: float
    start: float
    departure: float
    load: float
    draft: float
    late: float


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """When each stop of a tour is reached, served and left, and with what load, as columns; iterate it for rows."""

    node: Int[np.ndarray, " M"]
    arrival: Float[np.ndarray, " M"]
    wait: Float[np.ndarray, " M"]
    start: Float[np.ndarray, " M"]
    departure: Float[np.ndarray, " M"]
    load: Float[np.ndarray, " M"]
    draft: Float[np.ndarray, " M"]
    late: Float[np.ndarray, " M"]

    def __len__(self) -> int:
        return len(self.node)

    def __getitem__(self, index: int) -> Visit:
        times = (self.arrival, self.wait, self.start, self.departure)
        columns = (*times, self.load, self.draft, self.late)
        return Visit(int(self.node[index]), *(float(column[index]) for column in columns))

    def __iter__(self) -> Iterator[Visit]:
        return (self[index] for index in range(len(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A tour that keeps every constraint, and what it amounts to.

    The value is what is minimised: the cost, the makespan or the duration, with the prices of lateness and of the stops
    left out. The makespan is when the tour is back, or has served its last stop where it does not return.
    """

    tour: tuple[int, ...]
    cost: float
    makespan: float
    schedule: Schedule
    _: KW_ONLY
    value: float
    duration: float
    """From the departure to the end."""
    departure: float
    lateness: float
    """In all, in units of time."""
    unserved: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rejection:
    """A tour that was refused, and all the reasons; it has a cost and a schedule where each stop is visited once."""

    tour: tuple[int, ...]
    violations: tuple[Violation, ...]
    cost: float | None = None
    makespan: float | None = None
    schedule: Schedule | None = None
    departure: float | None = field(default=None, kw_only=True)
