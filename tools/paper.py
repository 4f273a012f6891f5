"""`python tools/paper.py`: train and evaluate what the paper's tables and studies show, piece by piece.

Jobs run side by side, each a command of `fairway` that can be given by hand (`--list` prints them). What is finished is
not run again and what was cut short is resumed, so that the script may be stopped and given again at any time.
Trainings and logs are in FOLDER/runs, results in FOLDER/results; `--keep` puts finished results into results/.
"""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairway.evaluate.outcomes import Results, pack, packed, read_results
from fairway.evaluate.run import Place

ROOT = Path(__file__).parent.parent
AM, SHORT, LARGE, FULL = 2_000_000, 1_000_000, 1_000_000, 100_000_000
"""Instances of AM's trainings, of all with POMO at 50 nodes, of those at 100, and of the paper's own length."""
COMPARED = 3_000_000
"""Instances after which larger batches are held against the paper's."""
AM_EPOCHS, POMO_EPOCHS = 100, 10_000
"""Of the paper's trainings; epochs are as many here and shorter, so that schedules keep their proportions."""
FEW = 1_000
"""Instances of a bed for what takes long for each."""
DIGITS = 6
"""Of a cost in the lines that are kept."""
NAMES = {"star": "POMO*", "star-pip": "POMO*+PIP", "star-pip-d": "POMO*+PIP-D"}
OFTEN = 0.5
"""Seconds between looks at the processes."""
LAST = 20.0
"""Seconds that processes have to save what they are doing."""


@dataclass(frozen=True, slots=True)
class Training:
    """A policy, in FOLDER/runs/NAME."""

    recipe: str
    instances: int
    epochs: int = POMO_EPOCHS
    start: str | None = None
    """The training whose weights it starts from."""
    suffix: str = ""
    """What tells it from others of its recipe."""

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.recipe + self.suffix


@dataclass(frozen=True, slots=True)
class Row:
    """One evaluation: a row of a study's table."""

    study: str
    bed: str
    label: str
    policy: str | None
    """The training that it is of, if it is of one."""
    options: tuple[str, ...] = ()
    solver: str = ""
    """Which one, where it is no policy by itself; such rows run on CPU cores."""


Job = Training | Row


def millions(instances: int) -> str:
    """As labels have it."""
    return f"{instances / 1e6:g} M instances"


def trained(model: str, task: str, instances: int = SHORT) -> Training:
    """One of the paper's models with POMO."""
    return Training(f"pomo-{model}-{task}", instances)


def main_tables() -> Iterator[Job]:
    """The rows of Tables 1 and 2 with AM at 50 nodes and with POMO at 100, and the studies of hard windows there."""
    for task in ("tsptw100-hard", "tspdl100-hard"):
        yield from (trained(model, task, LARGE) for model in NAMES)
    for task in ("tsptw50-hard", "tsptw50-medium"):
        for model in ("star", "star-pip", "star-pip-d"):
            yield Training(f"am-{model}-{task}", AM, AM_EPOCHS)
    sampled = ("--decode", "sample", "--samples", "1280", "--no-symmetries", "--together", "500")
    for task in ("tsptw50-hard", "tsptw50-medium"):
        for model, name in NAMES.items():
            label = f"{name.replace('POMO', 'AM')}, {millions(AM)}"
            yield Row("main", task, label, f"am-{model}-{task}", sampled)
    for task in ("tsptw100-hard", "tspdl100-hard"):
        for model, name in NAMES.items():
            yield Row("main", task, f"{name}, {millions(LARGE)}", f"pomo-{model}-{task}")


def bases() -> Iterator[Job]:
    """POMO*, +PIP and +PIP-D at 50 nodes, and what they show without further training: Table 10, and 4 for PIP-D."""
    tasks = ("tsptw50-medium", "tsptw50-hard", "tsptw50-easy")
    for task in tasks:
        yield from (trained(model, task) for model in NAMES)
    for task in tasks:
        for model, name in NAMES.items():
            label, run = f"{name}, {millions(SHORT)}", f"pomo-{model}-{task}"
            yield Row("overlap", task, label, run)
            yield Row("overlap", task, f"{label}, one tour", run, ("--no-symmetries",))
    yield from masked("tsptw50-medium", SHORT)


def masked(task: str, instances: int, *options: str) -> Iterator[Row]:
    """Masks of zero, one and two steps at test, the one in between as trained."""
    for model in ("star-pip", "star-pip-d"):
        for steps, words in (("0", "0 steps"), ("trained", "1 step, as trained"), ("2", "2 steps")):
            label = f"{NAMES[model]}, {millions(instances)}, {words}"
            mask = ("--mask", steps, *options)
            yield Row("mask-steps", task, label, f"pomo-{model}-{task}", mask)


def larger() -> Iterator[Job]:
    """Studies of hard windows with 100 nodes: Tables 5 and 13."""
    task = "tsptw100-hard"
    yield from masked(task, LARGE, "--limit", str(FEW))
    for model, name in NAMES.items():
        run, more = f"pomo-{model}-{task}", 80 if model == "star" else 24
        yield Row("longer-inference", task, f"{name} (short), {millions(LARGE)}", run)
        sampled = ("--decode", "sample", "--samples", str(more // 8))
        yield Row("longer-inference", task, f"{name} (long), {millions(LARGE)}", run, sampled)


def variants() -> Iterator[Job]:
    """Trainings that differ from a base in one respect, on medium windows with 50 nodes."""
    task, seen = "tsptw50-medium", millions(SHORT)
    pip, head = "pomo-star-pip", "pomo-star-pip-d"
    rows: list[Row] = []
    for study, label, recipe in (
        ("schedule", "POMO*+PIP-D, every 500 epochs", f"{head}-every500"),
        ("schedule", "POMO*+PIP-D, every 100 epochs", f"{head}-every100"),
        ("normalisation", "Batch", f"{head}-batchnorm"),
        ("normalisation", "Layer", f"{head}-layernorm"),
        ("count", "POMO*, without J_IN", "pomo-star-nocount"),
        ("count", "POMO*+PIP, without J_IN", f"{pip}-nocount"),
        ("lambda", "POMO*+PIP, lambda 0.1", f"{pip}-lambda0.1"),
        ("lambda", "POMO*+PIP, lambda 10", f"{pip}-lambda10"),
        ("lambda", "POMO*+PIP, lambda 0.5", f"{pip}-lambda0.5"),
        ("lambda", "POMO*+PIP, lambda 2", f"{pip}-lambda2"),
    ):
        yield Training(f"{recipe}-{task}", SHORT)
        rows.append(Row(study, task, f"{label}, {seen}", f"{recipe}-{task}"))
    for study, label, recipe in (
        ("schedule", "POMO*+PIP-D, every 1,000 epochs", head),
        ("normalisation", "Instance (Ours)", head),
        ("count", "POMO*, with J_IN", "pomo-star"),
        ("count", "POMO*+PIP, with J_IN", pip),
        ("lambda", "POMO*+PIP, lambda 1", pip),
    ):
        rows.append(Row(study, task, f"{label}, {seen}", f"{recipe}-{task}"))
    yield from rows


def stopped_early() -> Iterator[Job]:
    """Masks of the first steps of a tour alone, which the paper leaves to future work."""
    task, pip = "tsptw50-medium", "pomo-star-pip"
    steps = {f"masked for {some} steps": f"-first{some}" for some in (5, 10, 20)}
    for words, change in {**steps, "masked throughout": ""}.items():
        run = Training(f"{pip}{change}-{task}", SHORT)
        yield run
        yield Row("early-stop", task, f"POMO*+PIP, {words}, {millions(SHORT)}", run.name)
    run = trained("star", task)
    yield run
    yield Row("early-stop", task, f"POMO*, never masked, {millions(SHORT)}", run.name)


def batches() -> Iterator[Job]:
    """Larger batches than the paper's, in which its whole training is made."""
    task = "tsptw50-hard"
    for suffix, recipe in (("", "pomo-star-pip"), (", batches of 256", "pomo-star-pip-batch256")):
        run = Training(f"{recipe}-{task}", COMPARED, suffix="-compared")
        yield run
        yield Row("main", task, f"POMO*+PIP, {millions(COMPARED)}{suffix}", run.name)


def whole() -> Iterator[Job]:
    """POMO*+PIP on hard windows for as many instances as the paper."""
    task = "tsptw50-hard"
    run = Training(f"pomo-star-pip-batch256-{task}", FULL)
    yield run
    yield Row("main", task, f"POMO*+PIP, {millions(FULL)}, batches of 256", run.name)


def tuned() -> Iterator[Job]:
    """Table 12: a maskless policy that is trained on with the mask, for a hundredth and for a tenth of its run."""
    task = "tsptw50-medium"
    whole, recipe = f"pomo-star-{task}", f"finetune-pomo-star-pip-{task}"
    shorter = Training(whole, SHORT * 9 // 10, suffix="-shorter")
    yield shorter
    label, name = "POMO* fine-tuned with PIP, ", f"pomo-star-pip-{task}"
    yield Row("fine-tuning", task, f"POMO*+PIP, {millions(SHORT)}", name)
    yield Row("fine-tuning", task, f"POMO*, {millions(SHORT)}", whole)
    for base, seen, more in (
        (whole, SHORT, SHORT // 100),
        (whole, SHORT, SHORT // 10),
        (shorter.name, shorter.instances, SHORT // 10),
    ):
        run = Training(recipe, more, POMO_EPOCHS * more // SHORT, base, f"-{seen}-{more}")
        yield run
        text = f"{label}{seen / 1e6:g} M + {more / 1e6:g} M instances"
        yield Row("fine-tuning", task, text, run.name)


def started() -> Iterator[Job]:
    """POMO's own starting nodes, against none."""
    task = "tsptw50-easy"
    run = Training(f"pomo-star-starts-{task}", SHORT)
    yield from (run, trained("star", task), trained("star", "tsptw50-medium"))
    seen = millions(SHORT)
    label = f"POMO with diverse starting nodes, {seen}"
    yield Row("start-nodes", task, label, run.name, ("--decode", "starts", "--no-symmetries"))
    label = f"POMO without diverse starting nodes, {seen}"
    yield Row("start-nodes", task, label, f"pomo-star-{task}")
    other, few = "POMO* of medium windows", ("--no-symmetries", "--limit", str(FEW))
    for words, decode in (
        ("a tour from each first stop", "starts"),
        ("first stops chosen", "greedy"),
    ):
        options = ("--decode", decode, *few)
        yield Row("start-nodes", task, f"{other}, {words}", "pomo-star-tsptw50-medium", options)


def lkh() -> Iterator[Job]:
    """LKH-3, found by FAIRWAY_LKH: as much time as a policy has, trials, and tours of a policy to start from."""
    for nodes, seconds, total in ((50, "0.37", "0.0015"), (100, "0.9", "0.0048")):
        for hardness, limit in (("hard", FEW), ("medium", 30), ("easy", 30)):
            task = f"tsptw{nodes}-{hardness}"
            for study, most in (("equal-instance-time", seconds), ("equal-total-time", total)):
                options = ("--seconds", most, "--limit", str(limit), "--workers", "1")
                yield Row(study, task, f"LKH3, {most} s", None, options, "lkh")
    task = "tsptw100-hard"
    for limit, trials in (("100", "100"), ("30", "1000")):
        options = ("--trials", trials, "--seconds", "300", "--limit", limit, "--workers", "1")
        yield Row("time-limits", task, f"LKH3, {trials} trials", None, options, "lkh")
        run = f"pomo-star-pip-d-{task}"
        yield Row("hybrid", task, f"POMO*+PIP-D+LKH3, {trials} trials", run, options, "lkh")


PIECES = {
    "main": main_tables, "bases": bases, "larger": larger, "variants": variants, "tuned": tuned,
    "early": stopped_early, "starts": started, "lkh": lkh, "batches": batches, "whole": whole,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """Where jobs run, and how much of each."""

    folder: Path
    device: str
    share: float
    """Of the instances of each training."""
    limit: int | None
    """Of the instances of each bed."""

    @property
    def runs(self) -> Path:
        """The trainings, and all logs."""
        return self.folder / "runs"

    def scaled(self, job: Job) -> Job:
        """The job at this plan's share."""
        if isinstance(job, Training):
            return replace(job, instances=max(1, round(job.instances * self.share)))
        if self.limit is None:
            return job
        return replace(job, options=(*job.options, "--limit", str(self.limit)))

    def place(self, row: Row) -> Path:
        """Where the lines of a row are once all are there."""
        return packed(Place(self.folder / "results", row.study, row.bed, row.label).path)

    def log(self, job: Job) -> Path:
        """What a job printed."""
        if isinstance(job, Training):
            return self.runs / f"{job.name}.log"
        return self.runs / f"{self.place(job).name}.{job.study}.{job.bed}.log"

    def done(self, job: Job) -> bool:
        """Whether nothing of it is left to do."""
        if isinstance(job, Row):
            return self.place(job).exists()
        card = self.runs / job.name / "policy.json"
        return (
            card.exists() and json.loads(card.read_text())["trained"]["instances"] >= job.instances
        )

    def ready(self, job: Job, jobs: Sequence[Job]) -> bool:
        """Whether what it starts from is there."""
        needed = job.start if isinstance(job, Training) else job.policy
        made = (it for it in jobs if isinstance(it, Training) and it.name == needed)
        return all(map(self.done, made)) and (needed is None or (self.runs / needed).exists())

    def command(self, job: Job) -> list[str]:
        """By which it is begun or resumed."""
        fairway = [sys.executable, "-m", "fairway"]
        if isinstance(job, Training):
            folder = self.runs / job.name
            epoch = max(1, job.instances // job.epochs)
            words = ["train", job.recipe, "--out", str(folder), "--epoch", str(epoch)]
            if (folder / "snapshot.safetensors").exists():
                return [*fairway, *words, "--resume", "--device", self.device]
            words += ["--instances", str(job.instances), "--device", self.device]
            return [
                *fairway,
                *words,
                *(["--from", str(self.runs / job.start)] if job.start else []),
            ]
        policy = [] if job.policy is None else [str(self.runs / job.policy)]
        if job.solver:
            words = ["solver", job.solver, *(["--policy", *policy] if policy else [])]
        else:
            words = ["policy", *policy, "--device", self.device]
        where = ["--study", job.study, "--bed", job.bed, "--label", job.label]
        out = ["--out", str(self.folder / "results")]
        return [*fairway, "evaluate", *words, *where, *out, *job.options]


class Pool:
    """Jobs side by side: so many on the device, so many on CPU cores at the lowest priority."""

    def __init__(self, plan: Plan, jobs: Sequence[Job], slots: dict[bool, int]) -> None:
        self.plan, self.jobs, self.slots = plan, jobs, slots
        self.waiting = [job for job in jobs if not plan.done(job)]
        self.running: dict[subprocess.Popen[bytes], Job] = {}
        self.failed: list[Job] = []

    def run(self, until: float) -> None:
        """Until all is done, nothing more can be, or the time is over; what runs then is asked to save."""
        while self._begin() and time.monotonic() < until:
            time.sleep(OFTEN)
            self._settle()
        for process in self.running:
            process.send_signal(signal.SIGINT)
        late = time.monotonic() + LAST
        for process in self.running:
            try:
                process.wait(max(0.1, late - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()

    def _begin(self) -> bool:
        """Start what there is room for, and say whether anything runs."""
        for job in list(self.waiting):
            on_cores = isinstance(job, Row) and bool(job.solver)
            busy = sum(
                (isinstance(it, Row) and bool(it.solver)) == on_cores
                for it in self.running.values()
            )
            if busy < self.slots[on_cores] and self.plan.ready(job, self.jobs):
                self.waiting.remove(job)
                self._say("begun", job)
                with self.plan.log(job).open("ab") as log:
                    process = subprocess.Popen(  # noqa: S603 - our own commands
                        self.plan.command(job),
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        preexec_fn=(lambda: os.nice(19)) if on_cores else None,  # noqa: PLW1509
                    )
                self.running[process] = job
        return bool(self.running)

    def _settle(self) -> None:
        for process, job in list(self.running.items()):
            if process.poll() is not None:
                del self.running[process]
                if process.returncode == 0 and self.plan.done(job):
                    self._say("done", job)
                else:
                    self.failed.append(job)
                    self._say(f"failed ({process.returncode})", job)

    def _say(self, what: str, job: Job) -> None:
        name = job.name if isinstance(job, Training) else f"{job.study} {job.bed} {job.label}"
        print(f"{time.strftime('%H:%M:%S')} {what}: {name}", flush=True)


def keep(plan: Plan, rows: Sequence[Row]) -> None:
    """Put what there is of rows into results/: costs of six digits and, since jobs shared the machine, no times."""
    for row in rows:
        lines = plan.place(row).with_suffix("")
        if plan.done(row) or lines.exists():
            found = read_results(lines)
            outcomes = [
                replace(it, cost=rounded(it.cost), strict_cost=rounded(it.strict_cost))
                for it in found.outcomes
            ]
            place = Place(ROOT / "results", row.study, row.bed, row.label).path
            place.parent.mkdir(parents=True, exist_ok=True)
            pack(place, Results(found.header, outcomes, []))


def rounded(cost: float | None) -> float | None:
    """A cost as it is kept."""
    return None if cost is None else float(f"{cost:.{DIGITS}g}")


def main() -> None:
    """Run the pieces that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pieces", nargs="*", choices=[*PIECES, []], help="default: all of them")
    parser.add_argument("--folder", type=Path, default=Path("out/paper"))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=1, help="side by side on the device")
    parser.add_argument("--cores", type=int, default=1, help="solvers side by side on CPU cores")
    parser.add_argument("--share", type=float, default=1.0, help="of each training's instances")
    parser.add_argument("--limit", type=int, help="instances of each bed")
    parser.add_argument("--list", action="store_true", help="print the commands and exit")
    parser.add_argument("--keep", action="store_true", help="put finished rows into results/")
    asked = parser.parse_args()
    plan = Plan(asked.folder, asked.device, asked.share, asked.limit)
    pieces = asked.pieces or PIECES
    jobs = list(dict.fromkeys(plan.scaled(job) for name in pieces for job in PIECES[name]()))
    plan.runs.mkdir(parents=True, exist_ok=True)
    if asked.list:
        for job in jobs:
            print(shlex.join(["fairway", *plan.command(job)[3:]]))
        return
    if asked.keep:
        keep(plan, [job for job in jobs if isinstance(job, Row)])
        return
    pool = Pool(plan, jobs, {False: asked.jobs, True: asked.cores})
    pool.run(time.monotonic() + 60 * asked.minutes)
    left = [job for job in jobs if not plan.done(job)]
    print(f"{len(jobs) - len(left)} of {len(jobs)} jobs are done, {len(pool.failed)} failed")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
