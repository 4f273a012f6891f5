"""Evaluations made up for the tests: a word for each outcome, and whole trees of files."""

import lzma
from pathlib import Path

import numpy as np

from fairway.evaluate.outcomes import (
    Header,
    Outcome,
    Results,
    Timing,
    line_of,
    packed,
    read_results,
    times_beside,
)
from fairway.evaluate.references import References


def header(
    study="main", bed="tsptw50-hard", label="POMO*", count=10_000, method="policy", **settings
):
    versions = {"fairway": "0.1.0"}
    return Header(study, bed, label, method, settings, versions, 1e-3, 1e-6, count)


def solved(index, cost, tours=8, accepted=None, strict=None, **more):
    accepted = tours if accepted is None else accepted
    strict = accepted if strict is None else strict
    strict_cost = cost if strict else None
    return Outcome(index, tours, accepted, strict, cost, strict_cost, **more)


def failed(index, tours=8, **more):
    return Outcome(index, tours, 0, 0, **more)


def results(*outcomes, timings=(), **about):
    return Results(header(**about), list(outcomes), list(timings))


def references(source, stated, valid):
    nothing = np.zeros(len(stated), bool)
    return References("any", source, valid, nothing, np.zeros((len(stated), 1), int), stated)


def took(first, count, wall, device="cpu", workers=1):
    return Timing(first, count, wall, wall * workers, device, workers)


def lines_of(path: Path) -> list[str]:
    """What a finished evaluation has kept, times left out."""
    lines = lzma.decompress(packed(path).read_bytes()).decode().splitlines(keepends=True)
    return [line for line in lines if '"wall"' not in line]


def unpacked(path: Path) -> str:
    """A finished evaluation as it was before it was packed, which is as version 0.1 left it; its outcomes."""
    found = read_results(path)
    packed(path).unlink()
    write(path.parent.parent.parent, found, path.stem)
    return path.read_text()


def write(root: Path, made: Results, name: str | None = None) -> Path:
    folder = root / made.header.study / made.header.bed
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name or made.header.label}.jsonl"
    path.write_text("".join(map(line_of, [made.header, *made.outcomes])))
    if made.timings:
        times_beside(path).write_text("".join(map(line_of, made.timings)))
    return path
