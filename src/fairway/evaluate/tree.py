"""A folder of evaluations, `STUDY/BED/LABEL.jsonl.xz`, and what its results are measured against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fairway.errors import InvalidFile
from fairway.evaluate.outcomes import PACKED, TIMES, Results, check_value, read_results, whole_lines
from fairway.evaluate.references import FOLDER, References, load_references
from fairway.problems.beds import bed_named, beds

FORESIGHT = "foresight"
"""The folder with logs of trainings, `foresight/NAME.jsonl` or `.xz`, in place of a study."""
FORESEEN = ("instances", "doomed", "doomed_found", "sound", "sound_found")
"""What is read of such a log."""
LOG_ANEW = "copy the log.jsonl of the training anew, or leave it out"

Against = Callable[[str], References | None]
"""From the name of a bed to its reference costs; None where it has none."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Where evaluations are; they are read when asked for, since all of them together may not fit into memory."""

    root: Path

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            raise InvalidFile(
                f"{self.root}: is no folder of results; make one with fairway evaluate"
            )

    def studies(self) -> list[str]:
        """The studies of which anything was run."""
        return sorted({path.parent.parent.name for path in self._files("*", "*")})

    def beds(self, study: str) -> list[str]:
        """The beds on which anything was run for a study."""
        return sorted({path.parent.name for path in self._files(study, "*")})

    def results(self, study: str, bed: str) -> list[Results]:
        """All that was run on a bed for a study."""
        return [_checked(path) for path in self._files(study, bed)]

    def logs(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """The logs of trainings that a PIP-D head is looked at in, by name."""
        paths = sorted(self.root.glob(f"{FORESIGHT}/*.jsonl*"))
        return [(path.name.partition(".jsonl")[0], _log(path)) for path in paths]

    def _files(self, study: str, bed: str) -> list[Path]:
        """By their plain names, whether they are packed or not."""
        found = self.root.glob(f"{study}/{bed}/*.jsonl*")
        plain = {path.with_name(path.name.removesuffix(PACKED)) for path in found}
        return sorted(p for p in plain if p.suffix == ".jsonl" and not p.name.endswith(TIMES))


def reference_costs_by_bed(files: Mapping[str, Path]) -> Against:
    """The references of beds: from the files given, else those that ship; each is judged once, when first asked for."""
    for bed in files:
        bed_named(bed)

    @cache
    def against(bed: str) -> References | None:
        if bed in files:
            return load_references(bed, files[bed])
        if bed in beds() and (FOLDER / f"{bed}.npz").exists():
            return load_references(bed)
        return None

    return against


def _log(path: Path) -> list[dict[str, Any]]:
    """The lines of a training, whose counts are numbers where they are there."""
    lines = whole_lines(path, LOG_ANEW)
    for where, line in lines.items():
        for name in FORESEEN:
            check_value(float | None, name, line.get(name), where, LOG_ANEW)
    return list(lines.values())


def _checked(path: Path) -> Results:
    """The results in a file that lies where its first line says."""
    results = read_results(path)
    header, folder = results.header, path.parent
    if (header.study, header.bed) != (folder.parent.name, folder.name):
        raise InvalidFile(
            f"{path}: holds results of {header.study}/{header.bed}; put it into that folder"
        )
    seen = [outcome.index for outcome in results.outcomes]
    size = beds()[header.bed].count if header.bed in beds() else None
    if len(set(seen)) < len(seen) or (size is not None and not all(0 <= i < size for i in seen)):
        raise InvalidFile(
            f"{path}: names an instance twice, or one that the bed does not have; delete it and evaluate again"
        )
    return results
