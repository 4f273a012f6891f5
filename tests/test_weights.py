"""Policies found by name, what half precision keeps, and what those that ship are worth."""

from pathlib import Path

import pytest
import torch

from fairway import weights
from fairway.errors import InvalidFile
from fairway.inference.config import DecodeConfig
from fairway.inference.model import load_model
from fairway.inference.proposals import propose
from fairway.judge import Solution, verify
from fairway.policies.attention import Policy
from fairway.policies.checkpoint import facts_of, load_policy, save_policy
from fairway.policies.config import POMO, PolicyConfig
from fairway.problems.generate import generate
from fairway.search.improve import improve

CPU = torch.device("cpu")
TINY = PolicyConfig(layers=1, width=32, heads=2, hidden=16, facts=2, relations=2)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A folder of shipped policies with one in it, and another to work in."""
    folder, here = tmp_path / "weights", tmp_path / "here"
    folder.mkdir()
    here.mkdir()
    monkeypatch.setattr(weights, "FOLDER", folder)
    monkeypatch.chdir(here)
    torch.manual_seed(3)
    policy = Policy(TINY)
    trained = {"problem": "tsptw", "config": {"guard": None}, "recipe": "some"}
    save_policy(policy, folder / "some", trained=trained, half=True)
    return policy


def test_a_shipped_policy_is_found_by_its_name(shipped):
    found, card = load_policy(Path("some"), CPU)
    assert card.trained["recipe"] == "some"
    for one, other in zip(shipped.parameters(), found.parameters(), strict=True):
        assert other.dtype == torch.float32
        assert torch.equal(one.half(), other.half())


def test_what_lies_here_goes_before_what_is_shipped(shipped):
    mine = Policy(TINY)
    Path("some").mkdir()
    save_policy(mine, Path("some"), trained={"recipe": "mine"})
    assert load_policy(Path("some"), CPU)[1].trained["recipe"] == "mine"
    assert weights.located(Path("some/")) == Path("some")


def test_names_that_nothing_has_are_refused_with_those_that_something_has(shipped):
    with pytest.raises(InvalidFile, match=r"or the name of one that ships: some$"):
        load_policy(Path("other"), CPU)


def test_half_precision_takes_half_the_room(tmp_path):
    policy = Policy(POMO)
    sizes = []
    for half in (False, True):
        save_policy(policy, tmp_path / f"{half}", trained={}, half=half)
        sizes.append((tmp_path / f"{half}.safetensors").stat().st_size)
    assert sizes[1] < 0.52 * sizes[0]


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_what_ships_solves_instances_that_it_has_not_seen(problem):
    """Within five percent of a short local search; the means are two to three."""
    model = load_model(f"general-{problem}")
    instances = generate(problem, n=50, hardness="medium", count=12, seed=91)
    gaps = []
    for instance, tours in zip(instances, propose(model, instances, DecodeConfig()), strict=True):
        costs = [one.cost for t in tours if isinstance(one := verify(instance, t), Solution)]
        gaps.append(min(costs) / improve(instance, iterations=3_000).cost - 1)
    assert 0 < sum(gaps) / len(gaps) < 0.05


def test_what_ships_is_small_and_says_where_it_comes_from():
    files = [path for name in weights.names() for path in weights.FOLDER.glob(f"{name}.*")]
    assert sum(path.stat().st_size for path in files) < 25e6
    for name in weights.names():
        trained = facts_of(Path(name))
        assert trained["policy"] == name
