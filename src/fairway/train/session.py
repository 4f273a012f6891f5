"""A training in a folder: it validates, keeps snapshots and a log, can be resumed, and leaves a policy behind.

The folder holds `config.json`, `snapshot.safetensors`, `log.jsonl`, `tensorboard/`, and, once the run has ended or was
interrupted, the policy (`policy.json` and its weights) and `curve.png`.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import torch

from fairway import atomic
from fairway.errors import InvalidFile, InvalidRequest
from fairway.policies.checkpoint import content_of, load_heatmap, load_policy
from fairway.train import snapshot
from fairway.train.config import TrainConfig
from fairway.train.distributed import DistContext
from fairway.train.log import Log, Validation
from fairway.train.loop import Budget, Diverged, Record, train
from fairway.train.memory import too_large
from fairway.train.processes import device_named, interruptions, join
from fairway.train.recorder import Finished, Intervals, Recorder
from fairway.train.run import Config, Run, begin

SETTINGS = "config.json"
USUAL = Intervals()


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth saying that is no figure."""

    sentence: str


Event = Record | Validation | Note | Finished


def train_recipe(  # noqa: PLR0913 - a keyword each
    config: Config,
    out: Path,
    budget: Budget | None = None,
    *,
    resume: bool = False,
    device: str = "auto",
    start: Path | None = None,
    cadence: Intervals = USUAL,
    threads: int | None = None,
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
        threads: Of torch on a CPU, and of the search around ants' tours; None for as many as there are cores.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    world, place = join(device_named(device))
    world.check_share(config.batch)
    if resume:
        run = snapshot.restore(config, out, place)
        budget = _resumed_budget(run, out, budget)
    else:
        run = _begun(config, out, place, start, world)
        budget = budget or Budget()
    records = train(run, budget, world, cadence.record, threads)
    if world.rank == 0:
        _make_ready(run, out, budget, start)
        spent = _spent(run, out, budget) if budget.spent(run) >= 1 else None
        yield from _lead(run, out, records, world, cadence, spent)
    else:
        _follow(run, records, world)


def _begun(
    config: Config, out: Path, device: torch.device, start: Path | None, world: DistContext
) -> Run:
    """A run at its first step, in a folder that holds no other."""
    if world.rank == 0 and snapshot.holds_a_run(out):
        raise InvalidRequest(
            f"{out}: holds a run already; go on with it by --resume, or choose another --out"
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
        "versions": {"fairway": version("fairway"), "torch": torch.__version__},
    }
    atomic.write_bytes(out / SETTINGS, (json.dumps(settings, indent=2) + "\n").encode())
    if run.step == 0:
        snapshot.save(run, out)


def _resumed_budget(run: Run, out: Path, asked: Budget | None) -> Budget:
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


def _spent(run: Run, out: Path, budget: Budget) -> str:
    """That there is nothing left to train, and what would change that."""
    length = run.config.instances if budget == Budget() else budget.instances
    limits = [] if length is None else [f"{length:,} instances"]
    limits += [] if budget.minutes is None else [f"{budget.minutes:g} minutes"]
    return (
        f"{out}: a budget of {' or '.join(limits)} is spent already, by {run.instances:,} instances in "
        f"{run.seconds / 60:.3g} minutes; to train on, give a larger --minutes or --instances for the whole run"
    )


def _follow(run: Run, records: Iterator[Record], world: DistContext) -> None:
    """What all processes but the first do: train."""
    with interruptions() as asked:
        for _ in records:
            if _agreed(asked(), run, world):
                return


def _lead(
    run: Run,
    out: Path,
    records: Iterator[Record],
    world: DistContext,
    cadence: Intervals,
    spent: str | None,
) -> Iterator[Event]:
    """Train, and keep the books."""
    with closing(Log(out, run.step)) as log, interruptions() as asked:
        if not log.has_board:
            yield Note("TensorBoard is not installed; log.jsonl has the same figures")
        if spent is not None:
            yield Note(spent)
        books = Recorder(run, out, log, cadence)
        if run.step == 0:
            yield books.validated()
        exhausted = False
        try:
            yield from _watched(run, records, world, books, asked)
        except Diverged as error:
            raise Diverged(
                f"{error}; {out / snapshot.NAME} holds the run as it was after step {books.saved_step}"
            ) from error
        except RuntimeError as error:
            if not _is_memory(error):
                raise
            exhausted = True  # what the steps held is given back only once this clause is left
        if exhausted:
            raise too_large(run.config, run.device, world.size)


def _watched(
    run: Run,
    records: Iterator[Record],
    world: DistContext,
    books: Recorder,
    asked: Callable[[], bool],
) -> Iterator[Event]:
    """Train until the budget is spent or somebody asks to stop, and close the books."""
    interrupted = False
    for record in records:
        yield from books.kept(record)
        if interrupted := _agreed(asked(), run, world):
            break
    yield from books.closed(interrupted)


def _agreed(asked: bool, run: Run, world: DistContext) -> bool:
    """Whether any process was asked to stop: all must do so after the same step."""
    return bool(world.total(torch.tensor(float(asked), device=run.device)))


def _is_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)
