"""The figures that others have printed, to the digit, for ours to stand beside."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """What one line of a printed table says about one bed; None where it gives no number."""

    study: str
    bed: str
    """In the study `dumas`, the instance."""
    label: str
    """The method, as its source calls it."""
    source: str
    """`paper` for the one whose beds these are; else the method that came after it."""
    table: str
    """Or the section, where only the text has the figure."""
    sol: float | None
    """Of all tours, the percentage that breaks a limit."""
    inst: float | None
    """Of all instances, the percentage left without a tour."""
    objective: float | None
    """The mean over the instances solved, which differ from method to method."""
    gap: float | None
    """In percent; over the instances solved, too."""
    seconds: float | None
    """For the whole bed, as printed: on one GPU, or on 16 cores."""
    note: str
    extra: dict[str, float]
    """What no other study counts, such as the steps of `mask-steps`."""


def studies() -> tuple[str, ...]:
    """The studies that anyone has published figures for."""
    return tuple(dict.fromkeys(row.study for row in _rows()))


def published(study: str, bed: str | None = None) -> list[PublishedRow]:
    """The rows of a study, or of one bed of it, in the order of its tables; none for most studies of our own."""
    return [row for row in _rows() if row.study == study and bed in (None, row.bed)]


@cache
def _rows() -> tuple[PublishedRow, ...]:
    table = Path(__file__).with_name("published.json").read_text(encoding="utf-8")
    return tuple(PublishedRow(**row) for row in json.loads(table, parse_int=float))
