"""What the epochs of a run are for, and what their ends ask: a PIP-D head to copy, a greedy baseline to challenge."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from fairway.policies.attention import Policy
from fairway.problems.batch import take
from fairway.problems.draw import draw
from fairway.train.config import ColonyConfig, Foresight, TrainConfig
from fairway.train.processes import DistContext
from fairway.train.run import Config, Run
from fairway.train.schedule import ROUNDED, epochs_over, grew_within, seed_of
from fairway.train.step import Phase, greedy_costs

CHALLENGE = 10_000
"""Fresh instances on which the two are compared, or as many as an epoch has."""
DOUBT = 0.05
"""The level of the one-sided paired test."""
AT_A_TIME = 1_000


def epoch_at(run: Run, spent: float) -> int:
    """The epoch of the next step, counted from 1; a colony has as many as planned, however short they are."""
    if isinstance(run.config, ColonyConfig):
        return epochs_over(run.config, spent) + 1
    return run.epoch


def phase_of(config: Config, epoch: int, spent: float) -> Phase:
    """Which phase an epoch is in, where this share of the run is over.

    A head learns anew whenever instances have grown: what it knows of smaller ones does not hold.
    """
    plan = config.foresight
    if plan is None:
        warm = isinstance(config, TrainConfig) and config.baseline == "greedy" and epoch == 1
        return "warm" if warm else "exact"
    anew = isinstance(config, ColonyConfig) and grew_within(config, plan.refresh, spent)
    return "online" if anew or is_online(plan, epoch, spent) else "offline"


def is_online(plan: Foresight, epoch: int, spent: float) -> bool:
    """In the first epochs, at the end of every period and at the end of the run; offline in between.

    All three are numbers of epochs, however long the run: where a clock ends it, how many it will have had is told from
    the share that is over.
    """
    refreshing = (epoch - 1) % plan.period >= plan.period - plan.refresh
    ending = (epoch - 1) * (1 - spent) <= plan.last * spent * ROUNDED
    return epoch <= plan.first or refreshing or ending


def settle(run: Run, phase: Phase, block_ends: bool, world: DistContext) -> None:
    """What an epoch's end asks for: a look at the PIP-D head, a challenge of the greedy baseline."""
    if phase == "online":
        *sums, steps = world.total(run.epoch_sums).tolist()
        means = dict(zip(run.figures, (total / max(steps, 1) for total in sums), strict=True))
        settle_frozen_head(run, means, block_ends)
    if run.baseline is not None:
        settle_baseline(run)
    run.epoch_sums.zero_()


def settle_frozen_head(run: Run, figures: dict[str, float], block_ends: bool) -> None:
    """After an online epoch: keep a copy of the policy where its head is the best of this block of epochs.

    The best is the one that lets pass most of the feasible candidates, among those that find enough of the infeasible
    ones. Each block starts its own record: a head is judged by the tours of its own time.
    """
    plan = run.config.foresight
    assert plan is not None, "only PIP-D has a head to copy"
    assert run.frozen_head is not None, "a PIP-D run has a place for the copy"
    spared = figures["sound_found"] / max(figures["sound"], 1.0)
    found = figures["doomed_found"] / max(figures["doomed"], 1.0)
    trusted = found >= plan.trusted
    if (trusted and spared > run.marks.get("spared", -1.0)) or "copied" not in run.marks:
        run.frozen_head.load_state_dict(run.policy.state_dict())
        run.marks["copied"] = float(run.step)
        if trusted:
            run.marks["spared"] = spared
    if block_ends:
        run.marks.pop("spared", None)


def settle_baseline(run: Run[Policy]) -> None:
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


def _costs(run: Run[Policy], policy: Policy) -> Float[Tensor, " S"]:
    """What greedy tours of the challenge cost."""
    config = run.config
    assert isinstance(config, TrainConfig), "colonies have no baseline"
    generator = Generator(run.device)
    generator.manual_seed(seed_of(config.seed, -1 - int(run.marks.get("challenge", 0))))
    count = min(CHALLENGE, config.epoch)
    whole = draw(config.distribution, config.nodes, count, generator)
    parts = (take(whole, slice(first, first + AT_A_TIME)) for first in range(0, count, AT_A_TIME))
    return torch.cat([greedy_costs(config, policy, part)[:, 0] for part in parts])
