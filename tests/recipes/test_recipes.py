from dataclasses import replace
from functools import partial

import pytest

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.config import AUTHORS, PAIRS, MaskConfig, MaskRule
from fairway.policies.config import AM, POMO
from fairway.recipes import (
    ABLATIONS,
    MODELS,
    needs_weights,
    paper_name,
    recipe_named,
    recipe_names,
    variants,
)
from fairway.train.config import Foresight, Rate
from fairway.train.losses import Objective


def test_every_listed_recipe_is_a_config_of_that_name():
    names = recipe_names()
    assert len(set(names)) == len(names) == 12 * 10 + 3 + len(ABLATIONS) + 4 + 2
    for name in names[:-2]:
        config = recipe_named(name)
        assert config.name == name
        assert name.endswith(f"-{config.problem}{config.nodes}-{config.hardness}")


def test_every_model_serves_any_size():
    for model in MODELS:
        assert recipe_named(f"{model}-tsptw37-easy").nodes == 37


def test_pomo_is_trained_as_in_the_published_commands():
    config = recipe_named("pomo-star-pip-tsptw50-hard")
    assert config.policy == POMO
    assert config.guard == MaskConfig("ahead", AUTHORS)
    assert config.objective == Objective(penalty=1.0, count=True)
    assert (config.epochs, config.epoch, config.batch, config.tours) == (10_000, 10_000, 64, 50)
    assert (config.rate, config.weight_decay) == (Rate(1e-4, 0, "step"), 1e-6)
    assert config.clip_norm is None
    assert config.baseline == "shared"
    assert config.average == 0


def test_am_is_trained_as_in_the_published_commands():
    config = recipe_named("am-star-pip-tsptw100-medium")
    assert config.policy == AM
    assert config.guard == MaskConfig("ahead", MaskRule(steps=1, own=False, tolerance=1e-4))
    assert (config.epochs, config.epoch, config.batch, config.tours) == (100, 1_280_000, 512, 1)
    assert (config.rate, config.weight_decay) == (Rate(1e-4, 0, "constant"), 0.0)
    assert config.clip_norm == 1.0
    assert config.baseline == "greedy"


@pytest.mark.parametrize("backbone", ["pomo", "am"])
def test_models_differ_by_penalty_mask_and_head_alone(backbone):
    plain, star, pip, learned = (
        recipe_named(f"{backbone}{rest}-tsptw50-hard") for rest in ("", "-star", "-star-pip", "-star-pip-d")
    )  # fmt: skip
    assert plain.objective.penalty is None
    assert star == replace(plain, name=star.name, objective=Objective())
    assert star.guard == MaskConfig("none")
    assert replace(pip, name=star.name, guard=star.guard) == star
    assert learned.policy.foresight
    head = replace(learned.policy, foresight=False)
    assert replace(learned, name=pip.name, policy=head, foresight=None) == pip


@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("pomo-star-pip-d-tsptw50-hard", Foresight(200, 1000, 50, 50, 0.75, 10)),
        ("pomo-star-pip-d-tspdl50-hard", Foresight(200, 1000, 50, 50, 0.60, 10)),
        ("pomo-star-pip-d-tsptw100-easy", Foresight(100, 1000, 20, 50, 0.75, 10)),
        ("pomo-star-pip-d-tspdl100-medium", Foresight(100, 1000, 20, 50, 0.60, 10)),
        ("am-star-pip-d-tsptw100-hard", Foresight(10, 10, 2, 5, 0.75)),
    ],
)
def test_learned_masks_follow_the_papers_schedule(name, plan):
    assert recipe_named(name).foresight == plan


@pytest.mark.parametrize(
    ("problem", "guard"), [("tsptw", MaskConfig(rule=PAIRS)), ("tspdl", MaskConfig("exact"))]
)
def test_our_own_recipe_knows_the_candidates_and_masks_strictly(problem, guard):
    large, huge = (
        recipe_named(f"fairway-{problem}50-hard"),
        recipe_named(f"fairway-{problem}100-hard"),
    )
    assert large.guard == huge.guard == guard
    assert large.policy == huge.policy == replace(POMO, facts=8, relations=16)
    assert (large.batch, large.tours, huge.batch, huge.tours) == (256, 24, 256, 24)
    assert (large.optimiser, large.rate) == ("muon", Rate(2e-3, 200, "cosine"))
    assert (large.clip_norm, large.weight_decay, large.average) == (1.0, 0.1, 0.999)
    assert large.preference == 0.1
    small = recipe_named(f"fairway-{problem}20-hard")
    assert small.policy.layers == 3
    assert small.guard == guard


def test_variants_change_what_their_name_says():
    def varied(word):
        return replace(recipe_named(f"pomo-star-pip{word}-tsptw50-medium"), name="")

    base = varied("")
    assert varied("-first10") == replace(base, guard=replace(base.guard, until=10))
    assert varied("-layernorm") == replace(base, policy=replace(POMO, normalisation="layer"))
    assert varied("-batchnorm").policy.normalisation == "batch"
    assert varied("-lambda0.5") == replace(base, objective=Objective(penalty=0.5))
    assert varied("-nocount") == replace(base, objective=Objective(count=False))
    starts = replace(recipe_named("pomo-star-starts-tsptw50-easy"), name="")
    star = replace(recipe_named("pomo-star-tsptw50-easy"), name="")
    assert starts == replace(star, starts=True, tours=49)
    assert variants.penalised(varied("-nocount"), 3.0).objective == Objective(3.0, count=False)


def test_a_head_can_be_refreshed_more_often_for_as_long_in_all():
    plan = recipe_named("pomo-star-pip-d-every500-tsptw50-medium").foresight
    assert plan == Foresight(200, 500, 25, 25, tours=10)


def test_fine_tuning_is_short_gentle_and_starts_from_weights():
    config = recipe_named("finetune-pomo-star-pip-tsptw50-medium")
    assert config.epochs == 100
    assert config.rate.peak == pytest.approx(1e-5)
    assert config.rate.shape == "constant"
    assert config.guard == MaskConfig("ahead", AUTHORS)
    assert needs_weights(config.name)
    assert not needs_weights("pomo-star-pip-tsptw50-medium")


def refusal(name) -> str:
    with pytest.raises(InvalidRequest) as error:
        recipe_named(name)
    return str(error.value)


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one():
    assert "did you mean pomo-star-pip-tsptw50-hard" in refusal("pomo-star-pip-tsptw50-hrad")
    assert "did you mean fairway-tspdl100-medium" in refusal("fairway-tspld100-medium")
    assert "--list" in refusal("")
    assert "there is no recipe 'pomo-star-odd-tsptw50-hard'" in refusal(
        "pomo-star-odd-tsptw50-hard"
    )
    odd = refusal("pomo-star-lambda3-tsptw50-hard")
    assert "did you mean pomo-star-lambda2-tsptw50-hard" in odd
    assert "functions of fairway.recipes.variants" in odd


def test_what_makes_no_sense_is_refused():
    assert "expected at least 3 nodes" in refusal("fairway-tsptw2-hard")
    assert "2000 nodes are too many; expected 3 to 1000" in refusal("fairway-tsptw2000-hard")
    plain, star, pip = (
        recipe_named(f"{model}-tsptw50-hard") for model in ("pomo", "pomo-star", "pomo-star-pip")
    )
    for vary, config, said in (
        (partial(variants.guarded_at_first, steps=5), star, "has no mask"),
        (partial(variants.penalised, multiplier=2.0), plain, "has no penalty"),
        (variants.without_count, plain, "has no penalty"),
        (partial(variants.refreshed_every, period=5), pip, "has no learned mask"),
        (variants.fine_tuning, star, "choose a pip model"),
    ):
        with pytest.raises(InvalidRequest, match=said):
            vary(config)


@pytest.mark.parametrize(("problem", "kinds"), [("tsptw", 6), ("tspdl", 4)])
def test_a_general_policy_sees_every_bed_of_its_problem(problem, kinds):
    config = recipe_named(f"general-{problem}")
    assert len(set(config.mixture)) == kinds
    sizes = [part.nodes for part in config.parts]
    assert sizes.count(100) > sizes.count(50) >= kinds // 2
    assert {part.problem for part in config.parts} == {problem}
    assert all(part.mixture == () and part.guard == config.guard for part in config.parts)


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("pomo-tsptw50-hard", "POMO"),
        ("am-star-tsptw50-easy", "AM*"),
        ("pomo-star-pip-tspdl100-hard", "POMO*+PIP"),
        ("gfacs-star-pip-d-tsptw500-medium", "GFACS*+PIP-D"),
        ("pomo-star-pip-layernorm-tsptw50-hard", None),
        ("finetune-pomo-star-pip-tsptw50-hard", None),
        ("fairway-tsptw50-hard", None),
        ("mine", None),
    ],
)
def test_models_of_the_paper_go_by_its_names(recipe, said):
    assert paper_name(recipe) == said
