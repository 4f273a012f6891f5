"""What a training run is: everything that decides its numbers, as one frozen value."""

from dataclasses import dataclass, replace
from typing import Literal

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.config import MaskConfig, check_guard
from fairway.policies.config import POMO, HeatmapConfig, PolicyConfig
from fairway.problems.generate import DISTRIBUTIONS, Distribution
from fairway.problems.table import Name
from fairway.train.losses import Objective

Hardness = Literal["easy", "medium", "hard"]
MIN_NODES = 3


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
    """A copy may replace the best one only where it also finds this share of the infeasible candidates."""
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


ONE_STEP, PENALISED, PAPERS_RATE = MaskConfig(), Objective(), Rate()
PAPERS_HEATMAP = HeatmapConfig()


@dataclass(frozen=True, slots=True)
class RunConfig:
    """What the training of any network asks for."""

    name: str
    problem: Name
    hardness: Hardness
    nodes: int
    guard: MaskConfig = ONE_STEP
    batch: int = 64
    """Instances per step, over all processes together."""
    epoch: int = 10_000
    """Instances per epoch, the unit of schedules."""
    epochs: int = 10_000
    """How long the run is meant to be, where nothing else is asked."""
    foresight: Foresight | None = None
    clip_norm: float | None = None
    seed: int = 2023

    def _check(self, sampled: int, least: str, has_head: bool) -> None:
        """Refuse what no network could be trained on; so many tours are sampled for each instance."""
        if self.nodes < MIN_NODES or self.batch < 1 or sampled < int(least.split(maxsplit=1)[0]):
            raise InvalidRequest(
                f"{self.nodes} nodes, batches of {self.batch} and {sampled} tours of each cannot be trained on; "
                f"expected at least {MIN_NODES} nodes, 1 instance and {least}"
            )
        if (self.problem, self.hardness) not in DISTRIBUTIONS:
            known = ", ".join(f"{problem} {hardness}" for problem, hardness in DISTRIBUTIONS)
            raise InvalidRequest(
                f"no distribution for {self.problem} {self.hardness}; expected one of {known}"
            )
        check_guard(self.guard, self.problem)
        if (self.foresight is not None) != has_head:
            raise InvalidRequest("a PIP-D head and its schedule come together or not at all")

    @property
    def distribution(self) -> Distribution:
        """The distribution that instances are drawn from."""
        return DISTRIBUTIONS[self.problem, self.hardness]

    @property
    def instances(self) -> int:
        """How many instances the run is meant to see."""
        return self.epoch * self.epochs


@dataclass(frozen=True, slots=True)
class TrainConfig(RunConfig):
    """One policy's training."""

    policy: PolicyConfig = POMO
    objective: Objective = PENALISED
    baseline: Literal["shared", "greedy"] = "shared"
    preference: float = 0.0
    """How sharply pairs of an instance's tours are compared; 0 for advantages over a baseline instead."""
    tours: int = 50
    """Tours sampled for each instance."""
    optimiser: Literal["adam", "muon"] = "adam"
    rate: Rate = PAPERS_RATE
    weight_decay: float = 1e-6
    """Part of the gradient with Adam; what matrices lose of themselves at each step, by the rate, with Muon."""
    average: float = 0.0
    """The share of the old weights in their running average after each step; 0 keeps none."""
    half: bool = True
    """Whether matrix products run in bf16 on a GPU; resources and slacks are float32 always."""
    starts: bool = False
    """Whether each tour of an instance has a first stop of its own, as in the original POMO; none is chosen there."""
    mixture: tuple[tuple[Hardness, int], ...] = ()
    """Hardnesses and sizes that steps take in turn, for a policy that knows several; without any, the config's own."""

    def __post_init__(self) -> None:
        self._check(self.tours, "1 tour", self.policy.foresight)
        if self.baseline == "shared" and self.tours == 1:
            raise InvalidRequest("a shared baseline needs two tours per instance or more")
        if self.starts and (self.tours != self.nodes - 1 or self.mixture):
            raise InvalidRequest(
                f"{self.tours} tours cannot have a first stop each among {self.nodes - 1}; expected as many tours"
            )
        if (self.mixture or self.preference) and self.baseline != "shared":
            raise InvalidRequest("mixtures of instances and preferences need the shared baseline")
        if self.preference and self.objective.penalty is None:
            raise InvalidRequest("preferences need penalties, by which late tours can be compared")

    @property
    def parts(self) -> tuple["TrainConfig", ...]:
        """One config for each hardness and size; a step takes the one of its number."""
        if not self.mixture:
            return (self,)
        return tuple(
            replace(self, hardness=hardness, nodes=nodes, mixture=())
            for hardness, nodes in self.mixture
        )


@dataclass(frozen=True, slots=True)
class ColonyConfig(RunConfig):
    """One colony's training."""

    batch: int = 10
    epoch: int = 200
    epochs: int = 50
    clip_norm: float = 3.0
    policy: HeatmapConfig = PAPERS_HEATMAP
    sparse: bool = False
    """Whether the mask looks at the neighbours of the sparse graph alone."""
    ants: int = 20
    """Tours sampled for each instance."""
    level: int = 5
    """Epochs at the end in which temperatures do not move any more."""
    sharpness: tuple[float, float] = (500.0, 2000.0)
    """The paper's beta, at first and in the end: how much likelier a shorter tour should be."""
    power: tuple[float, float] = (0.8, 1.0)
    """Of what draws the ants, at first and in the end: the inverse temperature with which they sample."""
    credit: tuple[float, float] = (0.5, 1.0)
    """How much a sampled tour is judged by what local search makes of it, at first and in the end."""
    rate: tuple[float, float] = (5e-4, 5e-5)
    """The learning rate, which falls by a cosine."""
    weight_decay: float = 0.01
    growth: tuple[int, ...] = ()
    """Nodes of the instances in equal shares of the run, the config's own at last; without any, those alone."""

    def __post_init__(self) -> None:
        self._check(self.ants, "2 ants", self.policy.foresight)
        if self.growth and (min(self.growth) < MIN_NODES or self.growth[-1] != self.nodes):
            raise InvalidRequest(
                f"instances cannot grow through {self.growth} nodes; "
                f"expected at least {MIN_NODES}, and {self.nodes} at last"
            )
