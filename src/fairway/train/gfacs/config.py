"""What a training of ants is, as one frozen value, and how its temperatures move along it."""

from dataclasses import dataclass, replace
from math import cos, log, pi

from fairway.errors import InvalidRequest
from fairway.policies.config import HeatmapConfig
from fairway.train.config import MIN_NODES, RunConfig

PAPERS_NETWORK = HeatmapConfig()
ROUNDED = 1 + 1e-9
"""So that a share that was rounded down still counts as the epoch that it begins."""


@dataclass(frozen=True, slots=True)
class ColonyConfig(RunConfig):
    """One colony's training."""

    batch: int = 10
    epoch: int = 200
    epochs: int = 50
    clip_norm: float = 3.0
    policy: HeatmapConfig = PAPERS_NETWORK
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


@dataclass(frozen=True, slots=True)
class Tempo:
    """Where the schedules of a training stand."""

    sharpness: float
    power: float
    credit: float
    rate: float


def sizes_over(config: ColonyConfig, spent: float) -> int:
    """How many of the sizes that instances grow through lie behind."""
    return min(int(spent * len(config.growth) * ROUNDED), len(config.growth) - 1)


def grown(config: ColonyConfig, spent: float) -> ColonyConfig:
    """The config for instances of the size that they have where this share of the run is over.

    The sharpness goes with the size, since lengths do.
    """
    if not config.growth:
        return config
    nodes = config.growth[sizes_over(config, spent)]
    first, last = (sharpness * nodes / config.nodes for sharpness in config.sharpness)
    return replace(config, nodes=nodes, sharpness=(first, last), growth=())


def tempo_at(config: ColonyConfig, spent: float) -> Tempo:
    """The schedules where this share of the run is over; all move from epoch to epoch.

    The sharpness rises with the logarithm of the epoch, power and credit in a straight line.
    """
    moving = max(config.epochs - config.level, 1)
    passed = epochs_over(config, spent)
    straight = min(passed / moving, 1.0)
    curved = min(log(passed + 1) / log(moving), 1.0) if moving > 1 else 1.0
    fall = 0.5 * (1 - cos(pi * passed / config.epochs))
    return Tempo(
        _between(config.sharpness, curved),
        _between(config.power, straight),
        _between(config.credit, straight),
        _between(config.rate, fall),
    )


def epochs_over(config: ColonyConfig, spent: float) -> int:
    """How many of the planned epochs lie behind: a run that a clock cuts short has as many, only shorter ones."""
    return min(int(spent * config.epochs * ROUNDED), config.epochs)


def grew_within(config: ColonyConfig, epochs: int, spent: float) -> bool:
    """Whether instances got the size that they have in the last so many epochs."""
    if not config.growth:
        return False
    begun = sizes_over(config, spent) / len(config.growth)
    return epochs_over(config, spent) - epochs_over(config, begun) < epochs


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * share
