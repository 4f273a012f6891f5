"""Evaluations made up for the tests: a word for each outcome, and whole trees of files."""

from pathlib import Path

from fairway.evaluate.outcomes import Header, Outcome, Results, Timing, line_of, times_beside


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


def took(first, count, wall, device="cpu", workers=1):
    return Timing(first, count, wall, wall * workers, device, workers)


def write(root: Path, made: Results, name: str | None = None) -> Path:
    folder = root / made.header.study / made.header.bed
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name or made.header.label}.jsonl"
    path.write_text("".join(map(line_of, [made.header, *made.outcomes])))
    if made.timings:
        times_beside(path).write_text("".join(map(line_of, made.timings)))
    return path
