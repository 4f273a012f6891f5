"""Recipes: every model of the paper's tables and our own, each a function that returns a full config.

A recipe's name is `<model>-<problem><nodes>-<hardness>`, such as `pomo-star-pip-tsptw50-hard`. Variants stand between
model and problem (`-first10`, `-layernorm`, `-lambda2`, `-nocount`, `-every500`), and `finetune-` stands before all.
`general-tsptw` and `general-tspdl` train one policy for all beds of a problem.
Ant colonies have variants of their own: `-limits`, `-sparse`, `-lkh`, `-growing` and `-searched`.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from typing import Literal, cast

from fairway.errors import InvalidRequest
from fairway.policies.norms import Normalisation
from fairway.problems.beds import beds
from fairway.recipes import gfacs, own, paper, variants
from fairway.recipes.task import Task
from fairway.train.config import TrainConfig
from fairway.train.gfacs.config import ColonyConfig

MODELS: dict[str, Callable[[Task], TrainConfig]] = {
    "pomo": paper.pomo,
    "pomo-star": paper.pomo_star,
    "pomo-star-pip": paper.pomo_star_pip,
    "pomo-star-pip-d": paper.pomo_star_pip_d,
    "am": paper.am,
    "am-star": paper.am_star,
    "am-star-pip": paper.am_star_pip,
    "am-star-pip-d": paper.am_star_pip_d,
    "fairway": own.fairway,
}

GENERAL: dict[str, Callable[[], TrainConfig]] = {
    "general-tsptw": lambda: own.general("tsptw"),
    "general-tspdl": lambda: own.general("tspdl"),
}
"""Recipes for all beds of a problem."""

COLONIES: dict[str, Callable[[Task], ColonyConfig]] = {
    "gfacs-star": gfacs.gfacs_star,
    "gfacs-star-pip": gfacs.gfacs_star_pip,
    "gfacs-star-pip-d": gfacs.gfacs_star_pip_d,
}

COLONY_VARIANTS: dict[str, Callable[[ColonyConfig], ColonyConfig]] = {
    "limits": gfacs.by_limits,
    "sparse": gfacs.looking_nearby,
    "lkh": gfacs.searched_by_lkh,
    "growing": gfacs.growing,
    "searched": gfacs.judged_by_search,
}

VARIANTS: dict[str, Callable[[TrainConfig, str], TrainConfig]] = {
    r"first(\d+)": lambda config, steps: variants.guarded_at_first(config, int(steps)),
    r"(instance|batch|layer)norm": lambda config, by: variants.normalised(
        config, cast(Normalisation, by)
    ),
    r"lambda(\d+(?:\.\d+)?)": lambda config, value: variants.penalised(config, float(value)),
    r"(nocount)": lambda config, _: variants.without_count(config),
    r"every([1-9]\d*)": lambda config, period: variants.refreshed_every(config, int(period)),
}

FINE_TUNE = "finetune-"
MOST_NODES = 1_000
"""What a policy that looks at every pair of nodes, for many tours at once, can be trained on."""

_NAME = re.compile(
    rf"(?P<tune>{FINE_TUNE})?(?P<model>{'|'.join(sorted((*MODELS, *COLONIES), key=len, reverse=True))})"
    r"(?P<variants>(?:-[a-z]+[\d.]*)*?)"
    r"-(?P<problem>tsptw|tspdl)(?P<nodes>\d{1,9})-(?P<hardness>easy|medium|hard)"
)


def recipe_named(name: str) -> TrainConfig | ColonyConfig:
    """The config that a name stands for; any number of nodes may stand in it."""
    if name in GENERAL:
        return GENERAL[name]()
    match = _NAME.fullmatch(name)
    if match is None:
        raise _unknown(name)
    if int(match["nodes"]) > MOST_NODES:
        raise InvalidRequest(
            f"{name}: {match['nodes']} nodes are too many; expected 3 to {MOST_NODES}"
        )
    problem = cast(Literal["tsptw", "tspdl"], match["problem"])
    hardness = cast(Literal["easy", "medium", "hard"], match["hardness"])
    task = Task(problem, int(match["nodes"]), hardness)
    words = list(filter(None, match["variants"].split("-")))
    if match["model"] in COLONIES:
        return _colony(COLONIES[match["model"]](task), words, name)
    config = MODELS[match["model"]](task)
    for word in words:
        config = _varied(config, word, name)
    if match["tune"]:
        config = variants.fine_tuning(config)
    return replace(config, name=name)


def paper_name(recipe: str) -> str | None:
    """What the paper's tables call the model of a recipe, where it is one of theirs and no variant."""
    match = _NAME.fullmatch(recipe)
    if match is None or match["tune"] or match["variants"] or match["model"] == "fairway":
        return None
    return match["model"].upper().replace("-STAR", "*").replace("*-", "*+")


def needs_weights(name: str) -> bool:
    """Whether the recipe goes on from a policy that was trained before."""
    return name.startswith(FINE_TUNE)


def recipe_names() -> list[str]:
    """The recipes for the published beds, and ours for small problems; variants and other sizes are not listed."""
    tasks = [f"{bed.problem}{bed.nodes}-{bed.hardness}" for bed in beds().values() if bed.published]
    small = [f"{problem}{nodes}-hard" for problem in ("tsptw", "tspdl") for nodes in (10, 20)]
    every = [f"{model}-{task}" for model in MODELS for task in tasks]
    colonies = [f"{model}-{task}" for model in COLONIES for task in (*tasks, "tsptw500-medium")]
    return [*every, *colonies, *(f"fairway-{task}" for task in small), *GENERAL]


def _colony(config: ColonyConfig, words: list[str], name: str) -> ColonyConfig:
    if needs_weights(name) or not COLONY_VARIANTS.keys() >= set(words):
        raise _unknown(name)
    for word in words:
        config = COLONY_VARIANTS[word](config)
    return replace(config, name=name)


def _varied(config: TrainConfig, word: str, name: str) -> TrainConfig:
    for pattern, vary in VARIANTS.items():
        if match := re.fullmatch(pattern, word):
            return vary(config, match[1])
    raise _unknown(name)


def _unknown(name: str) -> InvalidRequest:
    near = get_close_matches(name, recipe_names(), n=3, cutoff=0.5)
    hint = (
        f"did you mean {', '.join(near)}?" if near else "fairway train --list names the usual ones"
    )
    return InvalidRequest(f"there is no recipe {name!r}; {hint}")
