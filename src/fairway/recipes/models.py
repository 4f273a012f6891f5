"""The models of the paper's tables, with the hyper-parameters of the authors' published commands, and our own.

A star is the Lagrangian penalty, PIP the look-ahead mask in training, and PIP-D a head that learns that mask.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from fairway.kernels.lookahead.config import AUTHORS, MaskConfig, MaskRule, strongest
from fairway.policies.config import AM, POMO
from fairway.problems.beds import beds
from fairway.problems.table import Name
from fairway.train.config import ColonyConfig, Foresight, Hardness, Rate, TrainConfig
from fairway.train.losses import Objective

UNGUARDED = MaskConfig("none")
PLAIN = Objective(penalty=None)
TRUSTED = {"tsptw": 0.75, "tspdl": 0.60}
"""The share of the infeasible candidates that a PIP-D head must find before it masks."""
HEAD_TOURS = 10
"""Along which a PIP-D head learns: the other forty of an instance teach it little that is new, at twice the time."""
HEAD_ANTS = 5
"""The same of ants: all twenty would not fit most GPUs at 500 nodes."""
AM_TOLERANCE = 1e-4
"""By which the authors' AM lets a limit be passed; their POMO grants a tenth of it."""
SMALL = 20
"""Nodes up to which a CPU trains a policy in minutes, so that our recipe is cut for one."""
OFTEN: dict[Hardness, tuple[int, int]] = {"easy": (2, 6), "medium": (1, 2), "hard": (1, 1)}
"""How often a general policy sees 50 and 100 nodes: the wider windows are, the more there is to learn."""


class Task(NamedTuple):
    """One distribution of instances; those of the ten published beds among them."""

    problem: Name
    hardness: Hardness
    nodes: int

    def __str__(self) -> str:
        """As it ends a recipe's name."""
        return f"{self.problem}{self.nodes}-{self.hardness}"


Config = TrainConfig | ColonyConfig
Recipe = Callable[[Task], Config]


def pomo_star(task: Task) -> TrainConfig:
    """POMO with the Lagrangian penalty."""
    return TrainConfig(str(task), *task, guard=UNGUARDED)


def am_star(task: Task) -> TrainConfig:
    """AM with the Lagrangian penalty: one tour per instance against a frozen policy's greedy one."""
    return TrainConfig(
        str(task),
        *task,
        policy=AM,
        guard=UNGUARDED,
        baseline="greedy",
        batch=512,
        tours=1,
        rate=Rate(shape="constant"),
        weight_decay=0.0,
        clip_norm=1.0,
        epoch=1_280_000,
        epochs=100,
    )


def gfacs_star(task: Task) -> ColonyConfig:
    """Ants with the Lagrangian penalty and no mask.

    The authors train at 500 nodes alone, with a sharpness from 500 to 2,000; at other sizes it is in proportion.
    """
    sharpness = (1.0 * task.nodes, 4.0 * task.nodes)
    return ColonyConfig(str(task), *task, guard=UNGUARDED, sharpness=sharpness)


def fairway(task: Task) -> TrainConfig:
    """Candidate features, an edge bias, the strongest mask, and preferences between pairs of tours."""
    common = TrainConfig(
        str(task), *task, guard=strongest(task.problem), weight_decay=0.0, clip_norm=1.0
    )
    if task.nodes <= SMALL:
        return replace(
            common,
            policy=replace(POMO, layers=3, width=64, heads=4, hidden=256, facts=8),
            tours=20,
            rate=Rate(peak=2e-3, warm_up=20, shape="cosine"),
            epoch=1_000,
            epochs=50,
            average=0.99,
        )
    return replace(
        common,
        policy=replace(POMO, facts=8, relations=16),
        preference=0.1,
        batch=256,
        tours=24,
        optimiser="muon",
        rate=Rate(peak=2e-3, warm_up=200, shape="cosine"),
        weight_decay=0.1,
        epochs=2_500,
        average=0.999,
    )


def general(problem: Name) -> TrainConfig:
    """One policy for all published beds of a problem: every hardness and size in turn, 100 nodes more often."""
    known = {bed.hardness for bed in beds().values() if bed.published and bed.problem == problem}
    mixture = [
        (hardness, nodes)
        for which, nodes in enumerate((50, 100))
        for hardness, often in OFTEN.items()
        if hardness in known
        for _ in range(often[which])
    ]
    largest = fairway(Task(problem, "hard", 100))
    return replace(largest, name=f"general-{problem}", mixture=tuple(mixture))


def plain(star: Callable[[Task], TrainConfig]) -> Recipe:
    """A model as it is: only feasible tours count, nothing keeps the others from being built."""
    return lambda task: replace(star(task), objective=PLAIN)


def guarded(star: Recipe, rule: MaskRule = AUTHORS) -> Recipe:
    """A model with the penalty and the authors' look-ahead mask."""
    return lambda task: replace(star(task), guard=MaskConfig("ahead", rule))


def foretelling(pip: Recipe, plan: Callable[[Task], Foresight]) -> Recipe:
    """The same with the learned mask: a copy of its head masks wherever it is not being refreshed."""

    def recipe(task: Task) -> Config:
        config = pip(task)
        schedule = replace(plan(task), trusted=TRUSTED[task.problem])
        head: dict[str, Any] = {"policy": replace(config.policy, foresight=True)}
        return replace(config, foresight=schedule, **head)

    return recipe


def _papers(task: Task) -> Foresight:
    first, refresh = (100, 20) if task.nodes > 50 else (200, 50)
    return Foresight(first, 1000, refresh, 50, tours=HEAD_TOURS)


POMO_PIP = guarded(pomo_star)
AM_PIP = guarded(am_star, replace(AUTHORS, tolerance=AM_TOLERANCE))
GFACS_PIP = guarded(gfacs_star)
MODELS: dict[str, Recipe] = {
    "pomo": plain(pomo_star),
    "pomo-star": pomo_star,
    "pomo-star-pip": POMO_PIP,
    "pomo-star-pip-d": foretelling(POMO_PIP, _papers),
    "am": plain(am_star),
    "am-star": am_star,
    "am-star-pip": AM_PIP,
    "am-star-pip-d": foretelling(AM_PIP, lambda task: Foresight(10, 10, 2, 5)),
    "gfacs-star": gfacs_star,
    "gfacs-star-pip": GFACS_PIP,
    "gfacs-star-pip-d": foretelling(
        GFACS_PIP, lambda task: Foresight(10, 10, 2, 5, tours=HEAD_ANTS)
    ),
    "fairway": fairway,
}
