"""A training in a folder: it validates, keeps snapshots and a log, can be resumed, and leaves a policy behind.

The folder holds `config.json`, `snapshot.safetensors`, `log.jsonl`, `tensorboard/`, and, once the run has ended or was
interrupted, the policy (`policy.json` and its weights) and `curve.png`.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from fairway import __version__, atomic
from fairway.errors import InvalidFile, InvalidRequest
from fairway.policies.checkpoint import content_of, load_heatmap, load_policy, save_policy
from fairway.train import snapshot
from fairway.train.config import TrainConfig
from fairway.train.log import LINES, Log, Validation, numbers_only
from fairway.train.loop import Budget, Diverged, Record, train
from fairway.train.memory import too_large
from fairway.train.processes import DistContext, device_named, interruptions, join, restarted
from fairway.train.run import Config, Run, begin
from fairway.train.validate import Score, held_out, score_of

SETTINGS = "config.json"


@dataclass(frozen=True, slots=True)
class Intervals:
    """How often things happen, in seconds of training."""

    record: float = 1.0
    validation: float = 20.0
    snapshot: float = 30.0
    looking: float = 0.05
    """The share of all time that validations take at most: where they take long, they are rarer."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a run: it has spent its budget, or was asked to stop."""

    out: Path
    step: int
    instances: int
    seconds: float
    interrupted: bool
    score: Score | None
    """Of the policy that was left behind; None where it was interrupted before anyone looked."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth saying that is no figure."""

    sentence: str


Event = Record | Validation | Note | Finished
USUAL = Intervals()


def train_recipe(  # noqa: PLR0913 - a keyword each
    config: Config,
    out: Path,
    budget: Budget | None = None,
    *,
    resume: bool = False,
    device: str = "auto",
    start: Path | None = None,
    intervals: Intervals = USUAL,
    threads: int | None = None,
) -> Iterator[Event]:
    """Train in a folder, and yield what happens; of several processes only the first one writes and yields.

    Args:
        config: What is trained.
        out: The folder, made where it is absent.
        budget: How long, all pieces of the run together; None for the config's own length, or that of the run resumed.
        resume: Whether to resume the run in the folder, as if it had never stopped. Processes that torchrun has
            started anew do so by themselves.
        device: auto, cpu or cuda.
        start: A checkpoint whose weights the run begins with.
        intervals: How often to report, validate and save.
        threads: Of torch on a CPU, and of the search around ants' tours; None for as many as there are cores.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    world, place = join(device_named(device))
    world.check_share(config.batch)
    if resume or _lost_before(out, world):
        run = snapshot.restore(config, out, place, world)
        budget = _resumed_budget(run, out, budget)
    else:
        run = _begun(config, out, place, start, world)
        budget = budget or Budget()
    records = train(run, budget, world, intervals.record, threads)
    if world.rank > 0:
        with interruptions() as asked:
            for _ in records:
                if _agreed(asked, run, world):
                    return
        return
    _make_ready(run, out, budget, start)
    with closing(Log(out, run.step)) as log, interruptions() as asked:
        if not log.has_board:
            yield Note("TensorBoard is not installed; log.jsonl has the same figures")
        if budget.spent(run) >= 1:
            yield Note(_spent(run, out, budget))
        yield from _lead(Recorder(run, out, log, intervals), records, world, asked)


def _lost_before(out: Path, world: DistContext) -> bool:
    """Whether torchrun has started the processes anew, and the run had begun by then."""
    return restarted() and world.told(lambda: bytes([snapshot.holds_a_run(out)])) == b"\x01"


def _begun(
    config: Config, out: Path, device: torch.device, start: Path | None, world: DistContext
) -> Run:
    """A run at its first step, in a folder that holds no other."""
    if world.rank == 0 and snapshot.holds_a_run(out):
        raise InvalidRequest(
            f"{out}: holds a run already; resume it with --resume, or choose another --out"
        )
    run = begin(config, device)
    if start is not None:
        if isinstance(config, TrainConfig):
            policy, card = load_policy(start, device, config.policy)
        else:
            policy, card = load_heatmap(start, device, config.policy)
        problem = card.trained.get("problem", config.problem)
        if problem != config.problem:
            raise InvalidRequest(
                f"{start}: was trained for {problem}; {config.name} begins with a policy for {config.problem}"
            )
        for _, module in run.modules():
            module.load_state_dict(policy.state_dict())
    return run


def _make_ready(run: Run, out: Path, budget: Budget, start: Path | None) -> None:
    """The folder with what decides the run, and a snapshot of its beginning."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(f"{out}: cannot be made a folder ({error.strerror})") from error
    atomic.sweep(out)
    settings = {
        "config": asdict(run.config),
        "budget": asdict(budget),
        "from": None if start is None else str(start),
        "versions": {"fairway": __version__, "torch": torch.__version__},
    }
    atomic.write_bytes(out / SETTINGS, (json.dumps(settings, indent=2) + "\n").encode())
    if run.step == 0:
        snapshot.save(run, out)


def _resumed_budget(run: Run, out: Path, asked: Budget | None) -> Budget:
    """How long a resumed run is; one that has ended may be asked for the same again, but not for less."""
    known = None
    with suppress(InvalidFile, ValueError, KeyError, TypeError):
        known = Budget(**json.loads(content_of(out / SETTINGS))["budget"])
    if asked is not None and asked != known and asked.spent(run) >= 1:
        raise InvalidRequest(_spent(run, out, asked))
    if (budget := asked or known) is None:
        raise InvalidFile(
            f"{out / SETTINGS}: does not say how long the run is; say so with --minutes or --instances"
        )
    return budget


def _spent(run: Run, out: Path, budget: Budget) -> str:
    """That there is nothing left to train, and what would change that."""
    length = run.config.instances if budget == Budget() else budget.instances
    limits = [] if length is None else [f"{length:,} instances"]
    limits += [] if budget.minutes is None else [f"{budget.minutes:g} minutes"]
    return (
        f"{out}: a budget of {' or '.join(limits)} is spent already, by {run.instances:,} instances in "
        f"{run.seconds / 60:.3g} minutes; to train on, give a larger --minutes or --instances for the whole run"
    )


def _lead(
    recorder: "Recorder", records: Iterator[Record], world: DistContext, asked: Callable[[], bool]
) -> Iterator[Event]:
    """Train until the budget is spent or somebody asks to stop, and keep its record."""
    run, interrupted = recorder.run, False
    if run.step == 0:
        yield recorder.validated()
    try:
        for record in records:
            yield from recorder.kept(record)
            if interrupted := _agreed(asked, run, world):
                break
        yield from recorder.closed(interrupted)
        return
    except Diverged as error:
        raise Diverged(
            f"{error}; {recorder.out / snapshot.NAME} holds the run as it was after step {recorder.saved_step}"
        ) from error
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
    # What the steps held is given back only once the clause above is left.
    raise too_large(run.config, run.device, world.size)


def _agreed(asked: Callable[[], bool], run: Run, world: DistContext) -> bool:
    """Whether any process was asked to stop: all must do so after the same step."""
    return bool(world.total(torch.tensor(float(asked()), device=run.device)))


class Recorder:
    """The validations and snapshots of a run, and when they are due."""

    def __init__(self, run: Run, out: Path, log: Log, intervals: Intervals) -> None:
        self.run, self.out, self._log, self._intervals = run, out, log, intervals
        self._held_out = held_out(run.config, run.device)
        self._validated_at = self._saved_at = run.seconds
        self._looked: float | None = None
        self._latest: Validation | None = None
        self.saved_step = run.step

    def kept(self, record: Record) -> Iterator[Event]:
        """The record itself, and what is due after it."""
        self._log.write(record)
        yield record
        rarer = (1 / self._intervals.looking - 1) * (self._looked or 0.0)
        if record.seconds - self._validated_at >= max(self._intervals.validation, rarer):
            yield self.validated()
        if record.seconds - self._saved_at >= self._intervals.snapshot:
            self._save()

    def validated(self) -> Validation:
        """A look at instances never trained on."""
        run, began = self.run, time.monotonic()
        score = score_of(run, self._held_out)
        self._latest = Validation(run.step, run.instances, run.seconds, score)
        self._validated_at = run.seconds
        # The first one compiles kernels, and says nothing of those to come.
        self._looked = 0.0 if self._looked is None else time.monotonic() - began
        self._log.write(self._latest)
        return self._latest

    def closed(self, interrupted: bool) -> Iterator[Event]:
        """The end: the snapshot first, since everything else follows from it."""
        from fairway.pictures import save
        from fairway.pictures.curves import draw_curves

        run, latest = self.run, self._latest
        self._save()
        if not interrupted and (latest is None or latest.step != run.step):
            yield (latest := self.validated())
        score = latest.score if latest is not None and latest.step == run.step else None
        save_policy(run.finished, self.out / "policy", trained=_story(run, score))
        save(draw_curves(self.out / LINES, run.config.name), self.out / "curve.png")
        yield Finished(self.out, run.step, run.instances, run.seconds, interrupted, score)

    def _save(self) -> None:
        run = self.run
        if not all(torch.isfinite(weight).all() for weight in run.policy.parameters()):
            raise Diverged(
                f"the weights are no longer numbers after step {run.step}; "
                "resume from the last snapshot, or begin anew with another --seed"
            )
        snapshot.save(run, self.out)
        self._saved_at, self.saved_step = run.seconds, run.step


def _story(run: Run, score: Score | None) -> dict[str, Any]:
    """What a policy's card says of its training."""
    config = run.config
    return {
        "recipe": config.name,
        **{name: getattr(config, name) for name in ("problem", "hardness", "nodes")},
        "instances": run.instances,
        "seconds": run.seconds,
        "config": asdict(config),
        "validation": None if score is None else numbers_only(asdict(score)),
        "fairway": __version__,
    }
