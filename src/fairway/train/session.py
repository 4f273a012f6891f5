"""A training in a folder: it validates, keeps snapshots and a log, can be resumed, and leaves a policy behind.

The folder holds `config.json`, `snapshot.safetensors`, `log.jsonl`, `tensorboard/`, and, once the run has ended or was
interrupted, the policy (`policy.json` and its weights) and `curve.png`.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from fairway import atomic
from fairway.errors import InvalidFile, InvalidRequest
from fairway.policies.checkpoint import content_of, load_heatmap, load_policy, save_policy
from fairway.problems.batch import Batch
from fairway.train import snapshot
from fairway.train.config import TrainConfig
from fairway.train.gfacs import loop as ants
from fairway.train.gfacs.config import ColonyConfig
from fairway.train.gfacs.run import ColonyRun, found
from fairway.train.gfacs.validate import validate_ants
from fairway.train.log import LINES, Log, Validation, numbers_only
from fairway.train.loop import Budget, Diverged, Record, train
from fairway.train.memory import OutOfMemory, too_large
from fairway.train.processes import device_named, interruptions, join
from fairway.train.run import Run, begin
from fairway.train.validate import Score, mean_score, validate, validation_set
from fairway.train.world import World

Config = TrainConfig | ColonyConfig
AnyRun = Run | ColonyRun

SETTINGS = "config.json"
ANTS_HELD_OUT = 64
"""Instances that ants are validated on, each with many tours."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """How often things happen, in seconds of training."""

    record: float = 1.0
    validation: float = 20.0
    snapshot: float = 30.0
    looking: float = 0.05
    """The share of all time that validations take at most: where they take long, they are rarer."""


USUAL = Cadence()


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth saying that is no figure."""

    sentence: str


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


Event = Record | Validation | Note | Finished


def train_recipe(
    config: Config,
    out: Path,
    budget: Budget | None = None,
    *,
    resume: bool = False,
    device: str = "auto",
    start: Path | None = None,
    cadence: Cadence = USUAL,
) -> Iterator[Event]:
    """Train in a folder, and yield what happens; of several processes only the first one writes and yields.

    Args:
        config: What is trained.
        out: The folder, made where it is absent.
        budget: How long, all pieces of the run together; None for the config's own length, or that of the run resumed.
            A new one for a run that has spent it already is refused.
        resume: Whether to go on with the run in the folder, as if it had never stopped.
        device: auto, cpu or cuda.
        start: A checkpoint whose weights the run begins with.
        cadence: How often to report, validate and save.
    """
    world, place = join(device_named(device))
    world.check_share(config.batch)
    if resume:
        run = snapshot.restore(config, out, place)
        budget = _resumed_budget(run, out, budget)
    else:
        run = _begun(config, out, place, start, world)
        budget = budget or Budget()
    if world.rank == 0:
        _make_ready(run, out, budget, start)
        yield from _lead(run, out, budget, world, cadence)
    else:
        _follow(run, budget, world, cadence)


def _begun(
    config: Config, out: Path, device: torch.device, start: Path | None, world: World
) -> AnyRun:
    """A run at its first step, in a folder that holds no other."""
    if world.rank == 0 and snapshot.holds_a_run(out):
        raise InvalidRequest(
            f"{out}: holds a run already; go on with it by --resume, or choose another --out"
        )
    run = begin(config, device) if isinstance(config, TrainConfig) else found(config, device)
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


def _make_ready(run: AnyRun, out: Path, budget: Budget, start: Path | None) -> None:
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
        "versions": {"fairway": version("fairway"), "torch": torch.__version__},
    }
    atomic.write_bytes(out / SETTINGS, (json.dumps(settings, indent=2) + "\n").encode())
    if run.step == 0:
        snapshot.save(run, out)


def _resumed_budget(run: AnyRun, out: Path, asked: Budget | None) -> Budget:
    """How long a resumed run is; one that has ended may be asked for the same again, but not for less."""
    known = _budget_in(out)
    if asked is not None and asked != known and asked.spent(run) >= 1:
        raise InvalidRequest(_spent(run, out, asked))
    if (budget := asked or known) is None:
        raise InvalidFile(
            f"{out / SETTINGS}: does not say how long the run is; say so with --minutes or --instances"
        )
    return budget


def _budget_in(out: Path) -> Budget | None:
    """The budget with which the run of a folder was begun, or last resumed, where the folder says so."""
    try:
        return Budget(**json.loads(content_of(out / SETTINGS))["budget"])
    except (InvalidFile, ValueError, KeyError, TypeError):
        return None


def _spent(run: AnyRun, out: Path, budget: Budget) -> str:
    """That there is nothing left to train, and what would change that."""
    length = run.config.instances if budget == Budget() else budget.instances
    limits = [] if length is None else [f"{length:,} instances"]
    limits += [] if budget.minutes is None else [f"{budget.minutes:g} minutes"]
    return (
        f"{out}: a budget of {' or '.join(limits)} is spent already, by {run.instances:,} instances in "
        f"{run.seconds / 60:.3g} minutes; to train on, give a larger --minutes or --instances for the whole run"
    )


def _follow(run: AnyRun, budget: Budget, world: World, cadence: Cadence) -> None:
    """What all processes but the first do: train."""
    with interruptions() as asked:
        for _ in _trained(run, budget, world, cadence.record):
            if _agreed(asked(), run, world):
                return


def _lead(
    run: AnyRun, out: Path, budget: Budget, world: World, cadence: Cadence
) -> Iterator[Event]:
    """Train, and keep the books."""
    with closing(Log(out, run.step)) as log, interruptions() as asked:
        if not log.has_board:
            yield Note("TensorBoard is not installed; log.jsonl has the same figures")
        if budget.spent(run) >= 1:
            yield Note(_spent(run, out, budget))
        books = _Books(run, out, log, cadence)
        if run.step == 0:
            yield books.validated()
        exhausted = False
        try:
            yield from _watched(run, budget, world, books, asked)
        except Diverged as error:
            raise Diverged(
                f"{error}; {out / snapshot.NAME} holds the run as it was after step {books.saved_step}"
            ) from error
        except RuntimeError as error:
            if not _is_memory(error):
                raise
            exhausted = True  # what the steps held is given back only once this clause is left
        if exhausted:
            raise _too_large(run, world)


def _watched(
    run: AnyRun, budget: Budget, world: World, books: "_Books", asked: Callable[[], bool]
) -> Iterator[Event]:
    """Train until the budget is spent or somebody asks to stop, and close the books."""
    interrupted = False
    for record in _trained(run, budget, world, books.cadence.record):
        yield from books.kept(record)
        if interrupted := _agreed(asked(), run, world):
            break
    yield from books.closed(interrupted)


def _trained(run: AnyRun, budget: Budget, world: World, every: float) -> Iterator[Record]:
    """The loop of this kind of run."""
    if isinstance(run, Run):
        return train(run, budget, world, every)
    return ants.train(run, budget, world, every)


def _too_large(run: AnyRun, world: World) -> OutOfMemory:
    if isinstance(run, Run):
        return too_large(run.config, run.device, world.size)
    return OutOfMemory(
        f"a batch of {run.config.batch} does not fit into the memory of {run.device}; "
        "choose a smaller one with --batch"
    )


def _agreed(asked: bool, run: AnyRun, world: World) -> bool:
    """Whether any process was asked to stop: all must do so after the same step."""
    return bool(world.total(torch.tensor(float(asked), device=run.device)))


def _is_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)


class _Books:
    """The validations and snapshots of a run, and when they are due."""

    def __init__(self, run: AnyRun, out: Path, log: Log, cadence: Cadence) -> None:
        self._run, self._out, self._log, self.cadence = run, out, log, cadence
        self._held_out = _held_out(run)
        self._validated_at = self._saved_at = run.seconds
        self._looked: float | None = None
        self._latest: Validation | None = None
        self.saved_step = run.step

    def kept(self, record: Record) -> Iterator[Event]:
        """The record itself, and what is due after it."""
        self._log.write(record)
        yield record
        rarer = (1 / self.cadence.looking - 1) * (self._looked or 0.0)
        pause = max(self.cadence.validation, rarer)
        if record.seconds - self._validated_at >= pause:
            yield self.validated()
        if record.seconds - self._saved_at >= self.cadence.snapshot:
            self._save()

    def validated(self) -> Validation:
        """A look at instances never trained on."""
        run, began = self._run, time.monotonic()
        score = mean_score([_score(run, part, batch) for part, batch in self._held_out])
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

        run = self._run
        self._save()
        if not interrupted and (self._latest is None or self._latest.step != run.step):
            yield self.validated()
        current = self._latest is not None and self._latest.step == run.step
        score = self._latest.score if self._latest is not None and current else None
        save_policy(run.finished, self._out / "policy", trained=_story(run, score))
        save(draw_curves(self._out / LINES, run.config.name), self._out / "curve.png")
        yield Finished(self._out, run.step, run.instances, run.seconds, interrupted, score)

    def _save(self) -> None:
        run = self._run
        if not all(torch.isfinite(weight).all() for weight in run.policy.parameters()):
            raise Diverged(
                f"the weights are no longer numbers after step {run.step}; "
                "resume from the last snapshot with a lower learning rate"
            )
        snapshot.save(run, self._out)
        self._saved_at, self.saved_step = run.seconds, run.step


def _held_out(run: AnyRun) -> list[tuple[Config, Batch]]:
    """As many instances of each kind as a validation can afford: it should take a second or two."""
    device = run.device
    if isinstance(run, ColonyRun):
        return [(run.config, validation_set(run.config, ANTS_HELD_OUT, device))]
    parts, small = tuple(dict.fromkeys(run.config.parts)), 512 if run.config.nodes <= 20 else 128
    count = (2_000 if device.type == "cuda" else small) // len(parts)
    return [(part, validation_set(part, max(1, count), device)) for part in parts]


def _score(run: AnyRun, config: Config, batch: Batch) -> Score:
    if isinstance(run, ColonyRun):
        return validate_ants(run.config, run.finished, batch)
    assert isinstance(config, TrainConfig), "a policy is scored by a config of its own kind"
    return validate(config, run.finished, batch)


def _story(run: AnyRun, score: Score | None) -> dict[str, Any]:
    """What a policy's card says of its training."""
    config = run.config
    return {
        "recipe": config.name,
        "problem": config.problem,
        "hardness": config.hardness,
        "nodes": config.nodes,
        "instances": run.instances,
        "seconds": run.seconds,
        "config": asdict(config),
        "validation": None if score is None else numbers_only(asdict(score)),
        "fairway": version("fairway"),
    }
