"""Where `solve` leaves plans and pictures; what could not be written is refused before any work."""

import datetime
import re
from collections import Counter
from pathlib import Path

from fairway.errors import InvalidFile, InvalidRequest
from fairway.outputs import check, format_of, write_plan
from fairway.problems.instance import Instance
from fairway.solver.results import Result


class Destination:
    """A picture of one tour, pictures of all in a folder, and the plan of one in a file."""

    def __init__(
        self,
        plot: Path | None = None,
        folder: Path | None = None,
        out: Path | None = None,
        form: str | None = None,
        date: str | None = None,
    ) -> None:
        self.plot, self.folder, self.out = plot, folder, out
        self.date = None if date is None else _date(date)
        self.form = form
        self._given: Counter[str] = Counter()
        if out is None and (form is not None or date is not None):
            raise InvalidRequest("--format and --date belong to --out, which is not given")
        if out is not None:
            self.form = form or _named("--out", out)
            _check_folder("--out", out)
        if plot is not None:
            _check_picture(plot)
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InvalidRequest(
                    f"{folder}: cannot be made a folder ({error.strerror})"
                ) from error

    def check(self, instance: Instance) -> None:
        """Refuse a plan that the format could not hold."""
        assert self.form is not None
        check(instance, self.form, self.date)

    def keep(self, label: str, instance: Instance, result: Result) -> None:
        """Draw and write the plan of an instance wherever it was asked for."""
        for place in self._pictures(label):
            from fairway.pictures import draw, save

            save(draw(instance, result), place)
        if self.out is not None:
            write_plan(instance, result, self.out, self.form, date=self.date)

    def _pictures(self, label: str) -> list[Path]:
        """The one that was named, and a file for each label, never outside the folder, never the same twice."""
        places = [] if self.plot is None else [self.plot]
        if self.folder is not None:
            safe = re.sub(r"[^\w.-]", "_", label)
            self._given[safe] += 1
            number = "" if self._given[safe] == 1 else f"-{self._given[safe]}"
            places.append(self.folder / f"{safe}{number}.png")
        return places


def _named(option: str, out: Path) -> str:
    try:
        return format_of(out)
    except InvalidFile as error:
        raise InvalidRequest(f"{option} {error}") from error


def _check_picture(plot: Path) -> None:
    from fairway.pictures import suffix_of

    try:
        suffix_of(plot)
    except InvalidFile as error:
        raise InvalidRequest(f"--plot {error}") from error
    _check_folder("--plot", plot)


def _check_folder(option: str, path: Path) -> None:
    if not path.parent.is_dir():
        raise InvalidRequest(f"{option} {path}: there is no folder {path.parent}; make it first")


def _date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError as error:
        raise InvalidRequest(f"--date is {text!r}; expected a day like 2026-11-18") from error
