"""The models of the paper's tables, with the hyper-parameters of the authors' published commands.

A star is the Lagrangian penalty, PIP the look-ahead mask in training, and PIP-D a head that learns that mask.
"""

from dataclasses import replace

from fairway.kernels.lookahead.rule import AUTHORS, Guard
from fairway.policies.config import AM, POMO
from fairway.recipes.task import Task
from fairway.train.config import Foresight, Rate, TrainConfig
from fairway.train.losses import Objective

UNGUARDED = Guard("none")
PLAIN = Objective(penalty=None)
HEAD_TOURS = 10
"""Along which a PIP-D head learns: the other forty of an instance teach it little that is new, at twice the time."""
AM_TOLERANCE = 1e-4
"""By which the authors' AM lets a limit be passed; their POMO grants a tenth of it."""


def pomo(task: Task) -> TrainConfig:
    """POMO as it is: only feasible tours count, nothing keeps the others from being built."""
    return replace(pomo_star(task), name=f"pomo-{task}", objective=PLAIN)


def pomo_star(task: Task) -> TrainConfig:
    """POMO with the Lagrangian penalty."""
    return TrainConfig(
        f"pomo-star-{task}", task.problem, task.hardness, task.nodes, policy=POMO, guard=UNGUARDED
    )


def pomo_star_pip(task: Task) -> TrainConfig:
    """POMO with the penalty and the authors' look-ahead mask."""
    return replace(pomo_star(task), name=f"pomo-star-pip-{task}", guard=Guard("ahead", AUTHORS))


def pomo_star_pip_d(task: Task) -> TrainConfig:
    """The same with the learned mask: a copy of its head masks wherever it is not being refreshed."""
    trusted = 0.75 if task.problem == "tsptw" else 0.60
    plan = Foresight(200, 1000, 50, 50, trusted, HEAD_TOURS)
    if task.nodes > 50:
        plan = Foresight(100, 1000, 20, 50, trusted, HEAD_TOURS)
    return replace(
        pomo_star_pip(task),
        name=f"pomo-star-pip-d-{task}",
        policy=replace(POMO, foresight=True),
        foresight=plan,
    )


def am(task: Task) -> TrainConfig:
    """AM as it is: only feasible tours count."""
    return replace(am_star(task), name=f"am-{task}", objective=PLAIN)


def am_star(task: Task) -> TrainConfig:
    """AM with the Lagrangian penalty: one tour an instance against a frozen policy's greedy one."""
    return TrainConfig(
        f"am-star-{task}",
        task.problem,
        task.hardness,
        task.nodes,
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


def am_star_pip(task: Task) -> TrainConfig:
    """AM with the penalty and the authors' look-ahead mask."""
    rule = replace(AUTHORS, tolerance=AM_TOLERANCE)
    return replace(am_star(task), name=f"am-star-pip-{task}", guard=Guard("ahead", rule))


def am_star_pip_d(task: Task) -> TrainConfig:
    """The same with the learned mask."""
    return replace(
        am_star_pip(task),
        name=f"am-star-pip-d-{task}",
        policy=replace(AM, foresight=True),
        foresight=Foresight(10, 10, 2, 5, 0.75 if task.problem == "tsptw" else 0.60),
    )
