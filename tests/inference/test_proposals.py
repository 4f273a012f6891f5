"""Every way of taking tours from a policy."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from fairway.errors import InvalidFile, InvalidRequest
from fairway.inference.config import DecodeConfig
from fairway.inference.model import Model, load_model
from fairway.inference.proposals import propose, together
from fairway.judge import Solution, verify
from fairway.kernels.lookahead import AUTHORS, MaskConfig, MaskRule
from fairway.policies.attention import Policy
from fairway.policies.checkpoint import save_policy
from fairway.policies.config import PolicyConfig
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.sets import instance_set
from fairway.search.decode import decode

SMALL = PolicyConfig(layers=2, width=32, heads=2, hidden=48, facts=4)
MODES = [
    DecodeConfig(),
    DecodeConfig(symmetries=False),
    DecodeConfig("sample", samples=3),
    DecodeConfig("beam", symmetries=False, width=5),
]


@pytest.fixture
def models():
    torch.manual_seed(2)
    policy = Policy(SMALL).eval().requires_grad_(False)
    guards = {"tsptw": MaskConfig(), "tspdl": MaskConfig("exact")}
    return {
        problem: Model(policy, "small", problem, guard, {}) for problem, guard in guards.items()
    }


def test_starts_are_one_greedy_tour_from_each_first_stop(models):
    instances = generate("tsptw", n=12, hardness="easy", count=3, seed=1)
    tours = propose(models["tsptw"], instances, DecodeConfig("starts", symmetries=False))
    assert tours.shape == (3, 11, 11)
    assert (tours[..., 0] == np.arange(1, 12)).all()
    assert (np.sort(tours, axis=-1) == np.arange(1, 12)).all()
    greedy = propose(models["tsptw"], instances, DecodeConfig(symmetries=False))[:, 0]
    own = tours[np.arange(3), greedy[:, 0] - 1]
    assert (own == greedy).all()


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.kind)
def test_every_mode_proposes_as_many_tours_as_it_says(models, problem, mode):
    instances = generate(problem, n=12, hardness="hard", count=7, seed=1)
    tours = propose(models[problem], instances, mode)
    assert tours.shape == (7, mode.views * mode.tours(12), 11)
    assert (np.sort(tours, axis=-1) == np.arange(1, 12)).all()
    if problem == "tspdl":
        for instance, row in zip(instances, tours, strict=True):
            assert all(isinstance(verify(instance, tour), Solution) for tour in row)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.kind)
def test_tours_do_not_depend_on_what_is_decoded_together(models, mode):
    instances = generate("tsptw", n=10, hardness="medium", count=6, seed=1)
    whole = propose(models["tsptw"], instances, mode, seed=3)
    parts = [propose(models["tsptw"], instances[i : i + 2], mode, 3, i) for i in (0, 2, 4)]
    assert np.array_equal(whole, np.concatenate(parts))


def test_greedy_tours_are_those_that_training_builds(models):
    instances = generate("tsptw", n=15, hardness="hard", count=5, seed=1)
    batch = to_batch(instances)
    with torch.no_grad():
        decoded = decode(batch, models["tsptw"].policy(batch), MaskConfig())
    tours = propose(models["tsptw"], instances, DecodeConfig(symmetries=False))
    assert np.array_equal(tours, decoded.rollout.tours.numpy())


def test_sampled_tours_follow_the_seed(models):
    instances = generate("tsptw", n=12, hardness="easy", count=4, seed=1)
    mode = DecodeConfig("sample", samples=4)
    one, again, other = (propose(models["tsptw"], instances, mode, seed) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_a_wider_beam_fails_less(models):
    """An untrained policy fails often enough to tell."""
    instances = generate("tsptw", n=20, hardness="hard", count=60, seed=4)

    def failing(mode):
        tours = propose(models["tsptw"], instances, mode)
        pairs = zip(instances, tours, strict=True)
        return sum(
            not any(isinstance(verify(instance, tour, 1e-3), Solution) for tour in row)
            for instance, row in pairs
        )

    plain = failing(DecodeConfig(symmetries=False))
    assert failing(DecodeConfig("beam", symmetries=False, width=16)) < plain


def test_masks_can_be_chosen(models):
    instances = generate("tsptw", n=20, hardness="hard", count=40, seed=4)

    def late(guard):
        tours = propose(models["tsptw"], instances, DecodeConfig(guard=guard))
        pairs = zip(instances, tours, strict=True)
        return sum(
            not isinstance(verify(instance, tour, 1e-3), Solution)
            for instance, row in pairs
            for tour in row
        )

    rates = [
        late(guard) for guard in (MaskConfig("none"), MaskConfig(), MaskConfig(rule=MaskRule(2)))
    ]
    assert rates[0] > rates[1] >= rates[2]


def test_a_shrinking_load_is_sailed_in_its_own_direction(models):
    growing = generate("tspdl", n=10, hardness="hard", count=3, seed=1)
    shrinking = instance_set([instance.reversed() for instance in growing])
    there = propose(models["tspdl"], growing, DecodeConfig(symmetries=False))
    back = propose(models["tspdl"], shrinking, DecodeConfig(symmetries=False))
    assert np.array_equal(there, back[..., ::-1])
    for instance, row in zip(shrinking, back, strict=True):
        assert isinstance(verify(instance, row[0]), Solution)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(
    "growing",
    [
        [(50, DecodeConfig()), (100, DecodeConfig()), (5000, DecodeConfig())],
        [
            (100, DecodeConfig("beam", width=4)),
            (100, DecodeConfig("beam", width=64)),
            (5000, DecodeConfig("beam")),
        ],
        [(100, DecodeConfig("sample", samples=4)), (100, DecodeConfig("sample", samples=1280))],
    ],
    ids=["instances", "beams", "samples"],
)
def test_parts_shrink_as_instances_and_beams_grow(growing, device):
    sizes = [together(nodes, mode, torch.device(device)) for nodes, mode in growing]
    assert sizes == sorted(set(sizes), reverse=True)
    assert device == "cuda" or sizes[-1] == 1


def saved(tmp_path, trained):
    torch.manual_seed(1)
    save_policy(Policy(SMALL), tmp_path / "policy", trained=trained)
    return tmp_path


def test_a_model_comes_with_the_mask_it_was_trained_with(tmp_path):
    guard = {"kind": "ahead", "until": 7}
    guard["rule"] = {"steps": 1, "own": False, "tolerance": AUTHORS.tolerance}
    trained = {"problem": "tsptw", "recipe": "mine", "config": {"guard": guard}}
    model = load_model(saved(tmp_path, trained))
    assert (model.name, model.problem) == ("mine", "tsptw")
    assert model.guard == replace(MaskConfig("ahead", AUTHORS), until=7)
    assert not any(p.requires_grad for p in model.policy.parameters())


def test_a_model_that_says_nothing_of_masks_gets_the_strongest(tmp_path):
    assert load_model(saved(tmp_path, {"problem": "tspdl"})).guard == MaskConfig("exact")


def test_what_a_model_is_not_for_gets_a_sentence(tmp_path, models):
    drafts = generate("tspdl", n=8, hardness="hard", count=1, seed=1)
    with pytest.raises(InvalidRequest, match="was trained for tsptw; these instances are of tspdl"):
        propose(models["tsptw"], drafts, DecodeConfig())
    with pytest.raises(InvalidFile, match="does not say which problem"):
        load_model(saved(tmp_path, {}))
    wrong = {
        "problem": "tsptw",
        "config": {"guard": {"kind": "ahead", "rule": {"steps": "x", "y": 1}}},
    }
    with pytest.raises(InvalidFile, match="under which mask"):
        load_model(saved(tmp_path, wrong))


@pytest.mark.parametrize("wrong", [{"samples": 0}, {"width": 0}, {"budget": -1}])
def test_modes_that_cannot_be_are_refused(wrong):
    with pytest.raises(InvalidRequest, match="expected"):
        DecodeConfig(**wrong)


def test_kinds_that_do_not_exist_are_refused_in_one_sentence():
    """In a process without run-time type checks, which would refuse them first."""
    code = """
from fairway.errors import InvalidRequest
from fairway.inference.config import DecodeConfig
from fairway.kernels.lookahead.config import MaskConfig
for kind, wrong in ((DecodeConfig, "retreat"), (MaskConfig, "mine")):
    try: kind(wrong)
    except InvalidRequest as error: print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines() == [
        "tours are not decoded by 'retreat'; expected one of greedy, starts, sample, beam",
        "there is no mask 'mine'; expected one of none, ahead, exact, learned",
    ]


def test_a_mode_says_only_what_matters_to_it():
    assert DecodeConfig().settings == {"kind": "greedy", "symmetries": True, "budget": 200}
    assert DecodeConfig("beam", width=4).settings == {
        "kind": "beam",
        "symmetries": True,
        "width": 4,
    }
