"""First tours from a trained policy or colony, where there is time for them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fairway.problems.instance import Instance

if TYPE_CHECKING:
    from fairway.inference.ants import Colony
    from fairway.inference.model import Model

SHARE = 0.5
"""Of the budget, what they may take: where a policy's tour takes that long, it is worth it."""


@cache
def model_at(path: Path) -> "Model | Colony":
    """What was trained in a folder, loaded once a process."""
    from fairway.inference.brief import load_trained

    return load_trained(path)


def guided_tours(
    instance: Instance, path: Path, seconds: float, seed: int = 0
) -> Iterator[tuple[int, ...]]:
    """Tours as they are proposed, none where that would take too much of the time."""
    from fairway.inference.brief import tours_within

    return tours_within(model_at(path), instance, SHARE * seconds, seed)
