from dataclasses import replace

import pytest

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.config import AUTHORS, MaskConfig
from fairway.policies.config import HeatmapConfig
from fairway.recipes import recipe_named
from fairway.train.config import Foresight


def test_colonies_are_trained_as_in_the_authors_code():
    config = recipe_named("gfacs-star-pip-tsptw500-medium")
    assert config.policy == HeatmapConfig("union", 5, 12, 32)
    assert config.guard == MaskConfig("ahead", AUTHORS)
    assert (config.ants, config.batch, config.epoch, config.epochs) == (20, 10, 10 * 20, 50)
    assert config.sharpness == (500, 2000)
    assert (config.power, config.credit, config.level) == ((0.8, 1.0), (0.5, 1.0), 5)
    assert (config.rate, config.clip_norm) == ((5e-4, 5e-5), 3.0)
    assert not config.sparse


def test_models_differ_by_mask_and_head_alone():
    star, pip, learned = (
        recipe_named(f"gfacs-star{rest}-tspdl100-hard") for rest in ("", "-pip", "-pip-d")
    )
    assert star.guard == MaskConfig("none")
    assert replace(pip, name=star.name, guard=star.guard) == star
    assert learned.foresight == Foresight(10, 10, 2, 5, 0.60, 5)
    head = replace(learned.policy, foresight=False)
    assert replace(learned, name=pip.name, policy=head, foresight=None) == pip


def test_variants_change_the_graph_or_how_far_the_mask_looks():
    base = recipe_named("gfacs-star-pip-tsptw50-hard")
    limits = recipe_named("gfacs-star-pip-limits-tsptw50-hard")
    assert limits == replace(base, name=limits.name, policy=replace(base.policy, graph="limits"))
    sparse = recipe_named("gfacs-star-pip-sparse-tsptw50-hard")
    assert sparse == replace(base, name=sparse.name, sparse=True)


def test_colonies_that_grow_begin_with_a_fifth_of_the_nodes():
    base = recipe_named("gfacs-star-tsptw500-medium")
    growing = recipe_named("gfacs-star-growing-tsptw500-medium")
    assert growing == replace(base, name=growing.name, growth=(100, 200, 500))
    assert recipe_named("gfacs-star-growing-tsptw50-medium").growth == (20, 20, 50)
    assert recipe_named("gfacs-star-growing-tsptw10-medium").growth == (10, 10, 10)


def test_tours_can_be_judged_by_what_search_makes_of_them_from_the_first_step():
    base = recipe_named("gfacs-star-pip-tsptw500-medium")
    searched = recipe_named("gfacs-star-pip-searched-tsptw500-medium")
    assert searched == replace(base, name=searched.name, credit=(1.0, 1.0))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gfacs-star-sparse-tsptw50-hard", "did you mean gfacs-star-pip-sparse-tsptw50-hard"),
        ("gfacs-star-pip-lkh-tsptw50-hard", "did you mean .*gfacs-star-pip-tsptw50-hard"),
        ("gfacs-star-pip-nocount-tsptw50-hard", "there is no recipe"),
        ("finetune-gfacs-star-pip-tsptw50-hard", "there is no recipe"),
        ("gfacs-star-pip-tsptw2000-hard", "too many"),
    ],
)
def test_what_makes_no_sense_is_refused(name, said):
    with pytest.raises(InvalidRequest, match=said):
        recipe_named(name)
