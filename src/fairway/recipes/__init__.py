"""Recipes: every model of the paper's tables and our own, each a function from a task to a whole config.

A run is named after its recipe and its task, such as `pomo-star-pip-tsptw50-hard`. Ablations are functions from a
config to another (`variants`); those of the paper's studies have names here, any other is a call in Python.
"""

from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import cast, get_args

from fairway.errors import InvalidRequest
from fairway.problems.beds import beds
from fairway.problems.table import PROBLEMS, Name
from fairway.recipes import variants
from fairway.recipes.models import MODELS, Config, Recipe, Task, general
from fairway.train.config import Hardness

GENERAL = {f"general-{name}": partial(general, problem.name) for name, problem in PROBLEMS.items()}
"""Recipes for all beds of a problem."""
COLONIES = ("gfacs-star", "gfacs-star-pip", "gfacs-star-pip-d")
Change = Callable[..., Config]
LAMBDAS: dict[str, Change] = {
    f"lambda{value:g}": partial(variants.penalised, multiplier=value)
    for value in (0.1, 0.5, 2.0, 10.0)
}
STUDIES: tuple[tuple[tuple[str, ...], dict[str, Change]], ...] = (
    (("pomo-star",), {"starts": variants.starting_anywhere}),
    (("pomo-star", "pomo-star-pip"), {**LAMBDAS, "nocount": variants.without_count}),
    (
        ("pomo-star-pip", "pomo-star-pip-d"),
        {f"{by}norm": partial(variants.normalised, by=by) for by in ("batch", "layer")},
    ),
    (
        ("pomo-star-pip",),
        {f"first{some}": partial(variants.guarded_at_first, steps=some) for some in (5, 10, 20)},
    ),
    (("pomo-star-pip",), {"batch256": partial(variants.in_larger_batches, batch=256)}),
    (
        ("pomo-star-pip-d",),
        {f"every{some}": partial(variants.refreshed_every, period=some) for some in (100, 500)},
    ),
    (
        COLONIES,
        {
            "limits": variants.by_limits,
            "growing": variants.growing,
            "searched": variants.judged_by_search,
            "searched-growing": variants.judged_by_search_and_growing,
        },
    ),
    (COLONIES[1:], {"sparse": variants.looking_nearby}),
)
"""Which models are studied with which change, and what its name adds to theirs."""


def _changed(model: str, change: Change) -> Recipe:
    return lambda task: change(MODELS[model](task))


FINE_TUNE = "finetune-"
ABLATIONS: dict[str, Recipe] = {
    f"{model}-{word}": _changed(model, change)
    for models, changes in STUDIES
    for model in models
    for word, change in changes.items()
} | {f"{FINE_TUNE}pomo-star-pip": _changed("pomo-star-pip", variants.fine_tuning)}
RECIPES = MODELS | ABLATIONS
"""What a name stands for, up to the task at its end."""
MOST_NODES = 1_000
"""What a policy that looks at every pair of nodes, for many tours at once, can be trained on."""


def recipe_named(name: str) -> Config:
    """The config that a name stands for; any number of nodes may stand in it."""
    if name in GENERAL:
        return GENERAL[name]()
    recipe, task = _parted(name)
    if recipe not in RECIPES or task is None:
        raise _unknown(name, task)
    if task.nodes > MOST_NODES:
        raise InvalidRequest(f"{name}: {task.nodes} nodes are too many; expected 3 to {MOST_NODES}")
    return replace(RECIPES[recipe](task), name=name)


def paper_name(recipe: str) -> str | None:
    """What the paper's tables call the model of a recipe, where it is one of theirs and no variant."""
    model, task = _parted(recipe)
    if task is None or model not in MODELS or model == "fairway":
        return None
    return model.upper().replace("-STAR", "*").replace("*-", "*+")


def needs_weights(name: str) -> bool:
    """Whether the recipe starts from a policy that was trained before."""
    return name.startswith(FINE_TUNE)


def recipe_names() -> list[str]:
    """The recipes for the published beds, ours for small problems, ablations on the bed they are studied on."""
    tasks = [f"{bed.problem}{bed.nodes}-{bed.hardness}" for bed in beds().values() if bed.published]
    large = "tsptw500-medium"
    every = [f"{model}-{task}" for model in MODELS for task in tasks]
    every += [f"{model}-{large}" for model in COLONIES]
    every += [f"{name}-{large if 'gfacs' in name else 'tsptw50-medium'}" for name in ABLATIONS]
    every += [f"fairway-{problem}{nodes}-hard" for problem in PROBLEMS for nodes in (10, 20)]
    return [*every, *GENERAL]


def _parted(name: str) -> tuple[str, Task | None]:
    """A name's recipe, and the task that its last two words are, such as tsptw50 and hard; None where they are none."""
    recipe, *last = name.rsplit("-", 2)
    place, hardness = last if len(last) == 2 else ("", "")
    problem, nodes = place[:5], place[5:]
    known = problem in PROBLEMS and hardness in get_args(Hardness)
    if not (known and nodes.isascii() and nodes.isdecimal() and len(nodes) < 10):
        return recipe, None
    return recipe, Task(cast(Name, problem), cast(Hardness, hardness), int(nodes))


def _unknown(name: str, task: Task | None) -> InvalidRequest:
    known = recipe_names() if task is None else [f"{each}-{task}" for each in RECIPES]
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else "fairway train --list names them"
    if task is not None:
        hint += " Other ablations are functions of fairway.recipes.variants, for use in Python."
    return InvalidRequest(f"there is no recipe {name!r}; {hint}")
