"""A trained policy with all that is needed to use it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from fairway.errors import InvalidFile, InvalidRequest
from fairway.kernels.lookahead.rule import PAIRS, Guard, Rule
from fairway.policies.attention import Policy
from fairway.policies.checkpoint import load_policy
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.problems.table import PROBLEMS


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A policy in its final state, the problem it was trained for, and the mask it was trained with."""

    policy: Policy
    name: str
    problem: str
    guard: Guard
    facts: dict[str, Any]
    """Of its card, for those who compare results."""

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.policy.parameters()).device

    def check(self, instances: Instance | InstanceSet) -> None:
        """Refuse what the policy was not trained for."""
        if instances.problem != self.problem:
            raise InvalidRequest(
                f"policy {self.name} was trained for {self.problem}; these instances are of {instances.problem}"
            )


def load_model(path: Path | str, device: torch.device | str = "cpu") -> Model:
    """The policy of a training's folder, or of any checkpoint that says what it was trained for."""
    place = Path(path)
    policy, card = load_policy(place, torch.device(device))
    problem = card.trained.get("problem")
    if problem not in tuple(PROBLEMS):
        raise InvalidFile(
            f"{place}: does not say which problem its policy is for; expected {' or '.join(PROBLEMS)}"
        )
    try:
        said = card.trained.get("config", {}).get("guard")
        strongest = Guard("drafts") if PROBLEMS[problem].exact_mask else Guard(rule=PAIRS)
        guard = strongest if said is None else guard_of(said)
    except (TypeError, AttributeError, KeyError, InvalidRequest) as error:
        raise InvalidFile(
            f"{place}: does not say under which mask its policy was trained; train it anew"
        ) from error
    name = str(card.trained.get("recipe", place.stem))
    return Model(policy.eval().requires_grad_(False), name, problem, guard, card.facts)


def check_guard(guard: Guard, problem: str) -> None:
    """Refuse a mask that the problem does not have."""
    if guard.kind == "drafts" and not PROBLEMS[problem].exact_mask:
        raise InvalidRequest(
            f"the exact mask for draft limits is not for {problem}; choose steps of look-ahead"
        )


def guard_of(said: dict[str, Any]) -> Guard:
    """The mask that a card names."""
    return Guard(said["kind"], Rule(**said["rule"]), said["until"])
