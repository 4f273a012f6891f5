"""First tours from a trained policy."""

import itertools
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

import fairway
from fairway.errors import InvalidFile, InvalidRequest
from fairway.inference import anytime
from fairway.inference.anytime import FORAGING
from fairway.judge import Solution, verify
from fairway.policies.attention import Policy
from fairway.policies.checkpoint import save_policy
from fairway.policies.config import HeatmapConfig, PolicyConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.generate import generate
from fairway.problems.table import PROBLEMS
from fairway.recipes import recipe_named
from fairway.solver.request import Request
from fairway.solver.warm_start import choice_of, guided_tours, model_at, prepare
from fairway.weights import shipped


def saved_policy(place):
    torch.manual_seed(3)
    small = Policy(PolicyConfig(layers=1, width=32, heads=2, hidden=16))
    save_policy(small, place / "policy", trained={"problem": "tsptw", "recipe": "small"})


@pytest.fixture
def policy(tmp_path):
    saved_policy(tmp_path)
    return tmp_path


@pytest.fixture
def colony(tmp_path):
    torch.manual_seed(3)
    config = replace(
        recipe_named("gfacs-star-pip-tsptw20-easy"), policy=HeatmapConfig(layers=2, width=8)
    )
    trained = {"problem": "tsptw", "recipe": config.name, "config": asdict(config)}
    save_policy(HeatmapNetwork(config.policy), tmp_path / "policy", trained=trained)
    return tmp_path


@pytest.fixture
def easy():
    """Instances on which even an untrained policy finds a tour."""
    return generate("tsptw", n=20, hardness="easy", count=3, seed=1)[1:]


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory):
    """Nothing is compiled while a clock runs."""
    place = tmp_path_factory.mktemp("compiled")
    saved_policy(place)
    prepare(generate("tsptw", n=20, hardness="easy", count=1, seed=1)[0], place)


def test_a_policys_tour_is_where_the_search_begins(policy, easy):
    """Without any iterations of its own, the search hands the policy's best tour on, or a better one."""
    proposed = [verify(easy[0], tour) for tour in guided_tours(easy[0], policy, 9.0)]
    best = min(verdict.cost for verdict in proposed if isinstance(verdict, Solution))
    result = fairway.solve(easy[0], iterations=0, policy=policy)
    assert result.cost <= best
    assert result.trace[0].method == "policy"
    assert isinstance(verify(easy[0], result.tour), Solution)


def test_lists_are_guided_in_every_process(policy, easy):
    results = fairway.solve(easy, iterations=5, workers=2, policy=str(policy))
    assert [result.trace[0].method for result in results] == ["policy"] * 2
    again = fairway.solve(easy, iterations=5, workers=1, policy=policy)
    assert [result.tour for result in results] == [result.tour for result in again]


@pytest.fixture
def slow(monkeypatch):
    """A clock by which a second passes between two looks at it."""
    looks = itertools.count()
    monkeypatch.setattr(anytime.time, "monotonic", lambda: float(next(looks)))
    return looks


@pytest.mark.parametrize(("seconds", "tours"), [(4.0, 0), (15.0, 1), (60.0, 16)])
def test_a_policy_is_given_up_where_it_would_be_late(policy, easy, slow, seconds, tours):
    """A beam looks at the clock at each of 19 steps, a single tour twice, whatever was foreseen."""
    found = list(anytime.tours_within(model_at(policy), easy[0], seconds))
    assert min(tours, 2) == min(len(found), 2)
    assert next(slow) <= seconds + 4


def test_a_policy_that_takes_too_long_at_its_own_pace_is_not_begun(policy, easy, slow):
    assert not list(anytime.tours_within(model_at(policy), easy[0], 9.0, pace=10 / 20**2))
    assert next(slow) == 1
    assert 0 < anytime.pace_of(model_at(policy)) < 1


def test_a_policy_leaves_the_threads_of_others_alone(policy, easy):
    before, seen = torch.get_num_threads(), []
    for _ in guided_tours(easy[0], policy, 9.0):
        seen.append(torch.get_num_threads())
    assert set(seen) == {1}
    assert torch.get_num_threads() == before


def test_every_way_to_a_tour_is_tried_before_the_clock_runs(policy, easy, monkeypatch):
    """Each has code of its own, which would otherwise be compiled within the budget."""
    used = []
    ways = [lambda *given, way=way: used.append(way) or way(*given) for way in anytime.WAYS]
    monkeypatch.setattr(anytime, "WAYS", ways)
    prepare(easy[0], policy)
    assert len(set(used)) == len(ways)


def test_ants_bring_first_tours_too(colony, easy):
    proposed = list(guided_tours(easy[0], colony, 9.0))
    assert len(proposed) > FORAGING.ants, "of more than one iteration"
    assert {tuple(sorted(tour)) for tour in proposed} == {tuple(range(1, 20))}
    best = min(v.cost for tour in proposed if isinstance(v := verify(easy[0], tour), Solution))
    result = fairway.solve(easy[0], iterations=0, policy=colony)
    assert result.cost <= best
    assert result.trace[0].method == "policy"
    again = fairway.solve(easy[0], iterations=0, policy=colony)
    assert again.tour == result.tour


def test_ants_take_no_more_time_than_there_is(colony, easy, slow):
    none, one, more = (
        len(list(anytime.tours_within(model_at(colony), easy[0], seconds)))
        for seconds in (9.0, 40.0, 120.0)
    )
    assert none == 0, "given up on the way"
    assert 0 < one <= FORAGING.ants < more, "an iteration takes some twenty seconds of this clock"


def test_a_policy_for_another_problem_is_refused(policy):
    drafts = generate("tspdl", n=8, hardness="hard", count=1, seed=1)
    with pytest.raises(InvalidRequest, match="was trained for tsptw"):
        fairway.solve(drafts[0], policy=policy)
    with pytest.raises(InvalidRequest, match="was trained for tsptw"):
        fairway.solve(drafts, policy=policy)


def test_a_policy_that_is_not_there_gets_a_sentence(tmp_path, easy):
    with pytest.raises(InvalidFile, match="nowhere"):
        fairway.solve(easy[0], policy=tmp_path / "nowhere")


def test_other_units_and_service_times_are_no_obstacle(policy, easy):
    """A policy sees instances in a unit of its own, whatever theirs is."""
    instance = easy[0]
    larger = replace(
        instance, travel=1000 * instance.travel, cost=None, opens=1000 * instance.opens,
        closes=1000 * instance.closes, coordinates=1000 * instance.coordinates,
    )  # fmt: skip
    one, other = (next(guided_tours(each, policy, 9.0)) for each in (instance, larger))
    assert one == other
    served = replace(instance, service=[0.0] + [1.0] * 19)
    assert isinstance(fairway.solve(served, iterations=0, policy=policy).solution, Solution)


@pytest.fixture
def large():
    """Many ports, where the policy that ships is used unasked."""
    return generate("tspdl", n=300, hardness="hard", count=1, seed=1)[0]


def methods(result):
    return {step.method for step in result.trace}


@pytest.mark.parametrize(
    ("problem", "nodes", "request_", "used"),
    [
        ("tspdl", 300, Request(policy="auto"), True),
        ("tspdl", 299, Request(policy="auto"), False),
        ("tspdl", 1000, Request(policy="auto"), False),
        ("tspdl", 1000, Request(seconds=9, policy="auto"), True),
        ("tspdl", 300, Request(seconds=0.05, policy="auto"), False),
        ("tspdl", 300, Request(iterations=9, policy="auto"), False),
        ("tspdl", 300, Request(policy=None), False),
        ("tsptw", 500, Request(policy="auto"), False),
    ],
)
def test_unasked_a_policy_is_used_where_it_was_measured_to_help(problem, nodes, request_, used):
    instance = generate(problem, n=nodes, hardness="easy" if problem == "tsptw" else "hard")[0]
    assert request_.guide(instance) == (shipped("general-tspdl") if used else None)


def test_what_is_used_unasked_ships():
    for name, problem in PROBLEMS.items():
        assert model_at(shipped(problem.policy)).problem == name


def test_large_draft_limits_are_guided_unless_that_is_declined(large):
    guided, plain = (
        fairway.solve(large, seconds=3.0),
        fairway.solve(large, seconds=0.1, policy=None),
    )
    assert guided.trace[0].method == "policy"
    assert "policy" not in methods(plain)


@pytest.mark.parametrize("workers", [1, 2])
def test_in_a_list_each_instance_has_the_guide_that_helps_it(large, easy, workers):
    small = generate("tspdl", n=20, hardness="hard", count=1, seed=1)[0]
    results = fairway.solve([small, large, easy[0]], seconds=3.0, workers=workers)
    assert ["policy" in methods(result) for result in results] == [False, True, False]


def test_only_the_very_word_is_auto(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert choice_of("auto") == "auto"
    assert choice_of("./auto") == choice_of(Path("auto")) == tmp_path / "auto"
    assert choice_of(None) is None


def test_a_folder_named_like_what_ships_is_used_only_where_it_is_named(
    large, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "general-tspdl").mkdir()
    assert choice_of("general-tspdl") == tmp_path / "general-tspdl"
    assert Request(policy="auto").guide(large) == shipped("general-tspdl")


@pytest.fixture
def ordered():
    """Windows of the medium distribution, an order, drafts, and second windows at which nobody arrives in time."""
    instance = generate("tsptw", n=20, hardness="medium", count=1, seed=4)[0]
    tour = fairway.solve(instance, iterations=20).tour
    demand = [0.0] + [1.0] * 19
    before, draft = [(tour[3], tour[9]), (tour[9], tour[12])], [20.0] * 20
    draft[tour[2]] = 6.0
    windows = {tour[5]: [(0.0, 0.001), (instance.opens[tour[5]], instance.closes[tour[5]])]}
    asked = {"before": before, "demand": demand, "draft": draft, "windows": windows}
    return replace(instance, cost=None, **asked)


def test_a_policy_proposes_tours_for_windows_with_order_and_loads(policy, ordered):
    for named in (policy, "general-tsptw"):
        result = fairway.solve(ordered, iterations=0, policy=named)
        assert result.trace[0].method == "policy"
        assert isinstance(verify(ordered, result.tour), Solution)


def test_a_policy_leaves_the_end_of_its_own_out_of_the_tour(policy, easy):
    ended = replace(easy[0], cost=None, end=7)
    stops = set(range(1, 20)) - {7}
    assert {frozenset(tour) for tour in guided_tours(ended, policy, 9.0)} == {frozenset(stops)}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"before": [(1, 2)]}, "no stop has to be served by a time"),
        ({"before": [(1, 2)], "demand": [0, 1, 1, 1], "draft": 3}, "trained for tsptw"),
        ({"pairs": [(1, 2)], "demand": [0, 1, -1, 1], "load": "signed"}, "no draft limits a load"),
    ],
)
def test_a_policy_that_has_nothing_to_propose_says_why(policy, asked, why, capsys):
    instance = fairway.Instance(np.ones((4, 4)), **asked)
    assert fairway.solve(instance, policy=policy).tour is not None
    said = capsys.readouterr().err
    assert why in said
    assert said.count("going without") == 1
    assert Request(policy=policy).guide(instance) is None


def test_ants_go_without_side_constraints(colony, ordered, capsys):
    assert Request(policy=colony).guide(ordered) is None
    Request(policy=colony).check(ordered)
    assert "colonies know windows alone" in capsys.readouterr().err


def test_unasked_no_policy_is_used_beside_other_constraints(ordered):
    assert Request(policy="auto").guide(ordered) is None
