"""What a run says of itself: a line of JSON for each record and each validation, and the same for TensorBoard."""

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairway import atomic
from fairway.errors import InvalidFile
from fairway.train.loop import Record
from fairway.train.validate import Score

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

LINES = "log.jsonl"
BOARD = "tensorboard"


@dataclass(frozen=True, slots=True)
class Validation:
    """How good the policy was, on instances it had never seen, when it had seen so many others."""

    step: int
    instances: int
    seconds: float
    score: Score


class Log:
    """The lines of a run, and its TensorBoard events where that is installed; both are on disk at once."""

    def __init__(self, folder: Path, step: int) -> None:
        """Go on from a step: what was logged after it will happen again, and is dropped."""
        self._path = folder / LINES
        before = "".join(f"{line}\n" for line in kept(self._path, step))
        atomic.write_bytes(self._path, before.encode())
        with _written(self._path):
            self._file = self._path.open("a")
        with _written(folder / BOARD):
            self._board = board(folder / BOARD, step)

    @property
    def has_board(self) -> bool:
        """Whether TensorBoard is there to be written for."""
        return self._board is not None

    def close(self) -> None:
        """Nothing more will be written."""
        self._file.close()
        if self._board is not None:
            self._board.close()

    def write(self, entry: Record | Validation) -> None:
        """One line, flushed, and its figures as scalars."""
        line = as_line(entry)
        with _written(self._path):
            self._file.write(json.dumps(line, allow_nan=False) + "\n")
            self._file.flush()
            if self._board is not None:
                _add_scalars(self._board, line)


def as_line(entry: Record | Validation) -> dict[str, Any]:
    """An entry as a flat object."""
    flat = asdict(entry)
    kind = "record" if isinstance(entry, Record) else "validation"
    inner = flat.pop("figures" if isinstance(entry, Record) else "score")
    return numbers_only({"kind": kind, **flat, **inner})


def numbers_only(record: dict[str, Any]) -> dict[str, Any]:
    """The same with null, as JSON wants it, for what is no number."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in record.items()
    }


def kept(path: Path, step: int) -> Iterator[str]:
    """The whole lines of a log up to a step; a line that a crash cut short is not one of them."""
    try:
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    except OSError as error:
        raise InvalidFile(f"{path}: cannot be read ({error.strerror})") from error
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("step", math.inf) <= step:
            yield line


def board(folder: Path, step: int) -> "SummaryWriter | None":
    """A writer of TensorBoard events that takes over after a step; None where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step + 1 if step else None)


def _add_scalars(to: "SummaryWriter", line: dict[str, Any]) -> None:
    for name, value in line.items():
        if isinstance(value, float) and name not in ("seconds", "spent"):
            to.add_scalar(f"{line['kind']}/{name}", value, line["step"])
    to.flush()


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or os.strerror(error.errno or 0)
        raise InvalidFile(
            f"{path}: cannot be written ({reason}); make room, then resume from the last snapshot with --resume"
        ) from error
