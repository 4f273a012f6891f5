"""Our own recipe: a decoder that knows what the mask knows, large batches, and a rate that falls to nothing."""

from dataclasses import replace
from typing import Literal

from fairway.kernels.lookahead.rule import Guard
from fairway.policies.config import POMO
from fairway.recipes.task import Task
from fairway.train.config import Hardness, Rate, TrainConfig

SMALL = 20
"""Nodes up to which a CPU trains a policy in minutes, so that the recipe is cut for one."""
FACTS = 8


def fairway(task: Task) -> TrainConfig:
    """Candidate facts under the strict look-ahead, or under the exact mask where the limits are drafts."""
    if task.nodes <= SMALL:
        return _for_a_cpu(task)
    return TrainConfig(
        f"fairway-{task}",
        task.problem,
        task.hardness,
        task.nodes,
        policy=replace(POMO, facts=FACTS),
        guard=_guard(task),
        batch=512 if task.nodes <= 50 else 256,
        tours=task.nodes,
        rate=Rate(peak=4e-4, warm_up=200, shape="cosine"),
        weight_decay=0.0,
        clip_norm=1.0,
        epochs=2_500,
        average=0.999,
    )


def general(problem: Literal["tsptw", "tspdl"]) -> TrainConfig:
    """One policy for all published beds of a problem: every hardness and size in turn, those of 100 nodes twice."""
    kinds: list[Hardness] = ["easy", "medium", "hard"] if problem == "tsptw" else ["medium", "hard"]
    mixture = tuple((hardness, nodes) for nodes in (50, 100, 100) for hardness in kinds)
    largest = fairway(Task(problem, 100, "hard"))
    return replace(largest, name=f"general-{problem}", tours=50, mixture=mixture)


def _for_a_cpu(task: Task) -> TrainConfig:
    return TrainConfig(
        f"fairway-{task}",
        task.problem,
        task.hardness,
        task.nodes,
        policy=replace(POMO, layers=3, width=64, heads=4, hidden=256, facts=FACTS),
        guard=_guard(task),
        batch=64,
        tours=20,
        rate=Rate(peak=2e-3, warm_up=20, shape="cosine"),
        weight_decay=0.0,
        clip_norm=1.0,
        epoch=1_000,
        epochs=50,
        average=0.99,
    )


def _guard(task: Task) -> Guard:
    return Guard("drafts") if task.problem == "tspdl" else Guard()
