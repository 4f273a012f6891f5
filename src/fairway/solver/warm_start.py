"""First tours from a trained policy or colony, where there is time for them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fairway.errors import InvalidRequest, LearningMissing
from fairway.extras import SENTENCE, can_learn
from fairway.given import path_of, shown
from fairway.problems.classic_view import nearest_problem
from fairway.problems.instance import Instance
from fairway.problems.table import PROBLEMS
from fairway.weights import located, shipped

if TYPE_CHECKING:
    from fairway.inference.model import Colony, Model

SHARE = 0.5
"""Of the budget, what they may take: where a policy's tour takes that long, it is worth it."""
IN_A_SECOND = 530
"""Nodes up to which its tour is mostly there in time, if there is one second; time goes with the square of them."""

Choice = Path | Literal["auto"] | None
"""A policy, the usual one where there is one, or none."""


def choice_of(policy: str | Path | None) -> Choice:
    """What is meant by the name; only the very word is "auto", so that ./auto is a folder."""
    if policy is None:
        return None
    if not isinstance(policy, str | Path) or "\0" in str(policy):
        raise InvalidRequest(f"policy is {shown(policy)}; expected a folder, a name, or None")
    if policy == "auto":
        return "auto"
    if not can_learn():
        raise LearningMissing(SENTENCE)
    return located(path_of(policy)).resolve()


def default_policy(instance: Instance, seconds: float) -> Path | None:
    """The policy to use where none was named, if one helps, can be run and the time is enough; nothing is loaded."""
    problem, nodes = PROBLEMS[instance.problem], instance.nodes
    enough = problem.helped_from is not None and nodes >= problem.helped_from
    timely = seconds >= (nodes / IN_A_SECOND) ** 2
    return shipped(problem.policy).resolve() if enough and timely and can_learn() else None


@cache
def model_at(path: Path) -> "Model | Colony":
    """What was trained in a folder, loaded once per process."""
    from fairway.inference.anytime import load_trained

    return load_trained(path)


@cache
def pace_at(path: Path) -> float:
    """How fast it is on this machine, measured once per process."""
    from fairway.inference.anytime import pace_of

    return pace_of(model_at(path))


def unsuited(instance: Instance, path: Path) -> str:
    """Why what was trained there has no tours to propose for an instance with side constraints; empty where it has."""
    from fairway.inference.model import Colony

    trained, problem = model_at(path), nearest_problem(instance)
    if isinstance(trained, Colony):
        return "colonies know windows alone or drafts alone"
    if problem is None:
        return "no stop has to be served by a time, and no draft limits a load that only grows or only shrinks"
    if problem != trained.problem:
        return f"it was trained for {trained.problem}, and this is read as {problem}"
    return ""


def guided_tours(
    instance: Instance, path: Path, seconds: float, seed: int = 0
) -> Iterator[tuple[int, ...]]:
    """Tours as they are proposed, none where that would take too much of the time."""
    from fairway.inference.anytime import tours_within

    return tours_within(model_at(path), instance, SHARE * seconds, seed, pace_at(path))


def prepare(instance: Instance, path: Path) -> None:
    """Load what is there, have it propose tours in every way it may have to, and see how fast it is."""
    from fairway.inference.anytime import rehearse

    rehearse(model_at(path), instance)
    pace_at(path)
