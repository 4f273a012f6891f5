"""What a recipe trains for: a problem, its size and its hardness."""

from dataclasses import dataclass
from typing import Literal, cast

Problem = Literal["tsptw", "tspdl"]
Hardness = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class Task:
    """One distribution of instances; those of the ten published beds among them."""

    problem: Problem
    nodes: int
    hardness: Hardness

    def __str__(self) -> str:
        """As it ends a recipe's name."""
        return f"{self.problem}{self.nodes}-{self.hardness}"


def task_named(place: str, hardness: str) -> Task | None:
    """The task of words such as tsptw50 and hard; None where they are no task's."""
    problem, nodes = place[:5], place[5:]
    known = problem in ("tsptw", "tspdl") and hardness in ("easy", "medium", "hard")
    if not (known and nodes.isascii() and nodes.isdecimal() and len(nodes) < 10):
        return None
    return Task(cast(Problem, problem), int(nodes), cast(Hardness, hardness))
