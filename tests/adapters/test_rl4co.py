import pytest
import torch
from rl4co.models.zoo.am import AttentionModel, AttentionModelPolicy
from rl4co.models.zoo.pomo import POMO
from rl4co.utils import RL4COTrainer

from fairway.adapters.rl4co import TourEnv, embeddings
from fairway.judge import Solution
from fairway.kernels.lookahead.config import MaskConfig


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def policy_for(env, width=32, **asked):
    return AttentionModelPolicy(
        env_name=env.name,
        num_encoder_layers=2,
        feedforward_hidden=64,
        num_heads=4,
        normalization="instance",
        **embeddings(width),
        **asked,
    )


def trained(model, folder):
    """After one epoch of RL4CO's own trainer."""
    trainer = RL4COTrainer(
        max_epochs=1, accelerator="cpu", precision="32-true", matmul_precision="highest",
        logger=None, default_root_dir=folder,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(model)
    return trainer


def feasible(env, count=64):
    """The share of tours of an untrained policy that the judge accepts."""
    td = env.reset(batch_size=[count])
    out = policy_for(env)(td.clone(), env, phase="train")
    judged = env.judged(td, out["actions"])
    return sum(isinstance(each, Solution) for each in judged) / count


def test_a_tour_of_an_untrained_policy_keeps_every_draft_under_the_exact_mask():
    assert feasible(TourEnv("tspdl", 20)) == 1


def test_the_mask_is_what_makes_tours_feasible_with_hard_windows():
    bare = feasible(TourEnv("tsptw", 20, mask=MaskConfig("none")))
    assert bare < 0.1
    assert feasible(TourEnv("tsptw", 20)) > 0.5


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_rewards_are_minus_the_length_where_no_limit_is_passed(problem):
    env = TourEnv(problem, 12, "medium")
    td = env.reset(batch_size=[16])
    out = policy_for(env)(td.clone(), env, phase="test")
    for judged, reward in zip(env.judged(td, out["actions"]), out["reward"].tolist(), strict=True):
        if isinstance(judged, Solution):
            assert reward == pytest.approx(-judged.cost, abs=1e-4)
        else:
            assert reward < -judged.cost


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")  # Lightning's own
def test_an_attention_model_trains_under_the_mask(tmp_path):
    env = TourEnv("tspdl", 10, "medium")
    sizes = {"train_data_size": 4_000, "val_data_size": 10, "test_data_size": 10, "batch_size": 100}
    rate = {"optimizer_kwargs": {"lr": 1e-3}}
    model = AttentionModel(env, policy_for(env, 64), baseline="mean", **sizes, **rate)
    asked = env.reset(batch_size=[1000])

    def length():
        model.policy.eval()
        with torch.no_grad():
            return -model.policy(asked.clone(), env, phase="train")["reward"].mean().item()

    before = length()
    trained(model, tmp_path)
    assert length() < 0.96 * before


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")  # Lightning's own
def test_pomo_trains_from_every_stop_and_gains_by_augmentation(tmp_path):
    env = TourEnv("tspdl", 10, "medium")
    sizes = {"train_data_size": 200, "val_data_size": 50, "test_data_size": 10, "batch_size": 50}
    asked = {"val": ["reward", "max_reward", "max_aug_reward"]}
    model = POMO(env, policy_for(env, use_graph_context=False), metrics=asked, **sizes)
    found = trained(model, tmp_path).callback_metrics
    assert found["val/max_aug_reward"] > found["val/max_reward"] > found["val/reward"]


def test_tours_start_at_stops_that_the_mask_allows_each_as_often():
    env = TourEnv("tspdl", 12, "hard")
    td = env.reset(batch_size=[20])
    assert env.get_num_starts(td) == 11
    starts = env.select_start_nodes(td, 11).reshape(11, 20)
    for each, mask in zip(starts.T, td["action_mask"], strict=True):
        allowed = mask.nonzero()[:, 0]
        assert each.unique().tolist() == allowed.tolist()
        counts = each.bincount()[allowed]
        assert counts.max() - counts.min() <= 1
