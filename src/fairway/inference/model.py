"""A trained network with all that is needed to use it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from fairway.errors import InvalidFile, InvalidRequest
from fairway.kernels.lookahead.config import MaskConfig, MaskRule, check_guard, strongest
from fairway.policies.attention import Policy
from fairway.policies.checkpoint import load_heatmap, load_policy
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.problems.table import PROBLEMS

Network = TypeVar("Network", Policy, HeatmapNetwork)


@dataclass(frozen=True, slots=True, eq=False)
class Trained(Generic[Network]):
    """A network in its final state, the problem it was trained for, and the mask it was trained with."""

    policy: Network
    name: str
    problem: str
    guard: MaskConfig
    facts: dict[str, Any]
    """Of its card, for those who compare results."""

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.policy.parameters()).device

    def check(self, instances: Instance | InstanceSet, guard: MaskConfig | None = None) -> None:
        """Refuse what the network was not trained for, and a mask that the problem does not have."""
        if instances.problem != self.problem:
            raise InvalidRequest(
                f"policy {self.name} was trained for {self.problem}; these instances are of {instances.problem}"
            )
        check_guard(guard or self.guard, self.problem)


@dataclass(frozen=True, slots=True, eq=False)
class Model(Trained[Policy]):
    """A policy that decodes tours."""


@dataclass(frozen=True, slots=True, eq=False)
class Colony(Trained[HeatmapNetwork]):
    """A network that draws heatmaps for ants."""

    sparse: bool = False
    """Whether the mask looks at the neighbours of the sparse graph alone."""


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
        guard = strongest(problem) if said is None else _guard_of(said)
    except (TypeError, AttributeError, KeyError, InvalidRequest) as error:
        raise InvalidFile(
            f"{place}: does not say under which mask its policy was trained; train it anew"
        ) from error
    name = str(card.trained.get("recipe", place.stem))
    return Model(policy.eval().requires_grad_(False), name, problem, guard, card.facts)


def load_colony(path: Path | str, device: torch.device | str = "cpu") -> Colony:
    """The network of a training's folder."""
    place = Path(path)
    network, card = load_heatmap(place, torch.device(device))
    try:
        said = card.trained["config"]
        told = card.trained["recipe"], said["problem"], _guard_of(said["guard"])
        sparse = said["sparse"]
    except (TypeError, KeyError, InvalidRequest) as error:
        raise InvalidFile(
            f"{place}: does not say how its network was trained; train it anew with a gfacs recipe"
        ) from error
    return Colony(network.eval().requires_grad_(False), *told, card.facts, sparse)


def _guard_of(said: dict[str, Any]) -> MaskConfig:
    return MaskConfig(said["kind"], MaskRule(**said["rule"]), said["until"])
