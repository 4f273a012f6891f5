"""Our own recipe: a decoder that knows what the mask knows, the strongest masks, and tours compared by twos."""

from dataclasses import replace
from typing import Literal

from fairway.kernels.lookahead.rule import PAIRS, Guard
from fairway.policies.config import POMO
from fairway.recipes.task import Task
from fairway.train.config import Hardness, Rate, TrainConfig

SMALL = 20
"""Nodes up to which a CPU trains a policy in minutes, so that the recipe is cut for one."""
FACTS, RELATIONS = 8, 16
OFTEN: dict[Hardness, tuple[int, int]] = {"easy": (2, 6), "medium": (1, 2), "hard": (1, 1)}
"""How often a general policy sees 50 and 100 nodes: the wider windows are, the more there is to learn."""


def fairway(task: Task) -> TrainConfig:
    """Facts and relations of candidates, under the look-ahead over pairs, or the exact mask where limits are drafts."""
    if task.nodes <= SMALL:
        return _for_a_cpu(task)
    return TrainConfig(
        f"fairway-{task}",
        task.problem,
        task.hardness,
        task.nodes,
        policy=replace(POMO, facts=FACTS, relations=RELATIONS),
        guard=_guard(task),
        preference=0.1,
        batch=256,
        tours=24,
        optimiser="muon",
        rate=Rate(peak=2e-3, warm_up=200, shape="cosine"),
        weight_decay=0.1,
        clip_norm=1.0,
        epochs=2_500,
        average=0.999,
    )


def general(problem: Literal["tsptw", "tspdl"]) -> TrainConfig:
    """One policy for all published beds of a problem: every hardness and size in turn, 100 nodes more often."""
    kinds: list[Hardness] = ["easy", "medium", "hard"] if problem == "tsptw" else ["medium", "hard"]
    small = [(hardness, 50) for hardness in kinds for _ in range(OFTEN[hardness][0])]
    large = [(hardness, 100) for hardness in kinds for _ in range(OFTEN[hardness][1])]
    largest = fairway(Task(problem, 100, "hard"))
    return replace(largest, name=f"general-{problem}", mixture=(*small, *large))


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
    return Guard("drafts") if task.problem == "tspdl" else Guard(rule=PAIRS)
