import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import fairway
from fairway.adapters.gymnasium import TourEnv
from fairway.errors import InvalidRequest
from fairway.kernels.lookahead.config import MaskConfig


def played(env, choose, **asked):
    """The return of an episode, and what its last step says."""
    seen, _ = env.reset(**asked)
    total, ended = 0.0, False
    while not ended:
        seen, reward, ended, cut, info = env.step(choose(seen))
        total += reward
        assert not cut
    return total, info


def drawn(rng):
    return lambda seen: rng.choice(np.flatnonzero(seen["action_mask"]))


@pytest.mark.filterwarnings("ignore:.*(infinity|spec|not within).*")
@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_it_is_an_environment_as_gymnasium_checks_them(problem):
    check_env(TourEnv(problem, 8), skip_render_check=True)


def test_the_exact_mask_makes_every_random_tour_feasible_and_the_return_is_minus_its_cost():
    env, rng = TourEnv("tspdl", 12), np.random.default_rng(1)
    for seed in range(10):
        total, info = played(env, drawn(rng), seed=seed)
        assert info["feasible"]
        assert not info["dead_end"]
        assert total == pytest.approx(-fairway.verify(env.instance, info["tour"]).cost)


def test_an_infeasible_tour_is_worth_less_than_any_feasible_one():
    env, rng = TourEnv("tsptw", 10, mask=MaskConfig("none")), np.random.default_rng(1)
    total, info = played(env, drawn(rng), seed=3)
    assert not info["feasible"]
    assert isinstance(fairway.verify(env.instance, info["tour"]), fairway.Rejection)
    assert info["violations"]
    best = fairway.solve(env.instance, seconds=0.2)
    plan = iter(best.tour)
    value, found = played(env, lambda _: next(plan), options={"instance": env.instance})
    assert found["feasible"]
    assert value == pytest.approx(-best.cost)
    assert total < -env.bound < value


def test_a_second_visit_ends_the_episode():
    env = TourEnv("tspdl", 6)
    total, info = played(env, lambda _: 0, seed=1)
    assert total == -env.bound
    assert info["violations"] == ("stop 0 was visited before, or is the depot",)


def test_the_mask_is_that_of_the_look_ahead_and_equal_seeds_give_equal_instances():
    env = TourEnv("tsptw", 20, "hard")
    (first, _), (again, _) = env.reset(seed=5), env.reset(seed=5)
    assert all(np.array_equal(first[key], again[key]) for key in first)
    assert 0 < first["action_mask"].sum() < 19


def test_what_does_not_fit_is_refused():
    with pytest.raises(InvalidRequest, match="no distribution"):
        TourEnv("cvrp")
    other = fairway.generate("tsptw", n=7, seed=1)[0]
    with pytest.raises(InvalidRequest, match="made for tsptw of 20"):
        TourEnv().reset(options={"instance": other})
    assert isinstance(TourEnv(), gymnasium.Env)
