"""What a recipe trains for: a problem, its size and its hardness."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Task:
    """One distribution of instances; those of the ten published beds among them."""

    problem: Literal["tsptw", "tspdl"]
    nodes: int
    hardness: Literal["easy", "medium", "hard"]

    def __str__(self) -> str:
        """As it ends a recipe's name."""
        return f"{self.problem}{self.nodes}-{self.hardness}"
