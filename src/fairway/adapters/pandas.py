"""Data frames in and out: a frame of stops becomes an instance, a plan becomes a frame of its steps."""

import csv
import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from fairway.adapters import needing
from fairway.errors import InvalidFile
from fairway.judge import Solution
from fairway.outputs.plan import Plan, name_of
from fairway.outputs.words import Answer, planned
from fairway.problems.files import read
from fairway.problems.files.sheet import cell_text
from fairway.problems.instance import Instance

with needing("pandas", "pandas"):
    import pandas as pd

AMOUNTS = ("arrival", "wait", "start", "departure", "late", "load", "cost", "distance")
"""Columns of a plan, in the units of the instance."""
MOMENTS, SPANS = ("arrival", "start", "departure"), ("wait", "late")
FILE = "frame.csv"


def read_frame(
    frame: pd.DataFrame, *, matrix: str | Path | None = None, speed: float | None = None
) -> Instance:
    """The instance of a frame with a row per stop and the columns of a CSV of stops, the depot first or marked.

    Args:
        frame: Its column names and cells are read as those of a CSV are; missing values are blank cells.
        matrix: A file of travel times between the rows, as `fairway.read` takes it.
        speed: Kilometres per hour, where stops have latitude and longitude and there is no matrix.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([str(column) for column in frame.columns])
            for row in frame.itertuples(index=False, name=None):
                writer.writerow([_cell(value) for value in row])
        try:
            found = read(path, matrix=matrix, speed=speed)
        except InvalidFile as error:
            raise InvalidFile(str(error).replace(str(path), FILE)) from error
    assert isinstance(found, Instance), "a table is one instance"
    return found


def plan_frame(instance: Instance, result: Answer | Solution) -> pd.DataFrame:
    """A row per step of the tour, with its times, load and cost so far, and all further columns of the stops.

    Times are numbers. Where they came in on the clock, `arrival`, `start` and `departure` are timestamps if the date is
    known, else time since midnight, and `wait` and `late` are spans. Stops that are left out follow, without times.
    """
    plan = planned(instance, result)
    nodes = [*(step.node for step in plan.steps), *plan.unserved]
    names = [
        *(step.name for step in plan.steps),
        *(name_of(instance, node) for node in plan.unserved),
    ]
    kinds = [*(step.kind for step in plan.steps), *("left out" for _ in plan.unserved)]
    frame = pd.DataFrame({"step": kinds, "name": names, "node": pd.array(nodes, dtype="Int64")})
    for column in _shown(instance):
        amounts = pd.Series([getattr(step, column) for step in plan.steps], dtype=float)
        frame[column] = _on_the_clock(plan, column, amounts.reindex(frame.index))
    for column, texts in (instance.source.columns if instance.source else {}).items():
        head = f"{column} (given)" if column in frame else column
        frame[head] = ["" if node is None else texts[node] for node in nodes]
    return frame


def _shown(instance: Instance) -> list[str]:
    """The columns that say something about an instance."""
    measured = instance.source is not None and bool(instance.source.distance_unit)
    absent = [*([] if instance.laden else ["load"]), *([] if measured else ["distance"])]
    return [column for column in AMOUNTS if column not in absent]


def _on_the_clock(plan: Plan, column: str, amounts: pd.Series) -> pd.Series:
    """Amounts as pandas has times, where the instance has a clock."""
    clock = plan.instance.source.clock if plan.instance.source else None
    if clock is None or column not in (*MOMENTS, *SPANS):
        return amounts
    spans = pd.to_timedelta(amounts * clock.unit, unit="s").dt.round("s")
    if column in SPANS or clock.origin is None:
        return spans
    return pd.Timestamp(clock.origin, tz=clock.zone) + spans


def _cell(value: object) -> str:
    """What a cell of a CSV would say."""
    if value is None or value is pd.NaT or value is pd.NA or value != value:  # noqa: PLR0124 - NaN
        return ""
    if isinstance(value, pd.Timestamp):
        return cell_text(value.to_pydatetime())
    if isinstance(value, pd.Timedelta):
        return cell_text(value.to_pytimedelta())
    if isinstance(value, datetime.time):
        return value.isoformat("seconds")
    item = getattr(value, "item", None)  # numpy's scalars
    return cell_text(value if item is None else item())
