"""The greedy baseline of AM: a frozen policy that is replaced once the learner is better beyond doubt."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from fairway.policies.attention import Policy
from fairway.problems.batch import take
from fairway.problems.draw import draw
from fairway.search.decode import build
from fairway.train.run import Run
from fairway.train.schedule import seed_of
from fairway.train.step import cost_of, in_half

CHALLENGE = 10_000
"""Fresh instances on which the two are compared, or as many as an epoch has."""
DOUBT = 0.05
"""The level of the one-sided paired test."""
AT_A_TIME = 1_000


def settle_baseline(run: Run) -> None:
    """After an epoch: the learner takes the baseline's place where its greedy tours are significantly cheaper.

    The instances stay the same until that happens, so that the baseline cannot win by luck of the draw twice.
    """
    assert run.baseline is not None, "only a greedy baseline is challenged"
    run.policy.eval()
    learner, baseline = _costs(run, run.policy), _costs(run, run.baseline)
    run.policy.train()
    if significantly_lower(learner, baseline):
        run.baseline.load_state_dict(run.policy.state_dict())
        run.marks["challenge"] = float(run.epoch)


def significantly_lower(ours: Float[Tensor, " S"], theirs: Float[Tensor, " S"]) -> bool:
    """A one-sided paired t-test; with thousands of pairs Student's distribution is the normal one."""
    gain = (theirs - ours).double()
    error = float(gain.std()) / math.sqrt(len(gain))
    if float(gain.mean()) <= 0 or error == 0:
        return float(gain.mean()) > 0
    return 0.5 * math.erfc(float(gain.mean()) / error / math.sqrt(2)) < DOUBT


@torch.no_grad()
def _costs(run: Run, policy: Policy) -> Float[Tensor, " S"]:
    """What greedy tours of the challenge cost."""
    config = run.config
    generator = Generator(next(policy.parameters()).device)
    generator.manual_seed(seed_of(config.seed, -1 - int(run.marks.get("challenge", 0))))
    count = min(CHALLENGE, config.epoch)
    whole = draw(config.law, config.nodes, count, generator)
    costs = []
    for first in range(0, count, AT_A_TIME):
        batch = take(whole, slice(first, first + AT_A_TIME))
        with in_half(config, batch):
            pointer = policy(batch)
        built = build(batch, pointer, config.guard)
        costs.append(cost_of(config, batch, built)[:, 0])
    return torch.cat(costs)
