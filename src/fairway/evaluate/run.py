"""An evaluation: a method over the first instances of a bed, group by group, into a file that a kill cannot spoil."""

import hashlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fairway import atomic
from fairway.errors import InvalidFile, InvalidRequest
from fairway.evaluate.judging import outcome_of
from fairway.evaluate.methods import A_LOSS, EvalConfig, Method
from fairway.evaluate.outcomes import (
    TIMES,
    Header,
    Outcome,
    Results,
    Timing,
    lines_of,
    pack,
    packed,
    read_results,
    times_beside,
    whole_lines,
)
from fairway.evaluate.single import Proposal
from fairway.evaluate.tree import FORESIGHT
from fairway.judge import TOLERANCE
from fairway.problems.beds import beds
from fairway.problems.files.text import shortened
from fairway.problems.sets import InstanceSet, arrays

VERSIONED = ("fairway", "numpy", "torch", "pyvrp", "ortools")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the outcomes go: `ROOT/STUDY/BED/LABEL.jsonl`, and `.xz` once all are there."""

    root: Path
    study: str
    bed: str
    label: str

    def __post_init__(self) -> None:
        for what, name in (("study", self.study), ("bed", self.bed)):
            if re.fullmatch(r"[\w.+=()*,-]+", name) is None or name in (".", "..", FORESIGHT):
                raise InvalidRequest(
                    f"the {what} {name!r} cannot be the name of a folder of results; use letters, digits and hyphens"
                )
        if not self.label or f"{self.label}.jsonl".endswith(TIMES):
            raise InvalidRequest(
                f"the label {self.label!r} would be taken for a file of times; choose another"
            )

    @property
    def path(self) -> Path:
        """Of the file; a label may hold what a file name may not."""
        safe = "".join(c if c.isalnum() or c in "-+.,=()*_" else "-" for c in self.label)
        return self.root / self.study / self.bed / f"{safe}.jsonl"


def evaluate(
    config: EvalConfig,
    instances: InstanceSet,
    place: Place,
    limit: int | None = None,
    *,
    tours: bool = False,
) -> Iterator[Results]:
    """Run a method, going on with what is there, and yield what there is after every group.

    Args:
        config: The method with its settings.
        instances: A whole bed.
        place: Where the outcomes go.
        limit: How many of the first instances; None for all.
        tours: Whether the best tours are kept too.
    """
    count = len(instances) if limit is None else min(limit, len(instances))
    if count < 1:
        raise InvalidRequest(f"the limit is {limit}; expected 1 or more")
    with config.opened(instances) as method:
        header = _header(method, instances, place, count)
        path = place.path
        results = _taken_up(path, header, 1 if method.one_by_one else method.together)
        yield results
        allowed = (header.tolerance, header.strict)
        warm = False
        while (first := len(results.outcomes)) < count:
            some = instances[first : min(first + method.together, count)]
            if not warm and method.rehearsal:
                list(method.run(some[: method.rehearsal], first))
            warm = True
            for proposals, wall in _pieces(method, some, first):
                begin = len(results.outcomes)
                work = _work(proposals, wall)
                timing = Timing(begin, len(proposals), wall, work, method.device, method.workers)
                outcomes = [
                    outcome_of(k, instances[k], p.tours, *allowed, proved=p.proved, keep_tour=tours)
                    for k, p in enumerate(proposals, begin)
                ]
                # Times first: those of a group without outcomes are dropped when the run is taken up.
                _append(times_beside(path), [timing])
                _append(path, outcomes)
                results.outcomes.extend(outcomes)
                results.timings.append(timing)
                yield results
        pack(path, results)


def _pieces(
    method: Method, some: InstanceSet, first: int
) -> Iterator[tuple[list[Proposal], float]]:
    """Proposals with the seconds that they took: a group at once, or what has come of it in a moment."""
    piece: list[Proposal] = []
    began = time.perf_counter()
    for proposal in method.run(some, first):
        piece.append(proposal)
        if method.one_by_one and time.perf_counter() - began >= A_LOSS:
            yield piece, time.perf_counter() - began
            piece, began = [], time.perf_counter()
    if piece:
        yield piece, time.perf_counter() - began


def _work(proposals: list[Proposal], wall: float) -> float:
    """Seconds of all cores together, where they are known one by one."""
    known = [p.seconds for p in proposals if p.seconds is not None]
    return sum(known) if len(known) == len(proposals) else wall


def _header(method: Method, instances: InstanceSet, place: Place, count: int) -> Header:
    integral = instances[0].integral
    strict = 0.0 if integral else TOLERANCE
    # The paper's tolerance is in the units of its beds.
    lenient = not integral and instances.name in beds()
    return Header(
        study=place.study,
        bed=place.bed,
        label=place.label,
        method=method.name,
        settings={**method.settings, **_content(instances)},
        versions=_versions(),
        tolerance=method.tolerance if lenient else strict,
        strict=strict,
        count=count,
    )


def _content(instances: InstanceSet) -> dict[str, str]:
    """By which instances of a file are told from others under its name; those of a named bed are known."""
    if instances.name in beds():
        return {}
    digest = hashlib.sha256()
    for name, array in arrays(instances):
        digest.update(name.encode() + array.tobytes())
    return {"instances": digest.hexdigest()[:16]}


def _versions() -> dict[str, str]:
    found = {}
    for name in VERSIONED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _taken_up(path: Path, header: Header, together: int) -> Results:
    """What a run before this one left, as far as its groups are whole; else a new file with its first line."""
    _make_room(path.parent)
    old = read_results(path) if packed(path).exists() or whole_lines(path) else None
    kept = Results(header, [], [])
    if old is not None and old.outcomes:
        _check_same(old.header, header, path)
        done = len(old.outcomes)
        if done < header.count:
            done -= done % together
        timings = [timing for timing in old.timings if timing.first + timing.count <= done]
        # The first line says what the outcomes were begun with, older versions among it.
        begun = replace(old.header if done else header, count=max(header.count, done))
        kept = Results(begun, old.outcomes[:done], timings)
    atomic.write_bytes(times_beside(path), lines_of(kept.timings))
    atomic.write_bytes(path, lines_of([kept.header, *kept.outcomes]))
    packed(path).unlink(missing_ok=True)
    return kept


def _check_same(old: Header, new: Header, path: Path) -> None:
    """Refuse to mix runs; a longer one resumes a shorter, and so does another version of all but the solver."""
    solver = new.method.removesuffix("-seeded")
    # How many instances a policy has seen was not always said; its weights tell it from others.
    unsaid = dict.fromkeys(("settings", "count", "training_instances"))
    ours = {**unsaid, "versions": new.versions.get(solver)}
    before, now = ({**asdict(header), **header.settings, **ours} for header in (old, new))
    before["versions"] = old.versions.get(solver, ours["versions"])
    names = before.keys() | now.keys()
    differing = sorted(name for name in names if before.get(name) != now.get(name))
    if differing:
        values = [shortened(str(header.get(differing[0]))) for header in (before, now)]
        raise InvalidRequest(
            f"{path}: the label {new.label!r} is taken by an evaluation with other {' and '.join(differing[:3])} "
            f"({differing[0]} {' instead of '.join(values)}); give another --label, or delete the file"
        )


def _make_room(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(
            f"{folder}: cannot be made a folder ({error.strerror}); choose another --out"
        ) from error


def _append(path: Path, items: list[Outcome] | list[Timing]) -> None:
    """Lines at the end of a file, on the disk before this returns."""
    try:
        with path.open("ab") as file:
            file.write(lines_of(items))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InvalidFile(
            f"{path}: cannot be written ({error.strerror}); what it holds so far is kept, run the same command again"
        ) from error
