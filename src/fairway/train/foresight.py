"""When a PIP-D head learns, when a frozen copy of it masks, and which copy that is."""

from fairway.train.config import Foresight, TrainConfig
from fairway.train.gfacs.run import ColonyRun
from fairway.train.run import Run
from fairway.train.step import Phase

ROUNDED = 1 + 1e-9
"""So that a share that was rounded down still ends in the right epoch."""


def phase_of(config: TrainConfig, epoch: int, spent: float) -> Phase:
    """Which phase an epoch is in, where this share of the run is over."""
    if config.foresight is None:
        warm = config.baseline == "greedy" and epoch == 1
        return "warm" if warm else "exact"
    return "online" if is_online(config.foresight, epoch, spent) else "offline"


def is_online(plan: Foresight, epoch: int, spent: float) -> bool:
    """In the first epochs, at the end of every period and at the end of the run; offline in between.

    All three are numbers of epochs, however long the run: where a clock ends it, how many it will have had is told from
    the share that is over.
    """
    refreshing = (epoch - 1) % plan.period >= plan.period - plan.refresh
    ending = (epoch - 1) * (1 - spent) <= plan.last * spent * ROUNDED
    return epoch <= plan.first or refreshing or ending


def settle_oracle(run: Run | ColonyRun, figures: dict[str, float], block_ends: bool) -> None:
    """After an online epoch: keep a copy of the policy where its head is the best of this block of epochs.

    The best is the one that spares most of the sound candidates, among those that find enough of the doomed ones.
    Each block starts its own record: a head is judged by the tours of its own time.
    """
    plan = run.config.foresight
    assert plan is not None, "only PIP-D has a head to copy"
    assert run.oracle is not None, "a PIP-D run has a place for the copy"
    spared = figures["sound_found"] / max(figures["sound"], 1.0)
    found = figures["doomed_found"] / max(figures["doomed"], 1.0)
    trusted = found >= plan.trusted
    if (trusted and spared > run.marks.get("spared", -1.0)) or "copied" not in run.marks:
        run.oracle.load_state_dict(run.policy.state_dict())
        run.marks["copied"] = float(run.step)
        if trusted:
            run.marks["spared"] = spared
    if block_ends:
        run.marks.pop("spared", None)
