"""What a training run is: everything that decides its numbers, as one frozen value."""

from dataclasses import dataclass, replace
from typing import Literal

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.rule import Guard
from fairway.policies.config import POMO, PolicyConfig
from fairway.problems.generate import LAWS, Law
from fairway.train.losses import Objective

Hardness = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class Foresight:
    """When a PIP-D head learns (online, under the exact mask) and when its best copy masks instead; in epochs."""

    first: int
    """E_init: the epochs at the beginning that are online."""
    period: int
    """E_p: how often the head is refreshed."""
    refresh: int
    """E_u: the epochs at the end of each period that are online."""
    last: int
    """E_l: the epochs at the end of the run that are online."""
    trusted: float = 0.75
    """A copy may replace the best one only where it also finds this share of the doomed candidates."""
    tours: int | None = None
    """Of each instance, the tours along which the head learns; None for all of them."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The learning rate along a run."""

    peak: float = 1e-4
    warm_up: int = 0
    """Steps over which it rises to its peak, also after a resumed run restarted its optimiser."""
    shape: Literal["step", "cosine", "constant"] = "step"
    """Constant until nine tenths of the run and a tenth of that after (POMO), falling to a hundredth, constant (AM)."""


ONE_STEP, PENALISED, PAPERS_RATE = Guard(), Objective(), Rate()


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """One model's training."""

    name: str
    problem: Literal["tsptw", "tspdl"]
    hardness: Hardness
    nodes: int
    policy: PolicyConfig = POMO
    guard: Guard = ONE_STEP
    objective: Objective = PENALISED
    baseline: Literal["shared", "greedy"] = "shared"
    preference: float = 0.0
    """How sharply an instance's tours are compared by twos; 0 for advantages over a baseline instead."""
    batch: int = 64
    """Instances a step, over all processes together."""
    tours: int = 50
    """Tours sampled for each instance."""
    optimiser: Literal["adam", "muon"] = "adam"
    rate: Rate = PAPERS_RATE
    weight_decay: float = 1e-6
    """Part of the gradient with Adam; what matrices lose of themselves at each step, by the rate, with Muon."""
    clip_norm: float | None = None
    epoch: int = 10_000
    """Instances an epoch, the unit of schedules."""
    epochs: int = 10_000
    """How long the run is meant to be, where nothing else is asked."""
    foresight: Foresight | None = None
    average: float = 0.0
    """The share of the old weights in their running average after each step; 0 keeps none."""
    half: bool = True
    """Whether matrix products run in bf16 on a GPU; levels and slacks are float32 always."""
    seed: int = 2023
    mixture: tuple[tuple[Hardness, int], ...] = ()
    """Hardnesses and sizes that steps take in turn, for a policy that knows several; without any, the config's own."""

    def __post_init__(self) -> None:
        if self.nodes < 3 or self.batch < 1 or self.tours < 1:
            raise InvalidRequest(
                f"{self.nodes} nodes, batches of {self.batch} and {self.tours} tours cannot be trained on; "
                "expected at least 3 nodes, 1 instance and 1 tour"
            )
        if (self.problem, self.hardness) not in LAWS:
            known = ", ".join(f"{problem} {hardness}" for problem, hardness in LAWS)
            raise InvalidRequest(
                f"no law for {self.problem} {self.hardness}; expected one of {known}"
            )
        if self.guard.kind == "drafts" and self.problem != "tspdl":
            raise InvalidRequest(
                "the exact mask for draft limits serves tspdl; use a look-ahead here"
            )
        if self.baseline == "shared" and self.tours == 1:
            raise InvalidRequest("a shared baseline needs two tours an instance or more")
        if (self.mixture or self.preference) and self.baseline != "shared":
            raise InvalidRequest("mixtures of instances and preferences need the shared baseline")
        if self.preference and self.objective.penalty is None:
            raise InvalidRequest("preferences need penalties, by which late tours can be compared")
        if (self.foresight is not None) != self.policy.foresight:
            raise InvalidRequest("a PIP-D head and its schedule come together or not at all")

    @property
    def parts(self) -> tuple["TrainConfig", ...]:
        """One config for each hardness and size; a step takes the one of its number."""
        if not self.mixture:
            return (self,)
        return tuple(
            replace(self, hardness=hardness, nodes=nodes, mixture=())
            for hardness, nodes in self.mixture
        )

    @property
    def law(self) -> Law:
        """The law that instances are drawn from."""
        return LAWS[self.problem, self.hardness]

    @property
    def instances(self) -> int:
        """How many instances the run is meant to see."""
        return self.epoch * self.epochs
