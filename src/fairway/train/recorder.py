"""The books of a run: its validations and snapshots, when they are due, and what is left behind at the end."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from fairway.policies.checkpoint import save_policy
from fairway.train import snapshot
from fairway.train.log import LINES, Log, Validation, numbers_only
from fairway.train.loop import Diverged, Record
from fairway.train.run import Run
from fairway.train.validate import Score, held_out, score_of


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


class Recorder:
    """The validations and snapshots of a run, and when they are due."""

    def __init__(self, run: Run, out: Path, log: Log, cadence: Intervals) -> None:
        self._run, self._out, self._log, self.cadence = run, out, log, cadence
        self._held_out = held_out(run.config, run.device)
        self._validated_at = self._saved_at = run.seconds
        self._looked: float | None = None
        self._latest: Validation | None = None
        self.saved_step = run.step

    def kept(self, record: Record) -> Iterator[Record | Validation | Finished]:
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
        score = score_of(run, self._held_out)
        self._latest = Validation(run.step, run.instances, run.seconds, score)
        self._validated_at = run.seconds
        # The first one compiles kernels, and says nothing of those to come.
        self._looked = 0.0 if self._looked is None else time.monotonic() - began
        self._log.write(self._latest)
        return self._latest

    def closed(self, interrupted: bool) -> Iterator[Record | Validation | Finished]:
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
                "resume from the last snapshot, or begin anew with another --seed"
            )
        snapshot.save(run, self._out)
        self._saved_at, self.saved_step = run.seconds, run.step


def _story(run: Run, score: Score | None) -> dict[str, Any]:
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
