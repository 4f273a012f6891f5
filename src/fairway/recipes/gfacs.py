"""The paper's ant colonies, with the hyper-parameters of the authors' code, and variants of them.

The authors train at 500 nodes alone, where their sharpness goes from 500 to 2,000; at other sizes it is in proportion.
"""

from dataclasses import replace

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.rule import AUTHORS, Guard
from fairway.recipes.task import Task
from fairway.train.config import Foresight
from fairway.train.gfacs.config import PAPERS_NETWORK, ColonyConfig

SMALLEST = 20
"""Nodes of the instances with which a colony begins that grows."""
HEAD_ANTS = 5
"""Along whose tours a PIP-D head learns: all twenty would not fit most GPUs at 500 nodes."""


def gfacs_star(task: Task) -> ColonyConfig:
    """Ants with the Lagrangian penalty and no mask."""
    return ColonyConfig(
        f"gfacs-star-{task}",
        task.problem,
        task.hardness,
        task.nodes,
        guard=Guard("none"),
        sharpness=(1.0 * task.nodes, 4.0 * task.nodes),
    )


def gfacs_star_pip(task: Task) -> ColonyConfig:
    """Ants with the penalty and the authors' look-ahead mask."""
    return replace(gfacs_star(task), name=f"gfacs-star-pip-{task}", guard=Guard("ahead", AUTHORS))


def gfacs_star_pip_d(task: Task) -> ColonyConfig:
    """The same with the learned mask: a copy of its head masks wherever it is not being refreshed."""
    trusted = 0.75 if task.problem == "tsptw" else 0.60
    return replace(
        gfacs_star_pip(task),
        name=f"gfacs-star-pip-d-{task}",
        policy=replace(PAPERS_NETWORK, foresight=True),
        foresight=Foresight(10, 10, 2, 5, trusted, HEAD_ANTS),
    )


def by_limits(config: ColonyConfig) -> ColonyConfig:
    """The graph as the paper describes it, without the neighbours by distance that the authors' code adds."""
    return replace(config, policy=replace(config.policy, graph="limits"))


def growing(config: ColonyConfig) -> ColonyConfig:
    """Instances of a fifth of the nodes, then of two fifths, then of all: small ones teach most of it, and quickly."""
    sizes = (max(SMALLEST, config.nodes * fifths // 5) for fifths in (1, 2, 5))
    return replace(config, growth=tuple(min(nodes, config.nodes) for nodes in sizes))


def judged_by_search(config: ColonyConfig) -> ColonyConfig:
    """Tours as sampled count as what local search makes of them, from the first step on."""
    return replace(config, credit=(1.0, 1.0))


def judged_by_search_and_growing(config: ColonyConfig) -> ColonyConfig:
    """Both, as the colonies of 500 nodes in our tables are trained."""
    return growing(judged_by_search(config))


def looking_nearby(config: ColonyConfig) -> ColonyConfig:
    """The paper's sparse strategy: the mask looks at the neighbours of the graph alone."""
    if config.guard.kind == "none":
        raise InvalidRequest(f"{config.name}: has no mask to look less far; choose a pip model")
    return replace(config, sparse=True)
